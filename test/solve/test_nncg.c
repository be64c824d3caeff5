// SPDX-License-Identifier: Apache-2.0
// Nonsmooth nonlinear conjugate gradients.
#include "solve/cases.h"

TEST(nncg_climbs_a_tower_in_a_fraction_of_the_sweeps)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 40);
  REQUIRE(p);
  double u[120], of_pgs[120];
  tbSolveOptions o = cases_options("nncg", TB_MODEL_CONE, 100000);
  tbSolveResult r = cases_solve(p, &o, u);
  o.solver = "pgs";
  tbSolveResult pgs = cases_solve(p, &o, of_pgs);
  CHECK(r.outcome == TB_CONVERGED && pgs.outcome == TB_CONVERGED);
  printf("[%d sweeps, pgs %d] ", r.iterations, pgs.iterations);
  CHECK(r.iterations * 5 < pgs.iterations);
  for (int i = 0; i < 120; i++) CHECK_NEAR(u[i], of_pgs[i], 1e-5);
  tb_problem_free(p);
}
