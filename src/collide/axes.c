// SPDX-License-Identifier: Apache-2.0
// Separating axes of convex cores (Gottschalk, Lin, Manocha 1996; Gregorius, "The separating axis test
// between convex polyhedra", GDC 2013).
//
// Two polytopes overlap unless the normal of a face, or the common normal of an edge of each, separates them;
// where they overlap, the least penetration is along one of these. A pair of edges matters only if it makes a
// face of A − B: on the unit sphere of normals the arcs of the two edges (from the normal of one of its faces
// to that of the other, B's negated) must cross. The arcs of a box's four edges along one axis make a whole
// great circle together, a capsule's segment has one to itself: with these a direction takes the place of the
// edges. A sphere's centre has none.
//
// Edges parallel to 1e-8 are passed over: their common normal is noise, and what it could gain over the
// neighbouring faces is below 1e-8 of the size of the shapes.
//
// Cost      one support point per face; 9 slabs for two boxes, 6·E products for a box and a hull of E edges,
//           E·E′ tests of four products for two hulls. Beyond MOST_PAIRS it is not for this file.
#include "collide/axes.h"
#include "collide/axes_bounds.h"
#include "geometry/hull.h"

enum { MANY_FACES = 32, MOST_EDGES = 256, MOST_PAIRS = 2048 };

static tbVec3 turn(const tbCore* c, tbVec3 d) { return c->moved ? tb_mat3_mulv(c->R, d) : d; }
static tbVec3 put(const tbCore* c, tbVec3 p) { return c->moved ? tb_add3(tb_mat3_mulv(c->R, p), c->x) : p; }

static void try_face(const tbCore* owner, const tbCore* other, tbAxisKind kind, int f, double bias, int* hint,
                     tbAxis* best)
{
  double offset, side = kind == TB_AXIS_FACE_A ? 1 : -1;
  int corner;
  tbVec3 n = turn(owner, tb_core_face_normal(owner->shape, f, &offset));
  if (owner->moved) offset += tb_dot3(n, owner->x);
  tbVec3 p = tb_core_farthest(other, tb_neg3(n), hint, &corner);
  double gap = tb_dot3(n, p) - offset;
  if (!(gap > best->gap + (best->kind == kind ? 0 : bias))) return;
  tbVec3 foot = tb_madd3(p, -gap, n);
  *best = (tbAxis){.kind = kind, .gap = gap, .n = tb_scale3(side, n), .face = f, .corner = corner};
  best->a = kind == TB_AXIS_FACE_A ? foot : p;
  best->b = kind == TB_AXIS_FACE_A ? p : foot;
}

static int face_count(const tbCore* c) { return c->shape ? tb_core_face_count(c->shape) : 0; }

// The least gap with which a face of a hull is worth a look: a little below the widest of all its faces, by
// closed forms; −∞ for other pairs.
static double least_of_hull(const tbCore* owner, const tbCore* other, tbBars* bars)
{
  double widest = -INFINITY;
  if (!owner->shape || !other->shape || owner->shape->type != TB_SHAPE_CONVEX) return -INFINITY;
  if (other->shape->type != TB_SHAPE_BOX && other->shape->type != TB_SHAPE_CAPSULE) return -INFINITY;
  *bars = tb_bars_in(other, owner);
  for (int f = 0; f < owner->shape->hull->nface; f++)
    widest = fmax(widest, tb_bars_face_gap(owner->shape->hull, f, bars));
  return widest - bars->band;
}

static void try_faces(const tbCore* owner, const tbCore* other, tbAxisKind kind, double enough, double bias,
                      tbAxis* best)
{
  tbBars bars = {.n = 0};
  double least = least_of_hull(owner, other, &bars);
  int hint = 0, n = face_count(owner);
  for (int f = 0; f < n && best->gap <= enough; f++)
    if (!(least > -INFINITY) || tb_bars_face_gap(owner->shape->hull, f, &bars) >= least)
      try_face(owner, other, kind, f, bias, &hint, best);
}

