// SPDX-License-Identifier: Apache-2.0
// Round things: from sliding to rolling, rolling down slopes, and what rolling and torsional friction do.
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

// A ball of radius r with speed v along x and spin w about y slides until it rolls at (5 v + 2 r w)/7.
TEST(sliding_ball_ends_rolling_at_five_sevenths)
{
  static const double spins[] = {0, -30, 15, -60};
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
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
        test_failed(__FILE__, __LINE__, "%s spin %g: ends at %.9g m/s, %.9g rolling, expected %.9g",
                    exact_solvers[k], w, end.velocity.x, end.angular_velocity.y * r, rolls);
      stage_close(&s);
    }
}

// Rolls without slip while μ ≥ 2/7 tan θ, at 5/7 g sin θ; below that it slips at g (sin θ − μ cos θ).
TEST(ball_on_a_slope_rolls_above_two_sevenths_tan)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 4; i++) {
      double slope = 0.3 + 0.2 * i, heading = 0.7 * i, critical = 2 * tan(slope) / 7;
      for (int side = 0; side < 2; side++) {
        double mu = (side ? 1.02 : 0.9) * critical, r = 0.2, t = 1;
        Stage s = stage_open(mu, 0);
        s.step.solver.solver = exact_solvers[k];
        s.step.dt = 0.005;
        stage_floor(&s, slope, heading);
        tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 1, tb_scale3(r, stage_normal(slope, heading)),
                                  tb_quat_identity());
        stage_run_for(&s, t);
        tbBodyState end = stage_state(&s, ball);
        double v = tb_dot3(end.velocity, stage_down(slope, heading)),
               slip = v - r * tb_norm3(end.angular_velocity);
        double expected = side ? 5.0 / 7 * g * sin(slope) * t : g * (sin(slope) - mu * cos(slope)) * t;
        if (!(fabs(v / expected - 1) < 1e-6) || (side ? !(fabs(slip) < 1e-6) : !(slip > 1e-3)))
          test_failed(__FILE__, __LINE__, "%s slope %g mu %g: %g m/s, slip %g, expected %g", exact_solvers[k],
                      slope, mu, v, slip, expected);
        stage_close(&s);
      }
    }
}

// With k = I/(m r²) about the axis a round body rolls above μ = k/(1+k) tan θ, at g sin θ/(1+k): a half for
// cylinders, and what its ends make of it for a capsule.
TEST(cylinders_and_capsules_roll_above_their_thresholds)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 8; i++) {
      double slope = 0.2 + 0.1 * i, heading = 0.7 * i, r = i % 4 < 2 ? 0.2 : 0.01,
             length = (i % 3 + 0.5) * r * 2, t = 0.4;
      tbShape shape = i % 2 ? tb_shape_capsule(r, length) : tb_shape_cylinder(r, length);
      tbMass mass = tb_shape_mass(&shape, 1000);
      double ratio = mass.inertia.m[2][2] / (mass.mass * r * r), critical = ratio / (1 + ratio) * tan(slope);
      for (int side = 0; side < 2; side++) {
        double mu = (side ? 1.02 : 0.9) * critical;
        Stage s = stage_open(mu, 0);
        s.step.solver.solver = exact_solvers[k];
        s.step.dt = 0.004;
        stage_floor(&s, slope, heading);
        tbQuat turn =
            tb_quat_mul(stage_turn(slope, heading), tb_quat_exp(tb_vec3(PI / 2, 0, 0))); // axis across
        tbBodyId body = stage_add(&s, shape, mass.mass, tb_scale3(r, stage_normal(slope, heading)), turn);
        stage_run_for(&s, t);
        tbBodyState end = stage_state(&s, body);
        double v = tb_dot3(end.velocity, stage_down(slope, heading)),
               slip = v - r * tb_norm3(end.angular_velocity);
        double expected = side ? g * sin(slope) / (1 + ratio) * t : g * (sin(slope) - mu * cos(slope)) * t;
        if (!(fabs(v / expected - 1) < 1e-4) || (side ? !(fabs(slip) < 1e-4) : !(slip > 1e-3)))
          test_failed(__FILE__, __LINE__, "%s %s r %g slope %g mu %g: %g m/s, slip %g, expected %g",
                      exact_solvers[k], tb_shape_type_name(shape.type), r, slope, mu, v, slip, expected);
        stage_close(&s);
      }
    }
}

