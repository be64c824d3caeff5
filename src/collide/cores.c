// SPDX-License-Identifier: Apache-2.0
// Contacts of any two convex shapes, each a core with a radius around it.
//
// What is sought is the widest slab between the cores: its normal is the contact normal, its width the gap of
// the cores, negative when they overlap. Three ways lead there, the cheapest first:
//
//   1. The normals of the flat faces. Their slab bounds the gap from below; when a point of one core lies
//      over the other's face at just this distance, the bound is attained and the answer is exact. Resting
//      contacts end here.
//   2. Apart but not face to face (corner against corner, …): the distance, by GJK; where edges of two boxes
//   pass
//      each other it is along their common normal.
//   3. Overlapping: the pairs of edges of polytopes (axes.c); with curved sides or very many edges, EPA.
//
// Two hulls of many faces start with the distance instead, and then look at the two faces nearest to its
// direction.
//
// Along the normal the two faces that look at each other are clipped (clip.c) and give the corners of the
// overlap with their own gaps; the closest points are added where no corner is as close. Everything is
// decided with tolerances relative to the size of the pair, and in a fixed order: the choice between ways of
// nearly equal merit depends neither on rounding noise nor on history.
//
// Limits    gaps and normals are exact to 1e-10 of the size between spheres, capsules, boxes and hulls; with
// a
//           cylinder GJK and EPA end within 1e-8 of the size as a rule, 1e-7 for needles, and the normal of
//           a curved side is good to the square root of that.
#include "collide/axes.h"
#include "collide/clip.h"
#include "collide/epa.h"
#include "collide/manifold.h"
#include "collide/pairs.h"

typedef struct {
  tbCore a, b;
  double size;      // of the two shapes together
  double bias;      // differences below are rounding
  double reach;     // largest gap of the cores that counts
  bool faces_known; // all faces are looked at first; otherwise only those near a direction once found
} Query;

// Corners of the overlap, the closest points among them.
typedef struct {
  int n;
  tbClipPoint point[TB_CLIP_POINTS + 1];
} Overlap;

static tbVec3 turn(const tbCore* c, tbVec3 d) { return c->moved ? tb_mat3_mulv(c->R, d) : d; }

static void face_along(const tbCore* c, tbVec3 d, int index, tbFace* out)
{
  if (index >= 0) tb_core_face_at(c->shape, index, out);
  else tb_core_face(c->shape, c->moved ? tb_mat3_tmulv(c->R, d) : d, out);
  if (!c->moved) return;
  out->normal = turn(c, out->normal);
  for (int i = 0; i < out->n; i++) out->corner[i] = tb_add3(tb_mat3_mulv(c->R, out->corner[i]), c->x);
}

static double least_gap(const Overlap* o)
{
  double least = INFINITY;
  for (int i = 0; i < o->n; i++) least = fmin(least, o->point[i].gap);
  return least;
}

// Clips the faces along n; a face index of −1 asks for the face turned most that way.
static void overlap_along(const Query* q, tbVec3 n, int face_a, int face_b, Overlap* out)
{
  tbFace A, B;
  face_along(&q->a, n, face_a, &A);
  face_along(&q->b, tb_neg3(n), face_b, &B);
  bool b_clips = face_b >= 0;
  if (face_a < 0 && face_b < 0) b_clips = -tb_dot3(B.normal, n) > tb_dot3(A.normal, n) + 1e-6;
  out->n = tb_clip_faces(&A, &B, n, b_clips, q->bias, out->point);
}

// The closest points, named by the corners around them: one corner, an edge, or the face.
static uint32_t feature_of(const tbGjkVertex* v, int n, bool of_b, const tbCore* core, tbVec3 d)
{
  int seen[4], count = 0;
  for (int i = 0; i < n; i++) {
    int f = of_b ? v[i].fb : v[i].fa;
    bool known = v[i].weight <= 0;
    for (int k = 0; k < count; k++) known |= seen[k] == f;
    if (!known) seen[count++] = f;
  }
  if (count == 1) return tb_feature_vertex(seen[0]);
  if (count == 2) return tb_feature_edge(seen[0], seen[1]);
  tbFace face;
  tb_core_face(core->shape, core->moved ? tb_mat3_tmulv(core->R, d) : d, &face);
  return tb_feature_face(face.index);
}

// How far the surface lies beyond a point of the core, along d.
static double thickness(const tbCore* c, tbVec3 p, tbVec3 d)
{
  if (c->shape->type != TB_SHAPE_CAPSULE) return tb_core_radius(c->shape);
  tbVec3 axis = turn(c, tb_vec3(0, 0, 1));
  double along = tb_dot3(axis, d), at = tb_dot3(axis, c->moved ? tb_sub3(p, c->x) : p);
  double rest = c->shape->capsule.half - (along < 0 ? -at : at);
  return tb_capsule_thickness(c->shape->capsule.radius, rest, fabs(along));
}

