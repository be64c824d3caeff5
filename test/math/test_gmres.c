// SPDX-License-Identifier: Apache-2.0
// GMRES on matrices whose behaviour is known.
#include "math/gmres.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int n;
  double A[120 * 120];
} Matrix;

static void apply(void* user, const double* x, double* y)
{
  const Matrix* m = user;
  for (int i = 0; i < m->n; i++) {
    y[i] = 0;
    for (int j = 0; j < m->n; j++) y[i] += m->A[i * m->n + j] * x[j];
  }
}

static void by_diagonal(void* user, const double* x, double* y)
{
  const Matrix* m = user;
  for (int i = 0; i < m->n; i++) y[i] = x[i] / m->A[i * (m->n + 1)];
}

static double leftover(Matrix* m, const double* x, const double* b)
{
  double y[120], sum = 0, size = 0;
  apply(m, x, y);
  for (int i = 0; i < m->n; i++) sum += (b[i] - y[i]) * (b[i] - y[i]), size += b[i] * b[i];
  return sqrt(sum / size);
}

TEST(gmres_solves_and_tells_the_true_residual)
{
  static Matrix m;
  tbRandom r = test_random(3);
  double* work = malloc(tb_gmres_workspace(120) * sizeof *work);
  for (int round = 0; round < 40; round++) {
    m.n = 1 + test_below(&r, 120);
    for (int i = 0; i < m.n * m.n; i++) m.A[i] = test_uniform(&r, -1, 1) / m.n;
    for (int i = 0; i < m.n; i++) m.A[i * (m.n + 1)] += pow(10, test_uniform(&r, 0, 4));
    double b[120], x[120] = {0};
    for (int i = 0; i < m.n; i++) b[i] = test_uniform(&r, -1, 1);
    tbGmres g = {m.n, apply, by_diagonal, &m, 1e-10, 1000, {0}};
    double said = tb_gmres(&g, b, x, work);
    CHECK(said <= 1e-10 && leftover(&m, x, b) <= 1e-9);
  }
  free(work);
}

TEST(gmres_is_exact_after_as_many_steps_as_rows)
{
  static Matrix m;
  tbRandom r = test_random(8);
  double* work = malloc(tb_gmres_workspace(30) * sizeof *work);
  m.n = 30;
  for (int i = 0; i < m.n * m.n; i++) m.A[i] = test_uniform(&r, -1, 1); // indefinite, unsymmetric
  double b[30], x[30] = {0};
  for (int i = 0; i < m.n; i++) b[i] = 1;
  tbGmres g = {m.n, apply, NULL, &m, 1e-12, 32, {0}};
  tb_gmres(&g, b, x, work);
  CHECK(leftover(&m, x, b) < 1e-9);
  free(work);
}

TEST(gmres_keeps_its_budget_and_finite_numbers_on_singular_matrices)
{
  static Matrix m; // zero
  double b[5] = {1, 2, 3, 4, 5}, x[5] = {0}, zero[5] = {0}, work[5 * (TB_GMRES_BASIS + 3)];
  m.n = 5;
  memset(m.A, 0, sizeof m.A);
  tbGmres g = {5, apply, NULL, &m, 1e-10, 100, {0}};
  CHECK(tb_gmres(&g, b, x, work) >= 0.99);
  for (int i = 0; i < 5; i++) CHECK(isfinite(x[i]));
  x[2] = 1;
  CHECK(tb_gmres(&g, zero, x, work) == 0 && x[2] == 0);
}
