// SPDX-License-Identifier: Apache-2.0
// Proximal fixed points: every strategy has the same fixed point, and it is the law.
#include "solve/cases.h"

#include <string.h>

static tbSolveOptions prox(const char* solver, tbRFactor strategy)
{
  tbSolveOptions o = cases_options(solver, TB_MODEL_CONE, 10000);
  o.r_factor = strategy;
  return o;
}

TEST(prox_solves_one_contact_by_hand)
{
  for (int strategy = TB_RFACTOR_OWN; strategy < TB_RFACTOR_COUNT; strategy++) {
    tbSolveOptions o = prox("prox-gs", (tbRFactor)strategy);
    cases_one_contact(&o);
    o.solver = "prox-jacobi";
    cases_one_contact(&o);
  }
}

TEST(prox_solves_manufactured_problems)
{
  static const struct {
    const char* solver;
    tbRFactor strategy;
    int count, most; // of them that it fails
  } runs[] = {{"prox-gs", TB_RFACTOR_LOCAL, 300, 15},    {"prox-gs", TB_RFACTOR_GLOBAL, 25, 5},
              {"prox-gs", TB_RFACTOR_BLOCK, 50, 5},      {"prox-jacobi", TB_RFACTOR_LOCAL, 60, 9},
              {"prox-jacobi", TB_RFACTOR_GLOBAL, 25, 6}, {"prox-jacobi", TB_RFACTOR_BLOCK, 25, 12}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    tbSolveOptions o = prox(runs[i].solver, runs[i].strategy);
    o.max_iterations = 3000;
    int failed = cases_failed(&o, cases_mild_laws, runs[i].count);
    if (failed > runs[i].most)
      test_failed(__FILE__, __LINE__, "%s, %s: %d are not solved", runs[i].solver,
                  tb_r_factor_name(runs[i].strategy), failed);
  }
}

TEST(prox_slides_a_box_without_friction_by_every_strategy)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_box(&ctx, 1, 0, 0);
  REQUIRE(p);
  for (int strategy = TB_RFACTOR_GLOBAL; strategy < TB_RFACTOR_COUNT; strategy++)
    for (int jacobi = 0; jacobi < 2; jacobi++) {
      tbSolveOptions o = prox(jacobi ? "prox-jacobi" : "prox-gs", (tbRFactor)strategy);
      CHECK(cases_solve(p, &o, NULL).outcome == TB_CONVERGED);
    }
  tb_problem_free(p);
}

// On a stack the step first shrinks, then rises again for a hundred sweeps while boxes begin to rock: no
// reason to shorten it. Sweeps and products come to what Gauss–Seidel and Jacobi come to, whatever r begins
// with.
LONG_TEST(prox_converges_where_gauss_seidel_and_jacobi_do)
{
  static const struct {
    tbGenerateKind kind;
    int size;
  } structures[] = {{TB_GENERATE_STACK, 10}, {TB_GENERATE_PYRAMID, 5}, {TB_GENERATE_CARDS, 3}};
  static const char *const plain[] = {"pgs", "jacobi"}, *const proximal[] = {"prox-gs", "prox-jacobi"};
  for (int i = 0; i < (test_quick() ? 2 : 3); i++) {
    tbContext ctx = tb_default_context();
    tbGenerate spec = tb_default_generate(structures[i].kind);
    spec.size = structures[i].size;
    tbProblem* p = NULL;
    REQUIRE(tb_problem_generate(&ctx, &spec, &p) == TB_OK);
    for (int m = 0; m < 2; m++) {
      tbSolveOptions o = prox(plain[m], TB_RFACTOR_OWN);
      o.tolerance = 1e-6;
      o.max_iterations = 20000;
      tbSolveResult bar = cases_solve(p, &o, NULL);
      CHECK(bar.outcome == TB_CONVERGED);
      for (int strategy = TB_RFACTOR_GLOBAL; strategy < TB_RFACTOR_COUNT; strategy++) {
        o.solver = proximal[m];
        o.r_factor = (tbRFactor)strategy;
        tbSolveResult r = cases_solve(p, &o, NULL);
        CHECK(r.outcome == TB_CONVERGED);
        CHECK(r.iterations < (strategy == TB_RFACTOR_GLOBAL ? 3 : 1.2) * bar.iterations);
      }
    }
    tb_problem_free(p);
  }
}

