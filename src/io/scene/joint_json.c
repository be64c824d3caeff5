// SPDX-License-Identifier: Apache-2.0
#include "tribo/tools/scene_json.h"

#include "scene/kind.h"

// An anchor in the frame of its body, from where the world keeps it; arm: from the centre of mass, world
// axes.
static tbVec3 in_body_frame(const tbWorld* world, int body, tbVec3 anchor, tbVec3 arm)
{
  if (body < 0) return anchor;
  const tbBody* b = &tb_bodies(world)[body];
  if (b->kind->material_frame) anchor = tb_quat_unrotate(b->q, arm);
  return tb_add3(anchor, b->centre);
}

static void put_limit(tbJsonWriter* w, double limit)
{
  if (isfinite(limit)) tb_put_number(w, NULL, limit);
  else tb_put_null(w, NULL);
}

static void put_joint(tbJsonWriter* w, const tbWorld* world, const tbJoint* j)
{
  const tbJointDef* d = &j->def;
  tb_put_object(w, NULL);
  tb_put_string(w, "type", tb_joint_type_name(d->type));
  tb_put_int(w, "a", j->a);
  tb_put_int(w, "b", j->b);
  tbJointPlace place = tb_joint_placed(world, NULL, j);
  tb_put_vec3(w, "anchor_a", in_body_frame(world, j->a, j->anchor_a, place.arm_a));
  tb_put_vec3(w, "anchor_b", in_body_frame(world, j->b, j->anchor_b, place.arm_b));
  if (d->type == TB_JOINT_HINGE || d->type == TB_JOINT_SLIDER)
    tb_put_vec3(w, "axis", tb_quat_rotate(j->frame_a, tb_vec3(1, 0, 0)));
  if (d->limited && (isfinite(d->lower) || isfinite(d->upper))) {
    tb_put_array(w, "limits");
    put_limit(w, d->lower);
    put_limit(w, d->upper);
    tb_put_end(w);
  }
  tb_put_end(w);
}

void tb_put_joints(tbJsonWriter* w, const tbWorld* world)
{
  tb_put_array(w, "joints");
  for (size_t i = 0; i < world->joint.count; i++) put_joint(w, world, &tb_joints(world)[i]);
  tb_put_end(w);
}
