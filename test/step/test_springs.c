// SPDX-License-Identifier: Apache-2.0
// Distance joints, and joints with compliance.
#include "step/joints.h"

// A mass under the origin at depth L, on a distance joint.
static tbBodyId hang(Stage* s, tbJointDef def, double mass, double L, tbJointId* joint)
{
  tbBodyId body = stage_add(s, tb_shape_sphere(0.05), mass, tb_vec3(0, 0, -L), tb_quat_identity());
  *joint = stage_join(s, def, the_world, body, tb_zero3());
  return body;
}

TEST(a_rod_keeps_its_length)
{
  Stage s = stage_open(0, 0);
  tbJointId rod;
  tbBodyId body = hang(&s, tb_default_joint_def(TB_JOINT_DISTANCE), 1, 1, &rod);
  stage_push(&s, body, tb_vec3(5, 0.3, 0), tb_zero3());
  double worst = 0;
  for (int i = 0; i < 400; i++) {
    stage_run(&s, 1);
    worst = fmax(worst, fabs(joint_gap(&s, rod) - 1));
  }
  CHECK(worst < 0.02);
  stage_close(&s);
}

TEST(a_rope_pulls_and_does_not_push)
{
  Stage s = stage_open(0, 0);
  tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
  def.limited = true, def.lower = 0, def.upper = 1.5;
  tbJointId rope;
  tbBodyId body = hang(&s, def, 1, 1, &rope);
  stage_run(&s, 20);
  CHECK_NEAR(stage_state(&s, body).velocity.z, -9.81 * 0.2, 1e-9); // slack: it falls
  stage_run(&s, 80);
  CHECK_NEAR(stage_state(&s, body).position.z, -1.5, 1e-6);
  CHECK_NEAR(stage_joint(&s, rope)->impulse[1], 9.81 * s.step.dt, 1e-8);
  stage_push(&s, body, tb_vec3(0, 0, 2), tb_zero3()); // thrown up, it is free
  stage_run(&s, 10);
  CHECK_NEAR(stage_state(&s, body).velocity.z, 2 - 9.81 * 0.1, 1e-9);
  stage_close(&s);
}

TEST(a_spring_carries_its_load_at_force_times_compliance)
{
  static const double compliances[] = {1e-9, 1e-5, 1e-3, 2e-2}; // from stiff (implicit) to soft (a force)
  for (int i = 0; i < 4; i++)
    for (int type = 0; type < 2; type++) {
      Stage s = stage_open(0, 0);
      tbJointDef def = tb_default_joint_def(type ? TB_JOINT_BALL : TB_JOINT_DISTANCE);
      def.compliance = compliances[i], def.damping = 2 * sqrt(3 / def.compliance);
      tbJointId joint;
      tbBodyId body = hang(&s, def, 3, 1, &joint);
      stage_run_for(&s, 5);
      double sag = 3 * 9.81 * def.compliance;
      CHECK_NEAR(-stage_state(&s, body).position.z - 1, sag, 1e-4 * sag + 1e-9);
      stage_close(&s);
    }
}

// Amplitude after a hundred swings of a mass on a spring, as a share of the first.
TEST(a_soft_spring_keeps_its_amplitude)
{
  Stage s = stage_open(0, 0);
  tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
  def.compliance = 0.01;
  tbJointId joint;
  tbBodyId body = hang(&s, def, 1, 2, &joint);
  double least = 0, most = -10, omega = 10, rest = -2 - 9.81 * def.compliance;
  stage_run_for(&s, 100 * 2 * PI / omega);
  for (int i = 0; i < 70; i++) {
    stage_run(&s, 1);
    double z = stage_state(&s, body).position.z;
    least = fmin(least, z), most = fmax(most, z);
  }
  CHECK_NEAR(0.5 * (most - least), -2 - rest, 0.01 * (-2 - rest));
  CHECK_NEAR(0.5 * (most + least), rest, 0.06 * (-2 - rest)); // symplectic Euler's shifted ellipse
  stage_close(&s);
}

TEST(stiff_springs_are_stable)
{
  for (int i = 0; i < 14; i++) {
    Stage s = stage_open(0, 0);
    tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
    def.compliance = pow(10, -i);
    tbJointId joint;
    tbBodyId body = hang(&s, def, 1, 1, &joint);
    stage_push(&s, body, tb_vec3(1, 0, 1), tb_zero3());
    // of motion and height: what h²v²/2 off the circle stores in the stiffest springs is no one's to keep
    double start = stage_energy(&s) + 9.81 * 3, most = 0;
    for (int k = 0; k < 300; k++) {
      stage_run(&s, 1);
      most = fmax(most, stage_energy(&s) - tb_world_energy(s.world).elastic + 9.81 * 3);
    }
    if (!(most < 1.1 * start))
      test_failed(__FILE__, __LINE__, "compliance %g: %g times the energy", def.compliance, most / start);
    stage_close(&s);
  }
}

// m ẍ = −k x − b ẋ at half of critical damping: the logarithm of the amplitude falls by ζω per second.
TEST(a_damped_spring_dies_away_at_its_rate)
{
  Stage s = stage_open(0, 0);
  no_gravity(&s);
  s.step.dt = 1e-3;
  tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
  def.compliance = 0.01, def.damping = 2; // ω = 10, ζ = 0.1
  tbJointId joint;
  tbBodyId body = hang(&s, def, 1, 1, &joint);
  stage_push(&s, body, tb_vec3(0, 0, 1), tb_zero3());
  double start = stage_energy(&s), damped = 10 * sqrt(1 - 0.01), cycles = 3 * 2 * PI / damped;
  stage_run_for(&s, cycles);
  CHECK_NEAR(stage_energy(&s) / start, exp(-2 * 0.1 * 10 * cycles), 0.02 * exp(-2 * cycles));
  stage_close(&s);
}
