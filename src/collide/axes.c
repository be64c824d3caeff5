// Separating axes of convex cores (Gottschalk, Lin, Manocha 1996; Gregorius, "The separating axis test between
// convex polyhedra", GDC 2013).
//
// Two polytopes overlap unless the normal of a face, or the common normal of an edge of each, separates them; where
// they overlap, the least penetration is along one of these. A pair of edges matters only if it makes a face of A − B:
// on the unit sphere of normals the arcs of the two edges (from the normal of one of its faces to that of the other,
// B's negated) must cross. A capsule's segment is an edge whose arc is a whole great circle, a sphere's centre has
// none.
//
// Edges parallel to 1e-8 are passed over: their common normal is noise, and what it could gain over the
// neighbouring faces is below 1e-8 of the size of the shapes.
//
// Cost      one support point per face; EA·EB tests of four triple products for the edges, with two boxes three by three
//           directions instead.
#include "collide/axes.h"
#include "geometry/hull.h"

enum { MOST_EDGES = 256, MOST_PAIRS = 8192 };

static tbVec3 turn(const tbCore* c, tbVec3 d) { return c->moved ? tb_mat3_mulv(c->R, d) : d; }
static tbVec3 put(const tbCore* c, tbVec3 p) { return c->moved ? tb_add3(tb_mat3_mulv(c->R, p), c->x) : p; }

// Faces of `owner` against the support points of `other`.
static void faces_of(const tbCore* owner, const tbCore* other, tbAxisKind kind, double enough, double bias,
                     tbAxis* best)
{
  int hint = 0, count = owner->shape ? tb_core_face_count(owner->shape) : 0;
  double side = kind == TB_AXIS_FACE_A ? 1 : -1;
  for (int f = 0; f < count && best->gap <= enough; f++) {
    double offset;
    tbVec3 n = turn(owner, tb_core_face_normal(owner->shape, f, &offset));
    if (owner->moved) offset += tb_dot3(n, owner->x);
    int corner;
    tbVec3 p = tb_core_farthest(other, tb_neg3(n), &hint, &corner);
    double gap = tb_dot3(n, p) - offset;
    if (!(gap > best->gap + (best->kind == kind ? 0 : bias))) continue;
    tbVec3 foot = tb_madd3(p, -gap, n);
    *best = (tbAxis){.kind = kind, .gap = gap, .n = tb_scale3(side, n), .face = f, .corner = corner};
    best->a = kind == TB_AXIS_FACE_A ? foot : p;
    best->b = kind == TB_AXIS_FACE_A ? p : foot;
  }
}

void tb_axes_faces(const tbCore* a, const tbCore* b, double enough, double bias, tbAxis* best)
{
  *best = (tbAxis){.kind = TB_AXIS_FACE_A, .gap = -INFINITY};
  faces_of(a, b, TB_AXIS_FACE_A, enough, bias, best);
  faces_of(b, a, TB_AXIS_FACE_B, enough, bias, best);
}

typedef struct {
  tbVec3 p, d;    // a corner and the unit direction
  tbVec3 n[2];    // normals of the two faces; a segment has none
  tbVec3 across;  // n[1] × n[0], along ±d
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
  return na >= 0 && nb >= 0 && na <= MOST_EDGES && nb <= MOST_EDGES && na * nb <= MOST_PAIRS;
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
  if (shape->type == TB_SHAPE_BOX)
    e = edge_of_box(shape->box.half, k);
  else if (shape->type == TB_SHAPE_CONVEX)
    e = edge_of_hull(shape->hull, k);
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

static bool is_segment(const tbCore* c) { return c->shape->type == TB_SHAPE_CAPSULE; }

// Does the arc of f, negated, cross the arc of e?
static bool arcs_cross(const Edge* e, bool e_circle, const Edge* f, bool f_circle)
{
  if (e_circle && f_circle) return true;
  if (e_circle) return tb_dot3(f->n[0], e->d) * tb_dot3(f->n[1], e->d) < 0;
  if (f_circle) return tb_dot3(e->n[0], f->d) * tb_dot3(e->n[1], f->d) < 0;
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

static void try_pair(const Edge* e, const Edge* f, double bias, tbAxis* best)
{
  tbVec3 n = tb_cross3(e->d, f->d);
  double length = tb_norm3(n), lead = best->kind == TB_AXIS_EDGES ? 0 : bias;
  if (length < 1e-8) return;
  n = tb_scale3(1 / length, n);
  tbVec3 out = tb_sub3(tb_add3(e->n[0], e->n[1]), tb_add3(f->n[0], f->n[1]));
  if (tb_dot3(out, n) < 0) n = tb_neg3(n);
  double gap = tb_dot3(tb_sub3(f->p, e->p), n);
  if (!(gap > best->gap + lead)) return;
  n = tb_normalize3(tb_madd3(n, -tb_dot3(n, e->d), e->d));
  gap = tb_dot3(tb_sub3(f->p, e->p), n);
  if (gap > best->gap + lead) take(e, f, gap, n, best);
}

// The edge of a box along an axis that lies farthest along d.
static Edge box_edge_facing(const tbCore* c, int axis, tbVec3 d)
{
  tbVec3 local = c->moved ? tb_mat3_tmulv(c->R, d) : d;
  const double x[3] = {local.x, local.y, local.z};
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  return edge_at(c, axis << 2 | (x[v] >= 0) << 1 | (x[u] >= 0));
}

static double box_reach(const tbCore* c, tbVec3 d)
{
  tbVec3 local = c->moved ? tb_mat3_tmulv(c->R, d) : d, h = c->shape->box.half;
  return fabs(local.x) * h.x + fabs(local.y) * h.y + fabs(local.z) * h.z;
}

// Two boxes: every product of directions is tried with the support planes themselves, no arcs are needed.
static void edges_of_boxes(const tbCore* a, const tbCore* b, double bias, tbAxis* best)
{
  tbVec3 ca = tb_core_middle(a), cb = tb_core_middle(b), c = tb_sub3(cb, ca);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      tbVec3 di = turn(a, tb_vec3(i == 0, i == 1, i == 2)), dj = turn(b, tb_vec3(j == 0, j == 1, j == 2));
      tbVec3 n = tb_cross3(di, dj);
      double length = tb_norm3(n);
      if (length < 1e-8) continue;
      n = tb_scale3(1 / length, n);
      n = tb_normalize3(tb_madd3(n, -tb_dot3(n, di), di));
      if (tb_dot3(n, c) < 0) n = tb_neg3(n);
      double gap = tb_dot3(n, c) - box_reach(a, n) - box_reach(b, n);
      if (!(gap > best->gap + (best->kind == TB_AXIS_EDGES ? 0 : bias))) continue;
      Edge e = box_edge_facing(a, i, n), f = box_edge_facing(b, j, tb_neg3(n));
      take(&e, &f, gap, n, best);
    }
}

void tb_axes_edges(const tbCore* a, const tbCore* b, double bias, tbAxis* best)
{
  if (a->shape->type == TB_SHAPE_BOX && b->shape->type == TB_SHAPE_BOX) {
    edges_of_boxes(a, b, bias, best);
    return;
  }
  Edge other[MOST_EDGES];
  int na = edge_count(a), nb = edge_count(b);
  bool a_circle = is_segment(a), b_circle = is_segment(b);
  for (int j = 0; j < nb; j++) other[j] = edge_at(b, j);
  for (int i = 0; i < na; i++) {
    Edge e = edge_at(a, i);
    for (int j = 0; j < nb; j++)
      if (arcs_cross(&e, a_circle, &other[j], b_circle)) try_pair(&e, &other[j], bias, best);
  }
}
