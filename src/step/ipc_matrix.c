// SPDX-License-Identifier: Apache-2.0
// The matrix of a Newton step: blocks of bodies, and of pairs that contacts couple.
//
// The pattern only grows within a step: while contacts couple what they have coupled before, its analysis
// stays (ipc_symbolic.c). It depends on nothing but the step, so that the order of elimination, and with it
// every bit, does not either.
#include "step/ipc.h"

#include "base/sort.h"

#include <string.h>

// A matrix that rounding has made indefinite: shares that are added to its diagonal, until it is not.
static const double SHIFT = 1e-12, MOST_SHIFT = 1e-2;

static int ascending(const void* a, const void* b)
{
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static void unique(tbArray* keys)
{
  uint64_t* k = keys->data;
  size_t n = 0;
  tb_sort(k, keys->count, sizeof *k, ascending);
  for (size_t i = 0; i < keys->count; i++)
    if (n == 0 || k[n - 1] != k[i]) k[n++] = k[i];
  keys->count = n;
}

static bool contains(const tbArray* all, const tbArray* some)
{
  const uint64_t *a = all->data, *b = some->data;
  size_t i = 0;
  for (size_t k = 0; k < some->count; k++) {
    while (i < all->count && a[i] < b[k]) i++;
    if (i == all->count || a[i] != b[k]) return false;
  }
  return true;
}

static tbStatus add_bodies(tbContext* ctx, const tbIpc* ipc, tbArray* pairs)
{
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    const tbFemAssembly* s = &n->of.fem->assembly;
    for (int r = 0; r < n->of.fem->nnode; r++)
      for (int b = s->ptr[r]; b < s->diag[r]; b++) {
        uint64_t key = (uint64_t)(n->block + r) << 32 | (uint64_t)(n->block + s->col[b]);
        TB_TRY(tb_array_push(ctx, pairs, &key, 1));
      }
  }
  return TB_OK;
}

static int slot_of(const tbIpcMatrix* m, int row, int col)
{
  int lo = m->ptr[row], hi = m->ptr[row + 1] - 1;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (m->col[mid] < col) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static void make_scalar(tbIpcMatrix* m)
{
  int at = 0;
  for (int i = 0; i < m->nblock; i++)
    for (int r = 0; r < 3; r++) {
      m->scalar.ptr[3 * i + r] = at;
      for (int b = m->ptr[i]; b < m->ptr[i + 1]; b++)
        for (int c = 0; c < 3; c++) m->scalar.idx[at++] = 3 * m->col[b] + c;
    }
  m->scalar.ptr[3 * m->nblock] = at;
}

static tbStatus make_pattern(tbContext* ctx, tbIpc* ipc)
{
  tbIpcMatrix* m = &ipc->matrix;
  size_t n = (size_t)ipc->nblock, entries = m->pair.count + n;
  const uint64_t* key = m->pair.data;
  m->arena.ctx = ctx;
  tb_arena_reset(&m->arena);
  m->nblock = ipc->nblock;
  m->ptr = TB_TAKE(&m->arena, int, n + 1), m->col = TB_TAKE(&m->arena, int, entries);
  m->scalar = (tbCsr){.ptr = TB_TAKE(&m->arena, int, 3 * n + 1),
                      .idx = TB_TAKE(&m->arena, int, 9 * entries),
                      .val = TB_TAKE(&m->arena, double, 9 * entries)};
  if (!m->ptr || !m->col || !m->scalar.ptr || !m->scalar.idx || !m->scalar.val) return TB_ERROR_MEMORY;
  size_t k = 0, at = 0;
  for (size_t i = 0; i < n; i++) {
    m->ptr[i] = (int)at;
    for (; k < m->pair.count && key[k] >> 32 == i; k++) m->col[at++] = (int)(key[k] & 0xffffffff);
    m->col[at++] = (int)i;
  }
  m->ptr[n] = (int)at;
  make_scalar(m);
  for (int i = 0; i < ipc->nnodes; i++) {
    tbIpcNodes* b = &ipc->nodes[i];
    const tbFemAssembly* s = &b->of.fem->assembly;
    for (int r = 0; r < b->of.fem->nnode; r++)
      for (int e = s->diag[r]; e < s->ptr[r + 1]; e++)
        b->slot[tb_fem_assembly_upper(s, r, e)] = slot_of(m, b->block + s->col[e], b->block + r);
  }
  TB_TRY(tb_ipc_analyse(ctx, ipc->cache, m));
  size_t room = tb_cholesky_scratch(m->factor, 1);
  if (room <= ipc->nscratch) return TB_OK;
  ipc->nscratch = room;
  ipc->scratch = TB_TAKE(ipc->arena, double, room);
  return ipc->scratch ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_ipc_matrix_prepare(tbContext* ctx, tbIpc* ipc, tbArray* pairs)
{
  tbIpcMatrix* m = &ipc->matrix;
  unique(pairs);
  if (!m->factor || !contains(&m->pair, pairs)) {
    if (!m->factor) {
      TB_TRY(add_bodies(ctx, ipc, &m->pair));
      for (int i = 0; i < ipc->nframe; i++) {
        uint64_t key = (uint64_t)(ipc->frame[i].block + 1) << 32 | (uint64_t)ipc->frame[i].block;
        TB_TRY(tb_array_push(ctx, &m->pair, &key, 1));
      }
    }
    TB_TRY(tb_array_push(ctx, &m->pair, pairs->data, pairs->count));
    unique(&m->pair);
    TB_TRY(make_pattern(ctx, ipc));
  }
  memset(m->scalar.val, 0, (size_t)m->scalar.ptr[3 * m->nblock] * sizeof(double));
  for (int i = 0; i < m->nblock; i++) {
    double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    if (ipc->held[i]) tb_ipc_matrix_add(m, i, i, one);
  }
  return TB_OK;
}

void tb_ipc_matrix_add_at(tbIpcMatrix* m, int row, int slot, const double block[9], bool transposed)
{
  int stride = 3 * (m->ptr[row + 1] - m->ptr[row]);
  double* to = m->scalar.val + m->scalar.ptr[3 * row] + 3 * (slot - m->ptr[row]);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) to[r * stride + c] += transposed ? block[3 * c + r] : block[3 * r + c];
}

void tb_ipc_matrix_add(tbIpcMatrix* m, int row, int col, const double block[9])
{
  tb_ipc_matrix_add_at(m, row, slot_of(m, row, col), block, false);
}

tbStatus tb_ipc_matrix_solve(tbContext* ctx, tbIpc* ipc, const tbVec3* rhs, tbVec3* x)
{
  tbStatus status = TB_ERROR_NUMERIC;
  tbIpcMatrix* m = &ipc->matrix;
  double most = ipc->exact ? 0 : MOST_SHIFT;
  for (double more = 0; status == TB_ERROR_NUMERIC && more <= most; more = more > 0 ? 1e3 * more : SHIFT) {
    for (int i = 0; more > 0 && i < 3 * m->nblock; i++) // a row ends with its diagonal block
      m->scalar.val[m->scalar.ptr[i + 1] - 3 + i % 3] *= 1 + more;
    status = tb_cholesky_factor(ctx, m->factor, m->scalar.val);
  }
  TB_TRY(status);
  return tb_cholesky_solve(ctx, ipc->matrix.factor, 1, &rhs->x, &x->x, ipc->scratch);
}

void tb_ipc_matrix_free(tbContext* ctx, tbIpcMatrix* m)
{
  tb_array_free(ctx, &m->pair);
  tb_arena_free(&m->arena);
}
