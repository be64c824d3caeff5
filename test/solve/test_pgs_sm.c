// Projected Gauss–Seidel with subspace minimisation.
#include "solve/cases.h"

static tbSolveOptions pgs_sm(tbModel model)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = "pgs-sm";
  o.model = model;
  o.max_iterations = 1000;
  return o;
}

TEST(pgs_sm_solves_one_contact_by_hand)
{
  tbSolveOptions o = pgs_sm(TB_MODEL_CONE);
  cases_one_contact(&o);
}

TEST(pgs_sm_solves_manufactured_problems)
{
  static const tbModel models[] = {TB_MODEL_BOX, TB_MODEL_CONE};
  for (int i = 0; i < 2; i++) {
    tbSolveOptions o = pgs_sm(models[i]);
    int count = i == 0 ? 300 : 100, converged = cases_manufactured(&o, count);
    printf("[%s %d/%d] ", tb_model_name(models[i]), converged, count);
    CHECK(converged >= count * 98 / 100);
  }
}

TEST(pgs_sm_stands_the_hard_cases)
{
  tbSolveOptions o = pgs_sm(TB_MODEL_CONE);
  bool solved[4] = {0};
  cases_hard(&o, solved);
  printf("[%d%d%d%d] ", solved[0], solved[1], solved[2], solved[3]);
  CHECK(solved[0] && solved[2] && solved[3]);
}

TEST(pgs_sm_solves_a_sticking_tower_at_once)
{
  for (int model = TB_MODEL_CONE; model <= TB_MODEL_BOX; model++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = cases_tower(&ctx, 200);
    REQUIRE(p);
    tbSolveOptions o = pgs_sm((tbModel)model);
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
  tbSolveOptions o = pgs_sm(TB_MODEL_CONE);
  tbSolveResult r = cases_solve(p, &o, NULL);
  CHECK(r.outcome == TB_CONVERGED && r.iterations <= 3);
  tb_problem_free(p);
}
