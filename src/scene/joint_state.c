// SPDX-License-Identifier: Apache-2.0
// What joints measure and do, and other numbers for their limits and drives.
#include "scene/kind.h"

#include "tribo/change.h"

static tbTransform centre_of(const tbWorld* w, const tbTransform* centre, int body)
{
  if (body < 0) return tb_transform_identity();
  return centre ? centre[body] : tb_transform(tb_bodies(w)[body].q, tb_bodies(w)[body].x);
}

tbTransform tb_joint_frame(const tbWorld* w, const tbTransform* centre, int body,
                           const tbMaterialPoint* point)
{
  const tbBody* b = body < 0 ? NULL : &tb_bodies(w)[body];
  if (!b || !b->kind->material_frame) return centre_of(w, centre, body);
  return b->kind->material_frame(b, point, NULL, NULL);
}

// The frame of one side, and the arm from the centre of mass to its anchor.
static tbQuat place_side(const tbWorld* w, const tbTransform* centre, int body, const tbMaterialPoint* point,
                         tbVec3 anchor, tbQuat frame, tbVec3* x, tbVec3* arm)
{
  *x = tb_zero3(), *arm = anchor;
  if (body < 0) return frame;
  tbTransform T = tb_joint_frame(w, centre, body, point);
  *x = centre_of(w, centre, body).x;
  *arm = tb_quat_rotate(T.q, anchor);
  if (tb_bodies(w)[body].kind->material_frame) *arm = tb_add3(*arm, tb_sub3(T.x, *x));
  return tb_quat_mul(T.q, frame);
}

tbJointPlace tb_joint_placed(const tbWorld* w, const tbTransform* centre, const tbJoint* j)
{
  tbJointPlace p;
  tbVec3 xa, xb;
  p.frame_a = place_side(w, centre, j->a, &j->point_a, j->anchor_a, j->frame_a, &xa, &p.arm_a);
  p.frame_b = place_side(w, centre, j->b, &j->point_b, j->anchor_b, j->frame_b, &xb, &p.arm_b);
  p.apart = tb_sub3(tb_add3(xb, p.arm_b), tb_add3(xa, p.arm_a));
  return p;
}

static tbVec3 axis_of(const tbJointPlace* p) { return tb_mat3_col(tb_quat_mat3(p->frame_a), 0); }

double tb_joint_coordinate(const tbJoint* j, const tbJointPlace* p)
{
  if (j->def.type == TB_JOINT_SLIDER) return tb_dot3(p->apart, axis_of(p));
  tbQuat turn = tb_quat_mul(tb_quat_conj(p->frame_a), p->frame_b);
  double sign = turn.w < 0 ? -1 : 1, angle = 2 * tb_atan2(sign * turn.x, sign * turn.w);
  double middle = 0.5 * (j->def.lower + j->def.upper), round = 6.283185307179586;
  return j->def.limited && isfinite(middle) ? angle + round * rint((middle - angle) / round) : angle;
}

// Its rate, of the velocity v of anchor b against the place on body a that it is at, and how fast b turns
// against a.
static double rate_of(const tbJoint* j, const tbJointPlace* p, tbVec3 v, tbVec3 spin)
{
  double length = tb_norm3(p->apart);
  switch (j->def.type) {
  case TB_JOINT_HINGE: return tb_dot3(axis_of(p), spin);
  case TB_JOINT_SLIDER: return tb_dot3(axis_of(p), v);
  case TB_JOINT_DISTANCE: return length > 0 ? tb_dot3(p->apart, v) / length : 0;
  default: return 0;
  }
}

double tb_joint_rate(const tbJoint* j, const tbJointPlace* p, const tbVec3 v[2], const tbVec3 w[2])
{
  tbVec3 on_a = tb_add3(v[0], tb_cross3(w[0], tb_add3(p->arm_a, p->apart)));
  tbVec3 on_b = tb_add3(v[1], tb_cross3(w[1], p->arm_b));
  return rate_of(j, p, tb_sub3(on_b, on_a), tb_sub3(w[1], w[0]));
}