static void emit(const Query* q, tbVec3 n, double margin, Overlap* o, tbManifold* out)
{
  int kept = 0;
  for (int i = 0; i < o->n; i++) {
    tbClipPoint p = o->point[i];
    double over = thickness(&q->a, p.a, n), under = thickness(&q->b, p.b, tb_neg3(n));
    p.gap -= over + under;
    p.a = tb_madd3(p.a, over, n);
    p.b = tb_madd3(p.b, -under, n);
    if (p.gap <= margin) o->point[kept++] = p;
  }
  tb_manifold_from(o->point, kept, n, 1e-4 * q->size, out);
}

// Puts the closest points in front when no corner of the overlap is as close.
static void with_closest(const Query* q, const tbClipPoint* closest, Overlap* o)
{
  if (least_gap(o) <= closest->gap + q->bias) return;
  for (int i = o->n; i > 0; i--) o->point[i] = o->point[i - 1];
  o->point[0] = *closest;
  o->n++;
}

static void overlap_of_axis(const Query* q, const tbAxis* axis, Overlap* o)
{
  overlap_along(q, axis->n, axis->kind == TB_AXIS_FACE_A ? axis->face : -1,
                axis->kind == TB_AXIS_FACE_B ? axis->face : -1, o);
}

// A slab is attained when the farthest point of one core lies over the face of the other, even where clipping
// its polygon misses it (a point on the rim of a cylinder, a sphere's centre).
static bool over_face(const Query* q, const tbAxis* axis, tbClipPoint* closest)
{
  bool of_a = axis->kind == TB_AXIS_FACE_A;
  tbFace face, point = {.n = 1};
  tbClipPoint met;
  face_along(of_a ? &q->a : &q->b, axis->n, axis->face, &face);
  tbVec3 d = of_a ? tb_neg3(axis->n) : axis->n;
  point.corner[0] = tb_core_farthest(of_a ? &q->b : &q->a, d, NULL, &point.feature[0]);
  if (!tb_clip_faces(of_a ? &face : &point, of_a ? &point : &face, axis->n, !of_a, q->bias, &met))
    return false;
  *closest = met;
  return true;
}

static bool face_contact(const Query* q, const tbAxis* axis, double margin, tbManifold* out)
{
  Overlap o;
  overlap_of_axis(q, axis, &o);
  if (least_gap(&o) > axis->gap + q->bias) {
    tbClipPoint closest;
    if (!over_face(q, axis, &closest)) return false;
    with_closest(q, &closest, &o);
  }
  emit(q, axis->n, margin, &o, out);
  return true;
}

// Along n, with the closest points and the corners of the simplex they lie on.
static void closest_contact(const Query* q, tbVec3 n, double gap, tbVec3 a, tbVec3 b, const tbGjkVertex* v,
                            int count, double margin, tbManifold* out)
{
  Overlap o;
  tbClipPoint closest = {.a = a, .b = b, .gap = gap};
  closest.fa = feature_of(v, count, false, &q->a, n);
  closest.fb = feature_of(v, count, true, &q->b, tb_neg3(n));
  overlap_along(q, n, -1, -1, &o);
  with_closest(q, &closest, &o);
  emit(q, n, margin, &o, out);
}

// Apart, or touching to rounding (false).
static bool distance_contact(const Query* q, double margin, tbManifold* out)
{
  tbGjk g;
  tbAxis face;
  tb_gjk(&q->a, &q->b, q->reach, &g);
  if (g.bound > q->reach) return true;
  if (g.overlap || g.distance <= q->bias) return false;
  if (!q->faces_known && tb_axes_face_near(&q->a, &q->b, g.normal, g.distance - q->bias, &face) &&
      face_contact(q, &face, margin, out))
    return true;
  closest_contact(q, g.normal, g.distance, g.a, g.b, g.v, g.n, margin, out);
  return true;
}

// Along an axis as it stands.
static void axis_contact(const Query* q, const tbAxis* axis, double margin, tbManifold* out)
{
  Overlap o;
  tbClipPoint closest = {.a = axis->a, .b = axis->b, .gap = axis->gap};
  bool edges = axis->kind == TB_AXIS_EDGES, of_a = axis->kind == TB_AXIS_FACE_A;
  uint32_t face = tb_feature_face(axis->face), corner = tb_feature_vertex(axis->corner);
  closest.fa = edges ? tb_feature_edge(axis->edge[0][0], axis->edge[0][1]) : of_a ? face : corner;
  closest.fb = edges ? tb_feature_edge(axis->edge[1][0], axis->edge[1][1]) : of_a ? corner : face;
  overlap_along(q, axis->n, -1, -1, &o);
  with_closest(q, &closest, &o);
  emit(q, axis->n, margin, &o, out);
}

