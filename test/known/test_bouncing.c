// Restitution, flight and rotation: what must be kept.
#include "known/worlds.h"
#include "test.h"

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
          test_failed(__FILE__, __LINE__, "%s e %g bounce %d: %g m, expected %g", s.step.scheme, e, bounce, top, expected);
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
