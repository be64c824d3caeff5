// SPDX-License-Identifier: Apache-2.0
// Compliant joints that hang slack, or bend.
#include "known/worlds.h"

#include "test.h"

TEST(a_soft_rope_hangs_as_a_spring_does_and_is_slack_below_its_length)
{
  static const double compliance[] = {1e-3, 1e-5, 1e-7};
  for (int i = 0; i < 3; i++) {
    Stage s = stage_open(0, 0);
    tbVec3 at = tb_vec3(0, 0, -0.5);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 2, at, tb_quat_identity());
    tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
    def.b = ball, def.anchor_b = &at, def.limited = true, def.upper = 1;
    def.compliance = compliance[i], def.damping = sqrt(2 / compliance[i]);
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
    stage_run_for(&s, 0.2);
    double t = 0.2;
    CHECK_NEAR(stage_state(&s, ball).position.z, -0.5 - 0.5 * 9.81 * t * (t + s.step.dt), 1e-9);
    stage_run_for(&s, 4);
    CHECK_NEAR(stage_state(&s, ball).position.z, -1 - 2 * 9.81 * compliance[i],
               0.01 * 2 * 9.81 * compliance[i]);
    CHECK(s.unconverged == 0);
    stage_close(&s);
  }
}

TEST(a_compliant_weld_bends_by_its_compliance)
{
  Stage s = stage_open(0, 0);
  double c = 1e-4, m = 1, arm = 0.5;
  tbBodyId beam =
      stage_add(&s, tb_shape_box(tb_vec3(1, 0.1, 0.1)), m, tb_vec3(arm, 0, 0), tb_quat_identity());
  tbJointDef def = tb_default_joint_def(TB_JOINT_WELD);
  def.b = beam, def.compliance = c, def.damping = 50;
  CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
  stage_run_for(&s, 5);
  double turn = m * 9.81 * arm * c;
  CHECK_NEAR(2 * stage_state(&s, beam).orientation.y, turn, 0.01 * turn);
  CHECK_NEAR(stage_state(&s, beam).position.z, -m * 9.81 * c - arm * turn, 0.01 * arm * turn);
  stage_close(&s);
}
