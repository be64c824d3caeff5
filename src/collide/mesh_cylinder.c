// SPDX-License-Identifier: Apache-2.0
// Contacts of a cylinder with a mesh.
//
// The cylinder is kept round: its signed distance has a closed form, and as the distance to a convex set it
// is a convex function along any segment.
//
//   cylinder–face    the corners of the cap, the ends of the line or the point of the rim that the cylinder
//                    turns to a triangle, where they lie above it
//   cylinder–edge    the least distance along a convex edge of the mesh, by golden section; where the edge
//                    lies along the cylinder, the two ends of the stretch that is as close. The ends of edges
//                    stand for the vertices
//
// Normal cones, the trust in deep points and the frame are those of mesh_contact.c. Only the mesh has cones
// to obey: a cylinder has no edges inside its faces.
#include "collide/meet.h"
#include "collide/mesh_contact.h"
#include "collide/reduce.h"
#include "geometry/box.h"
#include "geometry/convex.h"

enum { GOLDEN_STEPS = 40, BISECTIONS = 24 };

typedef struct {
  tbMeet m;
  const tbShape* shape;
  tbTransform T; // of the cylinder in the mesh's frame
} Roller;

// Signed distance of p (mesh's frame) to the cylinder, and its gradient.
static double cylinder_distance(const Roller* w, tbVec3 p, tbVec3* gradient)
{
  double distance = tb_cylinder_distance(w->shape, tb_transform_unpoint(w->T, p), gradient);
  if (gradient) *gradient = tb_quat_rotate(w->T.q, *gradient);
  return distance;
}

// The cap or line that faces d, and its farthest point, which a cap's corners miss.
static void face_toward(const Roller* w, tbVec3 d, tbFace* face)
{
  d = tb_quat_unrotate(w->T.q, d);
  tb_core_face(w->shape, d, face);
  face->corner[face->n] = tb_core_support(w->shape, d, NULL, &face->feature[face->n]);
  face->n++;
}

// Points of the cylinder that face a triangle.
static void face_contacts(Roller* w, int t, const tbVec3 corner[3])
{
  tbMeet* m = &w->m;
  const tbFeatureSurface* mesh = &m->s[1];
  tbVec3 n = mesh->mesh->normal[t];
  if (!mesh->solid && tb_dot3(n, tb_sub3(w->T.x, corner[0])) < 0) n = tb_neg3(n);
  tbFace face;
  face_toward(w, tb_neg3(n), &face);
  for (int i = 0; i < face.n; i++) {
    tbVec3 x = tb_transform_point(w->T, face.corner[i]);
    double gap = tb_dot3(n, tb_sub3(x, corner[0]));
    if (gap > m->margin || !tb_above_triangle(corner, mesh->mesh->normal[t], x)) continue;
    tbOutside way;
    if (gap < -m->eps) {
      if (mesh->solid && -gap > -TB_MEET_TRUST * tb_surface_distance(mesh, x, &way)) continue;
      if (!mesh->solid && cylinder_distance(w, tb_madd3(x, -gap, n), NULL) > -gap) continue; // came through
    }
    tb_meet_add(m, 0, x, tb_madd3(x, -gap, n), tb_neg3(n), tb_feature_vertex(face.feature[i]),
                tb_feature_face(t));
  }
}

typedef struct {
  int index, vertex[2];
  tbVec3 end[2];
} Segment;

static double distance_at(const Roller* w, const Segment* s, double t)
{
  return cylinder_distance(w, tb_lerp3(s->end[0], s->end[1], t), NULL);
}

static double least_along(const Roller* w, const Segment* s)
{
  const double ratio = 0.6180339887498949;
  double lo = 0, hi = 1, x = 1 - ratio, y = ratio, fx = distance_at(w, s, x), fy = distance_at(w, s, y);
  for (int k = 0; k < GOLDEN_STEPS; k++) {
    if (fx <= fy) {
      hi = y;
      y = x;
      fy = fx;
      x = hi - ratio * (hi - lo);
      fx = distance_at(w, s, x);
    } else {
      lo = x;
      x = y;
      fx = fy;
      y = lo + ratio * (hi - lo);
      fy = distance_at(w, s, y);
    }
  }
  double best = fx <= fy ? x : y, least = fmin(fx, fy);
  for (int end = 0; end < 2; end++)
    if (distance_at(w, s, end) <= least) best = end; // golden section comes near an end, not to it
  return best;
}

// The farthest place from `from` toward `to` where the distance is still at most `level`.
static double stretch(const Roller* w, const Segment* s, double from, double to, double level)
{
  if (distance_at(w, s, to) <= level) return to;
  for (int k = 0; k < BISECTIONS; k++) {
    double middle = 0.5 * (from + to);
    if (distance_at(w, s, middle) <= level) from = middle;
    else to = middle;
  }
  return from;
}

