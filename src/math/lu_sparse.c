// SPDX-License-Identifier: Apache-2.0
// Multifrontal LU on a symmetrised pattern (Duff and Reid 1983; Liu, SIAM Review 34, 1992).
//
// The nodes are ordered to reduce fill, as for Cholesky on the pattern of A + Aᵀ. Neighbouring columns with
// (nearly) the same structure form a supernode. Its front is the dense matrix over its columns and the rows
// below them: the entries of A that fall there, plus what the children in the elimination tree have left.
// Eliminating its columns yields one piece of L and U and an update matrix for the parent. In postorder the
// update matrices are a stack.
//
// Rows are exchanged for pivots inside a supernode's own rows only, so that the structure, and with it all
// memory, is known beforehand (static pivoting; Li and Demmel 2003). A pivot that stays tiny is replaced, and
// the caller repairs by refinement. A dense A is one supernode: then this is LU with partial pivoting.
//
// Cost      that of the dense products; the constant of a front is a pass over its structure.
// Limits    a matrix that needs interchanges between supernodes loses accuracy; replaced pivots say so.
#include "base/simd.h"
#include "base/stop.h"
#include "math/lu_dense.h"
#include "math/lu_factor.h"

#include <math.h>
#include <string.h>

enum { ASK_EVERY = 256 }; // supernodes, whether to go on

tbStatus tb_lu_analyze(tbContext* ctx, int nodes, const int* row_adr, const int* ptr, const int* idx,
                       double max_bytes, tbLu** out)
{
  *out = NULL;
  tbLu* lu = TB_NEW(ctx, tbLu, 1);
  if (!lu) return TB_ERROR_MEMORY;
  tb_arena_init(&lu->memory, ctx);
  lu->nodes = nodes;
  lu->interrupt = ctx->interrupt;
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  tbStatus status = tb_lu_symbolic(ctx, lu, &temporary, row_adr, ptr, idx, max_bytes);
  tb_arena_free(&temporary);
  if (status != TB_OK) {
    tb_lu_free(ctx, lu);
    return status;
  }
  *out = lu;
  return TB_OK;
}

void tb_lu_free(tbContext* ctx, tbLu* lu)
{
  if (!lu) return;
  lu->memory.ctx = ctx;
  tb_arena_free(&lu->memory);
  tb_free(ctx, lu);
}

tbLuStats tb_lu_stats(const tbLu* lu) { return lu->stats; }

// The live rows of supernode s: those of its own nodes, then those below; place[] of each.
static void find_live(tbLu* lu, int s, const uint8_t* active)
{
  int *live = lu->live + lu->live_adr[s], count = 0;
  int own = lu->start[s + 1] - lu->start[s], below = (int)(lu->below[s + 1] - lu->below[s]);
  for (int k = 0; k < own + below; k++) {
    int node = k < own ? lu->node[lu->start[s] + k] : lu->below_node[lu->below[s] + (size_t)(k - own)];
    if (k == own) lu->pivots[s] = count;
    for (int i = lu->row_adr[node]; i < lu->row_adr[node + 1]; i++)
      if (!active || active[i]) lu->place[i] = count, live[count++] = i;
  }
  if (below == 0) lu->pivots[s] = count;
  lu->front[s] = count;
}

static int live_rows(const uint8_t* active, int row, int rows)
{
  int live = rows;
  for (int i = 0; active && i < rows; i++) live -= !active[row + i];
  return live;
}

