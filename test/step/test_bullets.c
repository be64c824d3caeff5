// SPDX-License-Identifier: Apache-2.0
// Fast bodies neither pass through what is in their way nor stop at what is not.
#include "step/joints.h"

TEST(a_ball_of_a_centimetre_at_500_metres_a_second_does_not_pass_a_plate_of_a_millimetre)
{
  for (int bullet = 0; bullet < 2; bullet++)
    for (int i = 0; i < 20; i++) {
      Stage s = stage_open(0.3, 0);
      s.step.dt = 1.0 / 60;
      stage_fixed(&s, tb_shape_box(tb_vec3(0.001, 2, 2)), tb_zero3(), tb_quat_identity());
      double speed = i % 2 ? -500 : 500;
      tbVec3 from = tb_vec3(i % 2 ? 12 + 0.43 * i : -12 - 0.43 * i, 0.03 * i - 0.2, 0.1);
      tbBodyId ball =
          stage_shoot(&s, tb_shape_sphere(0.005), from, tb_vec3(speed, i - 10, 0), tb_zero3(), bullet);
      stage_run(&s, 12);
      tbVec3 x = stage_state(&s, ball).position;
      CHECK(i % 2 ? x.x > 0 : x.x < 0);
      stage_close(&s);
    }
}

// A rod spins past a thin post: its tip moves ten times its width in a step.
TEST(a_spinning_rod_does_not_pass_a_post)
{
  for (int bullet = 0; bullet < 2; bullet++) {
    Stage s = stage_open(0, 0);
    no_gravity(&s);
    stage_fixed(&s, tb_shape_box(tb_vec3(0.02, 0.02, 1)), tb_vec3(0.35, 0.2, 0), tb_quat_identity());
    tbBodyId rod = stage_shoot(&s, tb_shape_box(tb_vec3(1, 0.02, 0.02)), tb_zero3(), tb_zero3(),
                               tb_vec3(0, 0, 40), bullet);
    tbJointDef hinge = tb_default_joint_def(TB_JOINT_HINGE);
    stage_join(&s, hinge, the_world, rod, tb_zero3());
    for (int i = 0; i < 20; i++) {
      stage_run(&s, 1);
      tbBodyState state = stage_state(&s, rod);
      double angle = 2 * atan2(state.orientation.z, state.orientation.w);
      CHECK(angle > -0.05 && angle < atan2(0.2, 0.35) + 0.05);
    }
    stage_close(&s);
  }
}

TEST(a_fast_body_past_an_edge_is_not_stopped_by_it)
{
  static const double clearances[] = {1e-3, 1e-2, 0.1};
  for (int i = 0; i < 3; i++)
    for (int bullet = 0; bullet < 2; bullet++)
      for (int away = 0; away < 2; away++) {
        Stage s = stage_open(0.5, 0);
        no_gravity(&s);
        s.step.dt = 1.0 / 60;
        stage_fixed(&s, tb_shape_box(tb_vec3(1, 1, 1)), tb_zero3(), tb_quat_identity());
        tbVec3 v = tb_vec3(60, 0, away ? 2 : 0);
        tbBodyId body = stage_shoot(&s, tb_shape_sphere(0.05), tb_vec3(-1.7, 0, 0.55 + clearances[i]), v,
                                    tb_zero3(), bullet);
        stage_run(&s, 5);
        tbBodyState state = stage_state(&s, body);
        CHECK_NEAR(tb_distance3(state.velocity, v), 0, 1e-9);
        CHECK_NEAR(state.position.x, -1.7 + 5, 1e-9);
        stage_close(&s);
      }
}
