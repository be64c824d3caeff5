// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "math/eigen.h"

#include <math.h>

enum { N = 40 };

TEST(dense_eigen_leaves_nothing_of_a_v_minus_lambda_v)
{
  tbRandom random = test_random(5);
  for (int n = 1; n <= N; n += 3) {
    double A[N * N], V[N * N], value[N], work[N];
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) A[i * n + j] = A[j * n + i] = test_uniform(&random, -1, 1);
    for (int i = 0; i < n * n; i++) V[i] = A[i];
    REQUIRE(tb_dense_eigen(n, V, value, work));
    for (int k = 0; k < n; k++) {
      if (k > 0) CHECK(value[k - 1] <= value[k]);
      for (int i = 0; i < n; i++) {
        double sum = -value[k] * V[k * n + i], dot = 0;
        for (int j = 0; j < n; j++) sum += A[i * n + j] * V[k * n + j], dot += V[k * n + j] * V[i * n + j];
        CHECK_NEAR(sum, 0, 1e-13 * n);
        CHECK_NEAR(dot, i == k, 1e-13 * n);
      }
    }
  }
}

TEST(dense_eigen_takes_multiple_and_zero_eigenvalues)
{
  double A[25] = {0}, value[5], work[5];
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) A[5 * i + j] = 2 * (i == j) - 0.4; // 2 four times, and 0
  REQUIRE(tb_dense_eigen(5, A, value, work));
  CHECK_NEAR(value[0], 0, 1e-15);
  for (int i = 1; i < 5; i++) CHECK_NEAR(value[i], 2, 1e-14);
}

TEST(dense_eigen_says_so_when_numbers_are_not_finite)
{
  double A[4] = {1, NAN, NAN, 1}, value[2], work[2];
  CHECK(!tb_dense_eigen(2, A, value, work));
}
