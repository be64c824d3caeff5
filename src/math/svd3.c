// SPDX-License-Identifier: Apache-2.0
// Singular value decomposition of a 3×3 matrix by one-sided Jacobi rotations, with rotations on both sides.
//
// Method    Hestenes 1958: rotate the columns of A against each other until they are orthogonal; their norms
// are
//           the singular values, their directions U, the product of the rotations V. Two columns count as
//           orthogonal when the cosine of their angle is at rounding level, whatever their lengths, so small
//           singular values keep their digits (Demmel & Veselić 1992), as they would not through AᵀA.
//           U is closed with one Gram–Schmidt step and a cross product, which covers every rank and moves
//           the sign of the determinant to the last value.
// Cost      3 to 5 sweeps of three rotations, about 0.6 µs.
// Limits    Columns below 1e-290 of the largest entry are left unrotated. NaN or infinite input gives NaN, in
//           bounded time.
#include "math/svd3.h"

#include "base/simd.h"
#include "math/jacobi.h"
#include "math/scale.h"

#include <stdbool.h>

#define MAX_SWEEPS 30
#define ORTHOGONAL (2 * DBL_EPSILON)
#define NEGLIGIBLE 1e-290

// cot 2φ of the rotation that makes two columns orthogonal; infinite where they are already.
static double cotangent(tbVec3 p, tbVec3 q)
{
  double pp = tb_dot3(p, p), qq = tb_dot3(q, q), pq = tb_dot3(p, q);
  if (pp > 1e-140 && qq > 1e-140)
    return pq * pq <= ORTHOGONAL * ORTHOGONAL * (pp * qq) ? INFINITY : (qq - pp) / (2 * pq);
  double np = tb_norm3(p), nq = tb_norm3(q); // the same where squares underflow
  if (np < NEGLIGIBLE || nq < NEGLIGIBLE) return INFINITY;
  double cosine = tb_dot3(tb_scale3(1 / np, p), tb_scale3(1 / nq, q));
  return fabs(cosine) <= ORTHOGONAL ? INFINITY : (nq / np - np / nq) / (2 * cosine);
}

// Makes the columns p and q orthogonal; false where they were.
static int rotate(tbVec3* a, tbQuat* v, int p, int q)
{
  double zeta = cotangent(a[p], a[q]);
  if (fabs(zeta) == INFINITY) return 0;
  double t = tb_jacobi_tangent(zeta), c = 1 / sqrt(1 + t * t), s = t * c;
  tbVec3 b = a[p];
  a[p] = tb_madd3(tb_scale3(c, b), -s, a[q]);
  a[q] = tb_madd3(tb_scale3(c, a[q]), s, b);
  *v = tb_jacobi_turn(*v, p, q, c, s);
  return 1;
}

// The rotation whose first two columns are the directions of a0 and a1, which are orthogonal. A vector that
// is zero, or too small to have been made orthogonal, leaves its direction to us.
static tbMat3 directions(tbVec3 a0, tbVec3 a1)
{
  tbVec3 u0 = tb_normalize3(a0), u1 = tb_normalize3(a1);
  if (tb_maxabs3(u0) == 0) return tb_mat3_identity();
  u1 = tb_madd3(u1, -tb_dot3(u1, u0), u0);
  u1 = tb_dot3(u1, u1) < 0.5 ? tb_mat3_row(tb_mat3_frame(u0), 1) : tb_normalize3(u1);
  return tb_mat3_cols(u0, u1, tb_cross3(u0, u1));
}

// Sorts what the rotations left, orthogonal columns a = A V and V, and reads U and the values from it.
static tbSvd3 finish(tbVec3* a, tbVec3* cols)
{
  double s[3] = {tb_norm3(a[0]), tb_norm3(a[1]), tb_norm3(a[2])};
  for (int pass = 0; pass < 3; pass++) { // three exchanges sort three values
    int i = pass & 1;
    if (!(s[i] < s[i + 1])) continue;
    double t = s[i];
    s[i] = s[i + 1], s[i + 1] = t;
    tb_jacobi_swap(a, i, i + 1);
    tb_jacobi_swap(cols, i, i + 1);
  }
  tbMat3 U = directions(a[0], a[1]);
  if (tb_dot3(tb_mat3_col(U, 2), a[2]) < 0) s[2] = -s[2];
  return (tbSvd3){U, {s[0], s[1], s[2]}, tb_mat3_cols(cols[0], cols[1], cols[2])};
}

