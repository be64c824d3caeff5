// SPDX-License-Identifier: Apache-2.0
// What joints measure and do, and other numbers for their limits and drives.
#include "scene/world.h"

#include "tribo/change.h"

static tbTransform centre_of(const tbWorld* w, const tbTransform* centre, int body)
{
  if (body < 0) return tb_transform_identity();
  return centre ? centre[body] : tb_transform(tb_bodies(w)[body].q, tb_bodies(w)[body].x);
}

tbJointPlace tb_joint_placed(const tbWorld* w, const tbTransform* centre, const tbJoint* j)
{
  tbTransform A = centre_of(w, centre, j->a), B = centre_of(w, centre, j->b);
  tbJointPlace p = {.arm_a = j->a < 0 ? j->anchor_a : tb_quat_rotate(A.q, j->anchor_a),
                    .arm_b = j->b < 0 ? j->anchor_b : tb_quat_rotate(B.q, j->anchor_b),
                    .frame_a = j->a < 0 ? j->frame_a : tb_quat_mul(A.q, j->frame_a),
                    .frame_b = j->b < 0 ? j->frame_b : tb_quat_mul(B.q, j->frame_b)};
  p.apart = tb_sub3(tb_add3(B.x, p.arm_b), tb_add3(A.x, p.arm_a));
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

// The velocity of anchor b against the place on body a that it is at, and how fast b turns against a.
static void rates(const tbWorld* w, const tbJoint* j, const tbJointPlace* p, tbVec3* v, tbVec3* spin)
{
  *v = *spin = tb_zero3();
  if (j->b >= 0) {
    const tbBody* b = &tb_bodies(w)[j->b];
    *v = tb_add3(b->v, tb_cross3(b->w, p->arm_b)), *spin = b->w;
  }
  if (j->a >= 0) {
    const tbBody* a = &tb_bodies(w)[j->a];
    *v = tb_sub3(*v, tb_add3(a->v, tb_cross3(a->w, tb_add3(p->arm_a, p->apart))));
    *spin = tb_sub3(*spin, a->w);
  }
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
  tbVec3 v, spin;
  rates(w, j, &p, &v, &spin);
  double length = tb_norm3(p.apart);
  switch (j->def.type) {
  case TB_JOINT_HINGE: s.coordinate = tb_joint_coordinate(j, &p), s.speed = tb_dot3(axis_of(&p), spin); break;
  case TB_JOINT_SLIDER: s.coordinate = tb_joint_coordinate(j, &p), s.speed = tb_dot3(axis_of(&p), v); break;
  case TB_JOINT_DISTANCE:
    s.coordinate = length, s.speed = length > 0 ? tb_dot3(p.apart, v) / length : 0;
    break;
  default: break;
  }
  return s;
}

// ---- changes ----

static tbStatus change(tbContext* ctx, tbWorld* w, tbJointId id, const tbJointDef* def)
{
  int place;
  TB_TRY(tb_joint_find(ctx, w, id, &place));
  TB_TRY(tb_joint_check(ctx, def));
  if (def->drive_key_count == 0) // these need no memory
    tb_joint_keys_replace(ctx, w, place, TB_KEYS_DRIVE, NULL, 0);
  if (def->effort_key_count == 0) tb_joint_keys_replace(ctx, w, place, TB_KEYS_EFFORT, NULL, 0);
  tbJointDef* own = &tb_joints(w)[place].def;
  *own = *def;
  tb_joint_drop_keys(own);
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
  return TB_OK;
}
