// SPDX-License-Identifier: Apache-2.0
// Conservative advancement (Mirtich 1996): steps in time that cannot pass a contact.
//
// At time t the shapes are apart by g along a unit direction n. A point at r from a body's centre, which
// moves by v and turns by w, goes along n by at most (v·n + r‖w × n‖) per second: turning moves it across w
// only, and a chord is shorter than its arc. So the slab along n closes no faster than
//
//   c = (v_A − v_B)·n + r_A‖w_A × n‖ + r_B‖w_B × n‖
//
// and nothing can happen before t + (g − target)/c; not at all when c ≤ 0. Where no direction is known, ‖·‖
// takes the place of the components along n. A turning plane sweeps points the faster the farther they are:
// seen from the plane, the other body's points move at most by ‖v_A − v_B‖ + r_A‖w_A‖ + ‖w_B‖ D, with D their
// distance from the plane's centre over the step.
//
// That bound counts every point as if it were the farthest from its centre, and always turning towards the
// other body. So the slab along n itself, turning with one of the bodies, is followed as well, as long as it
// surely stays open (open_until.h).
//
// A mesh is met where the first of its triangles is, which are convex: those in the box that the shape sweeps
// are followed one by one, each until the earliest impact so far. Of two meshes, every triangle of the one
// with fewer that the other can reach is such a shape. A distance grid moves as the mesh that it was made
// from.
//
// Cost      a distance and a dozen support points per step; a handful of steps, most for bodies that spin
// past
//           each other.
// Limits    STEPS steps; the answer is then early, never late. Only as good as the bound of tb_distance.
#include "collide/advance.h"
#include "collide/distance.h"
#include "collide/gjk.h"
#include "collide/open_until.h"
#include "collide/pairs.h"
#include "geometry/box.h"
#include "geometry/mesh.h"
#include "geometry/sdf.h"

enum { STEPS = 256, PIECES = 128 };
static const double PIECE = 0.1; // of the smaller mesh's size: how far they go in a piece

tbTransform tb_sweep_at(const tbSweep* sweep, double t)
{
  tbQuat turn = tb_quat_exp(tb_scale3(t, sweep->w));
  tbVec3 arm = tb_quat_rotate(turn, tb_sub3(sweep->start.x, sweep->centre));
  return tb_transform(tb_quat_normalize(tb_quat_mul(turn, sweep->start.q)),
                      tb_add3(tb_madd3(sweep->centre, t, sweep->v), arm));
}

// Speed of a body's points along n, at most, beyond that of its centre; any direction when n is zero.
static double spin_speed(const tbSweep* s, double reach, tbVec3 n)
{
  double turn = tb_maxabs3(n) > 0 ? tb_norm3(tb_cross3(s->w, n)) : tb_norm3(s->w);
  return turn > 0 ? reach * turn : 0; // a plane that does not turn reaches to infinity, and does not matter
}

static double closing_speed(const tbSweep* a, double reach_a, const tbSweep* b, double reach_b, tbVec3 n)
{
  tbVec3 v = tb_sub3(a->v, b->v);
  double along = tb_maxabs3(n) > 0 ? tb_dot3(v, n) : tb_norm3(v);
  return along + spin_speed(a, reach_a, n) + spin_speed(b, reach_b, n);
}

static double turning_plane_speed(const tbSweep* plane, const tbSweep* other, double reach, double end)
{
  double v = tb_norm3(tb_sub3(other->v, plane->v)),
         way = tb_distance3(other->centre, plane->centre) + v * end + reach;
  return v + reach * tb_norm3(other->w) + way * tb_norm3(plane->w);
}

static bool turning_plane(const tbShape* shape, const tbSweep* sweep)
{
  return shape->type == TB_SHAPE_PLANE && tb_maxabs3(sweep->w) > 0;
}