static void edge_point(Roller* w, const Segment* s, double t)
{
  tbMeet* m = &w->m;
  const tbFeatureSurface* mesh = &m->s[1];
  tbVec3 g, q = tb_lerp3(s->end[0], s->end[1], t);
  double distance = cylinder_distance(w, q, &g);
  if (distance > m->margin) return;
  uint32_t name = tb_feature_mesh_edge(s->index);
  if (t == 0 || t == 1) {
    int v = s->vertex[t == 1];
    if (!tb_surface_vertex_faces(mesh, v, tb_neg3(g), TB_MEET_TILT)) return;
    name = tb_feature_vertex(v);
  } else if (!tb_surface_edge_faces(mesh, s->index, tb_neg3(g), TB_MEET_TILT)) return;
  tbVec3 p = tb_madd3(q, -distance, g);
  if (!tb_surface_edge_faces(mesh, s->index, tb_neg3(g), 1e-6)) // back to the nearest face
    g = tb_neg3(tb_surface_edge_normal(mesh, s->index, tb_neg3(g)));
  tb_meet_add(m, 0, p, q, g, tb_feature_face(0), name);
}

static void edge_contacts(Roller* w, const Segment* s)
{
  double t = least_along(w, s), least = distance_at(w, s, t), size = w->shape->cylinder.radius;
  if (least > w->m.margin) return;
  double level = least + 1e-4 * size, length = tb_distance3(s->end[0], s->end[1]);
  double from = stretch(w, s, t, 0, level), to = stretch(w, s, t, 1, level);
  if ((to - from) * length < 0.1 * size) {
    edge_point(w, s, t);
    return;
  }
  edge_point(w, s, from);
  edge_point(w, s, to);
}

static bool visit(void* user, int t)
{
  Roller* w = user;
  const tbFeatureSurface* s = &w->m.s[1];
  const tbMesh* mesh = s->mesh;
  const int* v = mesh->triangle[t];
  tbVec3 corner[3] = {mesh->vertex[v[0]], mesh->vertex[v[1]], mesh->vertex[v[2]]};
  face_contacts(w, t, corner);
  for (int i = 0; i < 3; i++) {
    int e = mesh->triangle_edge[t][i], from = (i + 1) % 3, to = (i + 2) % 3;
    if (mesh->edge[e].triangle[0] != t || !tb_surface_sharp(s, mesh->edge_sharp[e])) continue;
    Segment segment = {e, {v[from], v[to]}, {corner[from], corner[to]}};
    edge_contacts(w, &segment);
  }
  return w->m.status == TB_OK;
}

// The cylinder is inside altogether: it leaves along the way out of its centre.
static void leave_altogether(Roller* w)
{
  tbMeet* m = &w->m;
  tbOutside way;
  if (!m->s[1].solid || tb_surface_distance(&m->s[1], w->T.x, &way) >= 0) return;
  tbFace face;
  face_toward(w, tb_neg3(way.normal), &face);
  for (int i = 0; i < face.n; i++) {
    tbVec3 x = tb_transform_point(w->T, face.corner[i]);
    double gap = tb_dot3(way.normal, tb_sub3(x, way.point));
    tb_meet_add(m, 0, x, tb_madd3(x, -gap, way.normal), tb_neg3(way.normal),
                tb_feature_vertex(face.feature[i]), tb_feature_face(way.triangle));
  }
}

tbStatus tb_collide_cylinder_mesh(tbContext* ctx, const tbPlaced* a, const tbPlaced* b, double margin,
                                  tbArray* out)
{
  Roller w = {.m = {.ctx = ctx, .margin = margin, .out = out, .first = out->count}, .shape = a->shape};
  w.T = (tbTransform){tb_quat_normalize(tb_quat_mul(tb_quat_conj(b->T.q), a->T.q)),
                      tb_quat_unrotate(b->T.q, tb_sub3(a->T.x, b->T.x))};
  TB_TRY(tb_surface_make(NULL, b->shape, tb_transform_identity(), &w.m.s[1])); // a mesh takes no memory
  const tbMesh* mesh = w.m.s[1].mesh;
  tbShape cylinder = *a->shape;
  cylinder.pose = tb_transform_identity();
  tbBox box = tb_shape_box_of(&cylinder, w.T);
  w.m.eps = 1e-12 * (tb_maxabs3(box.lo) + tb_maxabs3(box.hi) + tb_maxabs3(mesh->box.lo));
  tb_bvh_query(&mesh->bvh, mesh->triangle_box, tb_box_grow(box, margin), visit, &w);
  if (out->count == w.m.first && tb_box_meets(&box, &mesh->box)) leave_altogether(&w);
  if (w.m.status != TB_OK) out->count = w.m.first;
  tb_reduce_points(out, w.m.first);
  tb_points_to_world(b->T, out, w.m.first);
  return w.m.status;
}