static void try_faces_of_boxes(const tbCore* a, const tbCore* b, const tbTwoBoxes* boxes, double enough,
                               double bias, tbAxis* best)
{
  double gap[12], least = tb_box_face_gaps(boxes, gap) - boxes->band;
  for (int f = 0; f < 12 && best->gap <= enough; f++) {
    if (gap[f] < least) continue;
    if (f < 6) try_face(a, b, TB_AXIS_FACE_A, f, bias, NULL, best);
    else try_face(b, a, TB_AXIS_FACE_B, f - 6, bias, NULL, best);
  }
}

void tb_axes_faces(const tbCore* a, const tbCore* b, double enough, double bias, tbAxis* best)
{
  tbTwoBoxes boxes;
  *best = (tbAxis){.kind = TB_AXIS_FACE_A, .gap = -INFINITY};
  if (tb_are_boxes(a, b, &boxes)) {
    try_faces_of_boxes(a, b, &boxes, enough, bias, best);
    return;
  }
  try_faces(a, b, TB_AXIS_FACE_A, enough, bias, best);
  try_faces(b, a, TB_AXIS_FACE_B, enough, bias, best);
}

bool tb_axes_many_faces(const tbCore* a, const tbCore* b)
{
  return face_count(a) > MANY_FACES && face_count(b) > MANY_FACES;
}

bool tb_axes_face_near(const tbCore* a, const tbCore* b, tbVec3 n, double least, tbAxis* best)
{
  int hint = 0;
  tbFace face;
  *best = (tbAxis){.kind = TB_AXIS_FACE_A, .gap = -INFINITY};
  tb_core_face(a->shape, a->moved ? tb_mat3_tmulv(a->R, n) : n, &face);
  if (face.n > 2) try_face(a, b, TB_AXIS_FACE_A, face.index, 0, &hint, best);
  hint = 0;
  tb_core_face(b->shape, tb_neg3(b->moved ? tb_mat3_tmulv(b->R, n) : n), &face);
  if (face.n > 2) try_face(b, a, TB_AXIS_FACE_B, face.index, 0, &hint, best);
  return best->gap >= least;
}

typedef struct {
  tbVec3 p, d;   // a corner and the unit direction
  tbVec3 n[2];   // normals of the two faces; a segment has none
  tbVec3 across; // n[1] × n[0], along ±d
  int vertex[2];
  double length;
} Edge;

static int edge_count(const tbCore* c)
{
  if (!c->shape) return -1;
  switch (c->shape->type) {
  case TB_SHAPE_SPHERE: return 0;
  case TB_SHAPE_CAPSULE: return 1;
  case TB_SHAPE_BOX: return 12;
  case TB_SHAPE_CONVEX: return c->shape->hull->nedge;
  default: return -1;
  }
}

bool tb_axes_have_edges(const tbCore* a, const tbCore* b)
{
  int na = edge_count(a), nb = edge_count(b);
  if (na < 0 || nb < 0 || na > MOST_EDGES || nb > MOST_EDGES) return false;
  return na <= 12 || nb <= 12 || na * nb <= MOST_PAIRS;
}

static Edge edge_of_box(tbVec3 half, int k)
{
  const double h[3] = {half.x, half.y, half.z};
  int axis = k >> 2, u = (axis + 1) % 3, v = (axis + 2) % 3, up = k & 1, vp = k >> 1 & 1;
  double p[3], d[3] = {0}, nu[3] = {0}, nv[3] = {0};
  p[axis] = -h[axis];
  p[u] = up ? h[u] : -h[u];
  p[v] = vp ? h[v] : -h[v];
  d[axis] = 1;
  nu[u] = up ? 1 : -1;
  nv[v] = vp ? 1 : -1;
  int vertex = up << u | vp << v;
  return (Edge){.p = tb_load3(p),
                .d = tb_load3(d),
                .n = {tb_load3(nu), tb_load3(nv)},
                .vertex = {vertex, vertex | 1 << axis},
                .length = 2 * h[axis]};
}

