// SPDX-License-Identifier: Apache-2.0
// What the harnesses of problem files share: every solver that takes the problem solves it.
#ifndef TB_FUZZ_PROBLEM_SOLVE_H
#define TB_FUZZ_PROBLEM_SOLVE_H

#include "base/memory.h"
#include "base/status.h"
#include "fuzz.h"
#include "tribo/solver.h"

#include <math.h>
#include <string.h>

enum { FUZZ_SOLVES = 20, FUZZ_ROWS = 48 };

// λ is finite, and nothing is called converged that the judge, asked once more, does not confirm.
static inline tbStatus fuzz_solve_one(tbContext* ctx, const tbProblem* p, const double* guess,
                                      const tbSolver* solver, double* lambda)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult result = {0};
  tbResidual again = {0};
  o.solver = solver->name;
  o.max_iterations = FUZZ_SOLVES;
  for (int m = TB_MODEL_COUNT - 1; m >= 0; m--)
    if (solver->models & 1u << m) o.model = (tbModel)m;
  if (tb_solver_refuses(solver, p, o.model)) return TB_OK;
  for (int i = 0; i < p->nrow; i++) lambda[i] = guess ? guess[i] : 0;
  tbStatus status = tb_solve(ctx, p, &o, lambda, &result);
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || status == TB_ERROR_NUMERIC);
  if (status == TB_ERROR_NUMERIC) return TB_OK;
  for (int i = 0; i < p->nrow && status == TB_OK; i++) CHECK(isfinite(lambda[i]));
  if (status != TB_OK || result.outcome != TB_CONVERGED) return status;
  tbJudge* judge = NULL;
  TB_TRY(tb_judge_create(ctx, p, &judge));
  tb_judge_measure(judge, lambda, o.model, o.directions, &again, NULL, NULL);
  CHECK((o.model == TB_MODEL_CONE ? again.fclib : again.model) <= o.tolerance);
  tb_judge_free(ctx, judge);
  return TB_OK;
}

static inline tbStatus fuzz_solve(tbContext* ctx, const tbProblem* p, const double* guess)
{
  if (p->nrow > FUZZ_ROWS || p->ndof > 4 * FUZZ_ROWS) return TB_OK; // their cost is no news
  double* lambda = TB_NEW(ctx, double, (size_t)p->nrow);
  tbStatus status = lambda ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; i < tb_solver_count() && status == TB_OK; i++)
    status = fuzz_solve_one(ctx, p, guess, tb_solver_at(i), lambda);
  tb_free(ctx, lambda);
  return status;
}

#endif
