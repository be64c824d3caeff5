// Multifrontal LU on a symmetrised pattern (Duff and Reid 1983; Liu, SIAM Review 34, 1992).
//
// The nodes are ordered to reduce fill, as for Cholesky on the pattern of A + Aᵀ. Neighbouring columns with
// (nearly) the same structure form a supernode. Its front is the dense matrix over its columns and the rows below
// them: the entries of A that fall there, plus what the children in the elimination tree have left. Eliminating its
// columns yields one piece of L and U and an update matrix for the parent. In postorder the update matrices are a
// stack.
//
// Rows are exchanged for pivots inside a supernode's own rows only, so that the structure, and with it all memory,
// is known beforehand (static pivoting; Li and Demmel 2003). A pivot that stays tiny is replaced, and the caller
// repairs by refinement. A dense A is one supernode: then this is LU with partial pivoting.
//
// Cost      that of the dense products; the constant of a front is a pass over its structure.
// Limits    a matrix that needs interchanges between supernodes loses accuracy and says so by replaced pivots.
#include "math/lu_sparse.h"
#include "base/simd.h"
#include "math/cholesky_factor.h"
#include "math/lu_dense.h"

#include <math.h>
#include <string.h>

struct tbLu {
  tbArena memory;
  int nodes, rows, supernodes;
  int* row_adr;     // (nodes+1)
  int* node;        // the caller's node of position k                    (nodes)
  int* start;       // first position of a supernode                      (supernodes+1)
  size_t* below;    // first of its nodes in below_node                   (supernodes+1)
  int* below_node;  // nodes under the pivots, by position                (below[supernodes])
  int* parent;      // (supernodes)
  int *last_child, *previous; // a supernode's children from the last to the first, −1 ends   (supernodes)
  int* entry_ptr;   // blocks of A that a position owns                   (nodes+1)
  int* entry;       // … the caller's number of the block,                (entry_ptr[nodes])
  int *entry_row, *entry_col; // … its nodes

  // the factor: live rows are the active ones
  size_t* live_adr; // first of the supernode's live rows in live         (supernodes)
  int* live;        // the caller's rows of the front, pivots first
  int *pivots, *front; // live pivots, live rows in all                   (supernodes)
  int* swap;        // (rows)
  int* swap_adr;    // (supernodes)
  size_t* upper;    // pivots × front: L₁₁ \ U₁₁, U₁₂                     (supernodes)
  size_t* lower;    // (front − pivots) × pivots: L₂₁                     (supernodes)
  double* factor;

  double *work, *stack, *gather; // one front, update matrices, one front's unknowns
  int* place;                    // of a row in the current front         (rows)
  tbLuStats stats;
};

#define KEEP(type, count) TB_TAKE(&lu->memory, type, count)

static int node_rows(const tbLu* lu, int k) { return lu->row_adr[k + 1] - lu->row_adr[k]; }

// The pattern of A + Aᵀ without its diagonal.
static bool symmetrise(tbArena* arena, int n, const int* ptr, const int* idx, tbPattern* out)
{
  size_t entries = (size_t)ptr[n];
  int *count = TB_TAKE(arena, int, (size_t)n + 1), *mark = TB_TAKE(arena, int, (size_t)n);
  int *back_ptr = TB_TAKE(arena, int, (size_t)n + 2), *back = TB_TAKE(arena, int, entries);
  int *sum_ptr = TB_TAKE(arena, int, (size_t)n + 1), *sum = TB_TAKE(arena, int, 2 * entries);
  *out = (tbPattern){n, sum_ptr, sum};
  if (!count || !mark || !back_ptr || !back || !sum_ptr || !sum) return false;
  for (size_t e = 0; e < entries; e++) back_ptr[idx[e] + 2]++;
  for (int i = 0; i < n; i++) back_ptr[i + 2] += back_ptr[i + 1];
  for (int i = 0; i < n; i++)
    for (int e = ptr[i]; e < ptr[i + 1]; e++) back[back_ptr[idx[e] + 1]++] = i;
  for (int i = 0; i < n; i++) mark[i] = -1;
  int used = 0;
  for (int i = 0; i < n; i++) {
    mark[i] = i;
    for (int e = ptr[i]; e < ptr[i + 1]; e++)
      if (mark[idx[e]] != i) mark[idx[e]] = i, sum[used++] = idx[e];
    for (int e = back_ptr[i]; e < back_ptr[i + 1]; e++)
      if (mark[back[e]] != i) mark[back[e]] = i, sum[used++] = back[e];
    sum_ptr[i + 1] = used;
  }
  return true;
}

