// SPDX-License-Identifier: Apache-2.0
// Many joints at once: chains with a heavy end, and loops whose joints say more than is needed.
#include "step/joints.h"

// Twenty links of 1 kg and 0.2 m from the origin along `way`, the last of 1000 kg.
enum { LINKS = 20 };
static tbBodyId chain(Stage* s, tbVec3 way, tbJointId joint[LINKS])
{
  tbBodyId before = the_world;
  for (int i = 0; i < LINKS; i++) {
    tbVec3 x = tb_scale3(0.2 * (i + 0.5), way);
    tbBodyId link = stage_add(s, tb_shape_sphere(0.08), i == LINKS - 1 ? 1000 : 1, x, tb_quat_identity());
    joint[i] = stage_join(s, tb_default_joint_def(TB_JOINT_BALL), before, link, tb_scale3(0.2 * i, way));
    before = link;
  }
  return before;
}

TEST(a_chain_carries_a_thousand_times_its_links)
{
  Stage s = stage_open(0, 0);
  tbJointId joint[LINKS];
  chain(&s, tb_vec3(0, 0, -1), joint);
  stage_run(&s, 200);
  for (int i = 0; i < LINKS; i++) {
    double load = (LINKS - 1 - i + 1000) * 9.81 * s.step.dt;
    CHECK_NEAR(stage_joint(&s, joint[i])->impulse[2], load, 1e-5 * load);
    CHECK(joint_gap(&s, joint[i]) < 1e-6);
  }
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(a_swinging_chain_with_a_heavy_end_stays_together)
{
  Stage s = stage_open(0, 0);
  tbJointId joint[LINKS];
  tbBodyId end = chain(&s, tb_vec3(1, 0, 0), joint);
  double worst = 0, start = stage_energy(&s), most = -INFINITY;
  for (int i = 0; i < 150; i++) {
    stage_run(&s, 1);
    for (int k = 0; k < LINKS; k++) worst = fmax(worst, joint_gap(&s, joint[k]));
    most = fmax(most, stage_energy(&s));
  }
  CHECK(worst < 1e-3);
  CHECK(most - start < 1e-3 * 1000 * 9.81 * 4); // of what it falls
  CHECK(tb_norm3(stage_state(&s, end).position) < 3.92);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

// A parallelogram of three bars and the ground: twenty rows for seventeen that are independent.
TEST(a_four_bar_linkage_turns_though_it_is_redundant)
{
  Stage s = stage_open(0, 0);
  tbShape upright = tb_shape_box(tb_vec3(0.1, 0.1, 1)), flat = tb_shape_box(tb_vec3(2, 0.1, 0.1));
  tbBodyId a = stage_add(&s, upright, 1, tb_vec3(0, 0, 0.5), tb_quat_identity());
  tbBodyId b = stage_add(&s, upright, 1, tb_vec3(2, 0, 0.5), tb_quat_identity());
  tbBodyId coupler = stage_add(&s, flat, 1, tb_vec3(1, 0, 1), tb_quat_identity());
  tbJointDef def = tb_default_joint_def(TB_JOINT_HINGE), driven;
  def.axis = tb_vec3(0, 1, 0);
  driven = def, driven.motor = true, driven.motor_speed = 2, driven.motor_force = 200;
  tbJointId joint[4] = {
      stage_join(&s, driven, the_world, a, tb_zero3()), stage_join(&s, def, the_world, b, tb_vec3(2, 0, 0)),
      stage_join(&s, def, a, coupler, tb_vec3(0, 0, 1)), stage_join(&s, def, b, coupler, tb_vec3(2, 0, 1))};
  double worst = 0;
  for (int i = 0; i < 300; i++) {
    stage_run(&s, 1);
    for (int k = 0; k < 4; k++) worst = fmax(worst, joint_gap(&s, joint[k]));
    if (i % 37 == 0) CHECK_NEAR(fabs(stage_state(&s, coupler).orientation.w), 1, 1e-6); // it stays level
  }
  CHECK_NEAR(stage_state(&s, a).angular_velocity.y, 2, 1e-5);
  CHECK(worst < 2e-3);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}
