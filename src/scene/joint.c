// SPDX-License-Identifier: Apache-2.0
// Adding joints: where they sit on either body is frozen at creation.
#include "scene/kind.h"

const char* tb_joint_type_name(tbJointType type)
{
  static const char* const names[TB_JOINT_COUNT] = {"ball", "hinge", "slider", "weld", "distance"};
  return (unsigned)type < TB_JOINT_COUNT ? names[type] : "?";
}

tbJointDef tb_default_joint_def(tbJointType type)
{
  return (tbJointDef){.type = type, .a = {-1, 0}, .b = {-1, 0}, .axis = tb_vec3(0, 0, 1)};
}

static bool known(tbBodyId body, int place) { return body.index == -1 || place >= 0; }

static bool at_least_0(double x) { return x >= 0 && isfinite(x); }

tbStatus tb_joint_check(tbContext* ctx, const tbJointDef* d)
{
  bool turns = d->type == TB_JOINT_HINGE || d->type == TB_JOINT_SLIDER;
  if (d->limited && !(turns || d->type == TB_JOINT_DISTANCE))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a %s joint has no limits", tb_joint_type_name(d->type));
  if (d->limited && !(d->lower <= d->upper))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the lower limit of a joint is above the upper one");
  if (d->limited && (d->lower == INFINITY || d->upper == -INFINITY))
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "the lower limit of a joint must be below infinity, the upper one above minus infinity");
  if (d->motor && !turns)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a %s joint has no motor", tb_joint_type_name(d->type));
  if (d->motor && (!isfinite(d->motor_speed) || !(d->motor_force >= 0)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a motor needs a finite speed and a force that is not negative");
  if (d->servoed && (!turns || d->motor))
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   turns ? "a joint has either a motor or a servo" : "a %s joint has no servo",
                   tb_joint_type_name(d->type));
  const tbServo* s = &d->servo;
  if (d->servoed &&
      (!at_least_0(s->stiffness) || !at_least_0(s->damping) || !(s->stiffness + s->damping > 0)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a servo needs a stiffness or a damping, and neither negative");
  if (d->servoed && (!isfinite(d->servo_target) || !(s->force >= 0)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a servo needs a finite target and a force that is not negative");
  if (d->drive_key_count != 0 && !(d->servoed && s->stiffness > 0) && !d->motor)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "keys need a servo with a stiffness, or a motor");
  TB_TRY(tb_joint_keys_check(ctx, TB_KEYS_DRIVE, d->drive_keys, d->drive_key_count));
  if (!isfinite(d->effort)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "the effort of a joint must be finite");
  if (!turns && (d->effort != 0 || d->effort_key_count != 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a %s joint has no effort", tb_joint_type_name(d->type));
  TB_TRY(tb_joint_keys_check(ctx, TB_KEYS_EFFORT, d->effort_keys, d->effort_key_count));
  if (!at_least_0(d->friction) || !at_least_0(d->armature))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "friction and armature of a joint must not be negative");
  if (!turns && (d->friction > 0 || d->armature > 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a %s joint has no %s", tb_joint_type_name(d->type),
                   d->friction > 0 ? "friction" : "armature");
  if (!(d->compliance >= 0) || !isfinite(d->compliance) || !(d->damping >= 0) || !isfinite(d->damping))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "compliance and damping of a joint must not be negative");
  return TB_OK;
}

// Efforts are part of the motion of rigid bodies alone.
tbStatus tb_joint_check_effort(tbContext* ctx, const tbWorld* w, const tbJointDef* d, int a, int b)
{
  if (d->effort == 0 && d->effort_key_count == 0) return TB_OK;
  for (int side = 0; side < 2; side++) {
    int i = side ? b : a;
    if (i >= 0 && !tb_bodies(w)[i].kind->framed)
      return tb_fail(ctx, TB_ERROR_ARGUMENT,
                     "a joint to %s, which is deformable, has no effort; a motor or a servo drives it",
                     tb_bodies(w)[i].name);
  }
  return TB_OK;
}

// body: the places of a and b.
static tbStatus check(tbContext* ctx, const tbWorld* w, const tbJointDef* d, const int body[2])
{
  if ((unsigned)d->type >= TB_JOINT_COUNT) return tb_fail(ctx, TB_ERROR_ARGUMENT, "no such type of joint");
  if (!known(d->a, body[0]) || !known(d->b, body[1]))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a joint needs bodies of this world");
  if (body[0] == body[1]) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a joint of a body with itself");
  bool moves = false;
  for (int side = 0; side < 2; side++) {
    int i = body[side];
    const tbKind* kind = i < 0 ? NULL : tb_bodies(w)[i].kind;
    if (kind && !kind->framed && !kind->material_point)
      return tb_fail(ctx, TB_ERROR_ARGUMENT,
                     "a joint to %s, which is deformable; attach its nodes to the other body by pins instead",
                     tb_bodies(w)[i].name);
    moves |= i >= 0 && tb_bodies(w)[i].motion == TB_BODY_DYNAMIC;
  }
  if (!moves) return tb_fail(ctx, TB_ERROR_ARGUMENT, "neither body of the joint can move freely");
  if (!tb_finite3(d->anchor) || (d->anchor_b && !tb_finite3(*d->anchor_b)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the anchor of a joint must be finite");
  bool turns = d->type == TB_JOINT_HINGE || d->type == TB_JOINT_SLIDER;
  if (turns && (!tb_finite3(d->axis) || !(tb_norm3(d->axis) > 0)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the axis of a %s must not be zero", tb_joint_type_name(d->type));
  if (d->anchor_b && d->type != TB_JOINT_DISTANCE)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a distance joint has two anchors");
  TB_TRY(tb_joint_check_effort(ctx, w, d, body[0], body[1]));
  return tb_joint_check(ctx, d);
}

// Where a joint at a place of the world sits on a body, and the frame of that.
static tbTransform sit(const tbWorld* w, int body, tbVec3 at, tbMaterialPoint* point)
{
  const tbKind* kind = body < 0 ? NULL : tb_bodies(w)[body].kind;
  if (kind && kind->material_point) kind->material_point(&tb_bodies(w)[body], at, point);
  return tb_joint_frame(w, NULL, body, point);
}

static tbStatus copy_keys(tbContext* ctx, tbWorld* w, int place, const tbJointDef* d)
{
  TB_TRY(tb_joint_keys_replace(ctx, w, place, TB_KEYS_DRIVE, d->drive_keys, d->drive_key_count));
  tbStatus status = tb_joint_keys_replace(ctx, w, place, TB_KEYS_EFFORT, d->effort_keys, d->effort_key_count);
  if (status != TB_OK) tb_joint_keys_replace(ctx, w, place, TB_KEYS_DRIVE, NULL, 0); // needs no memory
  return status;
}

// Its name and its keys are copied; nothing is left where that fails.
static tbStatus push_joint(tbContext* ctx, tbWorld* w, const tbJointDef* d, tbJoint* joint)
{
  joint->def.name = NULL;
  tb_joint_drop_keys(&joint->def);
  joint->key = (int)w->joint_key.count;
  if (d->name && tb_names_find(&w->names, TB_NAME_JOINT, d->name) >= 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "two joints are called \"%s\"", d->name);
  if (d->name && !(joint->def.name = tb_names_keep(ctx, &w->names, d->name))) return TB_ERROR_MEMORY;
  tbStatus status = tb_names_reserve(ctx, &w->names);
  if (status == TB_OK) status = tb_ids_reserve(ctx, &w->joint_ids);
  if (status == TB_OK) status = tb_array_push(ctx, &w->joint, joint, 1);
  int place = (int)w->joint.count - 1;
  if (status == TB_OK) {
    status = copy_keys(ctx, w, place, d);
    if (status != TB_OK) w->joint.count--;
  }
  if (status != TB_OK && joint->def.name) tb_names_drop(ctx, &w->names, joint->def.name);
  if (status == TB_OK && d->name) tb_names_add(&w->names, TB_NAME_JOINT, joint->def.name, place);
  return status;
}

tbStatus tb_world_add_joint(tbContext* ctx, tbWorld* w, const tbJointDef* d, tbJointId* out)
{
  int body[2] = {tb_body_place(w, d->a), tb_body_place(w, d->b)};
  TB_TRY(check(ctx, w, d, body));
  tbVec3 anchor_b = d->anchor_b ? *d->anchor_b : d->anchor;
  if (d->type == TB_JOINT_DISTANCE && !d->anchor_b) { // from the anchor on a to the centre of b
    if (body[1] < 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a distance joint to the world needs anchor_b");
    anchor_b = tb_bodies(w)[body[1]].x;
  }
  tbMaterialPoint point[2] = {{0}};
  tbTransform A = sit(w, body[0], d->anchor, &point[0]), B = sit(w, body[1], anchor_b, &point[1]);
  tbQuat frame = tb_quat_identity();
  if (d->type == TB_JOINT_HINGE || d->type == TB_JOINT_SLIDER)
    frame = tb_quat_from_mat3(tb_mat3_transpose(tb_mat3_frame(tb_normalize3(d->axis))));
  tbJoint joint = {.def = *d,
                   .a = body[0],
                   .b = body[1],
                   .point_a = point[0],
                   .point_b = point[1],
                   .anchor_a = tb_transform_unpoint(A, d->anchor),
                   .anchor_b = tb_transform_unpoint(B, anchor_b),
                   .frame_a = tb_quat_mul(tb_quat_conj(A.q), frame),
                   .frame_b = tb_quat_mul(tb_quat_conj(B.q), frame),
                   .length = tb_distance3(d->anchor, anchor_b)};
  joint.def.anchor_b = NULL;
  if (d->type == TB_JOINT_DISTANCE && !(joint.length > 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the two anchors of a distance joint are at the same place");
  TB_TRY(push_joint(ctx, w, d, &joint));
  int place = (int)w->joint.count - 1;
  tb_joints(w)[place].id = tb_ids_add(&w->joint_ids, place);
  tb_joint_changed(w, &joint);
  if (out) *out = tb_world_joint_at(w, place);
  return TB_OK;
}

int tb_world_joint_count(const tbWorld* w) { return (int)w->joint.count; }

tbJointId tb_world_joint_at(const tbWorld* w, int place)
{
  if (place < 0 || (size_t)place >= w->joint.count) return (tbJointId){-1, 0};
  int id = tb_joints(w)[place].id;
  return (tbJointId){id, tb_ids_generation(&w->joint_ids, id)};
}

int tb_joint_place(const tbWorld* w, tbJointId id)
{
  return tb_ids_find(&w->joint_ids, id.index, id.generation);
}

tbJointId tb_world_find_joint(const tbWorld* w, const char* name)
{
  return tb_world_joint_at(w, tb_names_find(&w->names, TB_NAME_JOINT, name));
}

tbStatus tb_joint_find(tbContext* ctx, const tbWorld* w, tbJointId id, int* place)
{
  *place = tb_joint_place(w, id);
  if (*place >= 0) return TB_OK;
  bool removed = id.index >= 0 && (size_t)id.index < w->joint_ids.entry.count;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, removed ? "this joint has been removed" : "no such joint");
}
