// SPDX-License-Identifier: Apache-2.0
// ADMM, the matrix it factors, and the mixing it shares.
#include "base/memory.h"
#include "solve/anderson.h"
#include "solve/cases.h"
#include "solve/shifted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(admm_climbs_a_tower_in_a_few_iterations)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 300);
  REQUIRE(p);
  tbSolveOptions o = cases_options("admm", TB_MODEL_CONE, 10000);
  tbSolveResult r = cases_solve(p, &o, NULL);
  printf("[%d iterations] ", r.iterations);
  CHECK(r.outcome == TB_CONVERGED && r.iterations < 200);
  tb_problem_free(p);
}

// A given W that stores block (0, 1) and not (1, 0), and another that is not symmetric within a block.
static tbProblem* lopsided(tbContext* ctx)
{
  static const double dense[36] = {3, 0.1, 0, 0.5, 0, 0.1, 0, 2, 0.2, 0, 0.1, 0, 0, 0.1, 2, 0, 0, 0.3,
                                   0, 0,   0, 3,   0, 0,   0, 0, 0,   0, 2,   0, 0, 0,   0, 0, 0, 2};
  int ptr[7] = {0}, col[36], count = 0;
  double value[36], mu = 0.4, q[3] = {-1, 1, 0.5};
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++)
      if (dense[6 * i + j] != 0) col[count] = j, value[count++] = dense[6 * i + j];
    ptr[i + 1] = count;
  }
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  if (tb_builder_create(ctx, "lopsided", &b) != TB_OK) return NULL;
  tb_builder_explicit(b, 6, ptr, col, value);
  for (int k = 0; k < 2; k++) tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, q, NULL);
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(admm_solves_what_is_not_symmetric)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = lopsided(&ctx);
  REQUIRE(p);
  tbSolveOptions o = cases_options("admm", TB_MODEL_CONE, 10000);
  o.tolerance = 1e-11;
  CHECK(cases_solve(p, &o, NULL).outcome == TB_CONVERGED);
  tb_problem_free(p);
}

// (S + ρR) x = b by the factor, and S x + skew x = W x, against products with W.
static void check_shifted(tbContext* ctx, const tbProblem* p)
{
  tbDelassus* W = NULL;
  tbShifted* s = NULL;
  REQUIRE(tb_delassus_create(ctx, p, TB_FORM_BLOCKS, &W) == TB_OK);
  CHECK_OK(ctx, tb_shifted_create(ctx, W, &s));
  size_t n = (size_t)p->nrow;
  double *x = calloc(4 * n, sizeof *x), *b = x + n, *y = b + n, *R = y + n;
  for (size_t i = 0; i < n; i++) b[i] = sin(1.0 + (double)i), R[i] = 1 + 0.1 * (double)i;
  CHECK(tb_shifted_factor(s, 0.5, R, NULL));
  tb_shifted_solve(s, b, x);
  tb_delassus_apply(W, NULL, x, y, NULL);
  tb_shifted_skew(s, -1, x, y);
  for (size_t i = 0; i < n; i++) CHECK_NEAR(y[i] + 0.5 * R[i] * x[i], b[i], 1e-12);

  bool fixed[256] = {0};
  REQUIRE(n <= 256);
  for (size_t i = 0; i < n; i += 3) fixed[i] = true, b[i] = 0;
  CHECK(tb_shifted_factor(s, 0.5, R, fixed));
  tb_shifted_solve(s, b, x);
  tb_delassus_apply(W, NULL, x, y, NULL);
  tb_shifted_skew(s, -1, x, y);
  for (size_t i = 0; i < n; i++)
    if (fixed[i]) CHECK(x[i] == 0);
    else CHECK_NEAR(y[i] + 0.5 * R[i] * x[i], b[i], 1e-12);
  free(x);
  tb_shifted_free(ctx, s);
  tb_delassus_free(ctx, W);
}

TEST(shifted_matrix_is_that_of_the_operator)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = lopsided(&ctx);
  REQUIRE(p);
  check_shifted(&ctx, p);
  tb_problem_free(p);
  for (int metric = 0; metric < 5; metric++) {
    tbManufacture spec = tb_default_manufacture();
    spec.metric = metric;
    spec.all_laws = true;
    double* exact = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    check_shifted(&ctx, p);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}

// ---- Anderson mixing ----

enum { SIZE = 12 };

// G(x) = M x + c, projected onto x ≥ floor; slow where M is near the identity.
static void fixed_point(double rate, double floor, const double* x, double* f)
{
  for (int i = 0; i < SIZE; i++) {
    double to = (rate - 0.05 * i) * x[i] + 0.02 * x[(i + 1) % SIZE] + 1 - 0.3 * i;
    f[i] = fmax(floor, to) - x[i];
  }
}

static int steps_to(double rate, double floor, int memory, double tolerance)
{
  char* memory_block = malloc(1 << 16);
  tbScratch scratch = {memory_block, 1 << 16, 0};
  tbAnderson a = {0};
  tb_anderson_layout(&a, &scratch, SIZE, memory);
  tb_anderson_reset(&a);
  double x[SIZE] = {0}, f[SIZE];
  int step = 0;
  for (; step < 5000; step++) {
    double size = 0;
    fixed_point(rate, floor, x, f);
    for (int i = 0; i < SIZE; i++) size = fmax(size, fabs(f[i]));
    if (size <= tolerance) break;
    if (memory > 1) tb_anderson_step(&a, x, f);
    else
      for (int i = 0; i < SIZE; i++) x[i] += f[i];
  }
  free(memory_block);
  return step;
}

TEST(anderson_mixing_solves_a_linear_map_in_about_its_size)
{
  CHECK(steps_to(0.97, -INFINITY, TB_ANDERSON_MAX, 1e-8) <= 2 * SIZE);
  CHECK(steps_to(0.97, -INFINITY, 1, 1e-8) > 400);
}

TEST(anderson_mixing_keeps_to_the_map_across_kinks)
{
  for (int memory = 2; memory <= TB_ANDERSON_MAX; memory += 7)
    CHECK(steps_to(0.97, 0, memory, 1e-10) * 2 < steps_to(0.97, 0, 1, 1e-10));
}
