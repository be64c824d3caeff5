// SPDX-License-Identifier: Apache-2.0
// One contact by itself, judged by the judge: every state, every set, singular and badly scaled blocks.
#include "base/memory.h"
#include "solve/local.h"
#include "test.h"

#include <math.h>
#include <string.h>

// A random symmetric positive semidefinite block of the given rank, rows scaled by powers of ten.
static void random_block(tbRandom* r, int rows, int rank, double decades, double* D)
{
  double B[36], scale[6];
  for (int i = 0; i < rows; i++) scale[i] = pow(10, test_uniform(r, -decades, decades));
  for (int i = 0; i < rows * rows; i++) B[i] = test_uniform(r, -1, 1);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) {
      D[i * rows + j] = 0;
      for (int k = 0; k < rank; k++)
        D[i * rows + j] += scale[i] * B[i * rows + k] * B[j * rows + k] * scale[j];
    }
}

static double local_residual(tbContext* ctx, tbLaw law, int rows, const double* param, const double* D,
                             const double* q)
{
  int ptr[7], col[36];
  for (int i = 0; i <= rows; i++) ptr[i] = i * rows;
  for (int i = 0; i < rows * rows; i++) col[i] = i % rows;
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tbJudge* judge = NULL;
  tb_builder_create(ctx, "one contact", &b);
  tb_builder_explicit(b, rows, ptr, col, D);
  tb_builder_contact(b, law, rows, param, q, NULL);
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  if (!p) return NAN;
  tbFrictionSet f;
  tb_friction_make(p, 0, TB_MODEL_CONE, 8, &f);
  double lambda[6] = {0};
  tbLocal local;
  tb_local_prepare(p, 0, &f, D, &local);
  tb_local_solve(&local, q, lambda);
  CHECK_OK(ctx, tb_judge_create(ctx, p, &judge));
  tbResidual r;
  tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
  tb_judge_free(ctx, judge);
  tb_problem_free(p);
  return r.fclib;
}

static double random_mu(tbRandom* r)
{
  int kind = test_below(r, 10);
  return kind == 0 ? 0 : kind == 1 ? 10 : kind == 2 ? 1e-6 : test_uniform(r, 0, 1.5);
}

LONG_TEST(coulomb_contact_is_solved_to_round_off)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(11);
  for (int trial = 0; trial < 20000; trial++) {
    int rows = 2 + test_below(&r, 2);
    double D[36], q[6], mu = random_mu(&r);
    random_block(&r, rows, rows, 0, D);
    for (int i = 0; i < rows; i++) q[i] = test_uniform(&r, -1, 1), D[i * rows + i] += 1e-3;
    double E = local_residual(&ctx, TB_LAW_COULOMB, rows, &mu, D, q);
    if (!(E <= 1e-13)) test_failed(__FILE__, __LINE__, "trial %d: %g (mu %g)", trial, E, mu);
  }
}

LONG_TEST(coulomb_contact_with_a_singular_block)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(12);
  for (int trial = 0; trial < 20000; trial++) {
    int rows = 3, rank = 1 + test_below(&r, 2);
    double D[36], q[6] = {0}, x[6], mu = random_mu(&r);
    random_block(&r, rows, rank, 0, D);
    for (int i = 0; i < rows; i++) x[i] = test_uniform(&r, -1, 1);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) q[i] += D[i * rows + j] * x[j]; // velocities a body can have
    double E = local_residual(&ctx, TB_LAW_COULOMB, rows, &mu, D, q);
    if (!(E <= 1e-11)) test_failed(__FILE__, __LINE__, "trial %d: %g (mu %g, rank %d)", trial, E, mu, rank);
  }
}

LONG_TEST(coulomb_contact_with_a_badly_scaled_block)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(13);
  for (int trial = 0; trial < 20000; trial++) {
    double D[36], q[6], mu = random_mu(&r);
    random_block(&r, 3, 3, 2, D);
    for (int i = 0; i < 3; i++) q[i] = test_uniform(&r, -1, 1) * sqrt(D[4 * i]);
    double E = local_residual(&ctx, TB_LAW_COULOMB, 3, &mu, D, q);
    if (!(E <= 1e-9)) test_failed(__FILE__, __LINE__, "trial %d: %g (mu %g)", trial, E, mu);
  }
}

LONG_TEST(every_law_has_a_local_solution)
{
  static const struct {
    tbLaw law;
    int rows;
  } kinds[] = {{TB_LAW_BILATERAL, 4},  {TB_LAW_NONNEG, 3},      {TB_LAW_BOX, 3},        {TB_LAW_ELLIPTIC, 3},
               {TB_LAW_CONTENSOU, 4},  {TB_LAW_ROLLING, 4},     {TB_LAW_ROLLING, 5},    {TB_LAW_ROLLING, 6},
               {TB_LAW_POLYHEDRAL, 3}, {TB_LAW_DIRECTIONAL, 3}, {TB_LAW_DIRECTIONAL, 2}};
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(14);
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    int missed = 0;
    for (int trial = 0; trial < 1000; trial++) {
      int rows = kinds[kind].rows;
      double D[36], q[6], param[12];
      random_block(&r, rows, rows, 0, D);
      for (int i = 0; i < rows; i++) q[i] = test_uniform(&r, -1, 1), D[i * rows + i] += 0.1;
      for (int i = 0; i < 12; i++) param[i] = random_mu(&r);
      if (kinds[kind].law == TB_LAW_POLYHEDRAL) param[1] = 3 + test_below(&r, 8);
      for (int i = 0; kinds[kind].law == TB_LAW_BOX && i < rows; i++) param[i] = -param[i];
      double E = local_residual(&ctx, kinds[kind].law, rows, param, D, q);
      missed += !(E <= 1e-12);
      if (!(E <= 1e-6))
        test_failed(__FILE__, __LINE__, "law %s, %d rows, trial %d: %g", tb_law_name(kinds[kind].law), rows,
                    trial, E);
    }
    if (missed > 10)
      test_failed(__FILE__, __LINE__, "law %s, %d rows: %d of 1000 above 1e-12", tb_law_name(kinds[kind].law),
                  kinds[kind].rows, missed);
  }
}