// Cuts the positions into supernodes. A column joins its only neighbour's supernode when it has the same rows below,
// or when the zeros this stores are few.
static void find_supernodes(tbLu* lu, const tbEliminationTree* tree)
{
  double zeros = 0, wide = 0;
  for (int k = 0; k < lu->nodes; k++) {
    bool chained = k > 0 && tree->parent[k - 1] == k;
    double added = chained ? wide * (tree->count[k] + 1 - tree->count[k - 1]) : 0;
    double stored = (wide + 1) * (tree->count[k] + wide);
    if (chained && (added == 0 || zeros + added <= (wide < 8 ? 0.3 : 0.1) * stored)) {
      zeros += added;
      wide++;
    } else {
      lu->start[lu->supernodes++] = k;
      zeros = 0, wide = 1;
    }
  }
  lu->start[lu->supernodes] = lu->nodes;
}

// Row i is under every supernode on the path from those where A's row i is nonzero up to its own. Visiting the rows
// in order leaves the lists sorted. With `at` null the rows are counted in below[s + 1].
static void walk_rows(tbLu* lu, const tbPattern* A, const int* position, const int* of, int* mark, size_t* at)
{
  for (int s = 0; s < lu->supernodes; s++) mark[s] = -1;
  for (int i = 0; i < lu->nodes; i++) {
    int own = of[i], node = lu->node[i];
    for (int e = A->ptr[node]; e < A->ptr[node + 1]; e++) {
      int j = position[A->idx[e]];
      if (j >= i) continue;
      for (int s = of[j]; s != own && mark[s] != i; s = lu->parent[s]) {
        mark[s] = i;
        if (at)
          lu->below_node[at[s]++] = lu->node[i];
        else
          lu->below[s + 1]++;
      }
    }
  }
}

static tbStatus find_structure(tbLu* lu, tbArena* temporary, const tbPattern* A, const int* position,
                               const tbEliminationTree* tree)
{
  size_t n = (size_t)lu->nodes;
  int *of = TB_TAKE(temporary, int, n), *mark = TB_TAKE(temporary, int, n);
  lu->start = KEEP(int, n + 1);
  lu->parent = KEEP(int, n);
  lu->last_child = KEEP(int, n);
  lu->previous = KEEP(int, n);
  if (!of || !mark || !lu->start || !lu->parent || !lu->last_child || !lu->previous) return TB_ERROR_MEMORY;
  find_supernodes(lu, tree);
  for (int s = 0; s < lu->supernodes; s++)
    for (int k = lu->start[s]; k < lu->start[s + 1]; k++) of[k] = s;
  for (int s = 0; s < lu->supernodes; s++) lu->last_child[s] = -1;
  for (int s = 0; s < lu->supernodes; s++) {
    int up = tree->parent[lu->start[s + 1] - 1];
    lu->parent[s] = up < 0 ? -1 : of[up];
    if (up < 0) continue;
    lu->previous[s] = lu->last_child[of[up]];
    lu->last_child[of[up]] = s;
  }
  lu->below = KEEP(size_t, (size_t)lu->supernodes + 1);
  size_t* at = TB_TAKE(temporary, size_t, (size_t)lu->supernodes);
  if (!lu->below || !at) return TB_ERROR_MEMORY;
  walk_rows(lu, A, position, of, mark, NULL);
  for (int s = 0; s < lu->supernodes; s++) {
    at[s] = lu->below[s];
    lu->below[s + 1] += lu->below[s];
  }
  lu->below_node = KEEP(int, lu->below[lu->supernodes]);
  if (!lu->below_node) return TB_ERROR_MEMORY;
  walk_rows(lu, A, position, of, mark, at);
  return TB_OK;
}

// Every block of A belongs to the earlier of its two nodes.
static tbStatus place_entries(tbLu* lu, tbArena* temporary, const int* ptr, const int* idx, const int* position)
{
  size_t entries = (size_t)ptr[lu->nodes];
  int* at = TB_TAKE(temporary, int, (size_t)lu->nodes);
  lu->entry_ptr = KEEP(int, (size_t)lu->nodes + 1);
  lu->entry = KEEP(int, entries);
  lu->entry_row = KEEP(int, entries);
  lu->entry_col = KEEP(int, entries);
  if (!at || !lu->entry_ptr || !lu->entry || !lu->entry_row || !lu->entry_col) return TB_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < lu->nodes; i++)
      for (int e = ptr[i]; e < ptr[i + 1]; e++) {
        int a = position[i], b = position[idx[e]], owner = a < b ? a : b;
        if (pass == 0) {
          lu->entry_ptr[owner + 1]++;
          continue;
        }
        int to = at[owner]++;
        lu->entry[to] = e, lu->entry_row[to] = i, lu->entry_col[to] = idx[e];
      }
    if (pass == 0)
      for (int k = 0; k < lu->nodes; k++) at[k] = lu->entry_ptr[k], lu->entry_ptr[k + 1] += lu->entry_ptr[k];
  }
  return TB_OK;
}