// The velocity at `at` of what a joint sits in on a body, and how it turns.
static void velocity_at(const tbWorld* w, int body, const tbMaterialPoint* point, tbVec3 at, tbVec3* v,
                        tbVec3* spin)
{
  *v = *spin = tb_zero3();
  if (body < 0) return;
  const tbBody* b = &tb_bodies(w)[body];
  tbVec3 x = b->x;
  *v = b->v, *spin = b->w;
  if (b->kind->material_frame) x = b->kind->material_frame(b, point, v, spin).x;
  *v = tb_add3(*v, tb_cross3(*spin, tb_sub3(at, x)));
}

double tb_joint_speed(const tbWorld* w, const tbJoint* j)
{
  tbJointPlace p = tb_joint_placed(w, NULL, j);
  tbVec3 va, wa, vb, wb, at = tb_add3(p.arm_b, j->b < 0 ? tb_zero3() : tb_bodies(w)[j->b].x);
  velocity_at(w, j->a, &j->point_a, at, &va, &wa);
  velocity_at(w, j->b, &j->point_b, at, &vb, &wb);
  return rate_of(j, &p, tb_sub3(vb, va), tb_sub3(wb, wa));
}

tbJointDef tb_joint_def(const tbWorld* w, tbJointId id)
{
  int place = tb_joint_place(w, id);
  if (place < 0) return tb_default_joint_def(TB_JOINT_BALL);
  const tbJoint* j = &tb_joints(w)[place];
  tbJointDef d = j->def;
  d.drive_keys = tb_joint_keys(w, j, TB_KEYS_DRIVE), d.drive_key_count = j->nkey[TB_KEYS_DRIVE];
  d.effort_keys = tb_joint_keys(w, j, TB_KEYS_EFFORT), d.effort_key_count = j->nkey[TB_KEYS_EFFORT];
  return d;
}

tbJointState tb_joint_state(const tbWorld* w, tbJointId id)
{
  int place = tb_joint_place(w, id);
  if (place < 0) return (tbJointState){0};
  const tbJoint* j = &tb_joints(w)[place];
  tbJointPlace p = tb_joint_placed(w, NULL, j);
  tbJointState s = {.force = j->force, .torque = j->torque};
  if (w->clock_dt > 0) s.drive = j->impulse[TB_JOINT_DRIVE] / w->clock_dt + j->effort;
  s.speed = tb_joint_speed(w, j);
  if (j->def.type == TB_JOINT_HINGE || j->def.type == TB_JOINT_SLIDER)
    s.coordinate = tb_joint_coordinate(j, &p);
  if (j->def.type == TB_JOINT_DISTANCE) s.coordinate = tb_norm3(p.apart);
  return s;
}

// ---- changes ----

static tbStatus change(tbContext* ctx, tbWorld* w, tbJointId id, const tbJointDef* def)
{
  int place;
  TB_TRY(tb_joint_find(ctx, w, id, &place));
  TB_TRY(tb_joint_check(ctx, def));
  TB_TRY(tb_joint_check_effort(ctx, w, def, tb_joints(w)[place].a, tb_joints(w)[place].b));
  if (def->drive_key_count == 0) // these need no memory
    tb_joint_keys_replace(ctx, w, place, TB_KEYS_DRIVE, NULL, 0);
  if (def->effort_key_count == 0) tb_joint_keys_replace(ctx, w, place, TB_KEYS_EFFORT, NULL, 0);
  tbJointDef* own = &tb_joints(w)[place].def;
  *own = *def;
  tb_joint_drop_keys(own);
  tb_joint_changed(w, &tb_joints(w)[place]);
  return TB_OK;
}

tbStatus tb_joint_set_limits(tbContext* ctx, tbWorld* w, tbJointId id, bool limited, double lower,
                             double upper)
{
  tbJointDef d = tb_joint_def(w, id);
  d.limited = limited, d.lower = limited ? lower : 0, d.upper = limited ? upper : 0;
  return change(ctx, w, id, &d);
}