static const tbMesh* mesh_of(const tbShape* shape)
{
  return shape->type == TB_SHAPE_MESH ? shape->mesh : shape->type == TB_SHAPE_SDF ? shape->sdf->mesh : NULL;
}

static tbVec3 corner_of(tbBox b, int k)
{
  return tb_vec3(k & 1 ? b.hi.x : b.lo.x, k & 2 ? b.hi.y : b.lo.y, k & 4 ? b.hi.z : b.lo.z);
}

// How far the shape's points are from the body's centre of mass, at most.
static double reach_of(const tbShape* shape, const tbSweep* sweep)
{
  tbVec3 centre = tb_transform_unpoint(sweep->start, sweep->centre);
  const tbMesh* mesh = mesh_of(shape);
  if (!mesh) return tb_reach_about(shape, centre);
  double reach = 0;
  for (int k = 0; k < 8; k++)
    reach = fmax(reach, tb_distance3(tb_transform_point(shape->pose, corner_of(mesh->box, k)), centre));
  return reach;
}

// Two shapes on their way, or a shape and a triangle of a mesh, or two triangles.
typedef struct {
  const tbShape *a, *b;
  const tbSweep *sa, *sb;
  double reach_a, reach_b;
  tbVec3 own[3];    // corners of a's triangle, in a's body frame, where a is a mesh
  tbVec3 corner[3]; // corners of b's triangle, in b's body frame, where b is one
} Meeting;

// The gap to the triangle at time t, at least: the slab along the direction of the closest points.
static double triangle_gap(const Meeting* m, double t, tbVec3* normal)
{
  bool flat = mesh_of(m->a) != NULL;
  tbTransform A = tb_sweep_at(m->sa, t), B = tb_sweep_at(m->sb, t);
  if (!flat) A = tb_place(m->a, A).T;
  tbTransform relative = tb_place_relative(A, B);
  tbVec3 corner[3];
  for (int i = 0; i < 3; i++) corner[i] = tb_transform_point(relative, m->corner[i]);
  tbCore ca = flat ? tb_core_of_points(m->own, 3) : tb_core_at_origin(m->a),
         cb = tb_core_of_points(corner, 3);
  tbGjk g;
  tb_gjk(&ca, &cb, INFINITY, &g);
  *normal = tb_zero3();
  if (g.overlap) return -INFINITY;
  tbVec3 pa = tb_core_farthest(&ca, g.normal, NULL, NULL),
         pb = tb_core_farthest(&cb, tb_neg3(g.normal), NULL, NULL);
  double slack = 1e-15 * (tb_maxabs3(pa) + tb_maxabs3(pb) + tb_maxabs3(A.x) + tb_maxabs3(B.x));
  *normal = tb_quat_rotate(A.q, g.normal);
  return tb_dot3(g.normal, tb_sub3(pb, pa)) - (flat ? 0 : tb_core_radius(m->a)) - slack;
}

static double gap_at(const Meeting* m, double t, tbVec3* normal)
{
  if (mesh_of(m->b)) return triangle_gap(m, t, normal);
  return tb_distance(m->a, tb_sweep_at(m->sa, t), m->b, tb_sweep_at(m->sb, t), normal);
}

// How far a set reaches along n from a place: a shape, or a triangle in its body's frame.
static double extent(const tbShape* shape, const tbVec3* triangle, tbTransform T, tbVec3 from, tbVec3 n)
{
  if (triangle) {
    double most = -INFINITY;
    for (int i = 0; i < 3; i++)
      most = fmax(most, tb_dot3(n, tb_sub3(tb_transform_point(T, triangle[i]), from)));
    return most;
  }
  tbTransform S = tb_place(shape, T).T;
  if (shape->type == TB_SHAPE_PLANE) return shape->plane.offset + tb_dot3(n, tb_sub3(S.x, from));
  tbVec3 p = tb_core_support(shape, tb_quat_unrotate(S.q, n), NULL, NULL);
  return tb_dot3(n, tb_add3(tb_quat_rotate(S.q, p), tb_sub3(S.x, from))) + tb_core_radius(shape);
}

