// SPDX-License-Identifier: Apache-2.0
// Polar decomposition of a 3×3 matrix through its singular values: R = U Vᵀ, S = V diag(s) Vᵀ.
//
// With rotations on both sides and the sign on the last singular value, R maximises tr(RᵀA) over all
// rotations (Kabsch 1976). It is unique unless s[1] + s[2] = 0, where one closest rotation of several is
// returned. Newton's or Higham's iteration would fail on singular A and find reflections for inverted A.
#include "math/polar.h"

#include "math/svd3.h"

tbPolar3 tb_polar3(tbMat3 A)
{
  tbSvd3 f = tb_svd3(A);
  tbPolar3 p = {tb_mat3_mult(f.U, f.V), tb_mat3_zero()};
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += f.s[k] * (f.V.m[i][k] * f.V.m[j][k]);
      p.S.m[i][j] = p.S.m[j][i] = sum;
    }
  return p;
}
