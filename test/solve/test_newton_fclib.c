// The nonsmooth Newton methods on real problems.
#include "test.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#include <stdlib.h>

TEST(problems_that_defeat_gauss_seidel_are_solved)
{
  static const char* const names[] = {"OneObject-i100000-316", "BoxesStack1-i100000-32", "RockPile_tob1"};
  const char* shared = test_shared_folder();
  if (!shared) SKIP("no shared folder beside the checkout");
  if (!tb_have_fclib()) SKIP("built without HDF5");
  for (int i = 0; i < 3; i++) {
    tbContext ctx = tb_default_context();
    char path[600];
    snprintf(path, sizeof path, "%s/fclib/%s.hdf5", shared, names[i]);
    tbProblem* p = NULL;
    double* guess = NULL;
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &p, &guess));
    REQUIRE(p);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    o.solver = "prox-newton", o.tolerance = 1e-10, o.max_iterations = 2000;
    tbSolveResult r = {0};
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_CONVERGED && r.residual.natural_map <= 1e-9);
    printf("[%d] ", r.iterations);
    free(lambda);
    tb_guess_free(&ctx, guess);
    tb_problem_free(p);
  }
}