// F += the blocks of A that s owns. Live rows of a node follow each other in the front.
static void add_entries(const tbLu* lu, int s, const size_t* val_adr, const double* val,
                        const uint8_t* active)
{
  int lead = lu->front[s];
  for (int e = lu->entry_ptr[lu->start[s]]; e < lu->entry_ptr[lu->start[s + 1]]; e++) {
    int row = lu->row_adr[lu->entry_row[e]], rows = tb_lu_node_rows(lu, lu->entry_row[e]);
    int col = lu->row_adr[lu->entry_col[e]], cols = tb_lu_node_rows(lu, lu->entry_col[e]);
    const double* block = val + val_adr[lu->entry[e]];
    int live_here = live_rows(active, row, rows), live_there = live_rows(active, col, cols);
    if (live_here == 0 || live_there == 0) continue;
    if (rows == 3 && cols == 3 && live_here == 3 && live_there == 3) {
      double* F = lu->work + (size_t)lu->place[row] * (size_t)lead + lu->place[col];
      for (int i = 0; i < 3; i++, F += lead)
        for (int j = 0; j < 3; j++) F[j] += block[3 * i + j];
      continue;
    }
    for (int i = 0; i < rows; i++) {
      if (active && !active[row + i]) continue;
      double* F = lu->work + (size_t)lu->place[row + i] * (size_t)lead;
      for (int j = 0; j < cols; j++)
        if (!active || active[col + j]) F[lu->place[col + j]] += block[i * cols + j];
    }
  }
}

// F += the update matrix that child c has left. Rows that follow each other in both are added together.
static void add_update(const tbLu* lu, int s, int c, const double* update)
{
  int lead = lu->front[s], rest = lu->front[c] - lu->pivots[c], runs = 0;
  const int* live = lu->live + lu->live_adr[c] + lu->pivots[c];
  int *from = lu->run, *to = lu->run + rest + 1;
  for (int j = 0; j < rest; j++)
    if (j == 0 || lu->place[live[j]] != lu->place[live[j - 1]] + 1)
      from[runs] = j, to[runs++] = lu->place[live[j]];
  from[runs] = rest;
  for (int i = 0; i < rest; i++, update += rest) {
    double* F = lu->work + (size_t)lu->place[live[i]] * (size_t)lead;
    for (int r = 0; r < runs; r++) {
      const double* x = update + from[r];
      double* y = F + to[r];
      for (int j = 0, count = from[r + 1] - from[r]; j < count; j++) y[j] += x[j];
    }
  }
}

// Moves the eliminated front from the working square to where it is kept.
static double* keep_front(tbLu* lu, int s, double* top)
{
  size_t p = (size_t)lu->pivots[s], f = (size_t)lu->front[s];
  memcpy(lu->factor + lu->upper[s], lu->work, p * f * sizeof *top);
  double* L = lu->factor + lu->lower[s];
  for (size_t i = p; i < f; i++, L += p) memcpy(L, lu->work + i * f, p * sizeof *L);
  for (size_t i = p; i < f; i++, top += f - p) memcpy(top, lu->work + i * f + p, (f - p) * sizeof *top);
  return top;
}

// The largest modulus among n numbers and `largest`; not a number where one of them is not finite.
static double largest_of(size_t n, const double* x, double largest)
{
  tb4d most = tb4_set1(largest), odd = tb4_set1(0);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    tb4d size = tb4_abs(tb4_load(x + i));
    most = tb4_max(most, size);
    odd = tb4_add(odd, tb4_sub(size, size));
  }
  double most_of[4], left = tb4_sum(odd);
  tb4_store(most_of, most);
  for (; i < n; i++) {
    double size = fabs(x[i]);
    most_of[0] = size > most_of[0] ? size : most_of[0];
    left += size - size;
  }
  for (int j = 1; j < 4; j++) most_of[0] = most_of[j] > most_of[0] ? most_of[j] : most_of[0];
  return most_of[0] + left;
}

