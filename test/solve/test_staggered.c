// SPDX-License-Identifier: Apache-2.0
// Staggered projections: what the paper promises of them.
#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>

static tbSolveResult solve(const tbProblem* p, tbModel model, int iterations, double* lambda, double* u)
{
  tbSolveOptions o = cases_options("staggered", model, iterations);
  return cases_solve_from(p, &o, lambda, u);
}

// However early it is stopped, a contact projection comes last: nothing penetrates.
TEST(staggered_projections_never_penetrate)
{
  for (int seed = 0; seed < 60; seed++) {
    Case c;
    tbManufacture spec = cases_harsh(seed);
    spec.mu_max = 0.8;
    spec.metric = seed % 4; // symmetric ones
    spec.mass_ratio = 1;
    REQUIRE(cases_make(&c, &spec));
    tbSolveOptions o = cases_options("staggered", TB_MODEL_CONE, 6);
    o.tolerance = 1e-14;
    tbSolveResult r = cases_solve_from(c.p, &o, c.lambda, NULL);
    CHECK(r.iterations == 0 || r.residual.penetration <= 1e-3 * r.residual.norm_q);
    cases_drop(&c);
  }
}

// To rounding, at whichever iteration it ends, from no impulses and from a guess that penetrates.
TEST(staggered_projections_stopped_early_leave_no_normal_violation)
{
  for (int seed = 0; seed < 24; seed++)
    for (int iterations = 1; iterations <= 4; iterations++) {
      Case c;
      tbManufacture spec = cases_harsh(seed);
      spec.mu_max = 1.2, spec.metric = seed % 4, spec.mass_ratio = 1;
      REQUIRE(cases_make(&c, &spec));
      tbSolveOptions o = cases_options("staggered", TB_MODEL_CONE, iterations);
      o.tolerance = 1e-14;
      for (int i = 0; seed % 3 == 0 && i < c.p->nrow; i++) c.lambda[i] *= 0.9;
      tbSolveResult r = cases_solve_from(c.p, &o, c.lambda, NULL);
      CHECK(r.iterations == 0 || r.residual.penetration <= 1e-10 * fmax(1, r.residual.norm_q));
      cases_drop(&c);
    }
}

// A block with many contacts under it: more contacts than velocities, so that these are solved for; the same
// problem with W given is solved in the impulses.
static tbProblem* slab(tbContext* ctx, int contacts, double mu, bool as_matrix, const double v[6])
{
  static const double inertia[9] = {0.3, 0, 0, 0, 0.4, 0, 0, 0, 0.5};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, "slab", &b));
  if (!as_matrix) tb_builder_rigid(b, 2, inertia, v, NULL);
  if (as_matrix) {
    tbProblem* by_metric = slab(ctx, contacts, mu, false, v);
    tbDelassus* W = NULL;
    CHECK_OK(ctx, tb_delassus_create(ctx, by_metric, TB_FORM_DENSE, &W));
    int n = by_metric->nrow, *ptr = malloc(((size_t)n + 1) * sizeof(int)),
        *col = malloc((size_t)(n * n) * sizeof(int));
    for (int i = 0; i <= n; i++) ptr[i] = i * n;
    for (int i = 0; i < n * n; i++) col[i] = i % n;
    tb_builder_explicit(b, n, ptr, col, W->dense);
    for (int k = 0; k < contacts; k++) tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, W->q + 3 * k, NULL);
    free(ptr);
    free(col);
    tb_delassus_free(ctx, W);
    tb_problem_free(by_metric);
  }
  for (int k = 0; k < contacts && !as_matrix; k++) {
    double x = cos(2.4 * k) * (0.5 + 0.02 * k), y = sin(2.4 * k) * (0.5 + 0.02 * k), z = -0.2;
    double J[18] = {0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 6, J);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

// Nor from a start that is nearly a solution, which the judge likes better than what does not penetrate; in
// velocities and in impulses, ended by iterations and by the clock.
TEST(staggered_projections_prefer_what_does_not_penetrate_to_a_good_start)
{
  enum { CONTACTS = 180 };
  const double v[6] = {1, 0.5, -2, 0.3, -0.2, 1};
  tbContext ctx = tb_default_context();
  for (int form = 0; form < 2; form++)
    for (int ending = 0; ending < 3; ending++) {
      double lambda[3 * CONTACTS] = {0};
      tbProblem* p = slab(&ctx, CONTACTS, 0.4, form == 1, v);
      REQUIRE(p);
      tbSolveOptions o = cases_options("auto", TB_MODEL_CONE, 2000);
      CHECK(cases_solve_from(p, &o, lambda, NULL).outcome == TB_CONVERGED);
      for (int i = 0; i < 3 * CONTACTS; i++) lambda[i] *= 1 - 1e-6;
      o.solver = "staggered", o.tolerance = 1e-15,
      o.max_iterations = ending == 0   ? 1
                         : ending == 1 ? 4
                                       : 1000000;
      if (ending == 2) o.time_budget_s = 0.02;
      tbSolveResult r = cases_solve_from(p, &o, lambda, NULL);
      CHECK(r.outcome != TB_CONVERGED);
      CHECK(r.iterations == 0 || r.residual.penetration <= 1e-10);
      tb_problem_free(p);
    }
}

// Sliding would leave the share of each contact, and with it the motion, open; sticking and no friction do
// not.
TEST(velocities_and_impulses_give_the_same_motion)
{
  enum { CONTACTS = 24 };
  const double gentle[6] = {0.1, 0.05, -2, 0.03, -0.02, 0.1};
  const tbModel models[] = {TB_MODEL_FRICTIONLESS, TB_MODEL_CONE, TB_MODEL_POLYHEDRAL, TB_MODEL_BOX};
  tbContext ctx = tb_default_context();
  for (int m = 0; m < 4; m++) {
    double lambda[2][3 * CONTACTS] = {{0}}, u[2][3 * CONTACTS];
    for (int form = 0; form < 2; form++) {
      tbProblem* p = slab(&ctx, CONTACTS, 0.6, form == 1, gentle);
      REQUIRE(p);
      CHECK(solve(p, models[m], 200, lambda[form], u[form]).residual.model < 1e-7);
      tb_problem_free(p);
    }
    for (int i = 0; i < 3 * CONTACTS; i++) CHECK_NEAR(u[0][i], u[1][i], 1e-6);
  }
}

TEST(friction_as_warm_start_saves_iterations)
{
  enum { CONTACTS = 24 };
  const double v[6] = {1, 0.5, -2, 0.3, -0.2, 1};
  tbContext ctx = tb_default_context();
  double lambda[3 * CONTACTS] = {0};
  tbProblem* p = slab(&ctx, CONTACTS, 0.3, false, v);
  REQUIRE(p);
  int cold = solve(p, TB_MODEL_CONE, 2000, lambda, NULL).iterations;
  for (int i = 0; i < 3 * CONTACTS; i += 3) lambda[i] = 0; // the normal impulses are not needed
  int warm = solve(p, TB_MODEL_CONE, 2000, lambda, NULL).iterations;
  CHECK(warm <= 2 && cold > warm);
  tb_problem_free(p);
}