static Edge edge_of_hull(const tbHull* hull, int k)
{
  const tbHullEdge* e = &hull->edge[k];
  tbVec3 p = hull->vertex[e->vertex[0]], d = tb_sub3(hull->vertex[e->vertex[1]], p);
  return (Edge){.p = p,
                .d = tb_normalize3(d),
                .n = {hull->face_normal[e->face[0]], hull->face_normal[e->face[1]]},
                .vertex = {e->vertex[0], e->vertex[1]},
                .length = tb_norm3(d)};
}

static Edge edge_at(const tbCore* c, int k)
{
  Edge e;
  const tbShape* shape = c->shape;
  if (shape->type == TB_SHAPE_BOX) e = edge_of_box(shape->box.half, k);
  else if (shape->type == TB_SHAPE_CONVEX) e = edge_of_hull(shape->hull, k);
  else
    e = (Edge){.p = tb_vec3(0, 0, -shape->capsule.half),
               .d = tb_vec3(0, 0, 1),
               .vertex = {0, 1},
               .length = 2 * shape->capsule.half};
  e.p = put(c, e.p);
  e.d = turn(c, e.d);
  e.n[0] = turn(c, e.n[0]);
  e.n[1] = turn(c, e.n[1]);
  e.across = tb_cross3(e.n[1], e.n[0]);
  return e;
}

// Does the arc of f, negated, cross the arc of e?
static bool arcs_cross(const Edge* e, const Edge* f)
{
  double c = -tb_dot3(f->n[0], e->across), d = -tb_dot3(f->n[1], e->across);
  if (c * d >= 0) return false;
  double a = tb_dot3(e->n[0], f->across), b = tb_dot3(e->n[1], f->across);
  return a * b < 0 && c * b > 0; // and on the same half of the sphere
}

// Where the lines of the two edges come closest, kept on the edges.
static void closest_points(const Edge* e, const Edge* f, tbVec3* a, tbVec3* b)
{
  tbVec3 r = tb_sub3(f->p, e->p);
  double c = tb_dot3(e->d, f->d), re = tb_dot3(r, e->d), rf = tb_dot3(r, f->d), s = 1 - c * c;
  double t = s > 0 ? (re - c * rf) / s : 0, u = s > 0 ? (c * re - rf) / s : 0;
  *a = tb_madd3(e->p, fmin(fmax(t, 0), e->length), e->d);
  *b = tb_madd3(f->p, fmin(fmax(u, 0), f->length), f->d);
}

static void take(const Edge* e, const Edge* f, double gap, tbVec3 n, tbAxis* best)
{
  *best = (tbAxis){.kind = TB_AXIS_EDGES, .gap = gap, .n = n};
  for (int i = 0; i < 2; i++) {
    best->edge[0][i] = e->vertex[i];
    best->edge[1][i] = f->vertex[i];
  }
  closest_points(e, f, &best->a, &best->b);
}

// The common normal of two directions, or zero where they are parallel.
static tbVec3 common_normal(tbVec3 d, tbVec3 e)
{
  tbVec3 n = tb_cross3(d, e);
  double length = tb_norm3(n);
  if (length < 1e-8) return tb_zero3();
  n = tb_scale3(1 / length, n);
  return tb_normalize3(tb_madd3(n, -tb_dot3(n, d), d));
}

static double reach(const tbCore* c, tbVec3 d) { return tb_dot3(d, tb_core_farthest(c, d, NULL, NULL)); }

// A gap counts as wide as the support planes say: arcs that only touch may seem to cross.
static double slab(const tbCore* a, const tbCore* b, tbVec3 n) { return -reach(b, tb_neg3(n)) - reach(a, n); }

static double lead(const tbAxis* best, double bias)
{
  return best->gap + (best->kind == TB_AXIS_EDGES ? 0 : bias);
}

