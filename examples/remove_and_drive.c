// SPDX-License-Identifier: Apache-2.0
// A crane: a servo turns an arm, rays look for what lies under it, and what they find is removed.
//
// Through include/ alone: ids that go stale safely, a servo, rays, contacts and their events.
#include "tribo/change.h"
#include "tribo/query.h"
#include "tribo/step.h"

#include <math.h>
#include <stdio.h>

static tbBodyId add(tbContext* ctx, tbWorld* world, tbBodyMotion kind, tbShape shape, tbVec3 at)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.kind = kind, def.shapes = &shape, def.shape_count = 1, def.position = at;
  if (tb_world_add_body(ctx, world, &def, &id) != TB_OK) puts(ctx->error.message);
  return id;
}

int main(void)
{
  tbContext ctx = tb_default_context();
  tbWorldDef world_def = tb_default_world_def();
  tbWorld* world;
  if (tb_world_create(&ctx, &world_def, &world) != TB_OK) return 1;
  add(&ctx, world, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_vec3(0, 0, 0));
  for (int i = 0; i < 8; i++) // boxes in a circle
    add(&ctx, world, TB_BODY_DYNAMIC, tb_shape_box(tb_vec3(0.3, 0.3, 0.3)),
        tb_vec3(2 * cos(0.7 * i), 2 * sin(0.7 * i), 0.15));
  tbBodyId arm = add(&ctx, world, TB_BODY_DYNAMIC, tb_shape_box(tb_vec3(2, 0.1, 0.1)), tb_vec3(1, 0, 1));

  tbJointDef hinge = tb_default_joint_def(TB_JOINT_HINGE);
  hinge.b = arm, hinge.anchor = tb_vec3(0, 0, 1), hinge.axis = tb_vec3(0, 0, 1);
  hinge.servoed = true, hinge.servo = (tbServo){.stiffness = 2000, .damping = 400, .force = 3000};
  tbJointId joint;
  if (tb_world_add_joint(&ctx, world, &hinge, &joint) != TB_OK) return 1;

  tbStepOptions options = tb_default_step_options();
  int removed = 0, stale = 0, touched = 0;
  for (int step = 0; step < 600; step++) {
    tb_joint_set_target(&ctx, world, joint, 0.01 * step);
    if (tb_world_step(&ctx, world, &options, NULL) != TB_OK) return 1;
    for (int i = 0; i < tb_world_event_count(world); i++) touched += tb_world_event(world, i).begins;

    tbBodyState state = tb_body_state(world, arm); // look down from the arm's end
    double angle = 2 * atan2(state.orientation.z, state.orientation.w);
    tbRay ray = tb_ray(tb_vec3(2 * cos(angle), 2 * sin(angle), 0.9), tb_vec3(0, 0, -1));
    tbHit hit;
    if (!tb_world_ray(world, &ray, &hit) || !(tb_body_mass(world, hit.body) > 0)) continue;
    if (tb_world_remove_body(&ctx, world, hit.body) == TB_OK) removed++;
    stale += tb_world_remove_body(&ctx, world, hit.body) != TB_OK; // it is gone, and stays gone
  }
  tbJointState s = tb_joint_state(world, joint);
  printf("%d boxes touched the floor, %d removed, %d old ids refused; the arm is at %.2f rad, %d contacts "
         "left\n",
         touched, removed, stale, s.coordinate, tb_world_contact_count(world));
  tb_world_free(&ctx, world);
  return removed == 8 && stale == 8 ? 0 : 1;
}
