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
// Cost      a distance per step; few steps for bodies that fly, most for those that spin past each other.
// Limits    STEPS steps; the answer is then early, never late. Only as good as the bound of tb_distance.
#include "collide/advance.h"
#include "collide/distance.h"

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

double tb_time_of_impact(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb, double end,
                         double target)
{
  double reach_a = reach_of(a, sa), reach_b = reach_of(b, sb), t = 0;
  for (int k = 0; k < STEPS; k++) {
    tbVec3 n;
    double gap = tb_distance(a, tb_sweep_at(sa, t), b, tb_sweep_at(sb, t), &n);
    if (gap <= target * 1.001) return t;
    double speed = turning_plane(a, sa)   ? turning_plane_speed(sa, sb, reach_b, end)
                   : turning_plane(b, sb) ? turning_plane_speed(sb, sa, reach_a, end)
                                          : closing_speed(sa, reach_a, sb, reach_b, n);
    if (!(speed > 0) || gap - target >= speed * (end - t)) return end;
    t += (gap - target) / speed;
  }
  return t;
}