// The edge along a way that lies farthest along d.
static Edge facing_edge(const tbCore* c, int way, tbVec3 d)
{
  if (c->shape->type == TB_SHAPE_CAPSULE) return edge_at(c, 0);
  tbVec3 local = c->moved ? tb_mat3_tmulv(c->R, d) : d;
  const double x[3] = {local.x, local.y, local.z};
  return edge_at(c, way << 2 | (x[(way + 2) % 3] >= 0) << 1 | (x[(way + 1) % 3] >= 0));
}

// Both are symmetric about their centres, which tells the side.
static void ways_and_ways(const tbCore* a, const tbCore* b, double bias, tbAxis* best)
{
  tbVec3 c = tb_sub3(tb_core_middle(b), tb_core_middle(a)), wa[3], wb[3];
  int na = tb_core_ways(a, wa), nb = tb_core_ways(b, wb);
  double known[3][3], least = -INFINITY;
  tbTwoBoxes boxes;
  bool filter = tb_are_boxes(a, b, &boxes);
  if (filter) least = fmax(tb_box_edge_gaps(&boxes, known), lead(best, bias)) - boxes.band;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) {
      if (filter && known[i][j] < least) continue;
      tbVec3 n = common_normal(wa[i], wb[j]);
      if (tb_maxabs3(n) == 0) continue;
      if (tb_dot3(n, c) < 0) n = tb_neg3(n);
      double gap = slab(a, b, n);
      if (!(gap > lead(best, bias))) continue;
      Edge e = facing_edge(a, i, n), f = facing_edge(b, j, tb_neg3(n));
      take(&e, &f, gap, n, best);
    }
}

// Ways of one core against the edges of a hull: the edge's arc must cross the great circle.
static void ways_and_edges(const tbCore* a, const tbCore* b, bool a_has_ways, double bias, tbAxis* best)
{
  const tbCore *plain = a_has_ways ? a : b, *other = a_has_ways ? b : a;
  const tbHull* hull = other->shape->hull;
  tbVec3 way[3];
  int n_ways = tb_core_ways(plain, way);
  tbBars bars = tb_bars_in(plain, other);
  for (int i = 0; i < n_ways; i++) {
    tbVec3 local = other->moved ? tb_mat3_tmulv(other->R, way[i]) : way[i];
    for (int k = 0; k < hull->nedge; k++) {
      const int* face = hull->edge[k].face;
      if (!(tb_dot3(hull->face_normal[face[0]], local) * tb_dot3(hull->face_normal[face[1]], local) < 0))
        continue;
      if (!tb_bars_may_lead(&bars, hull, k, local, lead(best, bias))) continue;
      Edge f = edge_at(other, k);
      tbVec3 out = common_normal(way[i], f.d); // out of the hull
      if (tb_dot3(out, tb_add3(f.n[0], f.n[1])) < 0) out = tb_neg3(out);
      if (!(-tb_dot3(out, f.p) - reach(plain, tb_neg3(out)) > lead(best, bias))) continue;
      tbVec3 n = a_has_ways ? tb_neg3(out) : out;
      double gap = slab(a, b, n);
      if (tb_maxabs3(n) == 0 || !(gap > lead(best, bias))) continue;
      Edge e = facing_edge(plain, i, tb_neg3(out));
      take(a_has_ways ? &e : &f, a_has_ways ? &f : &e, gap, n, best);
    }
  }
}

static void edges_and_edges(const tbCore* a, const tbCore* b, double bias, tbAxis* best)
{
  Edge other[MOST_EDGES];
  int na = edge_count(a), nb = edge_count(b);
  for (int j = 0; j < nb; j++) other[j] = edge_at(b, j);
  for (int i = 0; i < na; i++) {
    Edge e = edge_at(a, i);
    for (int j = 0; j < nb; j++) {
      const Edge* f = &other[j];
      if (!arcs_cross(&e, f)) continue;
      tbVec3 n = common_normal(e.d, f->d);
      if (tb_dot3(n, tb_sub3(tb_add3(e.n[0], e.n[1]), tb_add3(f->n[0], f->n[1]))) < 0) n = tb_neg3(n);
      if (tb_maxabs3(n) == 0 || !(tb_dot3(tb_sub3(f->p, e.p), n) > lead(best, bias))) continue;
      double gap = slab(a, b, n);
      if (gap > lead(best, bias)) take(&e, f, gap, n, best);
    }
  }
}

