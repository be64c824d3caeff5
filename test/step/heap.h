// SPDX-License-Identifier: Apache-2.0
// A heap of every convex shape with joints, a moving wall and a bullet: something of everything a step does.
#ifndef TB_TEST_HEAP_H
#define TB_TEST_HEAP_H

#include "scene/world.h"
#include "tribo/step.h"

// Adds `count` bodies; stops at the first failure.
static inline tbStatus heap_build(tbContext* ctx, tbWorld* w, int count)
{
  tbShape floor = tb_shape_plane(tb_vec3(0, 0, 1), 0), wall = tb_shape_box(tb_vec3(0.2, 4, 1));
  double bouncy = 0.3;
  tbBodyDef ground = tb_default_body_def(), mover = tb_default_body_def();
  ground.kind = TB_BODY_FIXED, ground.shapes = &floor, ground.shape_count = 1;
  TB_TRY(tb_world_add_body(ctx, w, &ground, NULL));
  mover.kind = TB_BODY_KINEMATIC, mover.shapes = &wall, mover.shape_count = 1;
  mover.position = tb_vec3(-1.5, 0, 0.6), mover.velocity = tb_vec3(0.5, 0, 0);
  TB_TRY(tb_world_add_body(ctx, w, &mover, NULL));
  const tbShape shapes[] = {tb_shape_box(tb_vec3(0.4, 0.3, 0.35)), tb_shape_sphere(0.2),
                            tb_shape_capsule(0.12, 0.3), tb_shape_cylinder(0.18, 0.3)};
  for (int i = 0; i < count; i++) {
    tbBodyDef def = tb_default_body_def();
    def.shapes = &shapes[i % 4], def.shape_count = 1;
    def.position = tb_vec3(0.37 * (i % 3) - 0.4, 0.41 * (i / 3 % 3) - 0.4, 0.25 + 0.38 * (i / 9));
    def.orientation = tb_quat(1, 0.01 * i, 0.02, -0.015 * (i % 7));
    def.velocity = tb_vec3(0, 0, -1), def.bullet = i % 11 == 0;
    if (i % 5 == 0) def.restitution = &bouncy;
    TB_TRY(tb_world_add_body(ctx, w, &def, NULL));
  }
  for (int i = 0; i + 9 < count; i += 9) {
    tbJointDef joint = tb_default_joint_def((tbJointType)(i / 9 % TB_JOINT_COUNT));
    joint.a.index = 2 + i, joint.b.index = 2 + i + 9;
    joint.anchor = tb_scale3(0.5, tb_add3(tb_bodies(w)[joint.a.index].x, tb_bodies(w)[joint.b.index].x));
    TB_TRY(tb_world_add_joint(ctx, w, &joint, NULL));
  }
  return TB_OK;
}

#endif
