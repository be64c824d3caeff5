// SPDX-License-Identifier: Apache-2.0
// Whether it pays to factor a sparse block in every step, or to solve with it by conjugate gradients.
//
// In nanoseconds, as measured by bench/internal/cr_soft.c on one core: 30 GFlop/s while factoring; two
// triangular solves and their refinement per use of L, at the pace of memory; and conjugate gradients at 60
// iterations of 30 ns per row of a finite-element matrix. L may take 1 GB, and what is small is factored
// whatever the figures say.
//
// Finding out takes an ordering and the structure of L: for a solid of a few hundred thousand rows seconds,
// to learn what a look at its shape tells. Layers of nodes at equal distance from one end separate what lies
// before from what lies behind; nested dissection finds no separators much smaller than the widest layer
// where bodies are as thick as they are long, and the front of the first one, w nodes wide, is dense: (3w)³/3
// operations. All others together take several times as many (George 1973: some thirty for a cube).
#include "math/cholesky_inverse.h"
#include "problem/metric.h"

enum { SOLVES = 12, ITERATIONS = 60, SMALL = 3000 };
static const double OTHERS = 8; // times the operations of the first separator

static double by_iteration(double rows) { return SOLVES * ITERATIONS * 30.0 * rows; }

bool tb_metric_should_factor(const tbCholeskyStats* s)
{
  double by_factor = s->flops / 30 + SOLVES * 2.0 * (double)s->entries;
  return s->bytes <= TB_FACTOR_BYTES && (s->rows <= SMALL || by_factor <= by_iteration(s->rows));
}

// Breadth first from `start`: the widest layer, and the last node of all. layer: −1: not reached (nodes).
static int widest_layer(int nodes, const int* ptr, const int* col, int start, int* layer, int* queue,
                        int* last)
{
  for (int i = 0; i < nodes; i++) layer[i] = -1;
  int count = 1, widest = 1, begin = 0;
  queue[0] = start, layer[start] = 0;
  while (begin < count) {
    int end = count;
    if (end - begin > widest) widest = end - begin;
    for (int k = begin; k < end; k++)
      for (int e = ptr[queue[k]]; e < ptr[queue[k] + 1]; e++) {
        if (layer[col[e]] >= 0) continue;
        layer[col[e]] = layer[queue[k]] + 1;
        queue[count++] = col[e];
      }
    begin = end;
  }
  *last = queue[count - 1];
  return widest;
}

tbStatus tb_metric_is_too_large(tbContext* ctx, int nodes, const int* ptr, const int* col, bool* out)
{
  *out = false;
  if (3 * nodes <= SMALL) return TB_OK;
  int *layer = TB_NEW(ctx, int, (size_t)nodes), *queue = TB_NEW(ctx, int, (size_t)nodes), end;
  if (layer && queue) {
    widest_layer(nodes, ptr, col, 0, layer, queue, &end);
    double w = 3.0 * widest_layer(nodes, ptr, col, end, layer, queue, &end);
    *out = OTHERS * (w * w * w / 3) / 30 > 2 * by_iteration(3.0 * nodes);
  }
  tb_free(ctx, layer);
  tb_free(ctx, queue);
  return layer && queue ? TB_OK : TB_ERROR_MEMORY;
}

// Both sides are multiplications and additions: forward solves reach about half of L, and the entries of the
// inverse take twice the factor's work; half as fast, as small fronts go.
tbStatus tb_metric_invert(tbContext* ctx, tbArena* arena, int rows, tbMetricBlock* b)
{
  if (b->kind != TB_METRIC_SPARSE || !b->factor) return TB_OK;
  tbCholeskyStats stats = tb_cholesky_stats(b->factor);
  if (!(0.5 * rows * (double)stats.entries > 4 * stats.flops)) return TB_OK;
  tbSelectedInverse* inverse = TB_TAKE(arena, tbSelectedInverse, 1);
  if (!inverse) return TB_ERROR_MEMORY;
  b->inverse = inverse;
  return tb_selected_inverse(ctx, arena, b->factor, inverse);
}
