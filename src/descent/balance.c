// SPDX-License-Identifier: Apache-2.0
#include "descent/line_search.h"
#include "problem/metric.h"

#include "base/stop.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 10 };
static const double SAME = 100; // times `still`: impulses that change velocities by less are the same

typedef struct {
  double *gradient, *step, *work; // (ndof) each
  double *u, *raw, *clipped, *best;
  double* space;
  double least; // m/s
  tbLineSearch search;
} Rounds;

static tbStatus begin_rounds(tbArena* arena, const tbProblem* p, Rounds* r)
{
  size_t n = (size_t)p->ndof, rows = (size_t)p->nrow, room = 0;
  for (int b = 0; b < p->nblock; b++) room += tb_metric_workspace(&p->block[b]);
  *r = (Rounds){.least = INFINITY};
  r->gradient = TB_TAKE(arena, double, n), r->step = TB_TAKE(arena, double, n);
  r->work = TB_TAKE(arena, double, n), r->u = TB_TAKE(arena, double, rows);
  r->raw = TB_TAKE(arena, double, rows), r->clipped = TB_TAKE(arena, double, rows);
  r->best = TB_TAKE(arena, double, rows), r->space = TB_TAKE(arena, double, room);
  if (!r->gradient || !r->step || !r->work || !r->u || !r->raw || !r->clipped || !r->best || !r->space)
    return TB_ERROR_MEMORY;
  return tb_line_search_begin(arena, p, &r->search);
}

// raw = λ − D J δ, with J δ = u(v + δ) − u(v).
static void linear_impulses(const tbDescent* d, const double* before, Rounds* r)
{
  const tbProblem* p = d->relaxed->problem;
  for (int k = 0; k < p->ncontact; k++) {
    int at = p->row_adr[k], rows = p->row_adr[k + 1] - at;
    const double* D = d->D + d->relaxed->d_adr[k];
    for (int i = 0; i < rows; i++) {
      double sum = d->lambda[at + i];
      for (int j = 0; j < rows; j++) sum -= D[i * rows + j] * (r->u[at + j] - before[at + j]);
      r->raw[at + i] = sum;
    }
  }
}

// The largest entry of A⁻¹Jᵀ(x − y), m/s; x is overwritten.
static double apart(const tbDescent* d, tbThreads* threads, double* x, const double* y, Rounds* r)
{
  const tbProblem* p = d->relaxed->problem;
  double most = 0, *w = r->search.end;
  for (int i = 0; i < p->nrow; i++) x[i] -= y[i];
  tb_relaxed_gradient(d->relaxed, threads, p->v_free, x, r->work, w);
  for (int b = 0; b < p->nblock; b++) tb_metric_solve(&p->block[b], threads, w + p->block[b].dof, r->space);
  for (int i = 0; i < p->ndof; i++) most = fabs(w[i]) <= most ? most : fabs(w[i]); // a NaN stays
  return most;
}

// enough: clipping adds next to nothing to the velocities, and the impulses are those of the last round: the
// normal impulses that limit friction are its own.
static tbStatus balance_once(tbContext* ctx, tbDescent* d, tbHessian* hessian, Rounds* r, bool* enough)
{
  const tbProblem* p = d->relaxed->problem;
  size_t bytes = (size_t)p->nrow * sizeof *r->best;
  tb_relaxed_gradient(d->relaxed, ctx->threads, d->v, d->lambda, r->work, r->gradient);
  TB_TRY(tb_hessian_update(ctx, hessian, d->D));
  TB_TRY(tb_hessian_solve(ctx, hessian, r->gradient, r->step));
  for (int i = 0; i < p->ndof; i++) r->step[i] = -r->step[i], r->search.end[i] = d->v[i] + r->step[i];
  tb_relaxed_velocities(d->relaxed, ctx->threads, r->search.end, r->u);
  linear_impulses(d, d->u, r);
  double moved = apart(d, ctx->threads, r->clipped, r->raw, r); // of the last round, clipped
  memcpy(r->clipped, r->raw, bytes);
  tb_relaxed_clip(d->relaxed, r->clipped);
  double change = apart(d, ctx->threads, r->raw, r->clipped, r);
  if (change < r->least || change <= d->still) {
    r->least = change;
    memcpy(r->best, r->clipped, bytes);
  }
  *enough = !(change > d->still) && !(moved > SAME * d->still);
  double a = *enough ? 1 : tb_line_search(d, ctx->threads, r->gradient, r->step, &r->search);
  for (int i = 0; i < p->ndof; i++) d->v[i] += a * r->step[i];
  if (a == 0) *enough = true;
  return TB_OK;
}

tbStatus tb_descent_balance(tbContext* ctx, tbArena* arena, tbDescent* d)
{
  tbHessian hessian;
  Rounds r;
  bool enough = false;
  TB_TRY(begin_rounds(arena, d->relaxed->problem, &r));
  TB_TRY(tb_hessian_begin(ctx, arena, d->relaxed, d->cells, &hessian));
  tbStatus status = TB_OK;
  for (int k = 0; k < ROUNDS && status == TB_OK && !enough && (k == 0 || !tb_is_late(d->deadline)); k++) {
    if (k > 0) tb_descent_evaluate(d, ctx->threads);
    status = balance_once(ctx, d, &hessian, &r, &enough);
  }
  d->off = r.least;
  if (status == TB_OK) memcpy(d->lambda, r.best, (size_t)d->relaxed->problem->nrow * sizeof *r.best);
  tb_hessian_end(ctx, &hessian);
  return status;
}
