// SPDX-License-Identifier: Apache-2.0
// How overlaps go away, by every stabilisation; and the schemes on the standard cases.
#include "step/joints.h"

#include <string.h>

static tbBodyId box_on(Stage* s, double slope, double overlap)
{
  stage_floor(s, slope, 0);
  tbVec3 x = tb_scale3(0.1 - overlap, stage_normal(slope, 0));
  return stage_add(s, tb_shape_box(tb_vec3(0.4, 0.4, 0.2)), 2, x, stage_turn(slope, 0));
}

TEST(baumgarte_takes_its_fraction_of_an_overlap_in_every_step)
{
  Stage s = stage_open(0.5, 0);
  tbBodyId box = box_on(&s, 0, 0.01);
  for (int i = 1; i <= 20; i++) {
    stage_run(&s, 1);
    CHECK_NEAR(0.1 - stage_state(&s, box).position.z, 0.01 * pow(0.8, i), 1e-8);
  }
  stage_close(&s);
}

TEST(compliant_contact_sinks_by_its_share_of_the_load)
{
  for (int k = 0; k < 2; k++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = k ? "moreau" : "semi-implicit";
    s.step.stabilization = TB_STABILIZE_COMPLIANCE, s.step.stiffness = 1e4, s.step.damping = 200;
    tbBodyId box = box_on(&s, 0, 0);
    stage_run(&s, 500);
    double sink = 2 * 9.81 / 4 / 1e4; // four corners
    CHECK_NEAR(0.1 - stage_state(&s, box).position.z, sink, 1e-4 * sink);
    stage_close(&s);
  }
}

// At rest the row gives way as fast as the overlap is pushed out: fraction · depth / h = compliance · λ / h².
TEST(rows_that_give_way_sink_by_their_share_of_the_load)
{
  for (int k = 0; k < 2; k++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = k ? "moreau" : "semi-implicit";
    s.step.compliance = 1e-5, s.step.fraction = 0.3;
    tbBodyId box = box_on(&s, 0, 0);
    stage_run(&s, 300);
    double sink = 1e-5 * 2 * 9.81 / 4 / 0.3;
    CHECK_NEAR(0.1 - stage_state(&s, box).position.z, sink, 1e-3 * sink);
    stage_close(&s);
  }
}

TEST(projection_ends_overlaps_at_once_and_leaves_velocities_alone)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  tbBodyId box = box_on(&s, 0, 0.03);
  tbBodyId on_top =
      stage_add(&s, tb_shape_box(tb_vec3(0.3, 0.3, 0.2)), 1, tb_vec3(0.02, 0.01, 0.24), tb_quat_identity());
  stage_run(&s, 1);
  CHECK_NEAR(stage_state(&s, box).position.z, 0.1, 1e-7);
  CHECK_NEAR(stage_state(&s, on_top).position.z, 0.3, 1e-7);
  CHECK_NEAR(tb_world_energy(s.world).kinetic, 0, 1e-12);
  stage_run(&s, 100);
  CHECK_NEAR(stage_state(&s, on_top).position.z, 0.3, 1e-6);
  CHECK_NEAR(tb_world_energy(s.world).kinetic, 0, 1e-12);
  stage_close(&s);
}

TEST(projection_closes_joints)
{
  Stage s = stage_open(0, 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  tbBodyId body = stage_add(&s, tb_shape_sphere(0.1), 2, tb_vec3(1, 0, 0), tb_quat_identity());
  tbJointId pivot = stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), the_world, body, tb_zero3());
  double start = stage_energy(&s), worst = 0, most = start;
  for (int i = 0; i < 200; i++) {
    stage_run(&s, 1);
    worst = fmax(worst, joint_gap(&s, pivot)), most = fmax(most, stage_energy(&s));
  }
  CHECK(worst < 1e-8);
  CHECK(most - start < 0.02 * 2 * 9.81);
  stage_close(&s);
}

TEST(without_stabilisation_an_overlap_stays)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = TB_STABILIZE_NONE;
  tbBodyId box = box_on(&s, 0, 0.01);
  stage_run(&s, 200);
  CHECK_NEAR(stage_state(&s, box).position.z, 0.09, 1e-6);
  stage_close(&s);
}

LONG_TEST(every_scheme_rests_slides_and_sticks)
{
  double slope = 0.4, g = 9.81; // tan 0.4 = 0.423
  for (int i = 0; i < tb_scheme_count(); i++) {
    bool penalty = strcmp(tb_scheme_at(i)->name, "penalty") == 0,
         ipc = strcmp(tb_scheme_at(i)->name, "ipc") == 0;
    for (int stick = 0; stick < 2; stick++) {
      double mu = stick ? 0.6 : 0.2;
      Stage s = stage_open(mu, 0);
      s.step.scheme = tb_scheme_at(i)->name;
      if (penalty) s.step.dt = 1e-3;
      tbBodyId box = box_on(&s, slope, 0);
      stage_run_for(&s, 0.2); // it settles into its springs
      tbVec3 from = stage_state(&s, box).position;
      double v = tb_dot3(stage_state(&s, box).velocity, stage_down(slope, 0));
      stage_run_for(&s, 1);
      double way = tb_dot3(tb_sub3(stage_state(&s, box).position, from), stage_down(slope, 0));
      double a = g * (sin(slope) - mu * cos(slope));
      double expected = stick ? 0 : v + 0.5 * a, off = stick     ? (penalty ? 1e-5
                                                                    : ipc   ? s.step.velocity_threshold
                                                                            : 1e-6)
                                                       : penalty ? 0.03
                                                                 : 0.012;
      if (!(fabs(way - expected) <= off)) // no creep
        test_failed(__FILE__, __LINE__, "%s: %g m for %g", s.step.scheme, way, expected);
      stage_close(&s);
    }
  }
}
