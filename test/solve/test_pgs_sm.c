// Projected Gauss–Seidel with subspace minimisation.
#include "solve/cases.h"

TEST(pgs_sm_solves_a_sticking_tower_at_once)
{
  for (int model = TB_MODEL_CONE; model <= TB_MODEL_BOX; model++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = cases_tower(&ctx, 200);
    REQUIRE(p);
    tbSolveOptions o = cases_options("pgs-sm", (tbModel)model, 1000);
    o.tolerance = 1e-10;
    tbSolveResult r = cases_solve(p, &o, NULL);
    CHECK(r.outcome == TB_CONVERGED);
    CHECK(r.iterations <= 3);
    tb_problem_free(p);
  }
}

// A chain of particles, held at one end, every link a free row along each axis and counted twice: W_FF is
// singular.
TEST(pgs_sm_solves_redundant_joints_at_once)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, minus[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1}, v[3] = {0, 1, -2};
  REQUIRE(tb_builder_create(&ctx, "chain", &b) == TB_OK);
  for (int i = 0; i < 30; i++) tb_builder_particle(b, 3, i % 2 ? 1 : 1000, v, NULL);
  for (int i = 0; i < 60; i++) {
    tb_builder_contact(b, TB_LAW_FREE, 3, NULL, NULL, NULL);
    if (i / 2 > 0) tb_builder_jacobian(b, 3 * (i / 2) - 3, 3, minus);
    tb_builder_jacobian(b, 3 * (i / 2), 3, one);
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  tbSolveOptions o = cases_options("pgs-sm", TB_MODEL_CONE, 1000);
  tbSolveResult r = cases_solve(p, &o, NULL);
  CHECK(r.outcome == TB_CONVERGED && r.iterations <= 3);
  tb_problem_free(p);
}