tbSvd3 tb_svd3(tbMat3 A)
{
  int e = tb_scale_exponent(tb_mat3_maxabs(A));
  for (int i = 0; i < 3; i++) tb_scale_by(-e, 3, A.m[i]);

  tbVec3 a[3] = {tb_mat3_col(A, 0), tb_mat3_col(A, 1), tb_mat3_col(A, 2)};
  tbQuat v = tb_quat_identity();
  for (int sweep = 0, turned = 1; turned && sweep < MAX_SWEEPS; sweep++) {
    turned = rotate(a, &v, 0, 1);
    turned |= rotate(a, &v, 0, 2);
    turned |= rotate(a, &v, 1, 2);
  }

  tbMat3 R = tb_quat_mat3(tb_quat_normalize(v));
  tbVec3 cols[3] = {tb_mat3_col(R, 0), tb_mat3_col(R, 1), tb_mat3_col(R, 2)};
  tbSvd3 f = finish(a, cols);
  tb_scale_by(e, 3, f.s);
  return f;
}

// ---- many at once ----

// TB_WIDE matrices side by side go through a fixed number of sweeps without a branch. A matrix that is not
// done then, or whose squares may leave the range, takes the way above; so does a singular one, whose last
// column has no direction to be orthogonal with.

enum { SWEEPS = 4 };
#define DONE (8 * DBL_EPSILON)

static tbwd dot(const tbwd* p, const tbwd* q)
{
  return tbw_add(tbw_add(tbw_mul(p[0], q[0]), tbw_mul(p[1], q[1])), tbw_mul(p[2], q[2]));
}

static void turn(tbwd c, tbwd s, tbwd* p, tbwd* q)
{
  for (int i = 0; i < 3; i++) {
    tbwd b = p[i];
    p[i] = tbw_sub(tbw_mul(c, b), tbw_mul(s, q[i]));
    q[i] = tbw_add(tbw_mul(c, q[i]), tbw_mul(s, b));
  }
}

// tan φ = 2pq sign(d)/(|d| + √(d² + 4pq²)), d = qq − pp.
static void rotate_wide(tbwd a[3][3], tbwd v[3][3], int p, int q)
{
  tbwd pq = dot(a[p], a[q]), two = tbw_add(pq, pq), d = tbw_sub(dot(a[q], a[q]), dot(a[p], a[p]));
  tbwd root = tbw_sqrt(tbw_add(tbw_mul(d, d), tbw_mul(two, two)));
  tbwd below = tbw_copysign(tbw_add(tbw_add(tbw_abs(d), root), tbw_set1(DBL_MIN)), d);
  tbwd one = tbw_set1(1), t = tbw_div(two, below), c = tbw_div(one, tbw_sqrt(tbw_add(one, tbw_mul(t, t))));
  tbwd s = tbw_mul(t, c);
  turn(c, s, a[p], a[q]);
  turn(c, s, v[p], v[q]);
}

static bool orthogonal(tbVec3 p, tbVec3 q)
{
  double pp = tb_dot3(p, p), qq = tb_dot3(q, q), pq = tb_dot3(p, q);
  return pp > 1e-100 && qq > 1e-100 && pp < 1e100 && qq < 1e100 && pq * pq <= DONE * DONE * (pp * qq);
}

static void several(int count, const tbMat3* A, tbSvd3* out)
{
  double lane[3][3][TB_WIDE], lane_v[3][3][TB_WIDE]; // column, row, matrix
  tbwd a[3][3], v[3][3];
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < TB_WIDE; k++) lane[j][i][k] = k < count ? A[k].m[i][j] : i == j;
      a[j][i] = tbw_load(lane[j][i]);
      v[j][i] = tbw_set1(i == j);
    }
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    rotate_wide(a, v, 0, 1);
    rotate_wide(a, v, 0, 2);
    rotate_wide(a, v, 1, 2);
  }
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) tbw_store(lane[j][i], a[j][i]), tbw_store(lane_v[j][i], v[j][i]);
  for (int k = 0; k < count; k++) {
    tbVec3 cols[3], turned[3];
    for (int j = 0; j < 3; j++) {
      turned[j] = tb_vec3(lane[j][0][k], lane[j][1][k], lane[j][2][k]);
      cols[j] = tb_vec3(lane_v[j][0][k], lane_v[j][1][k], lane_v[j][2][k]);
    }
    bool done = orthogonal(turned[0], turned[1]) && orthogonal(turned[0], turned[2]) &&
                orthogonal(turned[1], turned[2]);
    out[k] = done ? finish(turned, cols) : tb_svd3(A[k]);
  }
}

void tb_svd3_many(int count, const tbMat3* A, tbSvd3* out)
{
  for (int k = 0; k < count; k += TB_WIDE) several(count - k < TB_WIDE ? count - k : TB_WIDE, A + k, out + k);
}
