// SPDX-License-Identifier: Apache-2.0
#include "descent/descend.h"
#include "problem/metric.h"

#include <string.h>

static double objective(const tbDescent* d, tbThreads* threads, double* work)
{
  return tb_descent_evaluate(d, threads) + tb_relaxed_inertia(d->relaxed, threads, d->v, work);
}

tbStatus tb_descent_start(tbContext* ctx, tbArena* arena, const double* lambda, tbDescent* d)
{
  const tbProblem* p = d->relaxed->problem;
  size_t n = (size_t)p->ndof, room = 0;
  for (int b = 0; b < p->nblock; b++) room += tb_metric_workspace(&p->block[b]);
  double* work = TB_TAKE(arena, double, 2 * n);
  double* push = TB_TAKE(arena, double, n);
  double* space = TB_TAKE(arena, double, room);
  if (!work || !push || !space) return TB_ERROR_MEMORY;
  memcpy(d->v, p->v_free, n * sizeof *d->v);
  double cold = objective(d, ctx->threads, work);
  tb_relaxed_gradient(d->relaxed, ctx->threads, p->v_free, lambda, work, push); // −Jᵀλ
  for (int b = 0; b < p->nblock; b++)
    tb_metric_solve(&p->block[b], ctx->threads, push + p->block[b].dof, space);
  for (size_t i = 0; i < n; i++) d->v[i] = p->v_free[i] - push[i];
  if (!(objective(d, ctx->threads, work) < cold)) memcpy(d->v, p->v_free, n * sizeof *d->v);
  return TB_OK;
}