void tb_axes_edges(const tbCore* a, const tbCore* b, double bias, tbAxis* best)
{
  bool hull_a = a->shape->type == TB_SHAPE_CONVEX, hull_b = b->shape->type == TB_SHAPE_CONVEX;
  if (hull_a && hull_b) edges_and_edges(a, b, bias, best);
  else if (hull_a || hull_b) ways_and_edges(a, b, hull_b, bias, best);
  else ways_and_ways(a, b, bias, best);
}

// Whether the corner of `other` farthest against face f of `owner` lies over that face.
static bool corner_over_face(const tbCore* owner, const tbCore* other, int f, tbVec3* n)
{
  double offset;
  tbVec3 normal = tb_core_face_normal(owner->shape, f, &offset), half = owner->shape->box.half;
  *n = turn(owner, normal);
  tbVec3 p = tb_core_farthest(other, tb_neg3(*n), NULL, NULL);
  if (owner->moved) p = tb_mat3_tmulv(owner->R, tb_sub3(p, owner->x));
  int axis = f >> 1;
  return (axis == 0 || fabs(p.x) <= half.x) && (axis == 1 || fabs(p.y) <= half.y) &&
         (axis == 2 || fabs(p.z) <= half.z);
}

static int widest_of(const double* gap, int count)
{
  int best = 0;
  for (int i = 1; i < count; i++)
    if (gap[i] > gap[best]) best = i;
  return best;
}

// Whether the edges along i of A and j of B pass each other between their ends.
static bool edges_pass(const tbCore* a, const tbCore* b, int i, int j, tbAxis* out)
{
  tbVec3 n = common_normal(tb_vec3(i == 0, i == 1, i == 2), tb_mat3_col(b->R, j));
  if (tb_dot3(n, b->x) < 0) n = tb_neg3(n);
  Edge e = facing_edge(a, i, n), f = facing_edge(b, j, tb_neg3(n));
  take(&e, &f, slab(a, b, n), n, out);
  double t = tb_dot3(tb_sub3(out->a, e.p), e.d), u = tb_dot3(tb_sub3(out->b, f.p), f.d);
  double e_end = 1e-6 * e.length, f_end = 1e-6 * f.length; // points at an end may have been moved there
  return t > e_end && t < e.length - e_end && u > f_end && u < f.length - f_end;
}

bool tb_axes_boxes_nearest(const tbCore* a, const tbCore* b, tbAxis* out)
{
  tbTwoBoxes boxes;
  double face[12], pair[3][3];
  if (!tb_are_boxes(a, b, &boxes)) return false;
  double widest = tb_box_face_gaps(&boxes, face), crossing = tb_box_edge_gaps(&boxes, pair);
  if (!(fmax(widest, crossing) > boxes.band)) return false;
  if (crossing > widest + boxes.band) {
    for (int k = 0; k < 9; k++)
      if (pair[k / 3][k % 3] == crossing) return edges_pass(a, b, k / 3, k % 3, out);
    return false;
  }
  int fa = widest_of(face, 6), fb = widest_of(face + 6, 6);
  *out = (tbAxis){.kind = TB_AXIS_FACE_A};
  if (face[fa] >= widest - boxes.band && corner_over_face(a, b, fa, &out->n)) return true;
  if (!(face[6 + fb] >= widest - boxes.band) || !corner_over_face(b, a, fb, &out->n)) return false;
  out->kind = TB_AXIS_FACE_B;
  out->n = tb_neg3(out->n);
  return true;
}
