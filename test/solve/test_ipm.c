// The interior point: manufactured problems of its models, the hard cases, and what it must not do.
#include "test.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbSolveResult solve(tbContext* ctx, const tbProblem* p, tbModel model, double tolerance,
                           double* lambda)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {.outcome = TB_FAILED};
  o.solver = "ipm";
  o.model = model;
  o.tolerance = tolerance;
  o.max_iterations = 300;
  CHECK_OK(ctx, tb_solve(ctx, p, &o, lambda, &r));
  return r;
}

static tbManufacture hard_spec(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 2 + seed % 30;
  s.bodies = 1 + s.contacts / (1 + seed % 3);
  s.dimension = seed % 4 == 3 ? 2 : 3;
  s.mu_max = seed % 7 == 0 ? 0 : seed % 7 == 1 ? 5 : 1;
  s.metric = seed % 5;
  s.redundant = seed % 3 == 0;
  s.mass_ratio = seed % 6 == 5 ? 1e8 : 10;
  s.compliant = seed % 11 == 0;
  return s;
}

TEST(interior_point_solves_manufactured_problems)
{
  int solved = 0, total = 300, iterations = 0;
  for (int seed = 0; seed < total; seed++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    double* exact = NULL;
    tbManufacture spec = hard_spec(seed);
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveResult r = solve(&ctx, p, TB_MODEL_CONE, 1e-8, lambda);
    solved += r.outcome == TB_CONVERGED;
    iterations += r.iterations;
    CHECK((r.outcome == TB_CONVERGED) == (r.residual.fclib <= 1e-8));
    free(lambda);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
  printf("[%d of %d, %.1f iterations each] ", solved, total, (double)iterations / total);
  CHECK(solved >= total - 6);
}

TEST(interior_point_solves_its_other_models)
{
  static const tbModel models[] = {TB_MODEL_CCP, TB_MODEL_FRICTIONLESS};
  for (int m = 0; m < 2; m++) {
    int solved = 0;
    for (int seed = 0; seed < 60; seed++) {
      tbContext ctx = tb_default_context();
      tbProblem* p = NULL;
      double* exact = NULL;
      tbManufacture spec = hard_spec(seed);
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
      double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
      solved += solve(&ctx, p, models[m], 1e-8, lambda).outcome == TB_CONVERGED;
      free(lambda);
      tb_manufacture_free(&ctx, exact);
      tb_problem_free(p);
    }
    printf("[%s %d of 60] ", tb_model_name(models[m]), solved);
    CHECK(solved >= 56); // on seeds 46 and 47 λ runs away, which no longer counts as solved
  }
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
  CHECK(solve(&ctx, p, TB_MODEL_CONE, 1e-13, lambda).outcome == TB_CONVERGED);
  CHECK_NEAR(lambda[0], 8, 1e-11);  // m v_n
  CHECK_NEAR(lambda[1], -4, 1e-11); // −μ λ_n against the motion
  CHECK_NEAR(lambda[2], 0, 1e-11);
  tb_problem_free(p);

  memset(lambda, 0, sizeof lambda);
  p = block_on_plane(&ctx, 1, TB_LAW_ELLIPTIC, axes, (double[3]){0, 3, -4});
  REQUIRE(p);
  CHECK(solve(&ctx, p, TB_MODEL_CONE, 1e-13, lambda).outcome == TB_CONVERGED);
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
  CHECK(solve(&ctx, p, TB_MODEL_CONE, 1e-12, lambda).outcome == TB_CONVERGED);
  for (int i = 0; i < 30; i++) sum[i % 3] += lambda[i];
  CHECK_NEAR(sum[0], 8, 1e-9);
  CHECK_NEAR(hypot(sum[1], sum[2]), 4, 1e-9);
  for (int i = 0; i < 10; i++) CHECK_NEAR(lambda[3 * i], 0.8, 1e-3); // the analytic centre shares fairly
  tb_problem_free(p);
}

// Two planes closing on a body: no velocity satisfies both.
TEST(interior_point_survives_what_has_no_solution)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  const double up[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, down[9] = {0, 0, -1, 1, 0, 0, 0, -1, 0};
  const double mu[1] = {0.3}, closing[3] = {-1, 0, 0};
  REQUIRE(tb_builder_create(&ctx, "squeezed", &b) == TB_OK);
  tb_builder_particle(b, 3, 1, NULL, NULL);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, mu, closing, NULL);
  tb_builder_jacobian(b, 0, 3, up);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, mu, closing, NULL);
  tb_builder_jacobian(b, 0, 3, down);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  double lambda[6] = {0};
  tbSolveResult r = solve(&ctx, p, TB_MODEL_CONE, 1e-8, lambda);
  CHECK(r.outcome == TB_MAX_ITERATIONS && r.residual.fclib <= 1);
  for (int i = 0; i < 6; i++) CHECK(isfinite(lambda[i]));
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
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    double* exact = NULL;
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    spec.contacts = 20;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    int cold = solve(&ctx, p, TB_MODEL_CONE, 1e-8, lambda).iterations;
    for (int i = 0; i < p->nrow; i++) lambda[i] = exact[i] * (1 + 1e-4 * sin(i));
    tbSolveResult r = solve(&ctx, p, TB_MODEL_CONE, 1e-8, lambda);
    CHECK(r.outcome == TB_CONVERGED);
    fewer += r.iterations < cold;
    free(lambda);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
  CHECK(fewer >= 35);
}
