// SPDX-License-Identifier: Apache-2.0
#include "math/svd3.h"
#include "math/matrices.h"
#include "math/quad.h"

#include <string.h>

static tbMat3 random_general(tbRandom* r, int trial)
{
  double s[3];
  random_spectrum(r, trial % SPECTRUM_KINDS, s);
  tbMat3 A = tb_mat3_mul(tb_mat3_diag(s[0], s[1], s[2]), tb_mat3_transpose(random_rotation(r)));
  if (trial % 5 != 0) A = tb_mat3_mul(random_rotation(r), A);
  if (trial % 11 == 0) A = tb_mat3_diag(s[0], s[1], s[2]);
  if (trial % 13 == 0) // small integers: exact ties, exact rank deficiency
    for (int i = 0; i < 9; i++) A.m[i / 3][i % 3] = test_below(r, 5) - 2;
  if (trial % 17 == 0) A = random_mat3(r);
  static const double scales[] = {1, 1, 1, 1e150, 1e-150, 1e300, 1e-300};
  return tb_mat3_scale(scales[trial % 7], A);
}

TEST(svd3_rebuilds_100000_random_and_degenerate_matrices)
{
  tbRandom r = test_random(21);
  double worst_rotation = 0, worst_rebuild = 0;
  for (int trial = 0; trial < 100000; trial++) {
    tbMat3 A = random_general(&r, trial);
    tbSvd3 f = tb_svd3(A);
    REQUIRE(f.s[0] >= f.s[1] && f.s[1] >= fabs(f.s[2]));
    worst_rotation = fmax(worst_rotation, fmax(rotation_error(f.U), rotation_error(f.V)));
    worst_rebuild = fmax(worst_rebuild, reconstruction_error(f.U, f.s, f.V, A));
  }
  CHECK_NEAR(worst_rotation, 0, 1.2e-15);
  CHECK_NEAR(worst_rebuild, 0, 5e-15);
}

// Through AᵀA in quadruple precision, whose rounding unit squared is below the double's.
TEST(svd3_values_match_quadruple_precision)
{
  tbRandom r = test_random(22);
  double worst = 0;
  for (int trial = 0; trial < 3000; trial++) {
    tbMat3 A = random_general(&r, trial);
    double scale = tb_mat3_maxabs(A);
    if (scale == 0) continue;
    quad B[3][3], s[3];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        B[i][j] = 0;
        for (int k = 0; k < 3; k++) B[i][j] += (A.m[k][i] / (quad)scale) * (A.m[k][j] / (quad)scale);
      }
    quad_eigenvalues(B, s);
    tbSvd3 f = tb_svd3(A);
    for (int i = 0; i < 3; i++)
      worst = fmax(worst, (double)quad_abs(quad_abs(f.s[i] / (quad)scale) - quad_sqrt(s[i])));
  }
  CHECK_NEAR(worst, 0, 3e-15);
}

// A = B D with B well conditioned: small singular values keep their digits, far below ε‖A‖.
TEST(svd3_small_values_keep_their_digits)
{
  tbRandom r = test_random(23);
  double worst = 0;
  for (int trial = 0; trial < 2000; trial++) {
    tbMat3 A = tb_mat3_add(random_rotation(&r), tb_mat3_scale(0.2, random_mat3(&r)));
    double d[3] = {1, pow(10, test_uniform(&r, -150, 0)), pow(10, test_uniform(&r, -150, 0))};
    for (int i = 0; i < 9; i++) A.m[i / 3][i % 3] *= d[(i + trial) % 3];
    quad B[3][3], s[3];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        B[i][j] = 0;
        for (int k = 0; k < 3; k++) B[i][j] += (quad)A.m[k][i] * (quad)A.m[k][j];
      }
    quad_eigenvalues(B, s);
    tbSvd3 f = tb_svd3(A);
    for (int i = 0; i < 3; i++)
      worst = fmax(worst, (double)quad_abs(((quad)f.s[i] * f.s[i] - s[i]) / s[i]) / 2);
  }
  CHECK_NEAR(worst, 0, 5e-15);
}

TEST(svd3_sign_of_the_determinant_sits_on_the_last_value)
{
  tbRandom r = test_random(24);
  for (int trial = 0; trial < 10000; trial++) {
    tbMat3 A = random_mat3(&r);
    double det = tb_mat3_det(A);
    if (fabs(det) < 1e-10) continue;
    REQUIRE((det < 0) == (tb_svd3(A).s[2] < 0));
  }
  tbSvd3 f = tb_svd3(tb_mat3_zero());
  CHECK(f.s[0] == 0 && f.s[1] == 0 && f.s[2] == 0);
  CHECK(rotation_error(f.U) == 0 && rotation_error(f.V) == 0);
}

TEST(svd3_ends_on_nan_and_infinity)
{
  for (int i = 0; i < 9; i++) {
    tbMat3 A = tb_mat3_diag(1, 2, 3);
    A.m[i / 3][i % 3] = NAN;
    tbSvd3 f = tb_svd3(A);
    CHECK(isnan(f.s[0] + f.s[1] + f.s[2]));
    A.m[i / 3][i % 3] = INFINITY;
    tb_svd3(A);
  }
}

TEST(svd3_of_many_is_as_good_and_blind_to_neighbours)
{
  enum { MANY = 1000 };
  static tbMat3 A[MANY];
  static tbSvd3 f[MANY];
  tbRandom r = test_random(23);
  double worst_rotation = 0, worst_rebuild = 0;
  for (int round = 0; round < 20; round++) {
    for (int k = 0; k < MANY; k++) A[k] = random_general(&r, round * MANY + k);
    tb_svd3_many(MANY, A, f);
    for (int k = 0; k < MANY; k++) {
      REQUIRE(f[k].s[0] >= f[k].s[1] && f[k].s[1] >= fabs(f[k].s[2]));
      worst_rotation = fmax(worst_rotation, fmax(rotation_error(f[k].U), rotation_error(f[k].V)));
      worst_rebuild = fmax(worst_rebuild, reconstruction_error(f[k].U, f[k].s, f[k].V, A[k]));
      tbSvd3 alone;
      tb_svd3_many(1, &A[k], &alone);
      REQUIRE(memcmp(&alone, &f[k], sizeof alone) == 0);
    }
  }
  CHECK_NEAR(worst_rotation, 0, 4e-15);
  CHECK_NEAR(worst_rebuild, 0, 1e-14);
}