// Every step too long by far: two thousand springs in parallel make ρ(D⁻¹W) two thousand.
LONG_TEST(prox_shortens_steps_that_are_far_too_long)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  REQUIRE(tb_builder_create(&ctx, "one particle, many contacts", &b) == TB_OK);
  tb_builder_particle(b, 1, 1, (double[]){-1}, NULL);
  for (int k = 0; k < 2000; k++) {
    tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
    tb_builder_jacobian(b, 0, 1, (double[]){1});
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (int strategy = TB_RFACTOR_GLOBAL; strategy < TB_RFACTOR_COUNT; strategy++) {
    tbSolveOptions o = prox("prox-jacobi", (tbRFactor)strategy);
    o.max_iterations = 1000;
    CHECK(cases_solve(p, &o, NULL).outcome == TB_CONVERGED);
  }
  tb_problem_free(p);
}

// One contact that slides, easily moved one way and hardly the other: factors that differ by row would push
// the friction impulse askew if the closest point were taken in the wrong metric.
TEST(prox_slides_against_the_velocity_whatever_the_factors)
{
  static const double W[] = {1, 0.1, 0, 0, 0.1, 4, 1.5, 0, 0, 1.5, 1, 0, 0, 0, 0, 30}, q[] = {-1, 3, 4, 9};
  static const double disc[] = {0.5}, ellipse[] = {0.5, 0.3}, ellipsoid[] = {0.5, 0.3, 0.05};
  static const struct {
    tbLaw law;
    int rows;
    const double* param;
  } laws[] = {{TB_LAW_COULOMB, 3, disc}, {TB_LAW_ELLIPTIC, 3, ellipse}, {TB_LAW_CONTENSOU, 4, ellipsoid}};
  for (int l = 0; l < 3; l++)
    for (int strategy = TB_RFACTOR_GLOBAL; strategy < TB_RFACTOR_COUNT; strategy++)
      for (int jacobi = 0; jacobi < 2; jacobi++) {
        tbContext ctx = tb_default_context();
        tbBuilder* b = NULL;
        tbProblem* p = NULL;
        int n = laws[l].rows, ptr[5], col[16];
        double value[16];
        for (int i = 0; i < n * n; i++) col[i] = i % n, value[i] = W[i / n * 4 + i % n];
        for (int i = 0; i <= n; i++) ptr[i] = i * n;
        REQUIRE(tb_builder_create(&ctx, "sliding", &b) == TB_OK);
        tb_builder_explicit(b, n, ptr, col, value);
        tb_builder_contact(b, laws[l].law, n, laws[l].param, q, NULL);
        CHECK_OK(&ctx, tb_builder_finish(b, &p));
        REQUIRE(p);
        tbSolveOptions o = prox(jacobi ? "prox-jacobi" : "prox-gs", (tbRFactor)strategy);
        o.tolerance = 1e-11;
        CHECK(cases_solve(p, &o, NULL).outcome == TB_CONVERGED);
        tb_problem_free(p);
      }
}

TEST(r_factor_strategies_have_names)
{
  for (int i = 0; i < TB_RFACTOR_COUNT; i++) {
    tbRFactor back = TB_RFACTOR_COUNT;
    CHECK(tb_r_factor_from_name(tb_r_factor_name((tbRFactor)i), &back) && back == (tbRFactor)i);
  }
  tbRFactor none;
  CHECK(!tb_r_factor_from_name("magic", &none));
  CHECK(strcmp(tb_r_factor_name(TB_RFACTOR_COUNT), "unknown") == 0);
}
