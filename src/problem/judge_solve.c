// SPDX-License-Identifier: Apache-2.0
#include "problem/judge_solve.h"

#include "base/threads.h"
#include "problem/judge.h"
#include "problem/metric.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Rows of r = A w.
typedef struct {
  const tbMetricBlock* block;
  const double* w;
  double* r;
} Rows;

static void multiply_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Rows* q = user;
  for (int i = begin; i < end; i++) {
    double sum = 0;
    for (int e = q->block->ptr[i]; e < q->block->ptr[i + 1]; e++)
      sum += q->block->value[e] * q->w[q->block->col[e]];
    q->r[i] = sum;
  }
}

static void multiply_block(const tbMetricBlock* block, tbThreads* threads, const double* w, double* r)
{
  if (block->kind == TB_METRIC_SPARSE) {
    tb_parallel_for(threads, block->size, TB_METRIC_PIECE, multiply_rows, &(Rows){block, w, r});
    return;
  }
  memset(r, 0, (size_t)block->size * sizeof *r);
  tb_metric_multiply_add(block, w, r);
}

// What rounding may leave of f − A w: a few units in the last place of |A| |w|, row by row.
static double rounding(const tbMetricBlock* block, const double* w, double largest)
{
  double sum = 0;
  for (int i = 0; i < block->size; i++) {
    double size = 0;
    if (block->kind == TB_METRIC_SPARSE)
      for (int e = block->ptr[i]; e < block->ptr[i + 1]; e++)
        size += fabs(block->value[e] * w[block->col[e]]);
    else
      for (int d = 0; d < block->size; d++) size += fabs(block->value[i * block->size + d] * w[d]);
    sum += size / largest * (size / largest);
  }
  return 8 * DBL_EPSILON * sqrt(sum);
}

// Whether A w = f, of which a share `most` may be left; r: A w on entry, f − A w on return. *left: the share.
static bool compare(const tbMetricBlock* block, const double* f, const double* w, double most, double* r,
                    double* left)
{
  double largest = 0, rest = 0, size = 0;
  *left = 0;
  for (int i = 0; i < block->size; i++) {
    if (!isfinite(r[i])) return false;
    double pushed = fabs(f[i]), met = fabs(r[i]);
    if (pushed > largest) largest = pushed;
    if (met > largest) largest = met;
  }
  for (int i = 0; i < block->size && largest > DBL_MIN * 0x1p60; i++) { // else they have faded to denormals
    double pushed = f[i] / largest, met = r[i] / largest;
    size += pushed * pushed + met * met;
    rest += (pushed - met) * (pushed - met);
  }
  for (int i = 0; i < block->size; i++) r[i] = f[i] - r[i];
  if (!(rest > 0)) return true;
  *left = sqrt(rest / size);
  return *left <= most || sqrt(rest) <= rounding(block, w, largest);
}

enum { REFINEMENTS = 4 };

bool tb_judge_solve(const tbMetricBlock* block, tbThreads* threads, tbInterrupt interrupt, double accuracy,
                    const double* f, double* w, double* r, double* room)
{
  double left, before = INFINITY;
  if (block->kind == TB_METRIC_SPARSE && !block->factor) {
    tb_metric_cg_from(interrupt, block, threads, accuracy, f, w, room);
    multiply_block(block, threads, w, r);
    return compare(block, f, w, 4 * accuracy, r, &left);
  }
  memcpy(w, f, (size_t)block->size * sizeof *w);
  tb_metric_solve(block, threads, w, room);
  if (block->kind == TB_METRIC_PARTICLE) return true;
  for (int pass = 0;; pass++) {
    multiply_block(block, threads, w, r);
    bool inverted = compare(block, f, w, fmax(accuracy, TB_JUDGE_SHARP), r, &left);
    bool enough = pass > 0 && inverted;
    if (enough || pass == REFINEMENTS || !(left < before)) return inverted;
    before = left / 2;
    tb_metric_solve(block, threads, r, room);
    for (int i = 0; i < block->size; i++) w[i] += r[i];
  }
}