// The slab along a direction that turns with a body: a face's normal stays the face's.
typedef struct {
  const Meeting* meeting;
  bool with_b;
  tbVec3 n; // unit, from a to b, in the frame of that body
} Slab;

// Its width, less the rounding of the coordinates.
static double slab_at(const void* user, double t)
{
  const Slab* s = user;
  const Meeting* m = s->meeting;
  tbTransform A = tb_sweep_at(m->sa, t), B = tb_sweep_at(m->sb, t);
  tbVec3 n = tb_quat_rotate(s->with_b ? B.q : A.q, s->n);
  double a = extent(m->a, mesh_of(m->a) ? m->own : NULL, A, A.x, n),
         b = extent(m->b, mesh_of(m->b) ? m->corner : NULL, B, A.x, tb_neg3(n));
  return -b - a - 1e-15 * (fabs(a) + fabs(b) + tb_maxabs3(A.x) + tb_maxabs3(B.x));
}

// The acceleration of the points of `other`, at most, as seen from a body that turns.
static double bend_seen_from(const tbSweep* body, const tbSweep* other, double reach, double end)
{
  double v = tb_distance3(body->v, other->v), w = tb_norm3(body->w), spin = tb_norm3(other->w);
  double arm = tb_distance3(body->centre, other->centre) + v * end + reach;
  return spin * spin * reach + 2 * w * (v + spin * reach) + w * w * arm;
}

// How long the slab along n at time t surely stays open, seen from the body where that is longer.
static double follow_slab(const Meeting* m, double t, double gap, tbVec3 n, double end, double target)
{
  double open = t;
  for (int side = 0; side < 2 && open < end; side++) {
    const tbSweep *body = side ? m->sb : m->sa, *other = side ? m->sa : m->sb;
    double bend = bend_seen_from(body, other, side ? m->reach_a : m->reach_b, end);
    if (!(bend < INFINITY)) continue; // a plane seen from a body that turns
    Slab slab = {m, side == 1, tb_quat_unrotate(tb_sweep_at(body, t).q, n)};
    open = fmax(open, tb_open_until(slab_at, &slab, t, gap, end, target, bend));
  }
  return open;
}

static double advance(const Meeting* m, double end, double target)
{
  double t = 0;
  for (int k = 0; k < STEPS; k++) {
    tbVec3 n;
    double gap = gap_at(m, t, &n);
    if (gap <= target * 1.001) return t;
    double speed = turning_plane(m->a, m->sa)   ? turning_plane_speed(m->sa, m->sb, m->reach_b, end)
                   : turning_plane(m->b, m->sb) ? turning_plane_speed(m->sb, m->sa, m->reach_a, end)
                                                : closing_speed(m->sa, m->reach_a, m->sb, m->reach_b, n);
    if (!(speed > 0) || gap - target >= speed * (end - t)) return end;
    double open = follow_slab(m, t, gap, n, end, target);
    if (open >= end) return end;
    t = fmax(t + (gap - target) / speed, open);
  }
  return t;
}

typedef struct {
  Meeting meeting;
  double end, target;
  double apart;           // pairs that are nearer than this at the start do not count
  const tbSweep *sa, *sb; // from there
} MeshVisit;

// Whether a pair of triangles, or a shape and a triangle, were near each other from the start.
static bool were_near(const MeshVisit* v)
{
  if (!(v->apart > 0)) return false;
  Meeting first = v->meeting;
  first.sa = v->sa, first.sb = v->sb;
  tbVec3 n;
  return triangle_gap(&first, 0, &n) <= v->apart;
}

