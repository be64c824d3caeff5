// SPDX-License-Identifier: Apache-2.0
#include "descent/line_search.h"

#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 16, DOUBLINGS = 10, TRIALS = 90 };
static const double FLAT = 1e-2; // of the slope at the start: a minimum
static const double ARMIJO = 1e-4;
static const double ROUNDING = 1e-16; // of the sums of potentials

tbStatus tb_line_search_begin(tbArena* arena, const tbProblem* p, tbLineSearch* s)
{
  size_t n = (size_t)p->ndof, rows = (size_t)p->nrow;
  s->product = TB_TAKE(arena, double, n);
  s->turn = TB_TAKE(arena, double, rows), s->at = TB_TAKE(arena, double, rows);
  s->impulse = TB_TAKE(arena, double, rows);
  return s->product && s->turn && s->at && s->impulse ? TB_OK : TB_ERROR_MEMORY;
}

// g along the line: inertia's parabola, and what the quadratic model says of all of it.
typedef struct {
  double slope, bend;                 // of the model
  double inertia_slope, inertia_bend; // of inertia alone
} Line;

static Line model_of(const tbDescent* d, tbThreads* threads, const double* gradient, const double* p0,
                     tbLineSearch* s)
{
  const tbRelaxed* r = d->relaxed;
  const tbProblem* p = r->problem;
  Line line = {0};
  memset(s->product, 0, (size_t)p->ndof * sizeof *s->product);
  for (int b = 0; b < p->nblock; b++)
    tb_metric_multiply_add(&p->block[b], p0 + p->block[b].dof, s->product + p->block[b].dof);
  for (int i = 0; i < p->ndof; i++) {
    line.slope += gradient[i] * p0[i];
    line.inertia_slope += (d->v[i] - p->v_free[i]) * s->product[i];
    line.inertia_bend += p0[i] * s->product[i];
  }
  tb_relaxed_turns(r, threads, p0, s->turn);
  line.bend = line.inertia_bend;
  for (int k = 0; k < p->ncontact; k++) {
    int at = p->row_adr[k], rows = p->row_adr[k + 1] - at;
    const double* D = d->D + r->d_adr[k];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) line.bend += s->turn[at + i] * D[i * rows + j] * s->turn[at + j];
  }
  return line;
}

double tb_line_search(const tbDescent* d, tbThreads* threads, const double* gradient, const double* direction,
                      tbLineSearch* s)
{
  const tbRelaxed* r = d->relaxed;
  int rows = r->problem->nrow;
  Line line = model_of(d, threads, gradient, direction, s);
  if (!(line.slope < 0) || !(line.bend > 0)) return 0;
  double start = tb_relaxed_impulses(r, threads, d->u, d->lambda, s->impulse, NULL),
         a = -line.slope / line.bend;
  for (int k = 0; k < HALVINGS; k++, a *= 0.5) {
    for (int i = 0; i < rows; i++) s->at[i] = d->u[i] + a * s->turn[i];
    double end = tb_relaxed_impulses(r, threads, s->at, d->lambda, s->impulse, NULL);
    double change = end - start + a * line.inertia_slope + 0.5 * a * a * line.inertia_bend;
    if (change <= ARMIJO * a * line.slope + ROUNDING * (fabs(start) + fabs(end))) break;
  }
  return a;
}

// Slope of g along the line at a, friction's limits held.
static double slope_at(const tbDescent* d, tbThreads* threads, const Line* line, double a, tbLineSearch* s)
{
  const tbRelaxed* r = d->relaxed;
  int rows = r->problem->nrow;
  for (int i = 0; i < rows; i++) s->at[i] = d->u[i] + a * s->turn[i];
  tb_relaxed_impulses(r, threads, s->at, d->lambda, s->impulse, NULL);
  double sum = line->inertia_slope + a * line->inertia_bend;
  for (int i = 0; i < rows; i++) sum -= s->impulse[i] * s->turn[i];
  return sum;
}

double tb_line_minimum(const tbDescent* d, tbThreads* threads, const double* gradient,
                       const double* direction, tbLineSearch* s)
{
  Line line = model_of(d, threads, gradient, direction, s);
  if (!(line.slope < 0) || !(line.bend > 0)) return 0;
  double low = 0, low_slope = line.slope, high = -line.slope / line.bend;
  double high_slope = slope_at(d, threads, &line, high, s), flat = FLAT * fabs(line.slope);
  for (int k = 0; k < DOUBLINGS && high_slope < -flat; k++) {
    low = high, low_slope = high_slope, high *= 2;
    high_slope = slope_at(d, threads, &line, high, s);
  }
  if (!(high_slope > flat)) return isfinite(high_slope) ? high : 0;
  double a = low;
  for (int k = 0; k < TRIALS; k++) { // between them the slope changes its sign: its secant, or the middle
    a = k % 3 == 2 ? 0.5 * (low + high) : low - low_slope * (high - low) / (high_slope - low_slope);
    double slope = slope_at(d, threads, &line, a, s);
    if (fabs(slope) <= flat) break;
    if (slope < 0) low = a, low_slope = slope;
    else high = a, high_slope = slope;
  }
  return a;
}
