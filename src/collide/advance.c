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
// A mesh is met where the first of its triangles is, which are convex: those in the box that the shape sweeps
// are followed one by one, each until the earliest impact so far.
//
// Cost      a distance per step; few steps for bodies that fly, most for those that spin past each other.
// Limits    STEPS steps; the answer is then early, never late. Only as good as the bound of tb_distance.
#include "collide/advance.h"
#include "collide/distance.h"
#include "collide/gjk.h"
#include "collide/pairs.h"
#include "geometry/box.h"
#include "geometry/mesh.h"

enum { STEPS = 256 };

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

static double reach_of(const tbShape* shape, const tbSweep* sweep)
{
  return tb_reach_about(shape, tb_transform_unpoint(sweep->start, sweep->centre));
}

// Two shapes on their way, or a shape and a triangle of a mesh.
typedef struct {
  const tbShape *a, *b;
  const tbSweep *sa, *sb;
  double reach_a, reach_b;
  tbVec3 corner[3]; // of the triangle, in b's body frame
} Meeting;

// The gap to the triangle at time t, at least: the slab along the direction of the closest points.
static double triangle_gap(const Meeting* m, double t, tbVec3* normal)
{
  tbTransform A = tb_place(m->a, tb_sweep_at(m->sa, t)).T, B = tb_sweep_at(m->sb, t);
  tbTransform relative = tb_place_relative(A, B);
  tbVec3 corner[3];
  for (int i = 0; i < 3; i++) corner[i] = tb_transform_point(relative, m->corner[i]);
  tbCore ca = tb_core_at_origin(m->a), cb = tb_core_of_points(corner, 3);
  tbGjk g;
  tb_gjk(&ca, &cb, INFINITY, &g);
  *normal = tb_zero3();
  if (g.overlap) return -INFINITY;
  tbVec3 pa = tb_core_farthest(&ca, g.normal, NULL, NULL),
         pb = tb_core_farthest(&cb, tb_neg3(g.normal), NULL, NULL);
  double slack = 1e-15 * (tb_maxabs3(pa) + tb_maxabs3(pb) + tb_maxabs3(A.x) + tb_maxabs3(B.x));
  *normal = tb_quat_rotate(A.q, g.normal);
  return tb_dot3(g.normal, tb_sub3(pb, pa)) - tb_core_radius(m->a) - slack;
}

static double gap_at(const Meeting* m, double t, tbVec3* normal)
{
  if (m->b->type == TB_SHAPE_MESH) return triangle_gap(m, t, normal);
  return tb_distance(m->a, tb_sweep_at(m->sa, t), m->b, tb_sweep_at(m->sb, t), normal);
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
    t += (gap - target) / speed;
  }
  return t;
}

typedef struct {
  Meeting meeting;
  double end, target, apart;
} MeshVisit;

// Follows one triangle until the earliest impact so far.
static bool meet_triangle(void* user, int item)
{
  MeshVisit* v = user;
  Meeting* m = &v->meeting;
  const tbMesh* mesh = m->b->mesh;
  tbVec3 centre = tb_transform_unpoint(m->sb->start, m->sb->centre), n;
  m->reach_b = 0;
  for (int i = 0; i < 3; i++) {
    m->corner[i] = tb_transform_point(m->b->pose, mesh->vertex[mesh->triangle[item][i]]);
    m->reach_b = fmax(m->reach_b, tb_distance3(m->corner[i], centre));
  }
  if (v->apart > 0 && triangle_gap(m, 0, &n) <= v->apart) return true;
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

static bool is_convex(const tbShape* shape) { return shape->type < TB_SHAPE_PLANE; }

bool tb_can_sweep(const tbShape* a, const tbShape* b)
{
  if (is_convex(a)) return is_convex(b) || b->type == TB_SHAPE_PLANE || b->type == TB_SHAPE_MESH;
  return is_convex(b) && tb_can_sweep(b, a);
}

double tb_time_of_impact_apart(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb,
                               double end, double target, double apart)
{
  if (a->type == TB_SHAPE_MESH) return tb_time_of_impact_apart(b, sb, a, sa, end, target, apart);
  MeshVisit v = {{.a = a, .b = b, .sa = sa, .sb = sb, .reach_a = reach_of(a, sa)}, end, target, apart};
  tb_bvh_query(&b->mesh->bvh, b->mesh->triangle_box, swept_box(&v.meeting, end, target), meet_triangle, &v);
  return v.end;
}

double tb_time_of_impact(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb, double end,
                         double target)
{
  if (!tb_can_sweep(a, b)) return 0;
  if (a->type == TB_SHAPE_MESH || b->type == TB_SHAPE_MESH)
    return tb_time_of_impact_apart(a, sa, b, sb, end, target, 0);
  Meeting m = {.a = a, .b = b, .sa = sa, .sb = sb, .reach_a = reach_of(a, sa), .reach_b = reach_of(b, sb)};
  return advance(&m, end, target);
}
