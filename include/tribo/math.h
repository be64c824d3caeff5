// SPDX-License-Identifier: Apache-2.0
// Vectors, 3×3 matrices, quaternions and rigid transforms, by value, in double; inline but for angles and
// logarithms.
//
//   tbVec3       x y z
//   tbMat3       row-major: m[i][j] is row i, column j
//   tbQuat       [w x y z]; a unit quaternion stands for the rotation v ↦ q v q*
//   tbTransform  p ↦ R(q) p + x: from a body's frame to the world
//
// Vector operations are short and end in 3, because physics is made of them: tb_add3(v, tb_cross3(w, r)).
// Everything else is tb_type_verb. Norms, normalisation and the inverse do not overflow or underflow on the
// way to a result that is representable.
#ifndef TRIBO_MATH_H
#define TRIBO_MATH_H

#include "tribo/api.h"

#include <math.h>
#include <stdbool.h>

TB_API_BEGIN

#define TB_PI 3.14159265358979323846

typedef struct tbVec3 {
  double x, y, z;
} tbVec3;

typedef struct tbMat3 {
  double m[3][3];
} tbMat3;

typedef struct tbQuat {
  double w, x, y, z;
} tbQuat;

typedef struct tbTransform {
  tbQuat q;
  tbVec3 x;
} tbTransform;

// Vectors.

static inline tbVec3 tb_vec3(double x, double y, double z)
{
  tbVec3 v = {x, y, z};
  return v;
}

static inline tbVec3 tb_zero3(void) { return tb_vec3(0, 0, 0); }
static inline tbVec3 tb_load3(const double* p) { return tb_vec3(p[0], p[1], p[2]); }
static inline void tb_store3(double* p, tbVec3 a)
{
  p[0] = a.x;
  p[1] = a.y;
  p[2] = a.z;
}

