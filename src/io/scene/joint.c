// SPDX-License-Identifier: Apache-2.0
// Joints of scene files.
#include "io/scene/build.h"
#include "tribo/change.h"

static tbStatus find_jointed(tbSceneBuild* b, const tbJson* node, const char* key, const char* name,
                             tbBodyId* out)
{
  TB_TRY(tb_scene_find_body(b, node, key, name, out));
  if (out->index < 0 || !tb_body_node_count(b->world, *out) || tb_body_mode_count(b->world, *out) > 0)
    return TB_OK;
  return tb_json_fail(b->ctx, tb_scene_place(node, key),
                      "\"%.60s\" is deformable: its own \"attach\" joins it to rigid bodies", name);
}

static tbStatus read_limits(tbSceneBuild* b, const tbSceneJoint* s, tbJointDef* d)
{
  TB_TRY(tb_scene_exclude(b->ctx, s->node, "limits", "limits_deg"));
  bool degrees = tb_scene_given(s->node, "limits_deg");
  d->limited = degrees || tb_scene_given(s->node, "limits");
  if (!d->limited) return TB_OK;
  const double* limits = degrees ? s->limits_deg : s->limits;
  double unit = degrees ? TB_PI / 180 : 1;
  d->lower = limits[0] * unit, d->upper = limits[1] * unit;
  if (d->lower > d->upper)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, degrees ? "limits_deg" : "limits"),
                        "the lower limit is above the upper one");
  return TB_OK;
}

// The keys of a drive, or of an effort, in place of the number `instead`.
static tbStatus read_keys(tbSceneBuild* b, const tbJson* node, const tbSceneList* list, const char* instead,
                          const tbJointKey** out, int* count)
{
  const tbSceneJointKey* key = list->items;
  TB_TRY(tb_scene_exclude(b->ctx, node, "keys", instead));
  if (!tb_scene_given(node, "keys")) return TB_OK;
  if (list->count == 0)
    return tb_json_fail(b->ctx, tb_scene_place(node, "keys"), "\"keys\" must not be empty");
  tbJointKey* keys = TB_TAKE(b->arena, tbJointKey, (size_t)list->count);
  if (!keys) return TB_ERROR_MEMORY;
  for (int i = 0; i < list->count; i++) {
    if (i > 0 && !(key[i].t > key[i - 1].t))
      return tb_json_fail(b->ctx, tb_scene_place(key[i].node, "t"), "the times of keys must increase");
    keys[i] = (tbJointKey){key[i].t, key[i].value};
  }
  *out = keys, *count = list->count;
  return TB_OK;
}

static tbStatus need_one(tbSceneBuild* b, const tbJson* node, const char* key, const char* other)
{
  if (tb_scene_given(node, key) || tb_scene_given(node, other)) return TB_OK;
  return tb_json_fail(b->ctx, node, "\"%s\" or \"%s\" is missing", key, other);
}

static tbStatus read_drives(tbSceneBuild* b, const tbSceneJoint* s, tbJointDef* d)
{
  const tbSceneMotor* motor = s->motor;
  const tbSceneServo* servo = s->servo;
  const tbSceneEffort* effort = s->effort;
  if (motor) {
    TB_TRY(read_keys(b, motor->node, &motor->keys, "speed", &d->drive_keys, &d->drive_key_count));
    TB_TRY(need_one(b, motor->node, "speed", "keys"));
    d->motor = true, d->motor_speed = motor->speed, d->motor_force = motor->force;
  }
  if (servo) {
    TB_TRY(tb_scene_exclude(b->ctx, s->node, "motor", "servo"));
    TB_TRY(read_keys(b, servo->node, &servo->keys, "target", &d->drive_keys, &d->drive_key_count));
    d->servoed = true, d->servo_target = servo->target;
    d->servo = (tbServo){servo->stiffness, servo->damping, servo->force};
  }
  if (effort) {
    TB_TRY(read_keys(b, effort->node, &effort->keys, "force", &d->effort_keys, &d->effort_key_count));
    TB_TRY(need_one(b, effort->node, "force", "keys"));
    d->effort = effort->force;
  }
  return TB_OK;
}

static tbStatus add_joint(tbSceneBuild* b, const tbSceneJoint* s)
{
  tbJointDef d = tb_default_joint_def((tbJointType)s->type);
  TB_TRY(find_jointed(b, s->node, "a", s->a, &d.a));
  TB_TRY(find_jointed(b, s->node, "b", s->b, &d.b));
  if (d.a.index == d.b.index)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "b"),
                        d.a.index < 0 ? "a joint needs a body" : "a joint of a body with itself");
  d.anchor = tb_load3(s->anchor);
  if (!tb_scene_given(s->node, "anchor"))
    d.anchor = tb_body_state(b->world, d.b.index < 0 ? d.a : d.b).position;
  tbVec3 anchor_b = tb_load3(s->anchor_b);
  if (tb_scene_given(s->node, "anchor_b")) d.anchor_b = &anchor_b;
  if (tb_scene_given(s->node, "axis")) {
    d.axis = tb_load3(s->axis);
    if (tb_maxabs3(d.axis) == 0)
      return tb_json_fail(b->ctx, tb_scene_place(s->node, "axis"), "an axis must not be zero");
  }
  TB_TRY(read_limits(b, s, &d));
  d.name = s->name;
  if (s->name && tb_world_find_joint(b->world, s->name).index >= 0)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "name"), "two joints are called \"%.60s\"", s->name);
  TB_TRY(read_drives(b, s, &d));
  d.friction = s->friction, d.armature = s->armature;
  d.compliance = s->compliance, d.damping = s->damping;
  d.collide = s->collide;
  return tb_scene_placed(b->ctx, s->node, tb_world_add_joint(b->ctx, b->world, &d, NULL));
}

static tbStatus ignore(tbSceneBuild* b, const tbSceneIgnore* s)
{
  tbBodyId first, second;
  TB_TRY(tb_scene_find_body(b, s->node, "a", s->a, &first));
  TB_TRY(tb_scene_find_body(b, s->node, "b", s->b, &second));
  if (first.index < 0 || second.index < 0)
    return tb_json_fail(b->ctx, s->node, "the world has no shape to ignore");
  return tb_scene_placed(b->ctx, s->node, tb_world_ignore_pair(b->ctx, b->world, first, second, true));
}

tbStatus tb_scene_ignored(tbSceneBuild* b)
{
  const tbSceneIgnore* pairs = b->file->ignore.items;
  for (int i = 0; i < b->file->ignore.count; i++) {
    bool lost = tb_scene_lost_body(b, pairs[i].a) || tb_scene_lost_body(b, pairs[i].b);
    if (lost || tb_scene_errors_bad(b->errors, pairs[i].node)) continue;
    TB_TRY(tb_scene_note(b, ignore(b, &pairs[i])));
  }
  return TB_OK;
}

tbStatus tb_scene_joints(tbSceneBuild* b)
{
  const tbSceneJoint* joints = b->file->joints.items;
  for (int i = 0; i < b->file->joints.count; i++) {
    bool lost = tb_scene_lost_body(b, joints[i].a) || tb_scene_lost_body(b, joints[i].b);
    if (lost || tb_scene_errors_bad(b->errors, joints[i].node)) continue;
    TB_TRY(tb_scene_note(b, add_joint(b, &joints[i])));
  }
  return TB_OK;
}
