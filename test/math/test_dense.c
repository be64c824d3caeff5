// SPDX-License-Identifier: Apache-2.0
// Factorisations by their backward error: ‖A x − b‖ against ε ‖A‖ ‖x‖, evaluated in long double.
#include "math/dense.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define N      104 // the largest matrix here
#define STRIDE (N + 3)

typedef struct Matrix {
  double a[N * STRIDE];
} Matrix;

static double at(const Matrix* A, int i, int j) { return A->a[i * STRIDE + j]; }

static Matrix random_matrix(tbRandom* r, int m, int n)
{
  Matrix A;
  memset(&A, 0, sizeof A);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) A.a[i * STRIDE + j] = test_uniform(r, -1, 1);
  return A;
}

// B diag(s) Bᵀ for an n × k matrix B: symmetric of rank k, with the signs of s.
static Matrix product(int n, int k, const Matrix* B, const double* s)
{
  Matrix A;
  memset(&A, 0, sizeof A);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += s[l] * at(B, i, l) * at(B, j, l);
      A.a[i * STRIDE + j] = A.a[j * STRIDE + i] = sum;
    }
  return A;
}

// ‖A x − b‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞)
static double backward_error(int m, int n, const Matrix* A, const double* x, const double* b)
{
  long double residual = 0, size = 0, xs = 0, bs = 0;
  for (int j = 0; j < n; j++) xs = fmaxl(xs, fabsl(x[j]));
  for (int i = 0; i < m; i++) {
    long double sum = -(long double)b[i], row = 0;
    for (int j = 0; j < n; j++) sum += (long double)at(A, i, j) * x[j], row += fabsl(at(A, i, j));
    residual = isnan(sum) ? INFINITY : fmaxl(residual, fabsl(sum)), size = fmaxl(size, row);
    bs = fmaxl(bs, fabsl(b[i]));
  }
  long double scale = size * xs + bs;
  return scale > 0 ? (double)(residual / scale) : (double)residual;
}

static int random_size(tbRandom* r, int trial) { return trial % 50 == 0 ? N : 1 + test_below(r, 24); }

static void random_vector(tbRandom* r, int n, double* b)
{
  for (int i = 0; i < n; i++) b[i] = test_uniform(r, -1, 1);
}

TEST(cholesky_solves_definite_matrices)
{
  tbRandom r = test_random(301);
  double worst = 0;
  for (int trial = 0; trial < 1000; trial++) {
    int n = random_size(&r, trial);
    double s[N], b[N] = {0}, x[N];
    for (int i = 0; i < n; i++) s[i] = pow(10, test_uniform(&r, -4, 0));
    Matrix B = random_matrix(&r, n, n), A = product(n, n, &B, s), F = A;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) F.a[i * STRIDE + j] = NAN; // never read
    random_vector(&r, n, b);
    memcpy(x, b, sizeof x);
    REQUIRE(tb_dense_cholesky(n, F.a, STRIDE) == n);
    tb_dense_cholesky_solve(n, F.a, STRIDE, x);
    worst = fmax(worst, backward_error(n, n, &A, x, b));
  }
  CHECK_NEAR(worst, 0, 2e-15);
}

TEST(cholesky_names_the_first_pivot_that_is_not_positive)
{
  for (int bad = 0; bad < 6; bad++) {
    double A[36] = {0};
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) A[i * 6 + j] = (i == j) + 0.1;
    A[bad * 7] = bad % 2 ? NAN : -1;
    CHECK(tb_dense_cholesky(6, A, 6) == bad);
  }
}

