// Nonsmooth nonlinear conjugate gradients.
#include "solve/cases.h"

static tbSolveOptions nncg(tbModel model)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = "nncg";
  o.model = model;
  o.max_iterations = 5000;
  return o;
}

TEST(nncg_solves_one_contact_by_hand)
{
  tbSolveOptions o = nncg(TB_MODEL_CONE);
  cases_one_contact(&o);
}

TEST(nncg_solves_manufactured_problems)
{
  static const tbModel models[] = {TB_MODEL_CONE, TB_MODEL_BOX, TB_MODEL_CCP};
  for (int i = 0; i < 3; i++) {
    tbSolveOptions o = nncg(models[i]);
    int count = i == 0 ? 300 : 100, converged = cases_manufactured(&o, count);
    printf("[%s %d/%d] ", tb_model_name(models[i]), converged, count);
    CHECK(converged >= count * 98 / 100);
  }
}

TEST(nncg_stands_the_hard_cases)
{
  tbSolveOptions o = nncg(TB_MODEL_CONE);
  bool solved[4] = {0};
  cases_hard(&o, solved);
  printf("[%d%d%d%d] ", solved[0], solved[1], solved[2], solved[3]);
  CHECK(solved[0] && solved[2] && solved[3]);
}

TEST(nncg_climbs_a_tower_in_a_fraction_of_the_sweeps)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 40);
  REQUIRE(p);
  double u[120], of_pgs[120];
  tbSolveOptions o = nncg(TB_MODEL_CONE);
  o.max_iterations = 100000;
  tbSolveResult r = cases_solve(p, &o, u);
  o.solver = "pgs";
  tbSolveResult pgs = cases_solve(p, &o, of_pgs);
  CHECK(r.outcome == TB_CONVERGED && pgs.outcome == TB_CONVERGED);
  printf("[%d sweeps, pgs %d] ", r.iterations, pgs.iterations);
  CHECK(r.iterations * 5 < pgs.iterations);
  for (int i = 0; i < 120; i++) CHECK_NEAR(u[i], of_pgs[i], 1e-5);
  tb_problem_free(p);
}
