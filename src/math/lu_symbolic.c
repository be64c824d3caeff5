// SPDX-License-Identifier: Apache-2.0
// From the pattern of a block matrix to the structure of its LU: ordering, supernodes, rows, places.
//
// Everything is that of Cholesky on the pattern of A + Aᵀ, with nodes for columns: a node's rows are full, so
// fill is decided between nodes.
#include "math/cholesky_factor.h"
#include "math/lu_factor.h"

#include <string.h>

#define KEEP(type, count) TB_TAKE(&lu->memory, type, count)

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

// Cuts the positions into supernodes. A column joins its only neighbour's supernode when it has the same rows
// below, or when the zeros this stores are few.
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

// Row i is under every supernode on the path from those where A's row i is nonzero up to its own. Visiting
// the rows in order leaves the lists sorted. With `at` null the rows are counted in below[s + 1].
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
        if (at) lu->below_node[at[s]++] = lu->node[i];
        else lu->below[s + 1]++;
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
static tbStatus place_entries(tbLu* lu, tbArena* temporary, const int* ptr, const int* idx,
                              const int* position)
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
    for (int k = lu->start[s]; k < lu->start[s + 1]; k++) p += tb_lu_node_rows(lu, lu->node[k]);
    f = p;
    for (size_t k = lu->below[s]; k < lu->below[s + 1]; k++) f += tb_lu_node_rows(lu, lu->below_node[k]);
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
    return tb_fail(lu->memory.ctx, TB_ERROR_UNSUPPORTED, "the factor of %d rows would need %.3g bytes",
                   lu->rows, lu->stats.bytes);
  lu->live = KEEP(int, live);
  lu->swap = KEEP(int, (size_t)lu->rows);
  lu->place = KEEP(int, (size_t)lu->rows);
  lu->run = KEEP(int, 2 * (size_t)largest + 2);
  lu->factor = KEEP(double, (size_t)factor);
  lu->work = KEEP(double, (size_t)work);
  lu->stack = KEEP(double, (size_t)deepest);
  lu->gather = KEEP(double, (size_t)largest);
  return lu->live && lu->swap && lu->place && lu->run && lu->factor && lu->work && lu->stack && lu->gather
             ? TB_OK
             : TB_ERROR_MEMORY;
}

tbStatus tb_lu_symbolic(tbContext* ctx, tbLu* lu, tbArena* temporary, const int* row_adr, const int* ptr,
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
  // Tribo's own ordering, whatever the machine has installed: rigid scenes then end in the same bits
  // everywhere.
  TB_TRY(tb_order(ctx, lu->nodes, A.ptr, A.idx, TB_ORDERING_DEGREE, lu->node));
  for (int k = 0; k < lu->nodes; k++) position[lu->node[k]] = k;
  tb_elimination_tree(&A, lu->node, position, &tree, work);
  TB_TRY(find_structure(lu, temporary, &A, position, &tree));
  TB_TRY(place_entries(lu, temporary, ptr, idx, position));
  return lay_out(lu, temporary, max_bytes);
}

void tb_lu_watch(tbLu* lu, tbInterrupt interrupt)
{
  if (lu) lu->interrupt = interrupt;
}