// A triangle's corners in its body's frame; returns how far they are from the body's centre of mass.
static double corners_of(const tbShape* shape, const tbSweep* sweep, int triangle, tbVec3 corner[3])
{
  const tbMesh* mesh = mesh_of(shape);
  tbVec3 centre = tb_transform_unpoint(sweep->start, sweep->centre);
  double reach = 0;
  for (int i = 0; i < 3; i++) {
    corner[i] = tb_transform_point(shape->pose, mesh->vertex[mesh->triangle[triangle][i]]);
    reach = fmax(reach, tb_distance3(corner[i], centre));
  }
  return reach;
}

// Follows one triangle until the earliest impact so far.
static bool meet_triangle(void* user, int item)
{
  MeshVisit* v = user;
  Meeting* m = &v->meeting;
  m->reach_b = corners_of(m->b, m->sb, item, m->corner);
  if (were_near(v)) return true;
  v->end = advance(m, v->end, v->target);
  return v->end > 0;
}

// All that the shape can reach within the step, in the frame of the mesh.
static tbBox swept_box(const Meeting* m, double end, double target)
{
  tbTransform from = tb_transform_mul(m->sb->start, m->b->pose),
              to = tb_transform_mul(tb_sweep_at(m->sb, end), m->b->pose);
  tbVec3 start = tb_transform_unpoint(from, m->sa->centre);
  tbBox box = tb_box_add(tb_box_empty(), start);
  double turn = tb_norm3(m->sb->w), grow = 0;
  if (turn > 0) { // a curve seen from the mesh
    double way = tb_distance3(m->sa->v, m->sb->v) * end;
    grow = way + turn * end * (tb_distance3(m->sa->centre, m->sb->centre) + way);
  } else {
    box = tb_box_add(box, tb_transform_unpoint(to, tb_madd3(m->sa->centre, end, m->sa->v)));
  }
  return tb_box_grow(box, m->reach_a + 2 * target + grow);
}

// How far points of a, at most `reach_a` from its centre, go as seen from b, at most.
static double way_of(const Meeting* m, double end)
{
  double way = tb_distance3(m->sa->v, m->sb->v) * end;
  double arm = tb_distance3(m->sa->centre, m->sb->centre) + way + m->reach_a;
  return way + tb_norm3(m->sa->w) * end * m->reach_a + tb_norm3(m->sb->w) * end * arm;
}

// How far a path of a's points, as seen from b, bends away from the straight line between its ends: an
// acceleration c over a time t makes it at most c t²/8.
static double bend_of(const Meeting* m, double end)
{
  double v = tb_distance3(m->sa->v, m->sb->v), wa = tb_norm3(m->sa->w), wb = tb_norm3(m->sb->w);
  double arm = tb_distance3(m->sa->centre, m->sb->centre) + v * end + m->reach_a;
  return 0.125 * end * end * (wa * wa * m->reach_a + 2 * wb * (v + wa * m->reach_a) + wb * wb * arm);
}

// All that a's triangle can reach within the step, in the frame of b's mesh.
static tbBox swept_triangle(const Meeting* m, double end, double target)
{
  tbTransform from = tb_transform_mul(m->sb->start, m->b->pose),
              to = tb_transform_mul(tb_sweep_at(m->sb, end), m->b->pose), A = tb_sweep_at(m->sa, end);
  tbBox box = tb_box_empty();
  for (int i = 0; i < 3; i++) {
    box = tb_box_add(box, tb_transform_unpoint(from, tb_transform_point(m->sa->start, m->own[i])));
    box = tb_box_add(box, tb_transform_unpoint(to, tb_transform_point(A, m->own[i])));
  }
  return tb_box_grow(box, 2 * target + bend_of(m, end));
}

// Follows one triangle of a against those of b.
static bool meet_mesh(void* user, int item)
{
  MeshVisit* v = user;
  Meeting* m = &v->meeting;
  const tbMesh* mesh = mesh_of(m->b);
  m->reach_a = corners_of(m->a, m->sa, item, m->own);
  tb_bvh_query(&mesh->bvh, mesh->triangle_box, swept_triangle(m, v->end, v->target), meet_triangle, v);
  return v->end > 0;
}