static inline tbVec3 tb_add3(tbVec3 a, tbVec3 b) { return tb_vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline tbVec3 tb_sub3(tbVec3 a, tbVec3 b) { return tb_vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline tbVec3 tb_neg3(tbVec3 a) { return tb_vec3(-a.x, -a.y, -a.z); }
static inline tbVec3 tb_scale3(double s, tbVec3 a) { return tb_vec3(s * a.x, s * a.y, s * a.z); }
static inline tbVec3 tb_mul3(tbVec3 a, tbVec3 b) { return tb_vec3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline tbVec3 tb_madd3(tbVec3 a, double s, tbVec3 b) // a + s b
{
  return tb_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline tbVec3 tb_lerp3(tbVec3 a, tbVec3 b, double t) // exact at t = 0 and t = 1
{
  return tb_madd3(tb_scale3(1 - t, a), t, b);
}
static inline tbVec3 tb_min3(tbVec3 a, tbVec3 b)
{
  return tb_vec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static inline tbVec3 tb_max3(tbVec3 a, tbVec3 b)
{
  return tb_vec3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
static inline double tb_dot3(tbVec3 a, tbVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline bool tb_finite3(tbVec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static inline tbVec3 tb_cross3(tbVec3 a, tbVec3 b)
{
  return tb_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double tb_maxabs3(tbVec3 a)
{
  double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z), m = x > y ? x : y;
  return m > z ? m : z;
}

static inline double tb_norm3(tbVec3 a)
{
  double s = tb_dot3(a, a);
  if (s > 1e-270 && s < 1e300) return sqrt(s);
  double m = tb_maxabs3(a);
  if (!(m > 0) || m > 1.7976931348623157e308) return sqrt(s); // 0, ∞, NaN
  int e;
  frexp(m, &e);
  tbVec3 u = tb_vec3(ldexp(a.x, -e), ldexp(a.y, -e), ldexp(a.z, -e));
  return ldexp(sqrt(tb_dot3(u, u)), e);
}

static inline double tb_distance3(tbVec3 a, tbVec3 b) { return tb_norm3(tb_sub3(a, b)); }

// a/‖a‖; the zero vector stays zero.
static inline tbVec3 tb_normalize3(tbVec3 a)
{
  double s = tb_dot3(a, a);
  if (s > 1e-270 && s < 1e300) {
    double n = sqrt(s);
    return tb_vec3(a.x / n, a.y / n, a.z / n);
  }
  double m = tb_maxabs3(a);
  if (m == 0) return a;
  tbVec3 u = tb_vec3(a.x / m, a.y / m, a.z / m);
  double n = sqrt(tb_dot3(u, u));
  return tb_vec3(u.x / n, u.y / n, u.z / n);
}

// 3×3 matrices.

static inline tbMat3 tb_mat3_diag(double a, double b, double c)
{
  tbMat3 A = {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
  return A;
}

static inline tbMat3 tb_mat3_zero(void) { return tb_mat3_diag(0, 0, 0); }
static inline tbMat3 tb_mat3_identity(void) { return tb_mat3_diag(1, 1, 1); }

static inline tbMat3 tb_mat3_rows(tbVec3 a, tbVec3 b, tbVec3 c)
{
  tbMat3 A = {{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
  return A;
}

static inline tbMat3 tb_mat3_cols(tbVec3 a, tbVec3 b, tbVec3 c)
{
  tbMat3 A = {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
  return A;
}

static inline tbVec3 tb_mat3_row(tbMat3 A, int i) { return tb_load3(A.m[i]); }
static inline tbVec3 tb_mat3_col(tbMat3 A, int j) { return tb_vec3(A.m[0][j], A.m[1][j], A.m[2][j]); }

static inline tbMat3 tb_mat3_add(tbMat3 A, tbMat3 B)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] += B.m[i][j];
  return A;
}

static inline tbMat3 tb_mat3_sub(tbMat3 A, tbMat3 B)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] -= B.m[i][j];
  return A;
}

static inline tbMat3 tb_mat3_scale(double s, tbMat3 A)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] *= s;
  return A;
}

static inline tbMat3 tb_mat3_transpose(tbMat3 A)
{
  return tb_mat3_rows(tb_mat3_col(A, 0), tb_mat3_col(A, 1), tb_mat3_col(A, 2));
}

static inline tbVec3 tb_mat3_mulv(tbMat3 A, tbVec3 v) // A v
{
  return tb_vec3(tb_dot3(tb_mat3_row(A, 0), v), tb_dot3(tb_mat3_row(A, 1), v), tb_dot3(tb_mat3_row(A, 2), v));
}

static inline tbVec3 tb_mat3_tmulv(tbMat3 A, tbVec3 v) // Aᵀ v
{
  return tb_vec3(tb_dot3(tb_mat3_col(A, 0), v), tb_dot3(tb_mat3_col(A, 1), v), tb_dot3(tb_mat3_col(A, 2), v));
}

static inline tbMat3 tb_mat3_mul(tbMat3 A, tbMat3 B) // A B
{
  tbMat3 C;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C.m[i][j] = A.m[i][0] * B.m[0][j] + A.m[i][1] * B.m[1][j] + A.m[i][2] * B.m[2][j];
  return C;
}

static inline tbMat3 tb_mat3_tmul(tbMat3 A, tbMat3 B) { return tb_mat3_mul(tb_mat3_transpose(A), B); } // Aᵀ B
static inline tbMat3 tb_mat3_mult(tbMat3 A, tbMat3 B) { return tb_mat3_mul(A, tb_mat3_transpose(B)); } // A Bᵀ

static inline tbMat3 tb_mat3_outer(tbVec3 a, tbVec3 b) // a bᵀ
{
  return tb_mat3_rows(tb_scale3(a.x, b), tb_scale3(a.y, b), tb_scale3(a.z, b));
}

static inline tbMat3 tb_mat3_skew(tbVec3 a) // [a]× with [a]× v = a × v
{
  tbMat3 A = {{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
  return A;
}

static inline double tb_mat3_trace(tbMat3 A) { return A.m[0][0] + A.m[1][1] + A.m[2][2]; }

static inline double tb_mat3_det(tbMat3 A)
{
  return tb_dot3(tb_mat3_row(A, 0), tb_cross3(tb_mat3_row(A, 1), tb_mat3_row(A, 2)));
}

static inline double tb_mat3_maxabs(tbMat3 A)
{
  return tb_maxabs3(
      tb_vec3(tb_maxabs3(tb_mat3_row(A, 0)), tb_maxabs3(tb_mat3_row(A, 1)), tb_maxabs3(tb_mat3_row(A, 2))));
}

static inline double tb_mat3_norm(tbMat3 A) // Frobenius
{
  return tb_norm3(
      tb_vec3(tb_norm3(tb_mat3_row(A, 0)), tb_norm3(tb_mat3_row(A, 1)), tb_norm3(tb_mat3_row(A, 2))));
}

// adj(A)/det(A), each row brought to size one first, so that rows of very different units are no trouble. A
// singular matrix gives infinities or NaN.
static inline tbMat3 tb_mat3_inverse(tbMat3 A)
{
  double sa = tb_maxabs3(tb_mat3_row(A, 0)), sb = tb_maxabs3(tb_mat3_row(A, 1)),
         sc = tb_maxabs3(tb_mat3_row(A, 2));
  tbVec3 a = tb_vec3(A.m[0][0] / sa, A.m[0][1] / sa, A.m[0][2] / sa);
  tbVec3 b = tb_vec3(A.m[1][0] / sb, A.m[1][1] / sb, A.m[1][2] / sb);
  tbVec3 c = tb_vec3(A.m[2][0] / sc, A.m[2][1] / sc, A.m[2][2] / sc);
  tbVec3 bc = tb_cross3(b, c), ca = tb_cross3(c, a), ab = tb_cross3(a, b);
  double det = tb_dot3(a, bc);
  bc = tb_vec3(bc.x / det / sa, bc.y / det / sa, bc.z / det / sa);
  ca = tb_vec3(ca.x / det / sb, ca.y / det / sb, ca.z / det / sb);
  ab = tb_vec3(ab.x / det / sc, ab.y / det / sc, ab.z / det / sc);
  return tb_mat3_cols(bc, ca, ab);
}

// A right-handed orthonormal frame whose first row is the unit vector n; the rows are n, t, b with t × b = n.
// Duff et al., "Building an orthonormal basis, revisited", JCGT 6(1), 2017: orthonormal to rounding for every
// n, also next to ±z; jumps only across n.z = 0.
static inline tbMat3 tb_mat3_frame(tbVec3 n)
{
  double sign = copysign(1.0, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
  tbVec3 t = tb_vec3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
  return tb_mat3_rows(n, t, tb_vec3(b, sign + n.y * n.y * a, -n.y));
}

// The same bits everywhere (src/math/trig.c, explog.c): the C library's own sine differs between machines.

void tb_sin_cos(double angle, double* s, double* c);
double tb_atan2(double y, double x);
double tb_acos(double x); // x beyond ±1 counts as ±1
double tb_ln(double x);   // natural
double tb_exp(double x);

// Quaternions.

static inline tbQuat tb_quat(double w, double x, double y, double z)
{
  tbQuat q = {w, x, y, z};
  return q;
}

static inline tbQuat tb_quat_identity(void) { return tb_quat(1, 0, 0, 0); }
static inline tbQuat tb_quat_conj(tbQuat q) { return tb_quat(q.w, -q.x, -q.y, -q.z); }

static inline tbQuat tb_quat_mul(tbQuat a, tbQuat b) // first b, then a
{
  return tb_quat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                 a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

// q/‖q‖; the zero quaternion becomes the identity.
static inline tbQuat tb_quat_normalize(tbQuat q)
{
  double s = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!(s > 1e-270 && s < 1e300)) {
    double a = fabs(q.w), b = tb_maxabs3(tb_vec3(q.x, q.y, q.z)), m = a > b ? a : b;
    if (m == 0) return tb_quat_identity();
    q = tb_quat(q.w / m, q.x / m, q.y / m, q.z / m);
    s = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  }
  double n = sqrt(s);
  return tb_quat(q.w / n, q.x / n, q.y / n, q.z / n);
}

static inline tbVec3 tb_quat_rotate(tbQuat q, tbVec3 v) // v + 2w (u × v) + 2 u × (u × v), u = (x, y, z)
{
  tbVec3 u = tb_vec3(q.x, q.y, q.z), t = tb_scale3(2, tb_cross3(u, v));
  return tb_add3(tb_madd3(v, q.w, t), tb_cross3(u, t));
}

static inline tbVec3 tb_quat_unrotate(tbQuat q, tbVec3 v) { return tb_quat_rotate(tb_quat_conj(q), v); }

static inline tbMat3 tb_quat_mat3(tbQuat q)
{
  double x = 2 * q.x, y = 2 * q.y, z = 2 * q.z;
  double xx = x * q.x, yy = y * q.y, zz = z * q.z, xy = x * q.y, yz = y * q.z, zx = z * q.x;
  double wx = x * q.w, wy = y * q.w, wz = z * q.w;
  tbMat3 R = {{{1 - (yy + zz), xy - wz, zx + wy},
               {xy + wz, 1 - (xx + zz), yz - wx},
               {zx - wy, yz + wx, 1 - (xx + yy)}}};
  return R;
}

// The unit quaternion of a rotation matrix, w ≥ 0 where it leads. Shepperd 1978: divide by the largest of the
// four components, which is never below 1/2.
static inline tbQuat tb_quat_from_mat3(tbMat3 R)
{
  double a = R.m[0][0], b = R.m[1][1], c = R.m[2][2];
  double yz = R.m[2][1] - R.m[1][2], zx = R.m[0][2] - R.m[2][0], xy = R.m[1][0] - R.m[0][1];
  double pyz = R.m[2][1] + R.m[1][2], pzx = R.m[0][2] + R.m[2][0], pxy = R.m[1][0] + R.m[0][1];
  double trace = a + b + c;
  if (trace >= a && trace >= b && trace >= c) return tb_quat_normalize(tb_quat(1 + trace, yz, zx, xy));
  if (a >= b && a >= c) return tb_quat_normalize(tb_quat(yz, 1 + a - b - c, pxy, pzx));
  if (b >= c) return tb_quat_normalize(tb_quat(zx, pxy, 1 - a + b - c, pyz));
  return tb_quat_normalize(tb_quat(xy, pzx, pyz, 1 - a - b + c));
}

// exp(r/2): the rotation by ‖r‖ radians about r.
static inline tbQuat tb_quat_exp(tbVec3 r)
{
  double angle = tb_norm3(r), s, c;
  tb_sin_cos(0.5 * angle, &s, &c);
  s = angle < 1e-8 ? 0.5 : s / angle; // sin(θ/2)/θ = 1/2 − θ²/48 + …
  return tb_quat(c, s * r.x, s * r.y, s * r.z);
}

// The rotation vector of a unit quaternion, of norm at most π: the inverse of tb_quat_exp.
static inline tbVec3 tb_quat_log(tbQuat q)
{
  tbVec3 u = q.w < 0 ? tb_vec3(-q.x, -q.y, -q.z) : tb_vec3(q.x, q.y, q.z);
  double s = tb_norm3(u), w = fabs(q.w);
  return tb_scale3(s < 1e-8 ? 2 / (w > 0 ? w : 1) : 2 * tb_atan2(s, w) / s, u);
}

// The orientation after a time h at the constant angular velocity omega (world frame): exact.
static inline tbQuat tb_quat_integrate(tbQuat q, tbVec3 omega, double h)
{
  return tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(h, omega)), q));
}

// Rigid transforms.

static inline tbTransform tb_transform(tbQuat q, tbVec3 x)
{
  tbTransform T = {q, x};
  return T;
}

static inline tbTransform tb_transform_identity(void) { return tb_transform(tb_quat_identity(), tb_zero3()); }

static inline tbVec3 tb_transform_point(tbTransform T, tbVec3 p)
{
  return tb_add3(tb_quat_rotate(T.q, p), T.x);
}

static inline tbVec3 tb_transform_unpoint(tbTransform T, tbVec3 p) // world to body
{
  return tb_quat_unrotate(T.q, tb_sub3(p, T.x));
}

static inline tbTransform tb_transform_mul(tbTransform A, tbTransform B) // first B, then A
{
  return tb_transform(tb_quat_mul(A.q, B.q), tb_transform_point(A, B.x));
}

static inline tbTransform tb_transform_inverse(tbTransform T)
{
  return tb_transform(tb_quat_conj(T.q), tb_neg3(tb_quat_unrotate(T.q, T.x)));
}

TB_API_END
#endif
