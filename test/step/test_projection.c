// SPDX-License-Identifier: Apache-2.0
// Projection of positions: it moves bodies apart, and nothing else.
#include "step/joints.h"

TEST(projection_parts_bodies_and_touches_no_velocity)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  tbBodyId ball[4];
  for (int i = 0; i < 4; i++)
    ball[i] = stage_add(&s, tb_shape_sphere(0.5), 1 + i, tb_vec3(0.9 * i, 0.01 * i, 0), tb_quat_identity());
  tbVec3 drift = tb_vec3(30, 0, 0); // fast, and all together: no impacts
  for (int i = 0; i < 4; i++) stage_push(&s, ball[i], drift, tb_zero3());
  stage_run(&s, 1);
  for (int i = 1; i < 4; i++) {
    tbVec3 d = tb_sub3(stage_state(&s, ball[i]).position, stage_state(&s, ball[i - 1]).position);
    CHECK(tb_norm3(d) > 1 - 1e-7);
  }
  for (int i = 0; i < 4; i++) CHECK_NEAR(tb_distance3(stage_state(&s, ball[i]).velocity, drift), 0, 1e-9);
  stage_close(&s);
}

// Stacked into each other: pushed apart, they stand, and none flies off.
TEST(projection_gains_no_energy_and_leaves_no_overlap)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  stage_floor(&s, 0, 0);
  tbBodyId box[3];
  for (int i = 0; i < 3; i++)
    box[i] = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1, tb_vec3(0.1 * i, 0, 0.45 + 0.97 * i),
                       tb_quat_identity());
  double most = 0;
  for (int i = 0; i < 100; i++) {
    stage_run(&s, 1);
    most = fmax(most, tb_world_energy(s.world).kinetic);
  }
  CHECK(most < 1e-3); // nothing flew apart
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(stage_state(&s, box[i]).position.z, 0.5 + i, 1e-6);
    CHECK_NEAR(tb_norm3(stage_state(&s, box[i]).velocity), 0, 1e-6);
  }
  stage_close(&s);
}

LONG_TEST(projection_mends_a_falling_chain)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  int before = -1;
  for (int i = 0; i < 5; i++) {
    tbBodyId b = stage_add(&s, tb_shape_capsule(0.05, 0.4), 1, tb_vec3(0.25 + 0.5 * i, 0, 0),
                           tb_quat_exp(tb_vec3(0, PI / 2, 0)));
    tbJointDef def = tb_default_joint_def(i % 2 ? TB_JOINT_BALL : TB_JOINT_HINGE);
    def.a.index = before, def.b = b, def.anchor = tb_vec3(0.5 * i, 0, 0), def.axis = tb_vec3(0, 1, 0);
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
    before = b.index;
  }
  double start = stage_energy(&s), torn = 0;
  for (int i = 0; i < 200; i++) {
    stage_run(&s, 1);
    for (int k = 1; k < 5; k++) {
      tbBodyState a = stage_state(&s, (tbBodyId){k - 1, 0}), b = stage_state(&s, (tbBodyId){k, 0});
      tbVec3 end = tb_add3(a.position, tb_quat_rotate(a.orientation, tb_vec3(0, 0, 0.25)));
      tbVec3 top = tb_add3(b.position, tb_quat_rotate(b.orientation, tb_vec3(0, 0, -0.25)));
      torn = fmax(torn, tb_distance3(end, top));
    }
    CHECK(stage_energy(&s) < start + 0.05 * 5 * 9.81);
  }
  CHECK(torn < 1e-8);
  stage_close(&s);
}
