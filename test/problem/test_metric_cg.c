// SPDX-License-Identifier: Apache-2.0
// The preconditioner of conjugate gradients: inverses of the diagonal blocks of a sparse metric.
#include "problem/metric.h"
#include "test.h"
#include "tribo/math.h"

#include <math.h>
#include <string.h>

enum { N = 10 }; // three blocks and a row

// A full symmetric matrix: blocks Q Λ Qᵀ on the diagonal, 0.01 elsewhere.
static tbMetricBlock block_of(const double least[3], int* ptr, int* col, double* value, double (*A)[N])
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] = i / 3 == j / 3 ? 0 : 0.01;
  A[9][9] = 4;
  for (int b = 0; b < 3; b++) {
    tbMat3 Q = tb_quat_mat3(tb_quat_exp(tb_vec3(0.3 + b, -1, 0.7 * b)));
    double size[3] = {least[b], 2, 5};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) A[3 * b + i][3 * b + j] += Q.m[i][k] * size[k] * Q.m[j][k];
  }
  for (int i = 0; i <= N; i++) ptr[i] = N * i;
  for (int i = 0; i < N * N; i++) col[i] = i % N, value[i] = A[i / N][i % N];
  return (tbMetricBlock){
      .kind = TB_METRIC_SPARSE, .size = N, .value = value, .ptr = ptr, .col = col, .unit = 1};
}

TEST(the_preconditioner_inverts_diagonal_blocks_that_can_be)
{
  const double least[3] = {0.5, 1e-12, 1}; // the second is as good as singular: its diagonal alone
  static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  int ptr[N + 1], col[N * N];
  double value[N * N], A[N][N], C[24];
  tbMetricBlock block = block_of(least, ptr, col, value, A);
  tb_metric_invert_diagonal(&block, NULL, C);
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += C[6 * b + at[i][k]] * A[3 * b + k][3 * b + j];
        if (b == 1) CHECK_NEAR(C[6 * b + at[i][j]], i == j ? 1 / A[3 + i][3 + i] : 0, 1e-14);
        else CHECK_NEAR(sum, i == j, 1e-12);
      }
  CHECK_NEAR(C[18], 0.25, 1e-15);
  CHECK(C[21] == 0 && C[22] == 0);
}
