// SPDX-License-Identifier: Apache-2.0
// One pattern, many values: a wall of bricks leaned further and further until it slides.
//
// Only the free motion changes from one solve to the next, so that the workspace keeps W, its pattern and the
// memory of every solve; each starts from the impulses of the last.
#include "tribo/math.h"
#include "tribo/workspace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Gravity that leans by `angle` towards x, as the free motion of a step of 0.01 s.
static void lean(const tbProblem* p, double angle, double* v_free)
{
  const double fall = 0.01 * 9.81;
  for (int i = 0; i < p->ndof; i++) v_free[i] = 0;
  for (int b = 0; b < p->nblock; b++) {
    v_free[p->block[b].dof] = fall * sin(angle);
    v_free[p->block[b].dof + 2] = -fall * cos(angle);
  }
}

static tbStatus sweep(tbContext* ctx, tbWorkspace* space, double* lambda, double* v_free)
{
  const tbProblem* p = tb_workspace_problem(space);
  tbSolveOptions options = tb_default_solve_options();
  options.solver = "bgs", options.tolerance = 1e-6;
  for (int degrees = 0; degrees <= 30; degrees += 5) {
    tbSolveResult result;
    lean(p, degrees * TB_PI / 180, v_free);
    tbStatus status = tb_workspace_update(ctx, space, &(tbProblemValues){.v_free = v_free});
    if (status == TB_OK) status = tb_workspace_solve(ctx, space, &options, lambda, &result);
    if (status != TB_OK) return status;
    printf("%2d°: %s after %4d iterations, residual %.1e, set up in %5.2f ms\n", degrees,
           tb_outcome_name(result.outcome), result.iterations, result.residual.fclib, 1e3 * result.setup_s);
  }
  return TB_OK;
}

int main(void)
{
  tbContext ctx = tb_default_context();
  tbGenerate wall = tb_default_generate(TB_GENERATE_WALL);
  tbProblem* problem = NULL;
  tbWorkspace* space = NULL;
  double *lambda = NULL, *v_free = NULL;
  wall.size = 8;
  tbStatus status = tb_problem_generate(&ctx, &wall, &problem);
  if (status == TB_OK) status = tb_workspace_create(&ctx, problem, &space);
  if (status == TB_OK) {
    lambda = calloc((size_t)problem->nrow, sizeof *lambda);
    v_free = calloc((size_t)problem->ndof, sizeof *v_free);
    if (lambda && v_free) status = sweep(&ctx, space, lambda, v_free);
  }
  if (status != TB_OK) fprintf(stderr, "%s\n", ctx.error.message);
  tb_workspace_free(&ctx, space);
  tb_problem_free(problem);
  free(lambda);
  free(v_free);
  return status == TB_OK ? 0 : 1;
}
