// SPDX-License-Identifier: Apache-2.0
// Projected Gauss–Seidel with subspace minimisation.
#include "solve/cases.h"

static const double none_fits = 1; // bytes for a factor: conjugate gradients instead

static tbSolveOptions pgs_sm(tbModel model) { return cases_options("pgs-sm", model, 1000); }

TEST(pgs_sm_solves_as_much_without_a_factor)
{
  static const tbModel models[] = {TB_MODEL_BOX, TB_MODEL_CONE};
  for (int i = 0; i < 2; i++) {
    tbSolveOptions o = pgs_sm(models[i]);
    o.factor_bytes = none_fits;
    CHECK(cases_failed(&o, cases_mild, 100) <= 2);
  }
}

TEST(pgs_sm_solves_a_sticking_tower_at_once)
{
  for (int i = 0; i < 4; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = cases_tower(&ctx, 200);
    REQUIRE(p);
    tbSolveOptions o = pgs_sm(i % 2 ? TB_MODEL_BOX : TB_MODEL_CONE);
    o.factor_bytes = i / 2 * none_fits;
    o.tolerance = 1e-10;
    tbSolveResult r = cases_solve(p, &o, NULL);
    CHECK(r.outcome == TB_CONVERGED);
    CHECK(r.iterations <= 3);
    tb_problem_free(p);
  }
}

// The guesses are the same, and so is the way. Redundant contacts may leave a choice of solutions.
LONG_TEST(pgs_sm_takes_the_same_way_with_and_without_a_factor)
{
  for (int seed = 0; seed < 26; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    spec.contacts = 5 + seed;
    spec.slip = 0.2;
    spec.metric = seed % 3; // derived from A and J
    spec.redundant = seed % 4 == 0;
    tbProblem* p = NULL;
    double *exact = NULL, u[2][200];
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    REQUIRE(p->nrow <= 200);
    tbSolveResult r[2];
    for (int iterated = 0; iterated < 2; iterated++) {
      tbSolveOptions o = pgs_sm(TB_MODEL_CONE);
      o.factor_bytes = iterated * none_fits;
      o.tolerance = 1e-11;
      r[iterated] = cases_solve(p, &o, u[iterated]);
      CHECK(r[iterated].outcome == TB_CONVERGED);
    }
    CHECK(r[1].iterations <= 2 + 1.2 * r[0].iterations);
    for (int i = 0; i < p->nrow && !spec.redundant; i++) CHECK_NEAR(u[0][i], u[1][i], 1e-7);
    tb_manufacture_free(&ctx, exact);
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
    tb_builder_contact(b, TB_LAW_BILATERAL, 3, NULL, NULL, NULL);
    if (i / 2 > 0) tb_builder_jacobian(b, 3 * (i / 2) - 3, 3, minus);
    tb_builder_jacobian(b, 3 * (i / 2), 3, one);
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (int iterated = 0; iterated < 2; iterated++) {
    tbSolveOptions o = pgs_sm(TB_MODEL_CONE);
    o.factor_bytes = iterated * none_fits;
    tbSolveResult r = cases_solve(p, &o, NULL);
    CHECK(r.outcome == TB_CONVERGED && r.iterations <= 3);
  }
  tb_problem_free(p);
}

TEST(pgs_sm_without_a_factor_survives_every_failed_allocation)
{
  tbContext plain = tb_default_context();
  tbProblem* p = cases_tower(&plain, 5);
  REQUIRE(p);
  tbSolveOptions o = pgs_sm(TB_MODEL_CONE);
  tbSolveResult r;
  long total = -1;
  for (long k = -1; k < total || total < 0; k++) { // −1: none fails, to count them
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    double lambda[15] = {0};
    o.factor_bytes = none_fits;
    tbStatus status = tb_solve(&ctx, p, &o, lambda, &r);
    if (k < 0) total = state.total;
    CHECK(status == (k < 0 ? TB_OK : TB_ERROR_MEMORY) && state.alive == 0);
  }
  CHECK(total > 5);
  tb_problem_free(p);
}
