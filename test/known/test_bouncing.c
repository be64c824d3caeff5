// SPDX-License-Identifier: Apache-2.0
// Restitution, flight and rotation: what must be kept.
#include "known/worlds.h"
#include "test.h"

// A ball or a flat box dropped from H rises to e² H in steps long and short, and stays upright.
TEST(bounces_do_not_depend_on_the_step)
{
  static const double es[] = {0.25, 0.5, 0.75, 1}, dts[] = {1.0 / 60, 1.0 / 120, 1.0 / 240, 0.001};
  for (int scheme = 0; scheme < 2; scheme++)
    for (int i = 0; i < 32; i++) {
      double e = es[i % 4], H = 0.7, half = 0.1, g = 9.81, expected = H * e * e;
      bool box = i >= 16;
      Stage s = stage_open(0.3, e);
      s.step.scheme = scheme ? "moreau" : "semi-implicit";
      s.step.dt = dts[i / 4 % 4];
      stage_floor(&s, 0, 0);
      tbShape shape = box ? tb_shape_box(tb_vec3(0.5, 0.3, 2 * half)) : tb_shape_sphere(half);
      tbBodyId body = stage_add(&s, shape, i % 3 ? 1 : 1e-3, tb_vec3(0, 0, half + H), tb_quat_identity());
      stage_run_for(&s, sqrt(2 * H / g));
      stage_run(&s, 1);
      double top = 0,
             way = scheme ? 1.5 * sqrt(2 * g * H) * s.step.dt : 1e-3 * H; // Moreau's: the way of a step
      for (int k = 0; k < (int)(2 * sqrt(2 * expected / g) / s.step.dt) - 2; k++) {
        stage_run(&s, 1);
        top = fmax(top, stage_state(&s, body).position.z - half);
      }
      way += g * s.step.dt * s.step.dt / 8; // the top lies between two steps
      tbBodyState end = stage_state(&s, body);
      double slip = tb_norm3(end.angular_velocity) + fabs(end.velocity.x) + fabs(end.velocity.y);
      if (!(fabs(top - expected) < way) || !(slip < 1e-5))
        test_failed(__FILE__, __LINE__, "%s %s e %g dt %g: %g m for %g, slip %g", s.step.scheme,
                    box ? "box" : "ball", e, s.step.dt, top, expected, slip);
      stage_close(&s);
    }
}

// A ball that spins and flies along a wall leaves it at e times its speed, whenever within the step it
// arrives, at its own nearest point by then: neither where it was nearest before, nor that point turned.
TEST(a_spinning_ball_bounces_alike_at_every_moment_of_a_step)
{
  double e = 0.7, speed = 4, r = 0.1, spin = 0, along = 0;
  for (int i = 0; i < 12; i++) {
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.2), e);
    s.step.dt = 0.005;
    stage_fixed(&s, tb_shape_plane(tb_vec3(-1, 0, 0), 0), tb_zero3(), tb_quat_identity());
    double gap = speed * s.step.dt * (1 + (i + 0.5) / 12);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 1, tb_vec3(-r - gap, 0, 0), tb_quat_identity());
    stage_push(&s, ball, tb_vec3(speed, 0.1, 1.5), tb_vec3(-1, 36, 0.5));
    stage_run(&s, 4);
    tbBodyState now = stage_state(&s, ball);
    if (i == 0) spin = now.angular_velocity.y, along = now.velocity.z;
    CHECK_NEAR(now.velocity.x, -e * speed, 1e-9);
    CHECK_NEAR(now.angular_velocity.y, spin, 1e-9);
    CHECK_NEAR(now.velocity.z, along, 1e-9);
    stage_close(&s);
  }
}

// Two balls that reach the floor in the same step, at different moments, bounce at their own.
TEST(balls_bounce_each_in_its_own_time)
{
  Stage s = stage_open(0, 1);
  s.step.dt = 1.0 / 60;
  stage_floor(&s, 0, 0);
  tbBodyId ball[5];
  double energy[5], g = 9.81, r = 0.1;
  for (int i = 0; i < 5; i++) {
    double height = 1 + 0.013 * i;
    ball[i] = stage_add(&s, tb_shape_sphere(r), 1, tb_vec3(i, 0, r + height), tb_quat_identity());
    energy[i] = g * height;
  }
  stage_run(&s, 200);
  for (int i = 0; i < 5; i++) {
    tbBodyState now = stage_state(&s, ball[i]);
    CHECK_NEAR(g * (now.position.z - r) + 0.5 * now.velocity.z * now.velocity.z, energy[i], 1e-6);
  }
  stage_close(&s);
}

