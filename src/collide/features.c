// SPDX-License-Identifier: Apache-2.0
#include "collide/features.h"
#include "geometry/exact.h"

static const double NARROW = 1e-6, PARALLEL = 1e-14; // sin² of an angle

typedef struct {
  tbVec3 at;
  double s, distance2;
} Foot;

// Closest to the origin on from + s along, 0 ≤ s ≤ 1.
static Foot foot_on(tbVec3 from, tbVec3 along)
{
  double length2 = tb_dot3(along, along), s = length2 > 0 ? -tb_dot3(from, along) / length2 : 0;
  s = s > 0 ? s < 1 ? s : 1 : 0;
  tbVec3 at = tb_madd3(from, s, along);
  return (Foot){at, s, tb_dot3(at, at)};
}

static tbClosest on_face_side(tbVec3 C, tbVec3 U, tbVec3 V)
{
  Foot best = foot_on(C, U), other = foot_on(tb_add3(C, U), tb_sub3(V, U));
  int side = 0;
  if (other.distance2 < best.distance2) best = other, side = 1;
  other = foot_on(tb_add3(C, V), tb_neg3(V));
  if (other.distance2 < best.distance2) best = other, side = 2;
  tbClosest c = {.way = best.at, .weight = {1}};
  c.weight[1 + side] = 1 - best.s;
  c.weight[1 + (side + 1) % 3] = best.s;
  return c;
}

static tbClosest on_edge_end(tbVec3 C, tbVec3 U, tbVec3 V)
{
  Foot foot[4] = {foot_on(C, V), foot_on(tb_add3(C, U), V), foot_on(C, U), foot_on(tb_add3(C, V), U)};
  int best = 0;
  for (int k = 1; k < 4; k++)
    if (foot[k].distance2 < foot[best].distance2) best = k;
  double u = best < 2 ? best : foot[best].s, v = best < 2 ? foot[best].s : best - 2;
  return (tbClosest){.way = foot[best].at, .weight = {1 - u, u, 1 - v, v}};
}

// Of directions within a thousandth sums of products cancel: points that are a ten-thousandth of an edge off
// along it would not be closest, and their way longer than the gap. Products with n = U × V do not.
double tb_foot_on_plane(tbVec3 C, tbVec3 U, tbVec3 V, double* u, double* v)
{
  double uu = tb_dot3(U, U), vv = tb_dot3(V, V), uv = tb_dot3(U, V), cu = tb_dot3(C, U), cv = tb_dot3(C, V);
  double det = uu * vv - uv * uv;
  *u = uv * cv - vv * cu, *v = uv * cu - uu * cv;
  if (det > NARROW * uu * vv) return det;
  tbVec3 n = tb_cross3(U, V);
  *u = -tb_dot3(tb_cross3(C, V), n), *v = tb_dot3(tb_cross3(C, U), n);
  det = tb_dot3(n, n);
  return det > PARALLEL * uu * vv ? det : 0;
}

tbClosest tb_closest_features(bool face, const tbVec3 x[4])
{
  tbVec3 C = tb_sub3(x[0], face ? x[1] : x[2]), U = face ? tb_sub3(x[1], x[2]) : tb_sub3(x[1], x[0]),
         V = face ? tb_sub3(x[1], x[3]) : tb_sub3(x[2], x[3]);
  double a, b, det = tb_foot_on_plane(C, U, V, &a, &b);
  if (det > 0 && a > 0 && b > 0 && (face ? a + b < det : a < det && b < det)) {
    double u = a / det, v = b / det, w = 1 - u - v;
    tbClosest c = {.way = tb_madd3(tb_madd3(C, u, U), v, V), .weight = {1, w, u, v}, .inside = true};
    if (!face) c.weight[0] = 1 - u, c.weight[1] = u, c.weight[2] = 1 - v, c.weight[3] = v;
    if (!face || w > 0) return c;
  }
  return face ? on_face_side(C, U, V) : on_edge_end(C, U, V);
}

int tb_side_of_features(bool face, const tbVec3 x[4])
{
  return face ? tb_side_of(x[1], x[2], x[3], x[0]) : tb_side_of(x[2], x[3], x[1], x[0]);
}

tbVec3 tb_normal_of_features(bool face, const tbVec3 x[4])
{
  if (face) return tb_normalize3(tb_triangle_normal(x[1], x[2], x[3]));
  tbVec3 a = tb_sub3(x[3], x[2]), b = tb_sub3(x[1], x[0]), n = tb_cross3(a, b);
  return tb_norm3(n) > 1e-7 * tb_norm3(a) * tb_norm3(b) ? tb_normalize3(n) : tb_zero3();
}
