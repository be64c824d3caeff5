// SPDX-License-Identifier: Apache-2.0
// The interior point: sliding by hand, fair shares, what it refuses, and warm starts.
#include "solve/cases.h"

#include <math.h>
#include <string.h>

static tbSolveResult solve(const tbProblem* p, double tolerance, double* lambda)
{
  tbSolveOptions o = cases_options("ipm", TB_MODEL_CONE, 300);
  o.tolerance = tolerance;
  return cases_solve_from(p, &o, lambda, NULL);
}

// A unit mass on a plane, pushed down and sideways, each contact given `copies` times.
static tbProblem* block_on_plane(tbContext* ctx, int copies, tbLaw law, const double* param,
                                 const double v[3])
{
  static const double J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, "block", &b));
  tb_builder_particle(b, 3, 2, v, NULL);
  for (int i = 0; i < copies; i++) {
    tb_builder_contact(b, law, 3, param, NULL, NULL);
    tb_builder_jacobian(b, 0, 3, J);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(interior_point_finds_sliding_by_hand)
{
  tbContext ctx = tb_default_context();
  const double mu[1] = {0.5}, axes[2] = {0.5, 0.25}, v[3] = {3, 0, -4};
  double lambda[3] = {0};
  tbProblem* p = block_on_plane(&ctx, 1, TB_LAW_COULOMB, mu, v);
  REQUIRE(p);
  CHECK(solve(p, 1e-13, lambda).outcome == TB_CONVERGED);
  CHECK_NEAR(lambda[0], 8, 1e-11);  // m v_n
  CHECK_NEAR(lambda[1], -4, 1e-11); // −μ λ_n against the motion
  CHECK_NEAR(lambda[2], 0, 1e-11);
  tb_problem_free(p);

  memset(lambda, 0, sizeof lambda);
  p = block_on_plane(&ctx, 1, TB_LAW_ELLIPTIC, axes, (double[3]){0, 3, -4});
  REQUIRE(p);
  CHECK(solve(p, 1e-13, lambda).outcome == TB_CONVERGED);
  CHECK_NEAR(lambda[0], 8, 1e-11);
  CHECK_NEAR(lambda[2], -2, 1e-11);
  tb_problem_free(p);
}

TEST(interior_point_takes_a_contact_ten_times_over)
{
  tbContext ctx = tb_default_context();
  const double mu[1] = {0.5}, v[3] = {3, 1, -4};
  double lambda[30] = {0}, sum[3] = {0};
  tbProblem* p = block_on_plane(&ctx, 10, TB_LAW_COULOMB, mu, v);
  REQUIRE(p);
  CHECK(solve(p, 1e-12, lambda).outcome == TB_CONVERGED);
  for (int i = 0; i < 30; i++) sum[i % 3] += lambda[i];
  CHECK_NEAR(sum[0], 8, 1e-9);
  CHECK_NEAR(hypot(sum[1], sum[2]), 4, 1e-9);
  for (int i = 0; i < 10; i++) CHECK_NEAR(lambda[3 * i], 0.8, 1e-3); // the analytic centre shares fairly
  tb_problem_free(p);
}

TEST(interior_point_refuses_cones_that_are_not_round)
{
  tbContext ctx = tb_default_context();
  const double param[2] = {0.5, 6};
  tbProblem* p = block_on_plane(&ctx, 1, TB_LAW_POLYHEDRAL, param, (double[3]){0, 0, -1});
  REQUIRE(p);
  CHECK(tb_solver_refuses(tb_solver_find("ipm"), p, TB_MODEL_CONE) != NULL);
  tb_problem_free(p);
}

TEST(interior_point_polishes_a_warm_start)
{
  int fewer = 0;
  for (int seed = 0; seed < 40; seed++) {
    Case c;
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    REQUIRE(cases_make(&c, &spec));
    int cold = solve(c.p, 1e-8, c.lambda).iterations;
    for (int i = 0; i < c.p->nrow; i++) c.lambda[i] = c.exact[i] * (1 + 1e-4 * sin(i));
    tbSolveResult r = solve(c.p, 1e-8, c.lambda);
    CHECK(r.outcome == TB_CONVERGED);
    fewer += r.iterations < cold;
    cases_drop(&c);
  }
  CHECK(fewer >= 35);
}
