// Blocks that stick and slide: Coulomb's law against its closed forms, for every exact solver.
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

// A block at rest on a slope of angle θ; how far it has moved down the slope after the time.
static double creep(const char* solver, double slope, double heading, double twist, double mu, double seconds)
{
  Stage s = stage_open(mu, 0);
  s.step.solver.solver = solver;
  stage_floor(&s, slope, heading);
  tbQuat turn = tb_quat_mul(stage_turn(slope, heading), tb_quat_exp(tb_vec3(0, 0, twist)));
  tbVec3 start = tb_scale3(0.25, stage_normal(slope, heading));
  tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.8, 0.6, 0.5)), 2, start, turn);
  stage_run_for(&s, seconds);
  tbVec3 moved = tb_sub3(stage_state(&s, box).position, start), down = stage_down(slope, heading);
  double along = tb_dot3(moved, down), across = tb_norm3(tb_madd3(moved, -along, down));
  if (!(across < 1e-3 * (1 + fabs(along))))
    test_failed(__FILE__, __LINE__, "%s: left the slope line by %g m", solver, across);
  if (s.unconverged)
    test_failed(__FILE__, __LINE__, "%s slope %g mu %g: %d steps unconverged, worst %g", solver, slope, mu, s.unconverged,
                s.worst);
  stage_close(&s);
  return along;
}

TEST(incline_threshold_is_mu)
{
  static const double slopes[] = {0.2, 0.5, 0.9}, headings[] = {0, PI / 4, 2.0};
  for (int k = 0; k < EXACT_SOLVERS; k++)
    for (int i = 0; i < 3; i++) {
      double slope = slopes[i], heading = headings[(i + k) % 3], critical = tan(slope);
      double stays = creep(exact_solvers[k], slope, heading, 0.3 * i, 1.002 * critical, test_quick() ? 0.5 : 3);
      if (!(fabs(stays) < 1e-4))
        test_failed(__FILE__, __LINE__, "%s slope %g: crept %g m", exact_solvers[k], slope, stays);
      double t = test_quick() ? 1 : 2, moved = creep(exact_solvers[k], slope, heading, 0.3 * i, 0.99 * critical, t);
      double expected = 0.5 * g * 0.01 * sin(slope) * t * t;
      if (!(fabs(moved / expected - 1) < 0.03))
        test_failed(__FILE__, __LINE__, "%s slope %g: slid %g m, expected %g", exact_solvers[k], slope, moved, expected);
    }
}

TEST(sliding_stops_after_v2_over_2_mu_g_in_every_direction)
{
  for (int k = 0; k < EXACT_SOLVERS; k++)
    for (int i = 0; i < 12; i++) {
      double mu = 0.3 + 0.02 * i, v0 = 2 + 0.1 * i, heading = 2 * PI * i / 12 + 0.1;
      Stage s = stage_open(mu, 0);
      s.step.solver.solver = exact_solvers[k];
      s.step.dt = 0.005;
      stage_floor(&s, 0, 0);
      tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 0.1)), 1.5, tb_vec3(0, 0, 0.05), tb_quat_identity());
      stage_push(&s, box, tb_vec3(v0 * cos(heading), v0 * sin(heading), 0), tb_zero3());
      stage_run_for(&s, v0 / (mu * g) + 0.1);
      tbVec3 x = stage_state(&s, box).position;
      double d = sqrt(x.x * x.x + x.y * x.y), expected = v0 * v0 / (2 * mu * g);
      double off = atan2(x.y, x.x) - heading;
      off -= 2 * PI * floor(off / (2 * PI) + 0.5);
      if (!(fabs(d - expected) <= v0 * s.step.dt) || !(fabs(off) <= 1e-4))
        test_failed(__FILE__, __LINE__, "%s heading %g: %g m for %g, off by %g rad", exact_solvers[k], heading, d, expected,
                    off);
      stage_close(&s);
    }
}
