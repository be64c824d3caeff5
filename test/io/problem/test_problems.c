// SPDX-License-Identifier: Apache-2.0
// The problems that come with Tribo, where the answer is known by hand.
#include "io/io_test.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

static tbProblem* load(tbContext* ctx, const char* name)
{
  char path[600];
  struct stat info;
  tbProblem* p = NULL;
  snprintf(path, sizeof path, "%s/problems/%s.json", TB_SOURCE_FOLDER, name);
  CHECK(stat(path, &info) == 0 && info.st_size < 150000);
  CHECK_OK(ctx, tb_problem_load(ctx, path, &p, NULL));
  return p;
}

TEST(problems_that_come_along_load_and_need_contact_forces)
{
  static const char* const names[] = {"stack", "pyramid", "incline", "arch", "bar"};
  for (int i = 0; i < 5; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = load(&ctx, names[i]);
    REQUIRE(p);
    tbResidual r = io_judge(&ctx, p, 0);
    CHECK(r.penetration > 0.05 && r.penetration <= 0.0981 + 1e-12 && r.fclib > 0.1);
    tb_problem_free(p);
  }
}

static double residual(tbContext* ctx, const tbProblem* p, const double* lambda)
{
  tbJudge* judge = NULL;
  tbResidual r = {.fclib = INFINITY};
  if (tb_judge_create(ctx, p, &judge) != TB_OK) return INFINITY;
  tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
  tb_judge_free(ctx, judge);
  return r.fclib;
}

TEST(problem_stack_rests_when_each_corner_bears_a_quarter)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = load(&ctx, "stack");
  REQUIRE(p && p->ncontact == 40);
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  for (int k = 0; k < 40; k++) lambda[3 * k] = 0.0981 * (100 + 9 - k / 4) / 4;
  CHECK_NEAR(residual(&ctx, p, lambda), 0, 1e-13);
  lambda[0] *= 1.001;
  CHECK(residual(&ctx, p, lambda) > 1e-6);
  free(lambda);
  tb_problem_free(p);
}

// Normal forces lean downhill to balance the moment of friction, and friction stands to each as 0.499 to 1.
TEST(problem_incline_sticks_at_a_hair_below_the_limit)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = load(&ctx, "incline");
  REQUIRE(p && p->ncontact == 4);
  double N = -p->v_free[2], slope = 0.499, height = 0.2, lambda[12];
  for (int k = 0; k < 4; k++) {
    double x = k % 2 ? 0.5 : -0.5, y = k / 2 ? 0.5 : -0.5, downhill = (x + y) * sqrt(0.5);
    double n = N / 4 + N * slope * height * downhill; // Σ downhill² = 1
    lambda[3 * k] = n;
    lambda[3 * k + 1] = lambda[3 * k + 2] = -slope * n * sqrt(0.5);
    CHECK(n > 0);
  }
  CHECK_NEAR(residual(&ctx, p, lambda), 0, 1e-13);
  tb_problem_free(p);
}
