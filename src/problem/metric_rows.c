// SPDX-License-Identifier: Apache-2.0
// Products with a sparse metric block.
//
// Where rows and columns come in triples, as the nodes of finite elements make them, three rows share one
// list of columns and every third entry of it says all: a step takes a 3×3 block, one load of x and one of
// each row. Loads are four wide; what the fourth lane gathers from the neighbouring block is never looked at.
// At the end of x there is no neighbour, and the last block of columns is read by itself.
//
// Cost      nine multiplications per block; memory sets the pace, 8 bytes per entry and an index for every
// three.
#include "base/simd.h"
#include "problem/metric.h"

static inline tb4d load3(const double* p)
{
  double three[4] = {p[0], p[1], p[2], 0};
  return tb4_load(three);
}

static inline void store3(double* y, tb4d a)
{
  double lane[4];
  tb4_store(lane, a);
  *y = (lane[0] + lane[1]) + lane[2];
}

static void triples(const tbMetricBlock* b, int begin, int end, const double* x, double* y)
{
  for (int i = begin; i < end; i += 3) {
    int first = b->ptr[i], count = b->ptr[i + 1] - first, e = 0;
    const int* col = b->col + first;
    const double *u = b->value + first, *v = u + count, *w = v + count;
    tb4d su = tb4_set1(0), sv = su, sw = su;
    bool at_the_end = count > 0 && col[count - 1] == b->size - 1;
    for (int inner = at_the_end ? count - 3 : count; e < inner; e += 3) {
      tb4d s = tb4_load(x + col[e]);
      su = tb4_add(su, tb4_mul(tb4_load(u + e), s));
      sv = tb4_add(sv, tb4_mul(tb4_load(v + e), s));
      sw = tb4_add(sw, tb4_mul(tb4_load(w + e), s));
    }
    if (at_the_end) {
      tb4d s = load3(x + col[e]);
      su = tb4_add(su, tb4_mul(load3(u + e), s));
      sv = tb4_add(sv, tb4_mul(load3(v + e), s));
      sw = tb4_add(sw, tb4_mul(load3(w + e), s));
    }
    store3(y + i, su);
    store3(y + i + 1, sv);
    store3(y + i + 2, sw);
  }
}

void tb_metric_rows(const tbMetricBlock* b, int begin, int end, const double* x, double* y)
{
  if (b->unit == 3) {
    triples(b, begin, end, x, y);
    return;
  }
  for (int i = begin; i < end; i++) {
    double sum = 0;
    for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) sum += b->value[e] * x[b->col[e]];
    y[i] = sum;
  }
}