// b's box at the start, in the frame of a's mesh, and as far around as the two can come together.
static tbBox reachable(const Meeting* m, double end, double target)
{
  tbTransform A = tb_transform_mul(m->sa->start, m->a->pose), B = tb_transform_mul(m->sb->start, m->b->pose);
  tbBox box = tb_box_empty();
  for (int k = 0; k < 8; k++)
    box = tb_box_add(box, tb_transform_unpoint(A, tb_transform_point(B, corner_of(mesh_of(m->b)->box, k))));
  double turned = (tb_norm3(m->sa->w) + tb_norm3(m->sb->w)) * end * m->reach_b;
  return tb_box_grow(box, 2 * target + way_of(m, end) + turned);
}

static bool is_convex(const tbShape* shape) { return shape->type < TB_SHAPE_PLANE; }

bool tb_can_sweep(const tbShape* a, const tbShape* b)
{
  if (is_convex(a)) return is_convex(b) || b->type == TB_SHAPE_PLANE || mesh_of(b);
  if (mesh_of(a)) return is_convex(b) || mesh_of(b);
  return is_convex(b);
}

// Whether a is the one that is followed triangle by triangle, or as a whole, through the mesh of b.
static bool goes_first(const tbShape* a, const tbShape* b)
{
  const tbMesh *x = mesh_of(a), *y = mesh_of(b);
  return y && (!x || x->ntriangle <= y->ntriangle);
}

static tbSweep sweep_from(const tbSweep* s, double t)
{
  return (tbSweep){tb_sweep_at(s, t), tb_madd3(s->centre, t, s->v), s->v, s->w};
}

// Two meshes are followed piece by piece of the step: in each, few triangles come near each other.
static double meshes_meet(MeshVisit* v, double end)
{
  const Meeting whole = v->meeting;
  double piece_way = PIECE * fmin(whole.reach_a, whole.reach_b),
         pieces = ceil(way_of(&whole, end) / piece_way);
  int n = pieces < PIECES ? (pieces > 1 ? (int)pieces : 1) : PIECES;
  const tbMesh* mesh = mesh_of(whole.a);
  for (int k = 0; k < n; k++) {
    double from = end * k / n, to = k + 1 < n ? end * (k + 1) / n : end;
    tbSweep sa = sweep_from(whole.sa, from), sb = sweep_from(whole.sb, from);
    v->meeting = whole, v->meeting.sa = &sa, v->meeting.sb = &sb;
    v->end = to - from;
    tb_bvh_query(&mesh->bvh, mesh->triangle_box, reachable(&v->meeting, v->end, v->target), meet_mesh, v);
    if (v->end < to - from) return from + v->end;
  }
  return end;
}

double tb_time_of_impact_apart(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb,
                               double end, double target, double apart)
{
  if (!goes_first(a, b) && goes_first(b, a)) return tb_time_of_impact_apart(b, sb, a, sa, end, target, apart);
  Meeting m = {.a = a, .b = b, .sa = sa, .sb = sb, .reach_a = reach_of(a, sa), .reach_b = reach_of(b, sb)};
  MeshVisit v = {m, end, target, apart, sa, sb};
  if (mesh_of(a)) return meshes_meet(&v, end);
  const tbMesh* mesh = mesh_of(b);
  tb_bvh_query(&mesh->bvh, mesh->triangle_box, swept_box(&m, end, target), meet_triangle, &v);
  return v.end;
}

double tb_time_of_impact(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb, double end,
                         double target)
{
  if (!tb_can_sweep(a, b)) return 0;
  if (mesh_of(a) || mesh_of(b)) return tb_time_of_impact_apart(a, sa, b, sb, end, target, 0);
  Meeting m = {.a = a, .b = b, .sa = sa, .sb = sb, .reach_a = reach_of(a, sa), .reach_b = reach_of(b, sb)};
  return advance(&m, end, target);
}