// Along n, if the corners of the overlap attain the depth there.
static bool corner_contact(const Query* q, tbVec3 n, double gap, double margin, tbManifold* out)
{
  Overlap o;
  overlap_along(q, n, -1, -1, &o);
  if (least_gap(&o) > gap + q->bias) return false;
  emit(q, n, margin, &o, out);
  return true;
}

// Straight out of a cylinder's side, towards the other core. Cylinders that share their axis overlap alike in
// all directions around it: no polytope gets there, but this does.
static void guess_sideways(const Query* q, const tbCore* cylinder, tbAxis* best)
{
  if (cylinder->shape->type != TB_SHAPE_CYLINDER) return;
  tbVec3 axis = turn(cylinder, tb_vec3(0, 0, 1)), n = tb_sub3(tb_core_middle(&q->b), tb_core_middle(&q->a));
  n = tb_madd3(n, -tb_dot3(n, axis), axis);
  if (tb_norm3(n) <= q->bias) n = tb_mat3_row(tb_mat3_frame(axis), 1);
  n = tb_normalize3(n);
  tbVec3 a = tb_core_farthest(&q->a, n, NULL, NULL), b = tb_core_farthest(&q->b, tb_neg3(n), NULL, NULL);
  double gap = tb_dot3(n, tb_sub3(b, a));
  if (gap > best->gap + q->bias) *best = (tbAxis){.kind = TB_AXIS_EDGES, .gap = gap, .n = n};
}

// `face` is the best of all faces, if they have been looked at.
static void deep_contact(const Query* q, const tbAxis* face, double margin, tbManifold* out)
{
  tbEpa e;
  tbAxis guess = *face;
  guess_sideways(q, &q->a, &guess);
  guess_sideways(q, &q->b, &guess);
  tb_epa(&q->a, &q->b, q->bias, guess.n, &e);
  if (e.guessed) {
    if (guess.kind == TB_AXIS_EDGES ? corner_contact(q, guess.n, guess.gap, margin, out)
                                    : face_contact(q, face, margin, out))
      return;
    tb_epa(&q->a, &q->b, q->bias, tb_zero3(), &e);
    if (e.guessed) return; // not a solid
  }
  tbAxis near;
  if (!q->faces_known && tb_axes_face_near(&q->a, &q->b, e.normal, -e.depth - q->bias, &near) &&
      face_contact(q, &near, margin, out))
    return;
  closest_contact(q, e.normal, -e.depth, e.a, e.b, e.v, 3, margin, out);
}

void tb_collide_cores(const tbShape* a, const tbShape* b, tbTransform B, double margin, tbManifold* out)
{
  Query q = {.a = tb_core_at_origin(a), .b = tb_core_moved(b, B)};
  q.size = tb_core_reach(a) + tb_core_reach(b);
  q.bias = 1e-10 * q.size;
  q.reach = margin + tb_core_radius(a) + tb_core_radius(b);
  q.faces_known = !tb_axes_many_faces(&q.a, &q.b);
  bool polytopes = q.faces_known && tb_axes_have_edges(&q.a, &q.b);
  tbAxis face = {.gap = -INFINITY}, axis, nearest;
  if (q.faces_known) {
    tb_axes_faces(&q.a, &q.b, q.reach, q.bias, &face);
    if (face.gap > q.reach) return;
    if (face.gap > 0 && face_contact(&q, &face, margin, out)) return;
  }
  axis = face;
  if (polytopes && tb_axes_boxes_nearest(&q.a, &q.b, &nearest) && nearest.kind == TB_AXIS_EDGES) {
    if (nearest.gap <= q.reach) axis_contact(&q, &nearest, margin, out);
    return;
  }
  if (polytopes && axis.gap <= q.bias) tb_axes_edges(&q.a, &q.b, q.bias, &axis);
  if (axis.gap > q.reach) return;
  if ((!polytopes || axis.gap > -q.bias) && distance_contact(&q, margin, out)) return;

  if (!polytopes) deep_contact(&q, &face, margin, out);
  else if (axis.kind == TB_AXIS_EDGES || !face_contact(&q, &axis, margin, out))
    axis_contact(&q, &axis, margin, out);
}