TEST(lu_solves_unsymmetric_matrices)
{
  tbRandom r = test_random(302);
  double worst = 0;
  for (int trial = 0; trial < 1000; trial++) {
    int n = random_size(&r, trial), swap[N];
    double b[N] = {0}, x[N];
    Matrix A = random_matrix(&r, n, n);
    for (int i = 0; i < n; i++) A.a[i * STRIDE + i] = 0;
    if (n == 1) A.a[0] = 3;
    if (trial % 3 == 0)
      for (int i = 0; i < n; i++) // rows of very different units
        for (int j = 0, e = test_below(&r, 300) - 150; j < n; j++)
          A.a[i * STRIDE + j] = ldexp(at(&A, i, j), e);
    Matrix F = A;
    random_vector(&r, n, b);
    memcpy(x, b, sizeof x);
    REQUIRE(tb_dense_lu(n, F.a, STRIDE, swap) == n);
    tb_dense_lu_solve(n, F.a, STRIDE, swap, x);
    worst = fmax(worst, backward_error(n, n, &A, x, b));
  }
  CHECK_NEAR(worst, 0, 1e-13);
  double singular[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1};
  int swap[3];
  CHECK(tb_dense_lu(3, singular, 3, swap) == 2);
  double zero[4] = {0}, nan[4] = {NAN, 1, NAN, 1};
  CHECK(tb_dense_lu(2, zero, 2, swap) == 0);
  CHECK(tb_dense_lu(2, nan, 2, swap) == 0);
}

TEST(ldlt_solves_matrices_of_any_inertia)
{
  tbRandom r = test_random(303);
  double worst = 0;
  for (int trial = 0; trial < 1000; trial++) {
    int n = random_size(&r, trial), swap[N + 1], negative = 0;
    double s[N], b[N] = {0}, x[N];
    swap[n] = -77; // is nobody's
    for (int i = 0; i < n; i++) {
      s[i] = test_below(&r, 2) ? 1 : -1;
      if (s[i] < 0) negative++;
    }
    Matrix B = random_matrix(&r, n, n), A = product(n, n, &B, s);
    if (trial % 4 == 0) { // a saddle point: zero diagonal, 2×2 pivots only
      for (int i = 0; i < n; i++) A.a[i * STRIDE + i] = 0;
      negative = -1;
    }
    Matrix F = A;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) F.a[i * STRIDE + j] = NAN; // never read
    random_vector(&r, n, b);
    memcpy(x, b, sizeof x);
    int rank = tb_dense_ldlt(n, F.a, STRIDE, swap, 0);
    REQUIRE(swap[n] == -77);
    if (trial % 4 == 0 && n == 1) {
      REQUIRE(rank == 0);
      continue;
    }
    REQUIRE(rank == n);
    REQUIRE(tb_dense_ldlt_solve(n, rank, F.a, STRIDE, swap, x) == 0);
    if (negative >= 0) REQUIRE(tb_dense_ldlt_negative(rank, F.a, STRIDE, swap) == negative);
    worst = fmax(worst, backward_error(n, n, &A, x, b));
  }
  CHECK_NEAR(worst, 0, 2e-14);
}

TEST(ldlt_finds_the_rank_and_solves_what_can_be_solved)
{
  tbRandom r = test_random(304);
  double worst = 0;
  for (int trial = 0; trial < 1000; trial++) {
    int n = 2 + test_below(&r, 30), k = test_below(&r, n), swap[N], negative = 0;
    double s[N], b[N] = {0}, x[N], y[N];
    for (int i = 0; i < k; i++) {
      s[i] = trial % 2 || test_below(&r, 2) ? 1 : -1; // semidefinite every other time
      if (s[i] < 0) negative++;
    }
    Matrix B = random_matrix(&r, n, k), A = product(n, k, &B, s), F = A;
    random_vector(&r, n, y);
    for (int i = 0; i < n; i++) { // b = A y is consistent
      b[i] = 0;
      for (int j = 0; j < n; j++) b[i] += at(&A, i, j) * y[j];
    }
    memcpy(x, b, sizeof x);
    REQUIRE(tb_dense_ldlt(n, F.a, STRIDE, swap, 1e-12) == k);
    REQUIRE(tb_dense_ldlt_negative(k, F.a, STRIDE, swap) == negative);
    REQUIRE(tb_dense_ldlt_solve(n, k, F.a, STRIDE, swap, x) < 1e-10);
    worst = fmax(worst, backward_error(n, n, &A, x, b));

    random_vector(&r, n, x); // a random right-hand side is not
    double unreached = tb_dense_ldlt_solve(n, k, F.a, STRIDE, swap, x);
    REQUIRE(unreached > 1e-6);
  }
  CHECK_NEAR(worst, 0, 1e-11);
  double zero[4] = {0}, x[2] = {1, 2};
  int swap[2];
  CHECK(tb_dense_ldlt(2, zero, 2, swap, 0) == 0);
  CHECK(tb_dense_ldlt_solve(2, 0, zero, 2, swap, x) == 2 && x[0] == 0 && x[1] == 0);
}