tbStatus tb_joint_set_motor(tbContext* ctx, tbWorld* w, tbJointId id, bool on, double speed, double force)
{
  tbJointDef d = tb_joint_def(w, id);
  d.motor = on, d.motor_speed = on ? speed : 0, d.motor_force = on ? force : 0;
  if (on) d.servoed = false;
  if (!d.servoed) d.drive_key_count = 0;
  return change(ctx, w, id, &d);
}

tbStatus tb_joint_set_servo(tbContext* ctx, tbWorld* w, tbJointId id, const tbServo* servo, double target)
{
  tbJointDef d = tb_joint_def(w, id);
  d.servoed = servo, d.servo = servo ? *servo : (tbServo){0}, d.servo_target = servo ? target : 0;
  if (servo) d.motor = false;
  if (!d.motor) d.drive_key_count = 0;
  return change(ctx, w, id, &d);
}

tbStatus tb_joint_set_target(tbContext* ctx, tbWorld* w, tbJointId id, double target)
{
  tbJointDef d = tb_joint_def(w, id);
  int place;
  TB_TRY(tb_joint_find(ctx, w, id, &place));
  if (!d.servoed) return tb_fail(ctx, TB_ERROR_ARGUMENT, "this joint has no servo");
  d.servo_target = target, d.drive_key_count = 0;
  return change(ctx, w, id, &d);
}

tbStatus tb_joint_set_keys(tbContext* ctx, tbWorld* w, tbJointId id, const tbJointKey* keys, int count)
{
  int place;
  TB_TRY(tb_joint_find(ctx, w, id, &place));
  tbJoint* j = &tb_joints(w)[place];
  if (!j->def.motor && !(j->def.servoed && j->def.servo.stiffness > 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "keys need a servo with a stiffness, or a motor");
  TB_TRY(tb_joint_keys_check(ctx, TB_KEYS_DRIVE, keys, count));
  double rate, now = j->def.motor ? tb_motor_speed(w, j, w->time) : tb_servo_target(w, j, w->time, 0, &rate);
  TB_TRY(tb_joint_keys_replace(ctx, w, place, TB_KEYS_DRIVE, keys, count));
  if (count == 0) *(j->def.motor ? &j->def.motor_speed : &j->def.servo_target) = now;
  tb_joint_changed(w, j);
  return TB_OK;
}

tbStatus tb_joint_set_effort(tbContext* ctx, tbWorld* w, tbJointId id, double effort)
{
  tbJointDef d = tb_joint_def(w, id);
  d.effort = effort, d.effort_key_count = 0;
  return change(ctx, w, id, &d);
}

tbStatus tb_joint_set_effort_keys(tbContext* ctx, tbWorld* w, tbJointId id, const tbJointKey* keys, int count)
{
  int place;
  TB_TRY(tb_joint_find(ctx, w, id, &place));
  tbJoint* j = &tb_joints(w)[place];
  if (j->def.type != TB_JOINT_HINGE && j->def.type != TB_JOINT_SLIDER)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a %s joint has no effort", tb_joint_type_name(j->def.type));
  TB_TRY(tb_joint_keys_check(ctx, TB_KEYS_EFFORT, keys, count));
  double now = tb_joint_effort(w, j, w->time);
  TB_TRY(tb_joint_keys_replace(ctx, w, place, TB_KEYS_EFFORT, keys, count));
  if (count == 0) j->def.effort = now;
  tb_joint_changed(w, j);
  return TB_OK;
}

tbStatus tb_joint_set_friction(tbContext* ctx, tbWorld* w, tbJointId id, double friction)
{
  tbJointDef d = tb_joint_def(w, id);
  d.friction = friction;
  return change(ctx, w, id, &d);
}

tbStatus tb_joint_set_armature(tbContext* ctx, tbWorld* w, tbJointId id, double armature)
{
  tbJointDef d = tb_joint_def(w, id);
  d.armature = armature;
  return change(ctx, w, id, &d);
}
