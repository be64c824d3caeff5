// Accelerated projected gradient.
#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>

static tbSolveOptions apgd(tbModel model)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = "apgd";
  o.model = model;
  return o;
}

TEST(apgd_solves_one_contact_by_hand)
{
  tbSolveOptions o = apgd(TB_MODEL_CONE);
  cases_one_contact(&o);
}

TEST(apgd_solves_manufactured_problems)
{
  for (int ccp = 0; ccp < 2; ccp++) {
    tbSolveOptions o = apgd(ccp ? TB_MODEL_CCP : TB_MODEL_CONE);
    o.max_iterations = 3000;
    int count = 300, converged = cases_manufactured(&o, count);
    printf("[%s %d/%d] ", tb_model_name(o.model), converged, count);
    CHECK(converged >= count * 95 / 100);
  }
}

TEST(apgd_stands_the_hard_cases)
{
  tbSolveOptions o = apgd(TB_MODEL_CONE);
  bool solved[4] = {0};
  cases_hard(&o, solved);
  printf("[%d%d%d%d] ", solved[0], solved[1], solved[2], solved[3]);
  CHECK(solved[0] && solved[2] && solved[3]);
}

// The convex problem has one velocity, so two methods that share nothing must agree on it.
TEST(apgd_and_nncg_agree_on_the_convex_problem)
{
  for (int seed = 0; seed < 20; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed, spec.contacts = 15, spec.bodies = 6, spec.mu_max = 1;
    tbProblem* p = NULL;
    double* exact = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    double *u = calloc((size_t)p->nrow, sizeof *u), *other = calloc((size_t)p->nrow, sizeof *u);
    tbSolveOptions o = apgd(TB_MODEL_CCP);
    o.tolerance = 1e-10;
    CHECK(cases_solve(p, &o, u).outcome == TB_CONVERGED);
    o.solver = "nncg";
    CHECK(cases_solve(p, &o, other).outcome == TB_CONVERGED);
    for (int i = 0; i < p->nrow; i++) CHECK_NEAR(u[i], other[i], 1e-6);
    free(u), free(other);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}
