// SPDX-License-Identifier: Apache-2.0
// The judge against problems whose answer is known, and against perturbations of it.
#include "math/cholesky.h"
#include "problem/judge.h"
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbManufacture spec_for(int seed)
{
  static const double ratios[] = {1, 1e2, 1e4, 1e6}, frictions[] = {0, 0.3, 1, 10};
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 1 + seed % 23;
  s.dimension = seed % 7 == 0 ? 2 : 3;
  s.mass_ratio = ratios[seed % 4];
  s.mu_max = frictions[seed / 4 % 4];
  s.metric = seed % 5;
  s.all_laws = seed % 3 != 0;
  s.tensors = seed % 2 == 1;
  s.polygons = seed / 2 % 2 == 1;
  s.redundant = seed % 2 == 0;
  s.compliant = seed % 11 == 0 && s.metric < TB_MAKE_EXPLICIT;
  return s;
}

TEST(judge_accepts_the_exact_solution_of_500_manufactured_problems)
{
  double worst = 0;
  for (int seed = 0; seed < 500; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed);
    tbProblem* p = NULL;
    double* lambda = NULL;
    tbJudge* judge = NULL;
    CHECK_OK(&ctx, tb_problem_manufacture(&ctx, &spec, &p, &lambda));
    REQUIRE(p);
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
    tbResidual r;
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
    if (!(r.fclib <= 1e-12)) test_failed(__FILE__, __LINE__, "seed %d: residual %g", seed, r.fclib);
    if (r.fclib > worst) worst = r.fclib;
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
  CHECK(worst > 0); // a judge that always says zero is no judge
}

// A perturbation that moves λ_i within a face of the solution set is no error; the bias then shows it in u.
LONG_TEST(judge_grows_when_any_impulse_moves)
{
  for (int seed = 0; seed < 500; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed);
    spec.redundant = false;
    spec.bodies = spec.contacts; // few constraints per body: W is positive definite on most of them
    tbProblem* p = NULL;
    double* lambda = NULL;
    tbJudge* judge = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    REQUIRE(tb_judge_create(&ctx, p, &judge) == TB_OK);
    tbResidual exact, moved;
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &exact, NULL, NULL);
    for (int i = 0; i < p->nrow; i++) {
      double keep = lambda[i];
      for (int sign = -1; sign <= 1; sign += 2) {
        lambda[i] = keep + sign * 1e-3;
        tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &moved, NULL, NULL);
        if (!(moved.absolute > exact.absolute + 1e-12))
          test_failed(__FILE__, __LINE__, "seed %d row %d: %g does not grow from %g", seed, i, moved.absolute,
                      exact.absolute);
      }
      lambda[i] = keep;
    }
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}

// Each contact's part, put together again, is the judge's number: exact, and of every model.
TEST(parts_of_contacts_add_up_to_the_residual)
{
  int some = 0;
  for (int seed = 0; seed < 200; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed);
    spec.contacts = seed % 20 == 0 ? 700 : spec.contacts; // more than the judge takes in one piece
    tbProblem* p = NULL;
    double *lambda = NULL, part[700];
    tbJudge* judge = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK && p->ncontact <= 700);
    REQUIRE(tb_judge_create(&ctx, p, &judge) == TB_OK);
    for (int i = 0; i < p->nrow; i++) lambda[i] += 0.01 * (i * 37 % 11 - 5);
    for (int m = 0; m < TB_MODEL_COUNT; m++) {
      tbResidual r;
      tb_judge_measure(judge, lambda, (tbModel)m, 8, &r, NULL, NULL);
      tb_judge_contacts(judge, part);
      double sum = 0, scale = fmax(r.norm_q, fmax(r.norm_lambda, r.norm_u));
      for (int k = 0; k < p->ncontact; k++) sum += part[k] * part[k], some += part[k] > 0;
      CHECK_NEAR(sqrt(sum), r.model, 1e-13 * r.model);
      if (m == TB_MODEL_CONE) CHECK_NEAR(sqrt(sum) * scale, r.absolute, 1e-13 * r.absolute);
    }
    tbResidual r;
    lambda[p->nrow - 1] = NAN;
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
    tb_judge_contacts(judge, part);
    CHECK(isinf(part[0]) && isinf(r.fclib));
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
  CHECK(some > 1000);
}

