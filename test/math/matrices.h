// SPDX-License-Identifier: Apache-2.0
// Random and degenerate 3×3 matrices, and products of them in extended precision, for the tests of the
// decompositions.
#ifndef TB_TEST_MATRICES_H
#define TB_TEST_MATRICES_H

#include "test.h"
#include "tribo/math.h"

static inline tbMat3 random_mat3(tbRandom* r)
{
  tbMat3 A;
  for (int i = 0; i < 9; i++) A.m[i / 3][i % 3] = test_uniform(r, -1, 1);
  return A;
}

static inline tbQuat random_quat(tbRandom* r)
{
  tbQuat q = {test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1)};
  return tb_quat_normalize(q);
}

static inline tbMat3 random_rotation(tbRandom* r) { return tb_quat_mat3(random_quat(r)); }

static inline double near(tbRandom* r, double x) // x, or a neighbour a few ulps away
{
  return x * (1 + (test_below(r, 9) - 4) * 2.2204460492503131e-16);
}

#define SPECTRUM_KINDS 12

// Three values with every kind of degeneracy.
static inline void random_spectrum(tbRandom* r, int kind, double s[3])
{
  double a = test_uniform(r, 0.1, 1), b = test_uniform(r, 0.1, 1), c = test_uniform(r, -1, 1);
  double table[SPECTRUM_KINDS][3] = {{a, b, c},
                                     {a, a, a},
                                     {a, a, c},
                                     {a, -a, a},
                                     {near(r, a), a, near(r, a)},
                                     {near(r, a), near(r, -a), c},
                                     {a, 0, 0},
                                     {a, b, 0},
                                     {0, 0, 0},
                                     {a, 1e-12 * b, 0},
                                     {a, 1e-8 * b, 1e-8 * c},
                                     {a, 1e-16 * b, 1e-30 * c}};
  for (int i = 0; i < 3; i++) s[i] = table[kind][i];
}

// max |U diag(s) Vᵀ − A| / max |A|, evaluated in long double.
static inline double reconstruction_error(tbMat3 U, const double s[3], tbMat3 V, tbMat3 A)
{
  long double worst = 0, scale = tb_mat3_maxabs(A);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      long double sum = -(long double)A.m[i][j];
      for (int k = 0; k < 3; k++) sum += (long double)U.m[i][k] * s[k] * V.m[j][k];
      sum = sum < 0 ? -sum : sum;
      if (!(sum <= worst)) worst = sum == sum ? sum : INFINITY;
    }
  return worst == 0 ? 0 : (double)(worst / scale);
}

// max |RᵀR − I| and |det R − 1|.
static inline double rotation_error(tbMat3 R)
{
  long double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      long double sum = i == j ? -1 : 0;
      for (int k = 0; k < 3; k++) sum += (long double)R.m[k][i] * R.m[k][j];
      sum = sum < 0 ? -sum : sum;
      if (!(sum <= worst)) worst = sum == sum ? sum : INFINITY;
    }
  return tb_mat3_det(R) > 0.5 ? (double)worst : 2;
}

#endif