static Stage resisting(const char* solver, double mu, double torsion, double rolling)
{
  tbFriction friction = {.kind = TB_FRICTION_CONTENSOU, .mu = mu, .torsion = torsion, .rolling = rolling};
  Stage s = stage_open_with(tb_vec3(0, 0, -g), friction, 0);
  s.step.solver.solver = solver;
  return s;
}

// A torque of at most ρ N slows a rolling ball by 5/7 g ρ/r: it stops after 7 v² r/(10 g ρ).
LONG_TEST(rolling_friction_stops_a_ball_after_its_way)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 6; i++) {
      double r = i % 2 ? 0.1 : 0.02, v = 0.5 + 0.1 * i, heading = i, rolling = r * (0.05 + 0.03 * i);
      tbVec3 way = tb_vec3(cos(heading), sin(heading), 0), axis = tb_vec3(-way.y, way.x, 0);
      Stage s = resisting(exact_solvers[k], 0.8, i < 3 ? 0 : 0.01 * r, rolling);
      s.step.dt = 0.002;
      stage_floor(&s, 0, 0);
      tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 0.3, tb_vec3(0, 0, r), tb_quat_identity());
      stage_push(&s, ball, tb_scale3(v, way), tb_scale3(v / r, axis));
      double slows = 5 * g * rolling / (7 * r), expected = v * v / (2 * slows);
      stage_run_for(&s, v / slows + 0.1);
      tbBodyState end = stage_state(&s, ball);
      double d = tb_dot3(end.position, way), aside = tb_dot3(end.position, axis);
      if (!(fabs(d - expected) <= v * s.step.dt) || !(fabs(aside) < 1e-4 * d) ||
          !(tb_norm3(end.velocity) < 1e-7) || s.unconverged)
        test_failed(__FILE__, __LINE__, "%s r %g rolling %g: %g m for %g, %g aside, %g m/s, %d unconverged",
                    exact_solvers[k], r, rolling, d, expected, aside, tb_norm3(end.velocity), s.unconverged);
      stage_close(&s);
    }
}

// A ball stays on a slope while tan θ ≤ ρ/r, and rolls at 5/7 g (sin θ − ρ/r cos θ) beyond.
TEST(rolling_friction_holds_a_ball_on_a_slope)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int side = 0; side < 2; side++) {
      double slope = 0.15, heading = 0.5 + k, r = 0.1, rolling = (side ? 0.8 : 1.01) * r * tan(slope),
             t = 0.5;
      Stage s = resisting(exact_solvers[k], 0.9, 0, rolling);
      s.step.dt = 0.005;
      stage_floor(&s, slope, heading);
      tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 1, tb_scale3(r, stage_normal(slope, heading)),
                                tb_quat_identity());
      stage_run_for(&s, t);
      double v = tb_dot3(stage_state(&s, ball).velocity, stage_down(slope, heading));
      double expected = side ? 5.0 / 7 * g * (sin(slope) - rolling / r * cos(slope)) * t : 0;
      if (!(fabs(v - expected) < 1e-6))
        test_failed(__FILE__, __LINE__, "%s: %g m/s, expected %g, %d unconverged", exact_solvers[k], v,
                    expected, s.unconverged);
      stage_close(&s);
    }
}

// A torque of at most τ N about the normal stops a spin ω of a ball after 2 r² ω/(5 g τ), at rest where it
// was.
TEST(torsion_stops_a_spinning_ball_in_its_time)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 4; i++) {
      double r = i % 2 ? 0.1 : 0.03, w = 10 + 5 * i, torsion = r * 0.1, rolling = i < 2 ? 0 : 0.05 * r;
      Stage s = resisting(exact_solvers[k], 0.4, torsion, rolling);
      s.step.dt = 0.001;
      stage_floor(&s, 0, 0);
      tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 0.3, tb_vec3(0, 0, r), tb_quat_identity());
      stage_push(&s, ball, tb_zero3(), tb_vec3(0, 0, w));
      double stops = 2 * r * r * w / (5 * g * torsion);
      stage_run_for(&s, stops / 2);
      double half = stage_state(&s, ball).angular_velocity.z;
      stage_run_for(&s, stops / 2 + 0.01);
      tbBodyState end = stage_state(&s, ball);
      if (!(fabs(half / w - 0.5) < 0.02) || !(tb_norm3(end.angular_velocity) < 1e-6) ||
          !(tb_norm3(tb_sub3(end.position, tb_vec3(0, 0, r))) < 1e-6))
        test_failed(__FILE__, __LINE__, "%s r %g: %g of %g rad/s at half time, %g at the end",
                    exact_solvers[k], r, half, w, tb_norm3(end.angular_velocity));
      stage_close(&s);
    }
}