// One contact on W = I: everything the judge says can be worked out by hand.
static tbResidual by_hand(tbLaw law, const double* param, const double q[3], const double lambda[3],
                          tbModel model)
{
  tbContext ctx = tb_default_context();
  int ptr[] = {0, 1, 2, 3}, col[] = {0, 1, 2};
  double one[] = {1, 1, 1};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tbJudge* judge = NULL;
  tbResidual r = {.fclib = NAN};
  tb_builder_create(&ctx, "by hand", &b);
  tb_builder_explicit(b, 3, ptr, col, one);
  tb_builder_contact(b, law, 3, param, q, NULL);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
  tb_judge_measure(judge, lambda, model, 8, &r, NULL, NULL);
  tb_judge_free(&ctx, judge);
  tb_problem_free(p);
  return r;
}

TEST(judge_says_what_a_hand_computation_says)
{
  // λ = (1, 0, 0), q = (−3, 4, 0): u = (−2, 4, 0), μ = 1/2: û = (0, 4, 0), z = (1, −4, 0),
  // P_K(z) = n (1, −1/2, 0) with n = (1 + 1/2·4)/(1 + 1/4) = 2.4, so F = (−1.4, 1.2, 0).
  double mu = 0.5, q[3] = {-3, 4, 0}, lambda[3] = {1, 0, 0};
  tbResidual r = by_hand(TB_LAW_COULOMB, &mu, q, lambda, TB_MODEL_CONE);
  double E = sqrt(1.4 * 1.4 + 1.2 * 1.2);
  CHECK_NEAR(r.absolute, E, 1e-15);
  CHECK_NEAR(r.natural_map, E / 5, 1e-15);
  CHECK_NEAR(r.fclib, E / 5, 1e-15); // ‖q‖ = 5 is the largest of the three
  CHECK_NEAR(r.penetration, 2, 0);
  CHECK_NEAR(r.cone, 0, 0);
  CHECK_NEAR(r.complementarity, 0, 1e-15); // λ·û
  CHECK_NEAR(r.dissipation, 2, 1e-15);     // λ_n μ‖u_T‖ + λ_T·u_T: no friction although it slides

  double outside[3] = {1, 0, 1.5}; // beyond μ λ_n = 0.5: P = (1 + 0.75)/1.25 (1, 0, 0.5) = (1.4, 0, 0.7)
  r = by_hand(TB_LAW_COULOMB, &mu, q, outside, TB_MODEL_CONE);
  CHECK_NEAR(r.cone, sqrt(0.4 * 0.4 + 0.8 * 0.8), 1e-15);
}

TEST(judge_measures_each_model_by_itself)
{
  // Sliding along the diagonal. Boxed friction saturates both tangents; the cone allows only μ in all.
  double mu = 0.5, q[3] = {-1, -3, -3}, boxed[3] = {1, 0.5, 0.5}, r2 = sqrt(0.5);
  double round[3] = {1, 0.5 * r2, 0.5 * r2}, none[3] = {1, 0, 0};
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, boxed, TB_MODEL_BOX).model < 1e-15);
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, boxed, TB_MODEL_BOX).fclib > 0.01);
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, round, TB_MODEL_CONE).fclib < 1e-15);
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, round, TB_MODEL_POLYHEDRAL).model <
        1e-15); // the octagon has that corner
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, round, TB_MODEL_BOX).model > 0.01);
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, none, TB_MODEL_FRICTIONLESS).model < 1e-15);
  // CCP: u_n = μ‖u_T‖ while sliding. λ = n(1, μd), u_n = n − 1, u_T = −d(3√2 − μn): n − 1 = μ(3√2 − μn).
  double n = (1 + 0.5 * 3 * sqrt(2)) / 1.25, lifted[3] = {n, 0.5 * r2 * n, 0.5 * r2 * n};
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, lifted, TB_MODEL_CCP).model < 1e-15);
  CHECK(by_hand(TB_LAW_COULOMB, &mu, q, lifted, TB_MODEL_CCP).fclib > 0.01);
}

TEST(judge_refuses_impulses_that_are_not_numbers)
{
  double mu = 0.5, q[3] = {-1, 0, 0};
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1e308};
  for (int i = 0; i < 4; i++) {
    double lambda[3] = {1, bad[i], 0};
    tbResidual r = by_hand(TB_LAW_COULOMB, &mu, q, lambda, TB_MODEL_CONE);
    CHECK(isinf(r.fclib) && isinf(r.natural_map) && isinf(r.model));
  }
}

TEST(judge_does_not_lose_a_velocity_in_a_large_impulse)
{
  // Two rows that push each other: λ = 1e17 (1, 1) leaves u = q = −1, which λ − u cannot show.
  tbContext ctx = tb_default_context();
  int ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
  double W[] = {1, -1, -1, 1}, q[] = {-1, -1}, lambda[] = {1e17, 1e17};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tbJudge* judge = NULL;
  tb_builder_create(&ctx, "squeezed", &b);
  tb_builder_explicit(b, 2, ptr, col, W);
  tb_builder_contact(b, TB_LAW_NONNEG, 2, NULL, q, NULL);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
  tbResidual r;
  tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
  CHECK_NEAR(r.absolute, sqrt(2), 1e-15);
  CHECK_NEAR(r.natural_map, 1, 1e-15);
  tb_judge_free(&ctx, judge);
  tb_problem_free(p);
}

