// SPDX-License-Identifier: Apache-2.0
// Joints for tests.
#ifndef TB_TEST_JOINTS_H
#define TB_TEST_JOINTS_H

#include "known/worlds.h"
#include "scene/world.h"
#include "test.h"

static const tbBodyId the_world = {-1, 0};

// A world without bodies.
static inline void stage_fresh(Stage* s)
{
  *s = (Stage){.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  CHECK_OK(&s->ctx, tb_world_create(&s->ctx, &def, &s->world));
}

static inline tbBodyId stage_ball(Stage* s, double radius, double mass, tbVec3 at)
{
  tbShape ball = tb_shape_sphere(radius);
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.shapes = &ball, def.shape_count = 1, def.mass = mass, def.position = at;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

static inline tbJointId stage_join(Stage* s, tbJointDef def, tbBodyId a, tbBodyId b, tbVec3 anchor)
{
  tbJointId id = {-1, 0};
  def.a = a, def.b = b, def.anchor = anchor;
  CHECK_OK(&s->ctx, tb_world_add_joint(&s->ctx, s->world, &def, &id));
  return id;
}

static inline const tbJoint* stage_joint(const Stage* s, tbJointId id)
{
  return &tb_joints(s->world)[id.index];
}

// Where a joint's anchor is on one of its bodies.
static inline tbVec3 joint_anchor(const Stage* s, tbJointId id, int side)
{
  const tbJoint* j = stage_joint(s, id);
  int i = side ? j->b : j->a;
  tbVec3 local = side ? j->anchor_b : j->anchor_a;
  return i < 0 ? local : tb_add3(tb_bodies(s->world)[i].x, tb_quat_rotate(tb_bodies(s->world)[i].q, local));
}

// How far apart its anchors are.
static inline double joint_gap(const Stage* s, tbJointId id)
{
  return tb_distance3(joint_anchor(s, id, 0), joint_anchor(s, id, 1));
}

static inline void no_gravity(Stage* s) { s->world->gravity = tb_zero3(); }

#endif
