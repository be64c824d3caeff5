// SPDX-License-Identifier: Apache-2.0
#include "math/eig3.h"
#include "math/matrices.h"
#include "math/quad.h"

static tbMat3 symmetric(tbMat3 Q, const double s[3])
{
  tbMat3 A;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += s[k] * Q.m[i][k] * Q.m[j][k];
      A.m[i][j] = A.m[j][i] = sum;
    }
  return A;
}

static tbMat3 random_symmetric(tbRandom* r, int trial)
{
  double s[3];
  random_spectrum(r, trial % SPECTRUM_KINDS, s);
  tbMat3 A = symmetric(trial % 5 == 0 ? tb_mat3_identity() : random_rotation(r), s);
  if (trial % 7 == 0) A = tb_mat3_scale(0.5, tb_mat3_add(random_mat3(r), tb_mat3_transpose(A)));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) A.m[i][j] = A.m[j][i];
  static const double scales[] = {1, 1, 1, 1e150, 1e-150, 1e300, 1e-300};
  return tb_mat3_scale(scales[trial % 7], A);
}

TEST(eig3_rebuilds_100000_random_and_degenerate_matrices)
{
  tbRandom r = test_random(11);
  double worst_rotation = 0, worst_rebuild = 0;
  for (int trial = 0; trial < 100000; trial++) {
    tbMat3 A = random_symmetric(&r, trial);
    tbEig3 f = tb_eig3(A);
    REQUIRE(f.s[0] >= f.s[1] && f.s[1] >= f.s[2]);
    worst_rotation = fmax(worst_rotation, rotation_error(f.V));
    worst_rebuild = fmax(worst_rebuild, reconstruction_error(f.V, f.s, f.V, A));
  }
  CHECK_NEAR(worst_rotation, 0, 1e-15);
  CHECK_NEAR(worst_rebuild, 0, 4e-15);
}

TEST(eig3_values_match_quadruple_precision)
{
  tbRandom r = test_random(12);
  double worst = 0;
  for (int trial = 0; trial < 3000; trial++) {
    tbMat3 A = random_symmetric(&r, trial);
    double scale = tb_mat3_maxabs(A);
    if (scale == 0) continue;
    quad B[3][3], s[3];
    for (int i = 0; i < 9; i++) B[i / 3][i % 3] = (quad)A.m[i / 3][i % 3] / scale;
    quad_eigenvalues(B, s);
    tbEig3 f = tb_eig3(A);
    for (int i = 0; i < 3; i++) worst = fmax(worst, (double)quad_abs(f.s[i] / (quad)scale - s[i]));
  }
  CHECK_NEAR(worst, 0, 2e-15);
}

// A = D B D with B well conditioned: every eigenvalue to full relative accuracy, over 300 decades.
TEST(eig3_graded_definite_matrices_keep_every_digit)
{
  tbRandom r = test_random(13);
  double worst = 0;
  for (int trial = 0; trial < 3000; trial++) {
    tbMat3 G = random_mat3(&r), A;
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = pow(10, test_uniform(&r, -75, 75));
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        double b = (i == j ? 1 : 0) + 0.2 * (G.m[i][j] + G.m[j][i]);
        A.m[i][j] = A.m[j][i] = d[i] * b * d[j];
      }
    quad B[3][3], s[3];
    for (int i = 0; i < 9; i++) B[i / 3][i % 3] = A.m[i / 3][i % 3];
    quad_eigenvalues(B, s);
    tbEig3 f = tb_eig3(A);
    for (int i = 0; i < 3; i++) worst = fmax(worst, (double)quad_abs((f.s[i] - s[i]) / s[i]));
  }
  CHECK_NEAR(worst, 0, 4e-15);
}

TEST(eig3_ends_on_nan_and_infinity)
{
  for (int i = 0; i < 9; i++) {
    tbMat3 A = tb_mat3_diag(1, 2, 3);
    A.m[i / 3][i % 3] = NAN;
    tb_eig3(A);
    A.m[i / 3][i % 3] = INFINITY;
    tb_eig3(A);
  }
  tbEig3 f = tb_eig3(tb_mat3_diag(NAN, 1, 2));
  CHECK(isnan(f.s[0] + f.s[1] + f.s[2]));
}
