// SPDX-License-Identifier: Apache-2.0
// What the eigenvalue and the singular value decompositions share: the Jacobi rotation, its product kept as a
// quaternion, and the ordering of the result.
//
// A rotation in the plane (p, q) acts on columns as  p ← c p − s q,  q ← s p + c q.  The angle is at most
// π/4, which makes cyclic sweeps converge (Forsythe & Henrici 1960) and its half-angle free of cancellation.
// The quaternion keeps V a rotation to rounding, however many rotations went into it.
#ifndef TB_MATH_JACOBI_H
#define TB_MATH_JACOBI_H

#include "tribo/math.h"

// tan φ of the smaller rotation with cot 2φ = zeta.
static inline double tb_jacobi_tangent(double zeta)
{
  if (fabs(zeta) > 1e150) return 0.5 / zeta; // where the square overflows
  return copysign(1.0, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
}

// q ← q ⊗ (rotation in the plane), with p < q in {0, 1, 2}.
static inline tbQuat tb_jacobi_turn(tbQuat v, int p, int q, double c, double s)
{
  double ch = sqrt(0.5 * (1 + c)), sh = -0.5 * s / ch;
  if (q - p == 2) return tb_quat_mul(v, tb_quat(ch, 0, -sh, 0)); // about y the sense is the other one
  return tb_quat_mul(v, q == 1 ? tb_quat(ch, 0, 0, sh) : tb_quat(ch, sh, 0, 0));
}

// Swaps two columns and turns one around, so that the determinant stays.
static inline void tb_jacobi_swap(tbVec3* cols, int i, int j)
{
  tbVec3 t = cols[i];
  cols[i] = cols[j];
  cols[j] = tb_neg3(t);
}

#endif
