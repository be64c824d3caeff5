// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of a symmetric 3×3 matrix by cyclic Jacobi rotations.
//
// Method    Each rotation makes one off-diagonal entry exactly zero (Rutishauser, Numer. Math. 9, 1966). An
//           entry is small enough when |a_pq| ≤ ε √|a_pp a_qq|: measured against its own two rows rather than
//           the norm of A, which gives every eigenvalue of a graded positive definite matrix to full relative
//           accuracy (Demmel & Veselić, SIAM J. Matrix Anal. 13, 1992). No closed-form root: Cardano loses
//           half of the digits where eigenvalues meet.
// Cost      4 to 6 sweeps of three rotations, about 0.5 µs.
// Limits    The entries may span any range up to 1e300; NaN or infinite input gives NaN, in bounded time.
#include "math/eig3.h"

#include "math/jacobi.h"
#include "math/scale.h"

#define MAX_SWEEPS 30 // convergence is quadratic; six suffice in practice

static int negligible(const double A[3][3], int p, int q)
{
  double pp = fabs(A[p][p]), qq = fabs(A[q][q]), pq = fabs(A[p][q]), unit = 0.5 * DBL_EPSILON;
  if (pp * qq > 1e-250) return pq * pq <= unit * unit * (pp * qq);
  return pq <= unit * sqrt(pp) * sqrt(qq); // the same where the squares would underflow
}

// Makes A[p][q] zero. A holds both triangles; r is the third index.
static void rotate(double A[3][3], tbQuat* v, int p, int q, int r)
{
  double t = tb_jacobi_tangent((A[q][q] - A[p][p]) / (2 * A[p][q]));
  double c = 1 / sqrt(1 + t * t), s = t * c, tau = s / (1 + c);
  A[p][p] -= t * A[p][q];
  A[q][q] += t * A[p][q];
  A[p][q] = A[q][p] = 0;
  double rp = A[r][p], rq = A[r][q];
  A[p][r] = A[r][p] = rp - s * (rq + tau * rp);
  A[q][r] = A[r][q] = rq + s * (rp - tau * rq);
  *v = tb_jacobi_turn(*v, p, q, c, s);
}

tbEig3 tb_eig3(tbMat3 M)
{
  double A[3][3] = {{M.m[0][0], M.m[0][1], M.m[0][2]},
                    {M.m[0][1], M.m[1][1], M.m[1][2]},
                    {M.m[0][2], M.m[1][2], M.m[2][2]}};
  int e = tb_scale_exponent(tb_mat3_maxabs(M));
  for (int i = 0; i < 3; i++) tb_scale_by(-e, 3, A[i]);

  tbQuat v = tb_quat_identity();
  for (int sweep = 0, done = 0; !done && sweep < MAX_SWEEPS; sweep++) {
    done = 1;
    if (!negligible(A, 0, 1)) rotate(A, &v, 0, 1, 2), done = 0;
    if (!negligible(A, 0, 2)) rotate(A, &v, 0, 2, 1), done = 0;
    if (!negligible(A, 1, 2)) rotate(A, &v, 1, 2, 0), done = 0;
  }

  double s[3] = {A[0][0], A[1][1], A[2][2]};
  tb_scale_by(e, 3, s);
  tbMat3 R = tb_quat_mat3(tb_quat_normalize(v));
  tbVec3 cols[3] = {tb_mat3_col(R, 0), tb_mat3_col(R, 1), tb_mat3_col(R, 2)};
  for (int pass = 0; pass < 3; pass++) { // three exchanges sort three values
    int i = pass & 1;
    if (!(s[i] < s[i + 1])) continue;
    double t = s[i];
    s[i] = s[i + 1], s[i + 1] = t;
    tb_jacobi_swap(cols, i, i + 1);
  }
  return (tbEig3){{s[0], s[1], s[2]}, tb_mat3_cols(cols[0], cols[1], cols[2])};
}