// A contact that lets go may take thousands of iterations to reach zero, and passes through denormals, whose
// few digits no factor of A can reproduce.
TEST(judge_measures_impulses_that_have_faded)
{
  tbContext ctx = tb_default_context();
  double inertia[9] = {0.3, 0.1, 0, 0.1, 0.7, 0.05, 0, 0.05, 0.9}, v[6] = {0}, mu = 0.5;
  double J[18] = {0, 0, 1, 0.3, 0.1, 0, 1, 0, 0, 0, -0.2, 0.4, 0, 1, 0, 0.7, 0, 0.1};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tbJudge* judge = NULL;
  REQUIRE(tb_builder_create(&ctx, "faded", &b) == TB_OK);
  tb_builder_rigid(b, 3, inertia, v, NULL);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, (double[]){1, 0.5, 0}, NULL);
  tb_builder_jacobian(b, 0, 6, J);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p && tb_judge_create(&ctx, p, &judge) == TB_OK);
  for (double size = 1e-290; size > 0; size /= 3) {
    tbResidual r;
    tb_judge_measure(judge, (double[]){size, 0.1 * size, -0.2 * size}, TB_MODEL_CONE, 8, &r, NULL, NULL);
    CHECK(r.fclib < 1e-200);
  }
  tb_judge_free(&ctx, judge);
  tb_problem_free(p);
}

// ---- the number in m/s ----

// The largest eigenvalue of a symmetric n × n matrix, by iterating with it.
static double largest_eigenvalue(int n, const double* D)
{
  double x[TB_MAX_ROWS] = {1, 0.7, 0.3, 0.9, 0.2, 0.5}, y[TB_MAX_ROWS], value = 0;
  for (int k = 0; k < 20000; k++) {
    double size = 0, seen = 0;
    for (int i = 0; i < n; i++) {
      y[i] = 0;
      for (int j = 0; j < n; j++) y[i] += 0.5 * (D[i * n + j] + D[j * n + i]) * x[j];
      size += y[i] * y[i], seen += x[i] * x[i];
    }
    value = sqrt(size / seen);
    for (int i = 0; i < n; i++) x[i] = y[i] / sqrt(size);
  }
  return value;
}

// w ‖λ − P_K(λ − û/w)‖ of a round cone, as SCENE.md has it.
static double miss(double mu, int rows, double w, const double* lambda, const double* u)
{
  double sliding = 0, length = 0, z[3], sum = 0;
  for (int i = 1; i < rows; i++) sliding += u[i] * u[i];
  z[0] = lambda[0] - (u[0] + mu * sqrt(sliding)) / w;
  for (int i = 1; i < rows; i++) z[i] = lambda[i] - u[i] / w, length += z[i] * z[i];
  length = sqrt(length);
  double n = length <= mu * z[0] ? z[0] : mu * length <= -z[0] ? 0 : (z[0] + mu * length) / (1 + mu * mu);
  double shrink = length > mu * n ? mu * n / length : 1;
  sum += (lambda[0] - n) * (lambda[0] - n);
  for (int i = 1; i < rows; i++) sum += (lambda[i] - shrink * z[i]) * (lambda[i] - shrink * z[i]);
  return w * sqrt(sum);
}

LONG_TEST(judge_measures_in_metres_per_second_what_the_formula_says)
{
  for (int seed = 0; seed < 60; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed);
    spec.all_laws = spec.tensors = spec.polygons = false;
    tbProblem* p = NULL;
    tbDelassus* W = NULL;
    tbJudge* judge = NULL;
    double* lambda = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    REQUIRE(tb_delassus_create(&ctx, p, TB_FORM_DENSE, &W) == TB_OK &&
            tb_judge_create(&ctx, p, &judge) == TB_OK);
    double *u = calloc((size_t)p->nrow, sizeof *u), expected = 0;
    for (int i = 0; i < p->nrow; i++) lambda[i] += 1e-3 * sin(1 + 2.3 * i + seed) * (1 + fabs(lambda[i]));
    for (int i = 0; i < p->nrow; i++) {
      u[i] = W->q[i];
      for (int j = 0; j < p->nrow; j++) u[i] += W->dense[i * p->nrow + j] * lambda[j];
    }
    for (int k = 0; k < p->ncontact; k++) {
      int first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
      double w = largest_eigenvalue(rows, W->diag + W->diag_adr[k]);
      expected = fmax(expected, miss(p->param[p->param_adr[k]], rows, w, lambda + first, u + first));
    }
    tbResidual r;
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
    if (!(fabs(r.velocity - expected) <= 1e-6 * expected))
      test_failed(__FILE__, __LINE__, "seed %d: %.12g m/s, expected %.12g", seed, r.velocity, expected);
    free(u);
    tb_judge_free(&ctx, judge);
    tb_delassus_free(&ctx, W);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}

