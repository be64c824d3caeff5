// SPDX-License-Identifier: Apache-2.0
#include "base/codec.h"

#include <limits.h>
#include <string.h>

tbCodec tb_codec_writer(tbContext* ctx, const char* name, tbOut* out)
{
  return (tbCodec){.ctx = ctx, .name = name, .out = out};
}

tbCodec tb_codec_reader(tbContext* ctx, const char* name, const void* bytes, size_t length)
{
  const unsigned char* at = bytes;
  return (tbCodec){.ctx = ctx, .name = name, .begin = at, .at = at, .end = at + length};
}

void tb_codec_refuse(tbCodec* c, const char* what)
{
  if (!tb_codec_good(c)) return;
  if (tb_codec_reads(c))
    c->status = tb_fail(c->ctx, TB_ERROR_INPUT, "%s: damaged near byte %zu: %s", c->name,
                        (size_t)(c->at - c->begin), what);
  else c->status = tb_fail(c->ctx, TB_ERROR_NUMERIC, "cannot write %s: %s", c->name, what);
}

void tb_codec_require(tbCodec* c, bool condition, const char* what)
{
  if (!condition) tb_codec_refuse(c, what);
}

void tb_code_u64(tbCodec* c, uint64_t* value)
{
  if (!tb_codec_good(c)) return;
  unsigned char bytes[8];
  if (!tb_codec_reads(c)) {
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(*value >> 8 * i);
    tb_out_bytes(c->out, (const char*)bytes, sizeof bytes);
    return;
  }
  if (c->end - c->at < 8) {
    tb_codec_refuse(c, "it ends too early");
    return;
  }
  uint64_t read = 0;
  for (int i = 0; i < 8; i++) read |= (uint64_t)c->at[i] << 8 * i;
  c->at += 8;
  *value = read;
}

void tb_code_i64(tbCodec* c, int64_t* value, int64_t min, int64_t max)
{
  uint64_t bits = (uint64_t)*value;
  tb_code_u64(c, &bits);
  if (!tb_codec_good(c)) return;
  int64_t read;
  memcpy(&read, &bits, sizeof read);
  if (read < min || read > max) tb_codec_refuse(c, "a number out of its bounds");
  else *value = read;
}

void tb_code_int(tbCodec* c, int* value, int min, int max)
{
  int64_t wide = *value;
  tb_code_i64(c, &wide, min, max);
  if (tb_codec_good(c)) *value = (int)wide;
}

void tb_code_bool(tbCodec* c, bool* value)
{
  int number = *value;
  tb_code_int(c, &number, 0, 1);
  *value = number;
}

void tb_code_extended(tbCodec* c, double* value)
{
  uint64_t bits;
  memcpy(&bits, value, sizeof bits);
  tb_code_u64(c, &bits);
  if (!tb_codec_good(c)) return;
  double read;
  memcpy(&read, &bits, sizeof read);
  if (isnan(read)) tb_codec_refuse(c, "not a number");
  else *value = read;
}

void tb_code_number(tbCodec* c, double* value)
{
  double read = *value;
  tb_code_extended(c, &read);
  if (!tb_codec_good(c)) return;
  if (isinf(read)) tb_codec_refuse(c, "a number that is not finite");
  else *value = read;
}

void tb_code_numbers(tbCodec* c, double* values, size_t count)
{
  for (size_t i = 0; i < count && tb_codec_good(c); i++) tb_code_number(c, &values[i]);
}

void tb_code_vec3(tbCodec* c, tbVec3* v)
{
  tb_code_number(c, &v->x);
  tb_code_number(c, &v->y);
  tb_code_number(c, &v->z);
}

void tb_code_quat(tbCodec* c, tbQuat* q)
{
  tb_code_number(c, &q->w);
  tb_code_number(c, &q->x);
  tb_code_number(c, &q->y);
  tb_code_number(c, &q->z);
  double square = q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z;
  tb_codec_require(c, fabs(square - 1) < 1e-6, "an orientation that is not a unit quaternion");
}

void tb_code_mat3(tbCodec* c, tbMat3* A)
{
  for (int i = 0; i < 3; i++) tb_code_numbers(c, A->m[i], 3);
}

void tb_code_transform(tbCodec* c, tbTransform* T)
{
  tb_code_quat(c, &T->q);
  tb_code_vec3(c, &T->x);
}

static char* read_text(tbCodec* c, size_t length)
{
  if (memchr(c->at, 0, length)) {
    tb_codec_refuse(c, "a text with a NUL in it");
    return NULL;
  }
  char* text = TB_NEW(c->ctx, char, length + 1);
  if (!text) {
    c->status = TB_ERROR_MEMORY;
    return NULL;
  }
  memcpy(text, c->at, length);
  c->at += length;
  return text;
}

void tb_code_text(tbCodec* c, const char** text)
{
  int length = tb_codec_reads(c) ? 0 : (int)strlen(*text);
  tb_code_count(c, &length, 1);
  if (tb_codec_reads(c)) *text = tb_codec_good(c) ? read_text(c, (size_t)length) : NULL;
  else if (tb_codec_good(c)) tb_out_bytes(c->out, *text, (size_t)length);
}

void tb_code_count(tbCodec* c, int* count, size_t min_bytes)
{
  tb_code_int(c, count, 0, INT_MAX - 1);
  if (!tb_codec_reads(c) || !tb_codec_good(c)) return;
  if ((size_t)*count > (size_t)(c->end - c->at) / min_bytes)
    tb_codec_refuse(c, "a count beyond what follows");
}

void tb_code_array(tbCodec* c, tbArray* array, size_t min_bytes)
{
  int count = (int)array->count;
  tb_code_count(c, &count, min_bytes);
  if (!tb_codec_reads(c) || !tb_codec_good(c)) return;
  array->count = 0;
  c->status = tb_array_push(c->ctx, array, NULL, (size_t)count);
}
