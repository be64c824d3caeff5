// SPDX-License-Identifier: Apache-2.0
#include "descent/line_search.h"

#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 16 };
static const double ARMIJO = 1e-4;
static const double ROUNDING = 1e-16; // of the sums of potentials

tbStatus tb_line_search_begin(tbArena* arena, const tbProblem* p, tbLineSearch* s)
{
  size_t n = (size_t)p->ndof, rows = (size_t)p->nrow;
  s->product = TB_TAKE(arena, double, n), s->end = TB_TAKE(arena, double, n);
  s->turn = TB_TAKE(arena, double, rows), s->at = TB_TAKE(arena, double, rows);
  s->impulse = TB_TAKE(arena, double, rows);
  return s->product && s->end && s->turn && s->at && s->impulse ? TB_OK : TB_ERROR_MEMORY;
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
    s->end[i] = d->v[i] + p0[i];
  }
  tb_relaxed_velocities(r, threads, s->end, s->turn);
  for (int i = 0; i < p->nrow; i++) s->turn[i] -= d->u[i];
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