// The largest entry in an active row; infinite where one is not finite.
static double largest_entry(const tbLu* lu, const size_t* val_adr, const double* val, const uint8_t* active)
{
  double largest = 0;
  for (int e = 0; e < lu->entry_ptr[lu->nodes] && isfinite(largest); e++) {
    const double* block = val + val_adr[lu->entry[e]];
    int row = lu->row_adr[lu->entry_row[e]], rows = tb_lu_node_rows(lu, lu->entry_row[e]);
    size_t cols = (size_t)tb_lu_node_rows(lu, lu->entry_col[e]);
    int live = live_rows(active, row, rows);
    if (live == rows) largest = largest_of((size_t)rows * cols, block, largest);
    for (int i = 0; live > 0 && live < rows && i < rows; i++)
      if (active[row + i]) largest = largest_of(cols, block + (size_t)i * cols, largest);
  }
  return isfinite(largest) ? largest : INFINITY;
}

int tb_lu_factor(tbLu* lu, tbThreads* threads, const size_t* val_adr, const double* val,
                 const uint8_t* active, double tiny)
{
  double largest = largest_entry(lu, val_adr, val, active);
  if (isinf(largest)) return -1;
  tiny = (tiny > 0 ? tiny : 1e-14) * (largest > 0 ? largest : 1);

  double* top = lu->stack; // past the last update matrix
  int replaced = 0;
  for (int s = 0; s < lu->supernodes; s++) {
    if (s % ASK_EVERY == 0 && tb_asked(lu->interrupt)) return -1;
    find_live(lu, s, active);
    size_t f = (size_t)lu->front[s];
    memset(lu->work, 0, f * f * sizeof *lu->work);
    // In postorder the children's matrices are the topmost ones, the last child's on top.
    for (int c = lu->last_child[s]; c >= 0; c = lu->previous[c]) {
      size_t rest = (size_t)(lu->front[c] - lu->pivots[c]);
      top -= rest * rest;
      add_update(lu, s, c, top);
    }
    add_entries(lu, s, val_adr, val, active);
    int here = tb_dense_eliminate(threads, lu->interrupt, (int)f, lu->pivots[s], lu->work, (int)f,
                                  lu->swap + lu->swap_adr[s], tiny);
    if (here < 0) return -1;
    replaced += here;
    top = keep_front(lu, s, top);
  }
  return replaced;
}

static double dot(int n, const double* a, const double* b)
{
  tb4d even = tb4_set1(0), odd = even;
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    even = tb4_add(even, tb4_mul(tb4_load(a + i), tb4_load(b + i)));
    odd = tb4_add(odd, tb4_mul(tb4_load(a + i + 4), tb4_load(b + i + 4)));
  }
  double sum = tb4_sum(tb4_add(even, odd));
  for (; i < n; i++) sum += a[i] * b[i];
  return sum;
}

void tb_lu_solve(tbLu* lu, double* x)
{
  double* y = lu->gather;
  for (int s = 0; s < lu->supernodes; s++) { // L y = P b
    int p = lu->pivots[s], f = lu->front[s];
    const int *live = lu->live + lu->live_adr[s], *swap = lu->swap + lu->swap_adr[s];
    for (int i = 0; i < p; i++) y[i] = x[live[i]];
    for (int i = 0; i < p; i++) {
      double t = y[i];
      y[i] = y[swap[i]], y[swap[i]] = t;
    }
    const double* L = lu->factor + lu->upper[s];
    for (int i = 0; i < p; i++, L += f) y[i] -= dot(i, L, y);
    for (int i = 0; i < p; i++) x[live[i]] = y[i];
    L = lu->factor + lu->lower[s];
    for (int i = p; i < f; i++, L += p) x[live[i]] -= dot(p, L, y);
  }
  for (int s = lu->supernodes - 1; s >= 0; s--) { // U x = y
    int p = lu->pivots[s], f = lu->front[s];
    const int* live = lu->live + lu->live_adr[s];
    for (int i = 0; i < f; i++) y[i] = x[live[i]];
    for (int i = p - 1; i >= 0; i--) {
      const double* U = lu->factor + lu->upper[s] + (size_t)i * (size_t)f;
      x[live[i]] = y[i] = (y[i] - dot(f - i - 1, U + i + 1, y + i + 1)) / U[i];
    }
  }
}