// A ball that strikes a floor of any slope with normal speed w and tangential speed v, without spin: while
// μ (1+e) w < 2/7 v it slips and loses μ (1+e) w, else it leaves rolling at 5/7 v. Its normal speed is e w.
TEST(oblique_bounces_slip_or_roll)
{
  static const double dts[] = {1.0 / 60, 0.005, 0.001};
  for (int scheme = 0; scheme < 2; scheme++)
    for (int i = 0; i < 24; i++) {
      double e = i % 4 / 3.0, mu = 0.05 + 0.1 * (i % 6), v = 1.5, w = 2, r = 0.1, slope = 0.3 * (i % 3),
             heading = i;
      Stage s = stage_open_with(tb_zero3(), tb_friction(mu), e);
      s.step.scheme = scheme ? "moreau" : "semi-implicit";
      s.step.dt = dts[i % 3];
      s.step.stabilization = TB_STABILIZE_NONE; // Moreau's steps end in overlap, which would be pushed out
      stage_floor(&s, slope, heading);
      tbVec3 n = stage_normal(slope, heading), d = stage_down(slope, heading);
      tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 0.4, tb_scale3(r + 0.5, n), tb_quat_identity());
      stage_push(&s, ball, tb_sub3(tb_scale3(v, d), tb_scale3(w, n)), tb_zero3());
      stage_run_for(&s, 0.5);
      tbBodyState end = stage_state(&s, ball);
      bool slips = mu * (1 + e) * w < 2.0 / 7 * v;
      double expected = slips ? v - mu * (1 + e) * w : 5.0 / 7 * v, spin = tb_norm3(end.angular_velocity) * r;
      double spins = slips ? 2.5 * mu * (1 + e) * w : 5.0 / 7 * v;
      if (!(fabs(tb_dot3(end.velocity, d) - expected) < 1e-6) ||
          !(fabs(tb_dot3(end.velocity, n) - e * w) < 1e-6) || !(fabs(spin - spins) < 1e-6))
        test_failed(__FILE__, __LINE__, "%s e %g mu %g: %g m/s along, %g up, %g spin; expected %g, %g, %g",
                    s.step.scheme, e, mu, tb_dot3(end.velocity, d), tb_dot3(end.velocity, n), spin, expected,
                    e * w, spins);
      stage_close(&s);
    }
}

// A ball dropped on a slab that lies on the floor without bouncing rises to e² H, whatever the slab weighs.
TEST(ball_bounces_off_a_slab_that_lies_on_the_floor)
{
  static const double masses[] = {0.01, 1, 1000};
  for (int i = 0; i < 9; i++) {
    double e = 0.5 + 0.25 * (i / 3), H = 0.8, r = 0.1, g = 9.81, expected = H * e * e;
    Stage s = stage_open(0.5, 0);
    s.step.dt = i % 2 ? 1.0 / 60 : 0.004;
    tbMaterialDef rubber = tb_default_material_def();
    rubber.name = "rubber", rubber.restitution = e;
    tbBodyDef def = tb_default_body_def();
    CHECK_OK(&s.ctx, tb_world_add_material(&s.ctx, s.world, &rubber, &def.material));
    stage_floor(&s, 0, 0);
    tbBodyId slab = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 0.1)), masses[i % 3], tb_vec3(0, 0, 0.05),
                              tb_quat_identity());
    tbShape sphere = tb_shape_sphere(r);
    def.shapes = &sphere, def.shape_count = 1, def.mass = 1, def.position = tb_vec3(0, 0, 0.1 + r + H);
    tbBodyId ball = {-1, 0};
    CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, &ball));
    stage_run_for(&s, sqrt(2 * H / g));
    stage_run(&s, 1);
    double top = 0;
    for (int k = 0; k < (int)(2 * sqrt(2 * expected / g) / s.step.dt) - 2; k++) {
      stage_run(&s, 1);
      top = fmax(top, stage_state(&s, ball).position.z - r - 0.1);
    }
    double sank = fabs(stage_state(&s, slab).position.z - 0.05);
    if (!(fabs(top - expected) < 2e-3) || !(sank < 1e-6))
      test_failed(__FILE__, __LINE__, "e %g slab %g kg dt %g: %g m for %g, slab moved %g", e, masses[i % 3],
                  s.step.dt, top, expected, sank);
    stage_close(&s);
  }
}

