// SPDX-License-Identifier: Apache-2.0
#include "modal/cache.h"

#include "base/codec.h"
#include "base/file.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 2, HEAD = 8, TAIL = 8 };
static const unsigned char magic[HEAD] = {0x89, 'T', 'B', 'M', 'O', 'D', 'E', 'S'};
static const size_t LARGEST = (size_t)1 << 31;

static uint64_t mix(uint64_t hash, const void* bytes, size_t length) // FNV-1a
{
  const unsigned char* at = bytes;
  for (size_t i = 0; i < length; i++) hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

uint64_t tb_modal_key(const tbFemBody* fem, int modes, bool derivatives, bool stvk)
{
  double matter[4] = {fem->material.mu, fem->material.lambda, fem->mass_block ? 1 : 0, 0};
  int how[5] = {fem->nnode, fem->nelement[0], modes, derivatives, stvk};
  uint64_t key = mix(14695981039346656037u, how, sizeof how);
  key = mix(key, matter, sizeof matter);
  key = mix(key, fem->rest, (size_t)fem->nnode * sizeof *fem->rest);
  key = mix(key, fem->mass, (size_t)fem->nnode * sizeof *fem->mass);
  key = mix(key, fem->pinned, (size_t)fem->nnode);
  return mix(key, fem->corner[0], 4 * (size_t)fem->nelement[0] * sizeof(int));
}

static void code_basis(tbCodec* c, tbModalBasis* b)
{
  tb_code_numbers(c, b->omega2, (size_t)b->nmode);
  tb_code_numbers(c, b->field, 3 * (size_t)b->nnode * (size_t)b->nmode);
  tbPolynomial* p = b->polynomial;
  if (!p) return;
  size_t r = (size_t)p->r, pairs = (size_t)p->pairs;
  tb_code_numbers(c, p->K, r * r);
  tb_code_numbers(c, p->A, pairs * r);
  tb_code_numbers(c, p->B, pairs * pairs);
}

// Its elements and weights, behind the fields: the gradients follow from these.
static tbStatus code_cubature(tbCodec* c, tbContext* ctx, const tbFemBody* fem, tbModalBasis* b)
{
  int count = b->cubature ? b->cubature->count : 0, elements = fem->nelement[0];
  tb_code_int(c, &count, 1, elements);
  if (!tb_codec_good(c)) return TB_OK;
  if (!b->cubature) TB_TRY(tb_cubature_make(ctx, b->nmode, count, &b->cubature));
  for (int i = 0; i < count; i++) tb_code_int(c, &b->cubature->element[i], 0, elements - 1);
  tb_code_numbers(c, b->cubature->weight, (size_t)count);
  tb_code_numbers(c, &b->cubature->miss, 1);
  if (tb_codec_good(c)) tb_cubature_fill(fem, b->field, b->cubature);
  return TB_OK;
}

static void code_head(tbCodec* c, uint64_t* key, int* modes)
{
  int version = VERSION;
  tb_code_int(c, &version, VERSION, VERSION);
  tb_code_u64(c, key);
  tb_code_int(c, modes, 1, TB_MODES_MAX);
}

// What the file holds, if it is whole and of this key. Running out of memory alone is an error.
static tbStatus parse(tbContext* ctx, const tbFemBody* fem, uint64_t key, bool stvk, const char* bytes,
                      size_t length, tbModalBasis** out)
{
  uint64_t sum = 0, found = 0;
  int modes = 0;
  if (length < HEAD + TAIL || memcmp(bytes, magic, HEAD) != 0) return TB_OK;
  for (int i = TAIL - 1; i >= 0; i--) sum = sum << 8 | (unsigned char)bytes[length - TAIL + (size_t)i];
  if (sum != mix(14695981039346656037u, bytes, length - TAIL)) return TB_OK;
  tbCodec c = tb_codec_reader(ctx, "", bytes + HEAD, length - HEAD - TAIL);
  code_head(&c, &found, &modes);
  if (!tb_codec_good(&c) || found != key) return TB_OK;
  size_t numbers = (3 * (size_t)fem->nnode + 1) * (size_t)modes;
  if ((size_t)(c.end - c.at) / 8 < numbers) return TB_OK;
  tbModalBasis* b;
  TB_TRY(tb_modal_basis_make(ctx, fem, modes, &b));
  bool sampled = stvk && tb_cubature_pays(fem->nelement[0], modes);
  tbStatus status = stvk && !sampled ? tb_polynomial_make(ctx, modes, &b->polynomial) : TB_OK;
  if (status == TB_OK) code_basis(&c, b);
  if (status == TB_OK && sampled) status = code_cubature(&c, ctx, fem, b);
  bool whole = status == TB_OK && tb_codec_good(&c) && c.at == c.end;
  if (whole) status = tb_modal_basis_finish(ctx, fem, stvk, b);
  if (whole && status == TB_OK) *out = b;
  else tb_modal_basis_free(ctx, b);
  return status == TB_ERROR_MEMORY ? status : TB_OK;
}

static tbStatus load(tbContext* ctx, const tbFemBody* fem, uint64_t key, bool stvk, const char* path,
                     tbModalBasis** out)
{
  char* bytes;
  size_t length;
  tbStatus status = tb_read_file(ctx, path, LARGEST, &bytes, &length);
  if (status != TB_OK) return status == TB_ERROR_MEMORY ? status : TB_OK;
  status = parse(ctx, fem, key, stvk, bytes, length, out);
  tb_free(ctx, bytes);
  return status;
}

static void save(tbContext* ctx, const tbFemBody* fem, uint64_t key, const char* path, tbModalBasis* b)
{
  tbOut out = tb_out_memory(ctx);
  int modes = b->nmode;
  tb_out_bytes(&out, (const char*)magic, HEAD);
  tbCodec c = tb_codec_writer(ctx, path, &out);
  code_head(&c, &key, &modes);
  code_basis(&c, b);
  if (b->cubature) (void)code_cubature(&c, ctx, fem, b); // a writer: nothing is made
  uint64_t sum = mix(14695981039346656037u, out.bytes ? out.bytes : "", out.length);
  char tail[TAIL];
  for (int i = 0; i < TAIL; i++) tail[i] = (char)(sum >> 8 * i);
  tb_out_bytes(&out, tail, TAIL);
  if (tb_codec_good(&c) && tb_out_finish(&out) == TB_OK)
    (void)tb_write_file(ctx, path, out.bytes, out.length);
  tb_out_free(&out);
}

tbStatus tb_modal_basis_cached(tbContext* ctx, tbFemBody* fem, int modes, bool derivatives, bool stvk,
                               const char* stem, tbModalBasis** out)
{
  *out = NULL;
  uint64_t key = tb_modal_key(fem, modes, derivatives, stvk);
  size_t room = strlen(stem) + 32;
  char* path = TB_NEW(ctx, char, room);
  if (!path) return TB_ERROR_MEMORY;
  snprintf(path, room, "%s.%016" PRIx64 ".modes", stem, key);
  tbError before = ctx->error;
  tbStatus status = load(ctx, fem, key, stvk, path, out);
  if (status == TB_OK && !*out) {
    status = tb_modal_basis_create(ctx, fem, modes, derivatives, stvk, out);
    if (status == TB_OK) save(ctx, fem, key, path, *out);
  }
  if (status == TB_OK) ctx->error = before; // of a file that was not there, or could not be written
  tb_free(ctx, path);
  return status;
}
