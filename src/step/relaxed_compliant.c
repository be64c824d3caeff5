// SPDX-License-Identifier: Apache-2.0
// Quadratic potentials are a contact law with compliance:
//
//   λ = −κ u  within what the law allows   ⇔   law(u + λ/κ, λ)
//
// so the minimum of a relaxed problem is the solution of the same problem with 1/κ in the place of the
// compliances, and a solver that is made for heaps finds it where Newton's steps on the potentials go to and
// fro between contacts that open and close. From there a few of them make it exact. Potentials that are not
// quadratic begin there, too.
#include "step/relaxed.h"

#include "base/clock.h"
#include "base/stop.h"

#include <string.h>

static const double EXACT = 1e-2; // of the tolerance that is asked of the contact law

static bool takes_all(const tbProblem* p, const char* name, tbModel model)
{
  const tbSolver* solver = tb_solver_find(name);
  for (int k = 0; k < p->ncontact; k++)
    if (!(tb_solver_models(solver, (tbLaw)p->law[k]) & 1u << model)) return false;
  return true;
}

const char* tb_relaxed_solver(const tbProblem* p, tbModel model)
{
  return takes_all(p, "auto", model) ? "auto" : "bgs";
}

// Whether 1/κ says all of the potentials.
static bool is_quadratic(const tbRelaxed* r)
{
  return r->how.exponent == 2 && r->how.model == TB_RELAX_STICK_SLIP;
}

static tbStatus solve(tbContext* ctx, tbRelaxedRun* run, const tbRelaxed* r, double* lambda, double* off)
{
  tbProblem compliant = *run->problem;
  double* R = TB_TAKE(run->arena, double, (size_t)compliant.nrow);
  if (!R) return TB_ERROR_MEMORY;
  for (int k = 0; k < compliant.ncontact; k++)
    for (int i = compliant.row_adr[k]; i < compliant.row_adr[k + 1]; i++)
      R[i] = 1 / tb_relaxed_stiffness(r, k, i - compliant.row_adr[k]);
  compliant.compliance = R;
  tbSolveOptions solver = run->options->solver;
  tbSolveResult result;
  solver.solver = tb_relaxed_solver(&compliant, solver.model);
  solver.velocity_tolerance *= EXACT, solver.tolerance = 0;
  solver.time_left_s = NULL; // the caller counts what a run takes, and has set its deadline
  if (run->deadline > 0) solver.time_budget_s = fmax(run->deadline - tb_seconds(), 1e-6);
  TB_TRY(tb_solve(ctx, &compliant, &solver, lambda, &result));
  run->iterations += result.iterations;
  *off = result.residual.velocity;
  return TB_OK;
}

tbStatus tb_relaxed_compliant(tbContext* ctx, tbRelaxedRun* run, tbRelaxedDescent* r)
{
  tbDescent* d = &r->descent;
  if (tb_is_late(run->deadline)) return TB_OK;
  size_t rows = (size_t)run->problem->nrow;
  double *lambda = TB_TAKE(run->arena, double, rows), off = d->off;
  if (!lambda) return TB_ERROR_MEMORY;
  memcpy(lambda, d->lambda, rows * sizeof *lambda);
  TB_TRY(solve(ctx, run, &r->relaxed, lambda, &off));
  TB_TRY(tb_descent_start(ctx, run->arena, lambda, d));
  TB_TRY(tb_descent_balance(ctx, run->arena, d));
  if (d->off <= off || !is_quadratic(&r->relaxed)) return TB_OK;
  d->off = off;
  memcpy(d->lambda, lambda, rows * sizeof *lambda);
  return TB_OK;
}
