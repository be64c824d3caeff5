// SPDX-License-Identifier: Apache-2.0
// Primal descent (Macklin, Erleben, Müller, Chentanez, Jeschke and Kim 2020).
//
//   v⁺ = argmin ½ (v − v_free)ᵀ A (v − v_free) + Σ ψ_k(J_k v + b_k)         x⁺ = x + h v⁺
//
// with potentials in place of contact, friction and joints (src/descent/relaxed.h), by preconditioned descent
// (src/descent/descend.h) from the free velocities or, where that is lower, from those of the last step's
// impulses. The last iterate is then made to balance (src/descent/balance.c): its impulses are those that
// move the bodies, to rounding. Unbalanced, bodies have the velocities of the last iterate, as published; the
// report says what momentum the impulses leave unexplained.
//
// Cost      an iteration is linear in contacts; balancing factors A + JᵀDJ over the graph of bodies.
// Limits    insensitive to mass ratios, not to ratios of stiffness; contacts overlap by λ/(h k_n), and stick
//           with the slip λ/(h k_f).
#include "step/relaxed.h"

#include "descent/descend.h"
#include "problem/metric.h"

#include <string.h>

static const double STILL = 1e-3; // of the tolerance: an iteration that would change less ends them

static double objective(const tbDescent* d, tbThreads* threads, double* work)
{
  return tb_descent_evaluate(d, threads) + tb_relaxed_inertia(d->relaxed, threads, d->v, work);
}

// From v_free + A⁻¹Jᵀλ of the guess, if g is lower there than at v_free.
static tbStatus choose_start(tbContext* ctx, const tbRelaxedRun* run, tbDescent* d)
{
  const tbProblem* p = run->problem;
  size_t n = (size_t)p->ndof, room = 0;
  for (int b = 0; b < p->nblock; b++) room += tb_metric_workspace(&p->block[b]);
  double* work = TB_TAKE(run->arena, double, 2 * n);
  double* push = TB_TAKE(run->arena, double, n);
  double* space = TB_TAKE(run->arena, double, room);
  if (!work || !push || !space) return TB_ERROR_MEMORY;
  memcpy(d->v, p->v_free, n * sizeof *d->v);
  double cold = objective(d, ctx->threads, work);
  tb_relaxed_gradient(d->relaxed, ctx->threads, p->v_free, run->lambda, work, push); // −Jᵀλ
  for (int b = 0; b < p->nblock; b++)
    tb_metric_solve(&p->block[b], ctx->threads, push + p->block[b].dof, space);
  for (size_t i = 0; i < n; i++) d->v[i] = p->v_free[i] - push[i];
  if (objective(d, ctx->threads, work) < cold) return TB_OK;
  memcpy(d->v, p->v_free, n * sizeof *d->v);
  return TB_OK;
}

static tbStatus descend(tbContext* ctx, tbRelaxedRun* run)
{
  const tbStepOptions* o = run->options;
  tbRelaxed relaxed;
  tbCells cells;
  tbDescent d = {.options = o->descent, .iterations = o->iterations};
  d.still = STILL * o->solver.velocity_tolerance;
  TB_TRY(
      tb_relaxed_begin(run->arena, run->problem, &run->how, o->solver.model, o->solver.directions, &relaxed));
  TB_TRY(tb_cells_begin(run->arena, run->problem, &cells));
  TB_TRY(tb_descent_begin(run->arena, &relaxed, &cells, &d));
  TB_TRY(choose_start(ctx, run, &d));
  TB_TRY(tb_descent_run(ctx, run->arena, &d));
  run->iterations = d.used;
  if (o->descent.balanced) {
    TB_TRY(tb_descent_balance(ctx, run->arena, &d));
    run->off = d.off;
  } else {
    run->v = d.v;
  }
  memcpy(run->lambda, d.lambda, (size_t)run->problem->nrow * sizeof *d.lambda);
  return TB_OK;
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  return tb_relaxed_solve(ctx, w, o, descend, "primal", work, report);
}

const tbSchemeMethod tb_primal = {
    .prepare = tb_relaxed_prepare, .solve = solve, .advance = tb_semi_implicit_advance};
