// SPDX-License-Identifier: Apache-2.0
// What the scheme of springs has beyond the standard cases.
#include "step/joints.h"

TEST(joints_are_rigid_under_penalty_contacts)
{
  Stage s = stage_open(0.5, 0);
  s.step.scheme = "penalty", s.step.dt = 1e-3;
  stage_floor(&s, 0, 0);
  tbBodyId left = stage_add(&s, tb_shape_sphere(0.2), 1, tb_vec3(-0.5, 0, 0.2), tb_quat_identity());
  tbBodyId right = stage_add(&s, tb_shape_sphere(0.2), 3, tb_vec3(0.5, 0, 0.2), tb_quat_identity());
  tbBodyId hung = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(1, 0, 3), tb_quat_identity());
  tbJointId weld = stage_join(&s, tb_default_joint_def(TB_JOINT_WELD), left, right, tb_zero3());
  tbJointId pivot = stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), the_world, hung, tb_vec3(0, 0, 3));
  double torn = 0;
  for (int i = 0; i < 1000; i++) {
    stage_run(&s, 1);
    torn = fmax(torn, fmax(joint_gap(&s, weld), joint_gap(&s, pivot)));
  }
  CHECK(torn < 1e-4);
  CHECK_NEAR(stage_state(&s, left).position.z, 0.2, 2e-3);
  CHECK_NEAR(tb_norm3(stage_state(&s, right).velocity), 0, 1e-3);
  stage_close(&s);
}

TEST(penalty_forces_add_up_to_the_weight)
{
  Stage s = stage_open(0.5, 0);
  s.step.scheme = "penalty", s.step.dt = 2e-3;
  stage_floor(&s, 0, 0);
  stage_add(&s, tb_shape_box(tb_vec3(0.4, 0.4, 0.4)), 2, tb_vec3(0, 0, 0.2), tb_quat_identity());
  stage_run_for(&s, 3);
  double sum = 0;
  for (int i = 0; i < tb_world_contact_count(s.world); i++) sum += tb_world_contact(s.world, i).impulse[0];
  CHECK_NEAR(sum / s.step.dt, 2 * 9.81, 1e-3);
  stage_close(&s);
}

// Springs without damping give back what they took; weaker where bodies part, k_recede/k of it: the speed
// after an impact is √(k_recede/k) of that before.
TEST(springs_that_recede_leave_the_root_of_their_share)
{
  static const double share[] = {1, 0.49, 0.16, 0.04};
  for (int i = 0; i < 4; i++) {
    Stage s = stage_open(0, 0);
    s.step.scheme = "penalty", s.step.dt = 1e-5;
    s.step.penalty_stiffness = 1e6, s.step.penalty_damping = 0, s.step.penalty_recede = share[i];
    s.world->gravity = tb_zero3();
    stage_floor(&s, 0, 0);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(0, 0, 0.1001), tb_quat_identity());
    stage_push(&s, ball, tb_vec3(0, 0, -1), tb_zero3());
    for (int k = 0; k < 4000 && stage_state(&s, ball).position.z < 0.1002; k++) stage_run(&s, 1);
    CHECK_NEAR(stage_state(&s, ball).velocity.z, sqrt(share[i]), 0.01);
    stage_close(&s);
  }
}