// Places and sizes of everything the numeric phase needs, when all rows are active.
static tbStatus lay_out(tbLu* lu, tbArena* temporary, double max_bytes)
{
  size_t count = (size_t)lu->supernodes, live = 0, rows = 0;
  double factor = 0, deepest = 0, now = 0, largest = 0, flops = 0;
  double* update = TB_TAKE(temporary, double, count); // sizes of update matrices
  lu->live_adr = KEEP(size_t, count), lu->upper = KEEP(size_t, count), lu->lower = KEEP(size_t, count);
  lu->pivots = KEEP(int, count), lu->front = KEEP(int, count), lu->swap_adr = KEEP(int, count);
  if (!update || !lu->live_adr || !lu->upper || !lu->lower || !lu->pivots || !lu->front || !lu->swap_adr)
    return TB_ERROR_MEMORY;
  for (int s = 0; s < lu->supernodes; s++) {
    double p = 0, f = 0;
    for (int k = lu->start[s]; k < lu->start[s + 1]; k++) p += node_rows(lu, lu->node[k]);
    f = p;
    for (size_t k = lu->below[s]; k < lu->below[s + 1]; k++) f += node_rows(lu, lu->below_node[k]);
    lu->swap_adr[s] = (int)rows;
    rows += (size_t)p;
    lu->live_adr[s] = live;
    live += (size_t)f;
    lu->upper[s] = (size_t)factor;
    lu->lower[s] = (size_t)(factor + p * f);
    factor += p * f + p * (f - p);
    largest = f > largest ? f : largest;
    for (int c = lu->last_child[s]; c >= 0; c = lu->previous[c]) now -= update[c];
    now += update[s] = (f - p) * (f - p);
    deepest = now > deepest ? now : deepest;
    flops += 2 * (f * f * p - f * p * p + p * p * p / 3);
  }
  double work = largest * largest;
  lu->stats = (tbLuStats){lu->rows, lu->supernodes, factor, flops, 8 * (factor + work + deepest)};
  if (max_bytes > 0 && lu->stats.bytes > max_bytes)
    return tb_fail(lu->memory.ctx, TB_ERROR_UNSUPPORTED, "the factor of %d rows would need %.3g bytes", lu->rows,
                   lu->stats.bytes);
  lu->live = KEEP(int, live);
  lu->swap = KEEP(int, (size_t)lu->rows);
  lu->place = KEEP(int, (size_t)lu->rows);
  lu->factor = KEEP(double, (size_t)factor);
  lu->work = KEEP(double, (size_t)work);
  lu->stack = KEEP(double, (size_t)deepest);
  lu->gather = KEEP(double, (size_t)largest);
  return lu->live && lu->swap && lu->place && lu->factor && lu->work && lu->stack && lu->gather ? TB_OK
                                                                                                 : TB_ERROR_MEMORY;
}

static tbStatus analyze(tbContext* ctx, tbLu* lu, tbArena* temporary, const int* row_adr, const int* ptr,
                        const int* idx, double max_bytes)
{
  size_t n = (size_t)lu->nodes;
  tbPattern A;
  int *position = TB_TAKE(temporary, int, n), *work = TB_TAKE(temporary, int, 4 * n);
  tbEliminationTree tree = {TB_TAKE(temporary, int, n), TB_TAKE(temporary, int, n)};
  lu->row_adr = KEEP(int, n + 1);
  lu->node = KEEP(int, n);
  if (!position || !work || !tree.parent || !tree.count || !lu->row_adr || !lu->node) return TB_ERROR_MEMORY;
  memcpy(lu->row_adr, row_adr, (n + 1) * sizeof *row_adr);
  lu->rows = row_adr[n];
  if (!symmetrise(temporary, lu->nodes, ptr, idx, &A)) return TB_ERROR_MEMORY;
  TB_TRY(tb_order(ctx, lu->nodes, A.ptr, A.idx, TB_ORDERING_AUTO, lu->node));
  for (int k = 0; k < lu->nodes; k++) position[lu->node[k]] = k;
  tb_elimination_tree(&A, lu->node, position, &tree, work);
  TB_TRY(find_structure(lu, temporary, &A, position, &tree));
  TB_TRY(place_entries(lu, temporary, ptr, idx, position));
  return lay_out(lu, temporary, max_bytes);
}

