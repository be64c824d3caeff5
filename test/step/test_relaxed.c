// SPDX-License-Identifier: Apache-2.0
// Steps of the relaxed schemes: what they find, whatever the descent before has found.
#include "step/joints.h"
#include "step/soft_stage.h"

#include "tribo/change.h"
#include "tribo/gallery.h"

// Boxes that land on each other open and close contacts with every step of Newton's method: the minimum is
// found all the same, and is as far from the contact law as its stiffness says, 10⁻⁴ of what a step of
// gravity adds to a velocity, for every body that a contact carries.
LONG_TEST(relaxed_minimum_is_found_in_a_heap)
{
  static const char* const schemes[] = {"primal", "vbd", "avbd"};
  for (int k = 0; k < 3; k++) {
    tbContext ctx = tb_default_context();
    const tbGalleryScene* heap = tb_gallery_find("heap");
    double values[TB_GALLERY_PARAMETERS];
    tbScene scene;
    tb_gallery_defaults(heap, values);
    CHECK_OK(&ctx, tb_gallery_set(&ctx, heap, values, "side=3"));
    CHECK_OK(&ctx, tb_gallery_load(&ctx, heap, values, NULL, &scene));
    scene.step.scheme = schemes[k];
    double worst = 0;
    for (int i = 0; i < 14; i++) {
      tbStepReport report;
      CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, &report));
      worst = fmax(worst, report.residual.velocity);
    }
    CHECK_NEAR(worst, 0, 1e-3);
    tb_scene_free(&ctx, &scene);
  }
}

// A ball on an arm that turns by a third of a radian in a step. Rows of the start of the step let the joint
// open by 5 % of the arm; evaluated at every iterate they hold it. Restarted from the start of the step,
// impulses explain the velocities; incremental, the report says what momentum they do not.
TEST(constraints_evaluated_anew_hold_where_linear_ones_open)
{
  for (int update = 0; update < TB_DUAL_COUNT; update++) {
    Stage s;
    stage_fresh(&s);
    s.step = tb_default_step_options();
    s.step.scheme = "xpbd", s.step.iterations = 50, s.step.descent.update = (tbDualUpdate)update;
    tbBodyId floor = stage_floor(&s, 0, 0); // does not turn, and comes first
    tbBodyId ball = stage_ball(&s, 0.1, 1, tb_vec3(0.5, 0, 0));
    CHECK_OK(&s.ctx, tb_world_ignore_pair(&s.ctx, s.world, floor, ball, true));
    stage_push(&s, ball, tb_vec3(0, 0, 15), tb_vec3(0, -30, 0));
    tbJointId joint = stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), the_world, ball, tb_zero3());
    stage_run(&s, 1);
    double gap = joint_gap(&s, joint), left = s.report.changes.unbalanced;
    if (update == TB_DUAL_LINEAR) CHECK(gap > 0.02 && left == 0 && s.unconverged == 0);
    if (update == TB_DUAL_INCREMENTAL) CHECK(gap < 1e-9 && left > 0 && s.unconverged == 1);
    if (update == TB_DUAL_RESTART) CHECK(gap < 1e-8 && left == 0 && s.unconverged == 0);
    stage_close(&s);
  }
}

// A hinge with a motor and limits is driven by its angle, however rows are evaluated.
TEST(updates_agree_where_bodies_turn_little)
{
  for (int update = 0; update < TB_DUAL_COUNT; update++) {
    Stage s;
    stage_fresh(&s);
    s.step = tb_default_step_options();
    s.step.scheme = "xpbd", s.step.iterations = 200, s.step.descent.update = (tbDualUpdate)update;
    s.step.dt = 1e-3;
    tbBodyId ball = stage_ball(&s, 0.1, 1, tb_vec3(0.5, 0, 0));
    tbJointDef hinge = tb_default_joint_def(TB_JOINT_HINGE);
    hinge.axis = tb_vec3(0, 1, 0), hinge.motor = true, hinge.motor_speed = 2, hinge.motor_force = 500;
    hinge.limited = true, hinge.lower = -1, hinge.upper = 0.1;
    stage_join(&s, hinge, the_world, ball, tb_zero3());
    stage_run(&s, 40);
    CHECK_NEAR(stage_state(&s, ball).angular_velocity.y, 2, 1e-6);
    CHECK_NEAR(stage_state(&s, ball).position.x, 0.5 * cos(0.08), 1e-4);
    CHECK_NEAR(stage_state(&s, ball).position.z, -0.5 * sin(0.08), 1e-4);
    stage_run(&s, 40); // up to its limit
    CHECK_NEAR(stage_state(&s, ball).position.z, -0.5 * sin(0.1), 1e-3);
    stage_close(&s);
  }
}
