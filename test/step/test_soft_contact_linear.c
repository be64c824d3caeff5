// SPDX-License-Identifier: Apache-2.0
// Contacts of soft bodies are linear in a step: where friction begins to hold, and rows that are taken anew.
#include "kind/deformables.h"
#include "step/soft_stage.h"

// A soft block comes down at an angle, sticks, and has friction enough: how far, of the way it would have
// gone along the floor in that step, its lowest nodes went. floor: 0 a plane, 1 a box, 2 a plane that is
// driven along.
static double gone_along(int floor, double share, bool from_impact)
{
  const double h = 4e-3, along = 0.3, down = 1.5;
  Stage s = soft_stage(20, h);
  s.world->gravity = tb_zero3();
  s.step.stick_from_impact = from_impact, s.step.clearance = 1e-6;
  tbBodyDef plane = tb_default_body_def();
  tbShape flat = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  tbBodyId id;
  double driven = floor == 2 ? -0.2 : 0;
  if (floor == 1) stage_fixed(&s, tb_shape_box(tb_vec3(2, 2, 0.2)), tb_vec3(0, 0, -0.1), tb_quat_identity());
  else if (floor == 0) stage_floor(&s, 0, 0);
  else {
    plane.kind = TB_BODY_KINEMATIC, plane.shapes = &flat, plane.shape_count = 1;
    plane.velocity = tb_vec3(driven, 0, 0);
    CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &plane, &id));
  }
  double height = 0.05 + share * h * down;
  tbBodyId body = add_box(&s, tb_vec3(0.1, 0.1, 0.1), 1,
                          soft_at(1e5, tb_vec3(0.013, 0.021, height), tb_vec3(along, 0, -down)));
  tbVec3 before = tb_body_nodes(s.world, body)[0];
  CHECK(before.z < height);
  stage_run(&s, 1);
  double went = tb_body_nodes(s.world, body)[0].x - before.x;
  CHECK(s.report.outcome == TB_CONVERGED);
  stage_close(&s);
  return (went - h * driven) / (h * (along - driven));
}

TEST(friction_holds_from_the_first_impact_on)
{
  for (int floor = 0; floor < 3; floor++)
    for (double share = 0.25; share < 0.9; share += 0.3) {
      double late = gone_along(floor, share, true), early = gone_along(floor, share, false);
      if (!(fabs(late - share) < 0.01) || !(fabs(early) < 0.01))
        test_failed(__FILE__, __LINE__, "floor %d: met after %.2f of the step, went %.4f of it, %.4f without",
                    floor, share, late, early);
    }
}

// Soft boxes that fall onto each other, spinning: steps in which a row gets a gap wrong by more than the
// clearance, and the largest number of rounds.
static int wrong_steps(int relinearizations, double* worst)
{
  Stage s = soft_stage(0.3, 5e-3);
  s.step.relinearizations = relinearizations, s.step.rounds = 60, s.step.clearance = 2e-6;
  stage_floor(&s, 0, 0);
  tbDeformableDef def = soft_at(2e4, tb_vec3(0, 0, 0.053), tb_zero3());
  add_box(&s, tb_vec3(0.1, 0.1, 0.1), 2, def);
  def.position = tb_vec3(0.02, 0.01, 0.175), def.angular_velocity = tb_vec3(6, 9, 2);
  def.velocity = tb_vec3(0, 0, -1.5);
  add_box(&s, tb_vec3(0.08, 0.08, 0.08), 2, def);
  int wrong = 0;
  *worst = 0;
  for (int i = 0; i < 25; i++) {
    stage_run(&s, 1);
    CHECK(s.report.intersections == 0 && s.report.trimmed == 0);
    wrong += s.report.linear_error > s.step.clearance;
    *worst = fmax(*worst, s.report.linear_error);
  }
  stage_close(&s);
  return wrong;
}

TEST(contacts_are_linearised_anew_until_their_gaps_are_right)
{
  double before, after;
  int without = wrong_steps(0, &before), with = wrong_steps(20, &after);
  if (!(without > 2 * with) || !(after < 0.5 * before) || with > 3)
    test_failed(__FILE__, __LINE__,
                "gaps off by the clearance: %d steps, %g m; linearised anew: %d steps, %g m", without, before,
                with, after);
}