tbStatus tb_lu_analyze(tbContext* ctx, int nodes, const int* row_adr, const int* ptr, const int* idx,
                       double max_bytes, tbLu** out)
{
  *out = NULL;
  tbLu* lu = TB_NEW(ctx, tbLu, 1);
  if (!lu) return TB_ERROR_MEMORY;
  tb_arena_init(&lu->memory, ctx);
  lu->nodes = nodes;
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  tbStatus status = analyze(ctx, lu, &temporary, row_adr, ptr, idx, max_bytes);
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

// ---- numbers ----

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

// F += the blocks of A that s owns.
static void add_entries(const tbLu* lu, int s, const size_t* val_adr, const double* val, const uint8_t* active)
{
  int lead = lu->front[s];
  for (int e = lu->entry_ptr[lu->start[s]]; e < lu->entry_ptr[lu->start[s + 1]]; e++) {
    int row = lu->row_adr[lu->entry_row[e]], rows = node_rows(lu, lu->entry_row[e]);
    int col = lu->row_adr[lu->entry_col[e]], cols = node_rows(lu, lu->entry_col[e]);
    const double* block = val + val_adr[lu->entry[e]];
    for (int i = 0; i < rows; i++) {
      if (active && !active[row + i]) continue;
      double* F = lu->work + (size_t)lu->place[row + i] * (size_t)lead;
      for (int j = 0; j < cols; j++)
        if (!active || active[col + j]) F[lu->place[col + j]] += block[i * cols + j];
    }
  }
}

// F += the update matrix that child c has left.
static void add_update(const tbLu* lu, int s, int c, const double* update)
{
  int lead = lu->front[s], rest = lu->front[c] - lu->pivots[c];
  const int* live = lu->live + lu->live_adr[c] + lu->pivots[c];
  for (int i = 0; i < rest; i++, update += rest) {
    double* F = lu->work + (size_t)lu->place[live[i]] * (size_t)lead;
    for (int j = 0; j < rest; j++) F[lu->place[live[j]]] += update[j];
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

// The largest entry in an active row; infinite where one is not finite.
static double largest_entry(const tbLu* lu, const size_t* val_adr, const double* val, const uint8_t* active)
{
  double largest = 0;
  for (int e = 0; e < lu->entry_ptr[lu->nodes]; e++) {
    const double* block = val + val_adr[lu->entry[e]];
    int row = lu->row_adr[lu->entry_row[e]], cols = node_rows(lu, lu->entry_col[e]);
    for (int i = 0; i < node_rows(lu, lu->entry_row[e]); i++)
      for (int j = 0; j < cols && (!active || active[row + i]); j++) {
        double size = fabs(block[i * cols + j]);
        largest = size <= largest ? largest : isfinite(size) ? size : INFINITY;
      }
  }
  return largest;
}

int tb_lu_factor(tbLu* lu, tbThreads* threads, const size_t* val_adr, const double* val, const uint8_t* active,
                 double tiny)
{
  double largest = largest_entry(lu, val_adr, val, active);
  if (isinf(largest)) return -1;
  tiny = (tiny > 0 ? tiny : 1e-14) * (largest > 0 ? largest : 1);

  double* top = lu->stack; // past the last update matrix
  int replaced = 0;
  for (int s = 0; s < lu->supernodes; s++) {
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
    replaced += tb_dense_eliminate(threads, (int)f, lu->pivots[s], lu->work, (int)f, lu->swap + lu->swap_adr[s],
                                   tiny);
    top = keep_front(lu, s, top);
  }
  return replaced;
}

static double dot(int n, const double* a, const double* b)
{
  tb4d even = tb4_set1(0), odd = even;
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    even = tb4_fma(tb4_load(a + i), tb4_load(b + i), even);
    odd = tb4_fma(tb4_load(a + i + 4), tb4_load(b + i + 4), odd);
  }
  double sum = tb4_sum(tb4_add(even, odd));
  for (; i < n; i++) sum = tb_fma(a[i], b[i], sum);
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
