// SPDX-License-Identifier: Apache-2.0
// What a step of ipc leaves to the next: the energy in its barriers, and what the integrator BDF2 needs of
// it.
#include "step/ipc.h"

#include "base/codec.h"

#include <string.h>

struct tbIpcKept {
  double stored;     // J
  double h;          // of that step                                               s
  int count;         // bodies; 0: nothing is kept of them
  tbIpcBefore* body; // by the bodies' places                                      (count)
  tbVec3* memory;    // behind their arrays
};

static void free_kept(tbContext* ctx, void* state)
{
  tbIpcKept* k = state;
  if (!k) return;
  tb_free(ctx, k->body);
  tb_free(ctx, k->memory);
  tb_free(ctx, k);
}

// Arrays for so many nodes of each body, as body[].count says.
static tbStatus make_room(tbContext* ctx, tbIpcKept* k)
{
  size_t nodes = 0, at = 0;
  for (int i = 0; i < k->count; i++) nodes += (size_t)k->body[i].count;
  k->memory = TB_NEW(ctx, tbVec3, 2 * nodes);
  if (!k->memory) return TB_ERROR_MEMORY;
  for (int i = 0; i < k->count; i++) {
    k->body[i].lead = k->memory + at, k->body[i].elastic = k->body[i].lead + k->body[i].count;
    at += 2 * (size_t)k->body[i].count;
  }
  return TB_OK;
}

double tb_ipc_stored(const tbIpcKept* kept) { return kept ? kept->stored : INFINITY; }

const tbIpcBefore* tb_ipc_before(const tbIpcKept* kept, const tbIpcNodes* n, double h)
{
  for (int i = 0; kept && kept->h == h && i < kept->count; i++)
    if (kept->body[i].body == n->body && kept->body[i].count == n->of.fem->nnode) return &kept->body[i];
  return NULL;
}

static tbStatus keep_bodies(tbContext* ctx, const tbIpc* ipc, const tbStepView* view, tbIpcKept* k)
{
  k->count = ipc->nnodes;
  k->body = TB_NEW(ctx, tbIpcBefore, (size_t)k->count);
  if (!k->body) return TB_ERROR_MEMORY;
  for (int i = 0; i < k->count; i++)
    k->body[i] = (tbIpcBefore){.body = ipc->nodes[i].body, .count = ipc->nodes[i].of.fem->nnode};
  TB_TRY(make_room(ctx, k));
  for (int i = 0; i < k->count; i++)
    tb_ipc_remember(ctx, ipc, &ipc->nodes[i], (const tbVec3*)tb_view_velocity(view, ipc->nodes[i].body),
                    &k->body[i]);
  return TB_OK;
}

tbStatus tb_ipc_keep(tbContext* ctx, const tbIpc* ipc, const tbStepView* view, void** out)
{
  tbIpcKept* k = *out = TB_NEW(ctx, tbIpcKept, 1);
  if (!k) return TB_ERROR_MEMORY;
  k->stored = ipc->stored, k->h = ipc->h;
  for (int i = 0; i < ipc->nnodes; i++)
    tb_ipc_speeds(&ipc->nodes[i], (const tbVec3*)tb_view_velocity(view, ipc->nodes[i].body));
  return ipc->options->integrator == TB_INTEGRATOR_BDF2 ? keep_bodies(ctx, ipc, view, k) : TB_OK;
}

static uint64_t hash_kept(uint64_t hash, const void* state)
{
  const tbIpcKept* k = state;
  hash = tb_hash_numbers(hash, &k->stored, 1);
  for (int i = 0; i < k->count; i++) hash = tb_hash_numbers(hash, &k->body[i].lead->x, 6 * k->body[i].count);
  return hash;
}

// A body goes, and others get other places: the next step begins anew.
static void forget_bodies(void* state, const tbWorld* w, int body)
{
  (void)w, (void)body;
  ((tbIpcKept*)state)->count = 0;
}

static void code_kept(tbCodec* c, const tbWorld* w, void** state)
{
  if (tb_codec_reads(c) && tb_codec_good(c) && !(*state = TB_NEW(c->ctx, tbIpcKept, 1)))
    c->status = TB_ERROR_MEMORY;
  tbIpcKept* k = *state;
  if (!k) return;
  int count = k->count;
  tb_code_extended(c, &k->stored);
  tb_code_number(c, &k->h);
  tb_code_count(c, &count, 16);
  if (tb_codec_reads(c) && tb_codec_good(c) && !(k->body = TB_NEW(c->ctx, tbIpcBefore, (size_t)count)))
    c->status = TB_ERROR_MEMORY;
  for (int i = 0; i < count && tb_codec_good(c); i++) {
    tb_code_int(c, &k->body[i].body, 0, (int)w->body.count - 1);
    tb_code_count(c, &k->body[i].count, 48);
  }
  if (!tb_codec_good(c)) return;
  k->count = count;
  if (tb_codec_reads(c)) c->status = make_room(c->ctx, k);
  for (int i = 0; i < count && tb_codec_good(c); i++)
    tb_code_numbers(c, &k->body[i].lead->x, 6 * (size_t)k->body[i].count);
}

static double* number_of(void* state, int i)
{
  tbIpcKept* k = state;
  if (i == 0) return &k->stored;
  i--;
  for (int b = 0; b < k->count; i -= 6 * k->body[b++].count)
    if (i < 6 * k->body[b].count) return &k->body[b].lead->x + i;
  return NULL;
}

const tbStateKind tb_ipc_state = {.scheme = "ipc",
                                  .free = free_kept,
                                  .hash = hash_kept,
                                  .remove = forget_bodies,
                                  .code = code_kept,
                                  .number = number_of};
