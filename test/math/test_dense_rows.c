// SPDX-License-Identifier: Apache-2.0
#include "math/dense_rows.h"
#include "test.h"

#include <string.h>

enum { MOST = 83 };

// Column by column, one right-hand side after the other.
static void by_columns(int n, const double* L, double* x)
{
  for (int k = 0; k < n; k++) {
    x[k] /= L[k * n + k];
    for (int i = k + 1; i < n; i++) x[i] -= x[k] * L[k * n + i];
  }
  for (int k = n - 1; k >= 0; k--) {
    x[k] /= L[k * n + k];
    for (int i = 0; i < k; i++) x[i] -= x[k] * L[k * n + i];
  }
}

TEST(right_hand_sides_together_have_the_bits_of_each_by_itself)
{
  static double L[MOST * MOST], x[6 * MOST], y[6 * MOST];
  tbRandom r = test_random(7);
  for (int n = 1; n <= MOST; n += n < 40 ? 1 : 7) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
        L[i * n + j] = L[j * n + i] = i == j ? test_uniform(&r, 2, 3) : test_uniform(&r, -1, 1);
    for (int rows = 1; rows <= 6; rows++) {
      for (int i = 0; i < rows * n; i++) x[i] = y[i] = test_uniform(&r, -1, 1);
      tb_dense_solve_rows(n, rows, L, x);
      for (int i = 0; i < rows; i++) by_columns(n, L, y + i * n);
      CHECK(memcmp(x, y, (size_t)(rows * n) * sizeof *x) == 0);
    }
  }
}

TEST(products_with_right_hand_sides_have_the_bits_of_sums_in_order)
{
  static double S[MOST * MOST], x[5 * MOST], y[5 * MOST];
  tbRandom r = test_random(11);
  for (int n = 1; n <= MOST; n += n < 40 ? 1 : 7) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) S[i * n + j] = S[j * n + i] = test_uniform(&r, -1, 1);
    for (int rows = 1; rows <= 5; rows++) {
      for (int i = 0; i < rows * n; i++) x[i] = test_uniform(&r, -1, 1), y[i] = 0;
      for (int k = 0; k < rows; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) y[k * n + i] += S[i * n + j] * x[k * n + j];
      tb_dense_multiply_rows(n, rows, S, x);
      CHECK(memcmp(x, y, (size_t)(rows * n) * sizeof *x) == 0);
    }
  }
}

TEST(the_inverse_of_a_dense_block_is_symmetric_and_undoes_it)
{
  static double L[MOST * MOST], A[MOST * MOST], inverse[MOST * MOST], x[MOST];
  tbRandom r = test_random(13);
  for (int n = 1; n <= MOST; n += n < 12 ? 1 : 13) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
        L[i * n + j] = L[j * n + i] = i == j ? test_uniform(&r, 2, 3) : test_uniform(&r, -0.3, 0.3);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        A[i * n + j] = 0;
        for (int k = 0; k <= (i < j ? i : j); k++) A[i * n + j] += L[i * n + k] * L[j * n + k];
      }
    tb_dense_invert(n, L, inverse);
    for (int j = 0; j < n; j++) {
      memcpy(x, A + j * n, (size_t)n * sizeof *x);
      tb_dense_multiply_rows(n, 1, inverse, x);
      for (int i = 0; i < n; i++) {
        CHECK(inverse[i * n + j] == inverse[j * n + i]);
        CHECK_NEAR(x[i], i == j, 1e-12);
      }
    }
  }
}