// A ball dropped from H rises to e² H; with e = 1 for ever.
TEST(bounce_heights_are_e_squared)
{
  static const double es[] = {0, 0.25, 0.5, 0.75, 1};
  for (int scheme = 0; scheme < 2; scheme++)
    for (int i = 0; i < 5; i++) {
      double e = es[i], H = 1 + 0.1 * i, r = 0.1, g = 9.81;
      Stage s = stage_open(0.3, e);
      s.step.scheme = scheme ? "moreau" : "semi-implicit";
      s.step.dt = scheme ? 0.001 : 0.01;
      stage_floor(&s, 0, 0);
      tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 1, tb_vec3(0, 0, r + H), tb_quat_identity());
      double fall = sqrt(2 * H / g), expected = H;
      stage_run_for(&s, fall);
      for (int bounce = 0; bounce < 3 && e > 0; bounce++) {
        double top = 0;
        expected *= e * e;
        int steps = (int)(2 * sqrt(2 * expected / g) / s.step.dt);
        for (int k = 0; k < steps; k++) {
          stage_run(&s, 1);
          top = fmax(top, stage_state(&s, ball).position.z - r);
        }
        double tolerance = scheme ? 5e-3 : 1e-3 * expected + 2e-4; // Moreau's: v h, the way of one step
        if (expected > 0.01 && !(fabs(top - expected) < tolerance))
          test_failed(__FILE__, __LINE__, "%s e %g bounce %d: %g m, expected %g", s.step.scheme, e, bounce,
                      top, expected);
      }
      if (e == 0) {
        stage_run_for(&s, 0.5);
        CHECK_NEAR(stage_state(&s, ball).position.z, r, scheme ? 5e-3 : 1e-9);
      }
      stage_close(&s);
    }
}

TEST(elastic_ball_keeps_its_energy)
{
  Stage s = stage_open(0.3, 1);
  s.step.dt = 1.0 / 60;
  stage_floor(&s, 0, 0);
  stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(0, 0, 2), tb_quat_identity());
  double before = stage_energy(&s);
  stage_run_for(&s, 60);
  CHECK_NEAR(stage_energy(&s) / before, 1, 1e-9);
  stage_close(&s);
}

TEST(free_rotor_keeps_energy_and_momentum)
{
  Stage s = stage_open(0, 0);
  tbWorldDef def = tb_default_world_def();
  def.gravity = tb_zero3();
  tb_world_free(&s.ctx, s.world);
  CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.world));
  tbBodyId body = stage_add(&s, tb_shape_box(tb_vec3(0.1, 0.4, 1)), 3, tb_zero3(), tb_quat_identity());
  stage_push(&s, body, tb_vec3(0.1, 0, 0), tb_vec3(0.01, 5, 0.02)); // about the middle axis: it tumbles
  double energy = stage_energy(&s);
  tbVec3 L = tb_world_angular_momentum(s.world);
  stage_run(&s, test_quick() ? 20000 : 200000);
  CHECK_NEAR(stage_energy(&s) / energy, 1, 2e-9);
  CHECK(tb_distance3(tb_world_angular_momentum(s.world), L) < 2e-9 * tb_norm3(L));
  stage_close(&s);
}

TEST(thrown_body_flies_the_parabola)
{
  Stage s = stage_open(0, 0);
  tbBodyId body = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1, tb_vec3(0, 0, 10), tb_quat_identity());
  stage_push(&s, body, tb_vec3(3, -2, 5), tb_vec3(0, 0, 1));
  stage_run(&s, 100);
  tbVec3 x = stage_state(&s, body).position;
  CHECK_NEAR(x.x, 3, 1e-12);
  CHECK_NEAR(x.y, -2, 1e-12);
  CHECK_NEAR(x.z, 10 + 5 - 0.5 * 9.81, 1e-12);
  tbQuat q = stage_state(&s, body).orientation;
  CHECK_NEAR(2 * atan2(q.z, q.w), 1, 1e-12);
  stage_close(&s);
}
