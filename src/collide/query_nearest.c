// SPDX-License-Identifier: Apache-2.0
// Nearest points of one thing to a point. Outside of boxes and hulls by GJK, inside by their faces; round
// shapes in closed form; meshes by their tree; triangles one by one.
#include "collide/query.h"

#include "collide/features.h"
#include "geometry/round.h"

// A signed distance and where it leads: the point is p − distance · normal.
static void put(tbMeeting* out, tbVec3 p, double distance, tbVec3 normal)
{
  *out = (tbMeeting){distance, tb_madd3(p, -distance, normal), normal, -1};
}

// Inside: the nearest face.
static void nearest_face(const tbShape* shape, tbVec3 p, tbMeeting* out)
{
  double most = -INFINITY;
  for (int i = 0; i < tb_core_face_count(shape); i++) {
    double offset;
    tbVec3 n = tb_core_face_normal(shape, i, &offset);
    double above = tb_dot3(n, p) - offset;
    if (above > most) most = above, put(out, p, above, n);
  }
}

static void nearest_polyhedron(const tbShape* shape, tbVec3 p, tbMeeting* out)
{
  nearest_face(shape, p, out);
  if (out->distance <= 0) return;
  tbCore core = tb_core_at_origin(shape), point = tb_core_of_points(&p, 1);
  tbGjk g;
  tb_gjk(&core, &point, INFINITY, &g);
  if (!g.overlap) *out = (tbMeeting){g.distance, g.a, g.normal, -1};
}

// A point on the axis of a round shape has no direction of its own: any one across the axis will do.
static void nearest_round(const tbShape* shape, tbVec3 p, tbMeeting* out)
{
  tbVec3 n;
  double distance = tb_round_distance(shape, p, &n);
  if (!(tb_norm3(n) > 0.5)) n = tb_vec3(1, 0, 0);
  put(out, p, distance, tb_normalize3(n));
}

static bool nearest_mesh(const tbMesh* mesh, tbVec3 p, double reach, tbMeeting* out)
{
  tbMeshClosest c;
  bool solid = tb_mesh_is_solid(mesh);
  if (!tb_mesh_closest(mesh, p, solid ? INFINITY : reach, &c)) return false;
  double sign = solid ? tb_mesh_sign(mesh, p, &c) : 1;
  tbVec3 away = tb_scale3(sign, tb_sub3(p, c.point));
  *out = (tbMeeting){sign * c.distance, c.point,
                     c.distance > 0 ? tb_normalize3(away) : mesh->normal[c.triangle], c.triangle};
  return true;
}

bool tb_inside_triangles(const tbVec3* point, const int (*triangle)[3], int count, tbVec3 p)
{
  double angle = 0; // Van Oosterom and Strackee 1983
  for (int i = 0; i < count; i++) {
    tbVec3 a = tb_sub3(point[triangle[i][0]], p), b = tb_sub3(point[triangle[i][1]], p),
           c = tb_sub3(point[triangle[i][2]], p);
    double la = tb_norm3(a), lb = tb_norm3(b), lc = tb_norm3(c);
    double volume = tb_dot3(a, tb_cross3(b, c));
    double rest = la * lb * lc + tb_dot3(a, b) * lc + tb_dot3(b, c) * la + tb_dot3(c, a) * lb;
    angle += 2 * tb_atan2(volume, rest);
  }
  return angle > 6.283185307179586; // half of the whole, 4π
}

static bool nearest_triangles(const tbSubject* s, tbVec3 p, double reach, tbMeeting* out)
{
  bool inside = s->closed && tb_inside_triangles(s->point, s->triangle, s->ntriangle, p);
  double best = inside ? INFINITY : reach;
  int met = -1;
  tbVec3 way = tb_zero3();
  for (int t = 0; t < s->ntriangle; t++) {
    const int* c = s->triangle[t];
    tbVec3 x[4] = {p, s->point[c[0]], s->point[c[1]], s->point[c[2]]};
    tbClosest near = tb_closest_features(true, x);
    double distance = tb_norm3(near.way);
    if (distance < best || (met < 0 && distance <= best)) best = distance, met = t, way = near.way;
  }
  if (met < 0) return false;
  const int* c = s->triangle[met];
  tbVec3 n = tb_cross3(tb_sub3(s->point[c[1]], s->point[c[0]]), tb_sub3(s->point[c[2]], s->point[c[0]]));
  double sign = inside ? -1 : 1;
  *out = (tbMeeting){sign * best, tb_sub3(p, way), tb_normalize3(best > 0 ? tb_scale3(sign, way) : n), met};
  return true;
}

bool tb_subject_nearest(const tbSubject* s, tbVec3 p, double reach, tbMeeting* out)
{
  tbVec3 o = tb_transform_unpoint(s->T, p);
  const tbMesh* mesh = tb_subject_mesh(s);
  bool found = true;
  if (mesh) found = nearest_mesh(mesh, o, reach, out);
  else if (!s->shape) found = nearest_triangles(s, o, reach, out);
  else if (tb_shape_is_round(s->shape)) nearest_round(s->shape, o, out);
  else if (s->shape->type == TB_SHAPE_PLANE)
    put(out, o, tb_dot3(s->shape->plane.normal, o) - s->shape->plane.offset, s->shape->plane.normal);
  else nearest_polyhedron(s->shape, o, out);
  if (!found || !(out->distance <= reach)) return false;
  out->point = tb_transform_point(s->T, out->point);
  out->normal = tb_normalize3(tb_quat_rotate(s->T.q, out->normal));
  return true;
}
