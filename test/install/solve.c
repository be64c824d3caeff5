// SPDX-License-Identifier: Apache-2.0
// A contact problem through the core alone: a wall is built, solved and judged again.
#include <stdio.h>
#include <stdlib.h>

#include "tribo/problem.h"
#include "tribo/solver.h"

int main(void)
{
  tbContext ctx = tb_default_context();
  tbGenerate spec = tb_default_generate(TB_GENERATE_WALL);
  spec.size = 3;
  tbProblem* problem = NULL;
  tbJudge* judge = NULL;
  double* lambda = NULL;
  tbSolveOptions options = tb_default_solve_options();
  tbSolveResult result = {.outcome = TB_FAILED};
  tbResidual residual = {.fclib = 1};
  tbStatus status = tb_problem_generate(&ctx, &spec, &problem);
  if (status == TB_OK) lambda = calloc((size_t)problem->nrow, sizeof *lambda);
  if (lambda) status = tb_solve(&ctx, problem, &options, lambda, &result);
  if (lambda && status == TB_OK) status = tb_judge_create(&ctx, problem, &judge);
  if (judge) tb_judge_measure(judge, lambda, TB_MODEL_CONE, 0, &residual, NULL, NULL);
  bool good = status == TB_OK && result.outcome == TB_CONVERGED && residual.fclib <= options.tolerance;
  if (!good)
    fprintf(stderr, "%s: %s, residual %g\n", tb_status_name(status), ctx.error.message, residual.fclib);
  free(lambda);
  tb_judge_free(&ctx, judge);
  tb_problem_free(problem);
  return !good;
}
