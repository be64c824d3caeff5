// SPDX-License-Identifier: Apache-2.0
// Lower bounds of distances: the slab between two support planes, in the direction of the closest points.
//
// GJK finds the direction, or the axes of two boxes where one of them is it; the bound is then evaluated
// afresh with the support points in that very direction, less the rounding of the coordinates, so that it
// holds whether or not GJK went all the way. Between shapes so close that the direction of the closest points
// is noise, the normals of the faces are tried as well.
#include "collide/distance.h"
#include "collide/axes.h"
#include "collide/pairs.h"

static bool is_convex(const tbShape* shape) { return shape->type < TB_SHAPE_PLANE; }

static double convex_distance(const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb,
                              tbVec3* normal)
{
  tbCore ca = tb_core_at_origin(a), cb = tb_core_moved(b, tb_place_relative(Ta, Tb));
  tbAxis nearest;
  bool known = tb_axes_boxes_nearest(&ca, &cb, &nearest);
  tbVec3 n = known ? nearest.n : tb_zero3();
  tbGjk g = {.distance = -INFINITY};
  if (!known) {
    tb_gjk(&ca, &cb, INFINITY, &g);
    if (g.overlap) return -INFINITY;
    n = g.normal;
  }
  tbVec3 pa = tb_core_farthest(&ca, n, NULL, NULL), pb = tb_core_farthest(&cb, tb_neg3(n), NULL, NULL);
  double gap = tb_dot3(n, tb_sub3(pb, pa)), size = tb_core_reach(a) + tb_core_reach(b);
  if (gap < g.distance - 1e-10 * size) { // all but touching: a face has the better direction
    tbAxis axis;
    tb_axes_faces(&ca, &cb, INFINITY, 0, &axis);
    if (axis.gap > gap) {
      gap = axis.gap;
      n = axis.n;
    }
  }
  double slack = 1e-15 * (tb_maxabs3(pa) + tb_maxabs3(pb) + tb_maxabs3(Ta.x) + tb_maxabs3(Tb.x));
  *normal = tb_quat_rotate(Ta.q, n);
  return gap - tb_core_radius(a) - tb_core_radius(b) - slack;
}

// A convex shape above a plane; the normal points down into it.
static double plane_distance(const tbShape* a, tbTransform Ta, const tbShape* plane, tbTransform Tb,
                             tbVec3* normal)
{
  tbVec3 up = tb_normalize3(tb_quat_rotate(Tb.q, plane->plane.normal));
  tbVec3 low = tb_core_support(a, tb_quat_unrotate(Ta.q, tb_neg3(up)), NULL, NULL);
  tbVec3 p = tb_add3(tb_quat_rotate(Ta.q, low), tb_sub3(Ta.x, Tb.x));
  double slack = 1e-15 * (tb_maxabs3(p) + tb_maxabs3(Ta.x) + tb_maxabs3(Tb.x) + fabs(plane->plane.offset));
  *normal = tb_neg3(up);
  return tb_dot3(up, p) - plane->plane.offset - tb_core_radius(a) - slack;
}

double tb_distance(const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb, tbVec3* normal)
{
  tbTransform A = tb_place(a, Ta).T, B = tb_place(b, Tb).T;
  tbVec3 ignored;
  if (!normal) normal = &ignored;
  *normal = tb_zero3();
  if (is_convex(a) && is_convex(b)) return convex_distance(a, A, b, B, normal);
  if (is_convex(a) && b->type == TB_SHAPE_PLANE) return plane_distance(a, A, b, B, normal);
  if (a->type == TB_SHAPE_PLANE && is_convex(b)) {
    double gap = plane_distance(b, B, a, A, normal);
    *normal = tb_neg3(*normal);
    return gap;
  }
  return -INFINITY;
}

double tb_reach_about(const tbShape* shape, tbVec3 centre)
{
  if (!is_convex(shape)) return INFINITY;
  return tb_distance3(shape->pose.x, centre) + tb_core_reach(shape) + tb_core_radius(shape);
}
