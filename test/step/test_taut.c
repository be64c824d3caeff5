// SPDX-License-Identifier: Apache-2.0
// Light links under heavy loads: the geometric stiffness that a step cannot follow (src/step/geometric.c).
#include "step/joints.h"

// A hanging chain of 20 rods of 1 kg with 1000 kg at its end, which is struck sideways.
static double torn_by(double speed, double dt, double* gained)
{
  Stage s = stage_open(0, 0);
  s.step.dt = dt;
  tbJointId joint[20];
  tbBodyId before = the_world;
  for (int i = 0; i < 20; i++) {
    tbBodyId rod = stage_add(&s, tb_shape_capsule(0.05, 0.4), i < 19 ? 1 : 1000,
                             tb_vec3(0, 0, -0.25 - 0.5 * i), tb_quat_identity());
    joint[i] = stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), before, rod, tb_vec3(0, 0, -0.5 * i));
    before = rod;
  }
  stage_push(&s, before, tb_vec3(speed, 0, 0), tb_zero3());
  double start = stage_energy(&s), torn = 0;
  *gained = 0;
  for (int i = 0; i < 1.5 / dt; i++) {
    stage_run(&s, 1);
    *gained = fmax(*gained, stage_energy(&s) - start);
    for (int k = 0; k < 20; k++) torn = fmax(torn, joint_gap(&s, joint[k]));
  }
  CHECK(s.unconverged == 0);
  stage_close(&s);
  return torn;
}

LONG_TEST(a_taut_chain_does_not_flutter)
{
  static const double speed[] = {0.01, 2}, dt[] = {1.0 / 60, 0.01};
  for (int i = 0; i < 4; i++) {
    double gained, torn = torn_by(speed[i / 2], dt[i % 2], &gained);
    CHECK(torn < 5e-3);
    CHECK(gained < 0.01 * 0.5 * 1000 * speed[i / 2] * speed[i / 2] + 1e-2);
  }
}

// A light rod between two points under a load: it keeps the moments that it is given, whatever its tension.
LONG_TEST(a_taut_rod_carries_static_loads_exactly)
{
  Stage s = stage_open(0, 0);
  tbBodyId rod = stage_add(&s, tb_shape_capsule(0.02, 0.46), 0.1, tb_vec3(0, 0, -0.25), tb_quat_identity());
  tbBodyId load = stage_add(&s, tb_shape_sphere(0.2), 1000, tb_vec3(0, 0, -0.7), tb_quat_identity());
  stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), the_world, rod, tb_zero3());
  tbJointId low = stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), rod, load, tb_vec3(0, 0, -0.5));
  double torque = 100, lean; // of the rod's own: balanced when the load's weight pulls at sin(lean)
  for (int i = 0; i < 3000; i++) {
    CHECK_OK(&s.ctx, tb_body_apply(&s.ctx, s.world, rod, tb_zero3(), tb_vec3(0, torque, 0)));
    tbBodyState b = stage_state(&s, load); // friction of a kind, so that it comes to rest
    CHECK_OK(&s.ctx, tb_body_apply(&s.ctx, s.world, load, tb_scale3(-2000, b.velocity),
                                   tb_scale3(-100, b.angular_velocity)));
    stage_run(&s, 1);
  }
  tbVec3 end = joint_anchor(&s, low, 0);
  lean = -end.x / 0.5;
  CHECK_NEAR(lean, torque / (0.5 * 9.81 * 1000.05), 1e-4);
  stage_close(&s);
}