// Least squares: the residual is orthogonal to the columns; least norm: x is orthogonal to the null space,
// that is, in the span of the rows.
TEST(qr_solves_least_squares_of_any_shape_and_rank)
{
  tbRandom r = test_random(305);
  double worst_normal = 0, worst_length = 0, worst_norm = 0;
  for (int trial = 0; trial < 1000; trial++) {
    int m = 1 + test_below(&r, 20), n = 1 + test_below(&r, 20), most = m < n ? m : n,
        k = 1 + test_below(&r, most);
    if (trial % 100 == 0) m = N, n = k = most = N;
    Matrix L = random_matrix(&r, m, k), R = random_matrix(&r, k, n), A, F;
    memset(&A, 0, sizeof A);
    double unit = trial % 5 == 1 ? 1e200 : trial % 5 == 2 ? 1e-200 : 1;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++) A.a[i * STRIDE + j] += at(&L, i, l) * at(&R, l, j);
    F = A;
    for (int i = 0; i < m * STRIDE; i++) F.a[i] *= unit;
    int swap[N];
    double tau[2 * N], work[N], b[N] = {0}, c[N], x[N];
    random_vector(&r, m, b);
    memcpy(c, b, sizeof c);
    int rank = tb_dense_qr(m, n, F.a, STRIDE, swap, tau, 1e-11, work);
    REQUIRE(rank == k);
    double length = tb_dense_qr_solve(m, n, rank, F.a, STRIDE, swap, tau, c, x);

    double residual[N], xs = 0, norm = 0;
    for (int j = 0; j < n; j++) REQUIRE(isfinite(x[j]));
    for (int j = 0; j < n; j++) x[j] *= unit, xs = fmax(xs, fabs(x[j]));
    for (int i = 0; i < m; i++) {
      residual[i] = b[i];
      for (int j = 0; j < n; j++) residual[i] -= at(&A, i, j) * x[j];
      norm = hypot(norm, residual[i]);
    }
    worst_length = fmax(worst_length, fabs(norm - length) / (1 + xs));
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int i = 0; i < m; i++) sum += at(&A, i, j) * residual[i];
      worst_normal = fmax(worst_normal, fabs(sum) / (1 + xs) / m);
    }

    // x in the row space: the least-squares problem Aᵀ y ≈ x leaves nothing.
    Matrix T;
    memset(&T, 0, sizeof T);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) T.a[j * STRIDE + i] = at(&A, i, j);
    double y[N];
    int rows = tb_dense_qr(n, m, T.a, STRIDE, swap, tau, 1e-11, work);
    worst_norm = fmax(worst_norm, tb_dense_qr_solve(n, m, rows, T.a, STRIDE, swap, tau, x, y) / (1 + xs));
  }
  CHECK_NEAR(worst_normal, 0, 1e-12);
  CHECK_NEAR(worst_length, 0, 1e-12);
  CHECK_NEAR(worst_norm, 0, 1e-12);
}

TEST(dense_factorisations_end_on_nan)
{
  double A[25], tau[10], work[5], b[5] = {1, 2, 3, 4, 5}, x[5];
  int swap[5];
  for (int k = 0; k < 25; k++)
    for (int way = 0; way < 2; way++) {
      for (int i = 0; i < 25; i++) A[i] = i % 6 == 0 ? 2 : 0.1;
      A[k] = way ? NAN : INFINITY;
      int rank = tb_dense_ldlt(5, A, 5, swap, 0);
      tb_dense_ldlt_solve(5, rank, A, 5, swap, b);
      for (int i = 0; i < 25; i++) A[i] = i % 6 == 0 ? 2 : 0.1;
      A[k] = way ? NAN : INFINITY;
      rank = tb_dense_qr(5, 5, A, 5, swap, tau, 0, work);
      tb_dense_qr_solve(5, 5, rank, A, 5, swap, tau, b, x);
      CHECK(rank >= 0 && rank <= 5);
    }
}
