// Spheres: from sliding to rolling, and rolling down slopes.
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

// A ball of radius r with speed v along x and spin w about y slides until it rolls at (5 v + 2 r w)/7.
TEST(sliding_ball_ends_rolling_at_five_sevenths)
{
  static const double spins[] = {0, -30, 15, -60};
  for (int k = 0; k < EXACT_SOLVERS; k++)
    for (int i = 0; i < 4; i++) {
      double r = 0.1, v = 2, w = spins[i], mu = 0.3;
      Stage s = stage_open(mu, 0);
      s.step.solver.solver = exact_solvers[k];
      s.step.dt = 0.002;
      stage_floor(&s, 0, 0);
      tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 0.5, tb_vec3(0, 0, r), tb_quat_identity());
      stage_push(&s, ball, tb_vec3(v, 0, 0), tb_vec3(0, w, 0));
      double rolls = (5 * v + 2 * r * w) / 7, when = fabs(v - rolls) / (mu * g);
      stage_run_for(&s, when + 0.2);
      tbBodyState end = stage_state(&s, ball);
      if (!(fabs(end.velocity.x - rolls) < 1e-6) || !(fabs(end.angular_velocity.y * r - rolls) < 1e-6))
        test_failed(__FILE__, __LINE__, "%s spin %g: ends at %.9g m/s, %.9g rolling, expected %.9g", exact_solvers[k], w,
                    end.velocity.x, end.angular_velocity.y * r, rolls);
      stage_close(&s);
    }
}

// Rolls without slip while μ ≥ 2/7 tan θ, at 5/7 g sin θ; below that it slips at g (sin θ − μ cos θ).
TEST(ball_on_a_slope_rolls_above_two_sevenths_tan)
{
  for (int k = 0; k < EXACT_SOLVERS; k++)
    for (int i = 0; i < 4; i++) {
      double slope = 0.3 + 0.2 * i, heading = 0.7 * i, critical = 2 * tan(slope) / 7;
      for (int side = 0; side < 2; side++) {
        double mu = (side ? 1.02 : 0.9) * critical, r = 0.2, t = 1;
        Stage s = stage_open(mu, 0);
        s.step.solver.solver = exact_solvers[k];
        s.step.dt = 0.005;
        stage_floor(&s, slope, heading);
        tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 1, tb_scale3(r, stage_normal(slope, heading)), tb_quat_identity());
        stage_run_for(&s, t);
        tbBodyState end = stage_state(&s, ball);
        double v = tb_dot3(end.velocity, stage_down(slope, heading)), slip = v - r * tb_norm3(end.angular_velocity);
        double expected = side ? 5.0 / 7 * g * sin(slope) * t : g * (sin(slope) - mu * cos(slope)) * t;
        if (!(fabs(v / expected - 1) < 1e-6) || (side ? !(fabs(slip) < 1e-6) : !(slip > 1e-3)))
          test_failed(__FILE__, __LINE__, "%s slope %g mu %g: %g m/s, slip %g, expected %g", exact_solvers[k], slope, mu, v,
                      slip, expected);
        stage_close(&s);
      }
    }
}
