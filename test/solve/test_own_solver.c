// SPDX-License-Identifier: Apache-2.0
// Methods that a context brings along.
#include "test.h"
#include "tribo/solver.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 192 };

static size_t scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)W, (void)o;
  return BYTES;
}

// Leaves λ as it is, and takes no more memory than it asked for.
static void idle(tbRun* run, double* lambda)
{
  CHECK(tb_run_delassus(run)->problem == tb_run_problem(run));
  CHECK(tb_run_options(run)->max_iterations == 3);
  CHECK(tb_run_threads(run) == NULL);
  CHECK(tb_run_take(run, BYTES - 64) != NULL);
  CHECK(tb_run_take(run, 65) == NULL);
  CHECK(tb_run_take(run, 64) != NULL);
  CHECK(tb_run_take(run, SIZE_MAX) == NULL);
  for (int k = 0; !tb_run_done(run, k, lambda); k++)
    if (k == 3) tb_run_give_up(run);
}

static const tbSolver own = {.name = "idle",
                             .models = 1u << TB_MODEL_CONE,
                             .laws = 1u << TB_LAW_COULOMB,
                             .needs = TB_FORM_BLOCKS,
                             .scratch_bytes = scratch,
                             .solve = idle};

TEST(a_solver_from_outside_runs_and_is_judged)
{
  tbContext ctx = tb_default_context();
  tbGenerate spec = tb_default_generate(TB_GENERATE_STACK);
  spec.size = 2;
  tbProblem* p = NULL;
  CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &p));
  REQUIRE(p);
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult result;
  o.solver = "idle", o.max_iterations = 3;
  CHECK(tb_solve(&ctx, p, &o, lambda, &result) == TB_ERROR_ARGUMENT);
  const tbSolver* const solvers[] = {&own};
  ctx.solvers = solvers, ctx.solver_count = 1;
  CHECK(tb_solver_named(&ctx, "idle") == &own && tb_solver_named(&ctx, "pgs") == tb_solver_find("pgs"));
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &result));
  CHECK(strcmp(result.used, "idle") == 0);
  CHECK(result.outcome == TB_MAX_ITERATIONS && result.iterations == 3);
  CHECK(result.residual.fclib > o.tolerance); // no impulses hold no stack
  free(lambda);
  tb_problem_free(p);
}
