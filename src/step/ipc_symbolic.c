// SPDX-License-Identifier: Apache-2.0
// Analyses of the matrices of Newton's method, kept across steps.
//
// An analysis is what its pattern asks for: its order of elimination is found for the pattern that a step
// begins with, and taken over, as it is, by one that has grown since by a little. So a kept one is known by
// its pattern and by those that it has grown from, and takes the place of the very same: the bits do not
// depend on what is kept. While contacts stand, steps analyse nothing.
#include "step/ipc.h"

#include <string.h>

static const double LITTLE = 0.05; // of the couplings: growth that keeps the order of elimination

enum { LARGE = 4000 }; // blocks from which on a library may order them, where it is installed
enum { KEPT = 12 };    // analyses

typedef struct {
  uint64_t name; // of the patterns it has grown from, and its own
  int nblock, npair;
  uint64_t* pair; // (npair)
  tbCholesky* factor;
  int64_t used; // when it last was
} Analysis;

typedef struct {
  Analysis at[KEPT];
  int64_t clock;
} Analyses;

static void release(tbContext* ctx, Analysis* a)
{
  tb_free(ctx, a->pair);
  tb_cholesky_free(ctx, a->factor);
  *a = (Analysis){0};
}

static void release_all(tbContext* ctx, void* data)
{
  Analyses* all = data;
  for (int i = 0; i < KEPT; i++) release(ctx, &all->at[i]);
  tb_free(ctx, all);
}

static uint64_t name_of(const tbIpcMatrix* m, uint64_t before)
{
  const uint64_t* pair = m->pair.data;
  uint64_t name = (before ^ (uint64_t)m->nblock) * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < m->pair.count; i++) {
    name = (name ^ pair[i]) * 0x9e3779b97f4a7c15u;
    name ^= name >> 29;
  }
  return name;
}

static bool is_of(const Analysis* a, const tbIpcMatrix* m, uint64_t name)
{
  size_t n = m->pair.count;
  return a->factor && a->name == name && a->nblock == m->nblock && a->npair == (int)n &&
         (n == 0 || memcmp(a->pair, m->pair.data, n * sizeof *a->pair) == 0);
}

static tbStatus analyse(tbContext* ctx, const tbIpcMatrix* m, uint64_t name, const int* order, Analysis* out)
{
  tbCholeskyOptions how = {.ordering = m->nblock > LARGE ? TB_ORDERING_AUTO : TB_ORDERING_DEGREE,
                           .order = order};
  tbCholesky* factor;
  TB_TRY(tb_cholesky_analyze(ctx, 3 * m->nblock, m->scalar.ptr, m->scalar.idx, &how, &factor));
  release(ctx, out);
  *out = (Analysis){.name = name, .nblock = m->nblock, .npair = (int)m->pair.count, .factor = factor};
  out->pair = TB_NEW(ctx, uint64_t, m->pair.count);
  if (!out->pair) {
    release(ctx, out);
    return TB_ERROR_MEMORY;
  }
  if (m->pair.count > 0) memcpy(out->pair, m->pair.data, m->pair.count * sizeof *out->pair);
  return TB_OK;
}

tbStatus tb_ipc_analyse(tbContext* ctx, tbCache* cache, tbIpcMatrix* m)
{
  if (!cache->ipc.data) {
    cache->ipc = (tbKept){TB_NEW(ctx, Analyses, 1), release_all};
    if (!cache->ipc.data) return TB_ERROR_MEMORY;
  }
  Analyses* all = cache->ipc.data;
  bool grown = m->factor && (double)(m->pair.count - m->analysed) <= LITTLE * (double)m->analysed;
  uint64_t name = name_of(m, grown ? m->name : 0);
  Analysis *found = NULL, *oldest = NULL;
  for (int i = 0; i < KEPT; i++) {
    Analysis* a = &all->at[i];
    if (is_of(a, m, name)) found = a;
    bool taken = m->factor && a->factor == m->factor; // its order may be wanted
    if (!taken && (!oldest || a->used < oldest->used)) oldest = a;
  }
  if (!found) {
    TB_TRY(analyse(ctx, m, name, grown ? tb_cholesky_permutation(m->factor) : NULL, oldest));
    found = oldest;
    m->analyses++;
  }
  found->used = ++all->clock;
  if (!grown) m->analysed = m->pair.count;
  m->factor = found->factor, m->name = name;
  return TB_OK;
}