// ---- a factor that does not invert A ----

static void spoil(tbContext* ctx, const tbProblem* p, double by)
{
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    if (block->kind == TB_METRIC_DENSE)
      for (int i = 0; i < block->size * block->size; i++)
        ((double*)block->chol)[i] *= 1 + by * sin(1 + 7.1 * i);
    if (block->kind != TB_METRIC_SPARSE) continue;
    int count = block->ptr[block->size];
    double* value = malloc((size_t)count * sizeof *value);
    for (int i = 0; i < block->size; i++)
      for (int e = block->ptr[i]; e < block->ptr[i + 1]; e++)
        value[e] = block->value[e] * (block->col[e] == i ? 1 + by * (1 + sin(1 + 7.1 * i)) : 1);
    CHECK_OK(ctx, tb_cholesky_factor(ctx, (tbCholesky*)block->factor, value));
    free(value);
  }
}

// Whatever is wrong with what solves with A, the judge either finds the same numbers as with a good factor,
// or says that there are none.
TEST(judge_is_not_deceived_by_a_spoilt_factor)
{
  int refused = 0, seen = 0;
  for (int seed = 0; seed < 40; seed++)
    for (double by = 1e-9; by < 100; by *= 10) {
      tbContext ctx = tb_default_context();
      tbManufacture spec = spec_for(seed);
      spec.metric = seed % 2 ? TB_MAKE_RIGID : TB_MAKE_SPARSE;
      tbProblem* p = NULL;
      tbJudge* judge = NULL;
      double* lambda = NULL;
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
      REQUIRE(tb_judge_create(&ctx, p, &judge) == TB_OK);
      for (int i = 0; i < p->nrow; i++) lambda[i] *= 1.01;
      tbResidual good, spoilt;
      double *u = calloc((size_t)p->nrow, sizeof *u), *v = calloc((size_t)p->nrow, sizeof *v), size = 0,
             off = 0;
      tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &good, u, NULL);
      spoil(&ctx, p, by);
      CHECK_OK(&ctx, tb_judge_renew(&ctx, judge, true));
      tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &spoilt, v, NULL);
      for (int i = 0; i < p->nrow; i++) size = fmax(size, fabs(u[i])), off = fmax(off, fabs(u[i] - v[i]));
      refused += isinf(spoilt.fclib), seen += !isinf(spoilt.fclib);
      if (!isinf(spoilt.fclib) && !(off <= 1e-8 * (size + good.norm_lambda)))
        test_failed(__FILE__, __LINE__, "seed %d, spoilt by %g: velocities off by %g of %g", seed, by, off,
                    size);
      free(u), free(v);
      tb_judge_free(&ctx, judge);
      tb_manufacture_free(&ctx, lambda);
      tb_problem_free(p);
    }
  CHECK(refused > 20 && seen > 20);
}

static bool count_and_stop(void* user)
{
  ++*(int*)user;
  return true;
}

// Conjugate gradients of the judge hear of an interrupt, and what it ends is no certificate.
TEST(an_interrupted_judge_confirms_nothing)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 30, spec.metric = TB_MAKE_SPARSE;
  tbProblem* p = NULL;
  double* lambda = NULL;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
  tbMetricBlock* block = malloc((size_t)p->nblock * sizeof *block);
  memcpy(block, p->block, (size_t)p->nblock * sizeof *block);
  for (int b = 0; b < p->nblock; b++) block[b].factor = NULL;
  tbProblem twin = *p;
  twin.block = block;
  for (int stopped = 0; stopped < 2; stopped++) {
    int asked = 0;
    tbResidual r;
    tbJudge* judge = NULL;
    if (stopped) ctx.interrupt = (tbInterrupt){count_and_stop, &asked};
    CHECK_OK(&ctx, tb_judge_create(&ctx, &twin, &judge));
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
    CHECK(stopped ? isinf(r.fclib) && isinf(r.velocity) && asked > 0 : r.fclib < 1e-10);
    tb_judge_free(&ctx, judge);
  }
  ctx.interrupt = (tbInterrupt){0};
  free(block);
  tb_manufacture_free(&ctx, lambda);
  tb_problem_free(p);
}
