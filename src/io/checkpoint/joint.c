// SPDX-License-Identifier: Apache-2.0
// Joints as bytes, and their keys.
#include "io/checkpoint/checkpoint.h"
#include "kind/table.h"

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(tbJoint) == 640, "tbJoint has changed: code_joint, and the version of checkpoints");
#endif

static void code_joint_name(tbCodec* c, tbWorld* w, int index, const char** name)
{
  bool named = *name != NULL;
  tb_code_bool(c, &named);
  if (named) tb_code_unique_name(c, w, TB_NAME_JOINT, index, name);
}

// Keys stand in the order of their joints.
static int keys_end(const tbJoint* j) { return j->key + j->nkey[TB_KEYS_DRIVE] + j->nkey[TB_KEYS_EFFORT]; }

static void code_joint_keys(tbCodec* c, tbWorld* w, tbJoint* j)
{
  const tbJointDef* d = &j->def;
  int total = (int)w->joint_key.count;
  j->key = j == tb_joints(w) ? 0 : keys_end(j - 1);
  for (int of = 0; of < TB_KEYS_COUNT; of++) {
    tb_code_int(c, &j->nkey[of], 0, total - j->key - (of == TB_KEYS_EFFORT ? j->nkey[TB_KEYS_DRIVE] : 0));
    if (!tb_codec_good(c)) return;
    tbStatus status = tb_joint_keys_check(c->ctx, of, tb_joint_keys(w, j, of), j->nkey[of]);
    tb_codec_require(c, status == TB_OK, "keys of a joint that cannot be");
  }
  bool driven = d->motor || (d->servoed && d->servo.stiffness > 0),
       turns = d->type == TB_JOINT_HINGE || d->type == TB_JOINT_SLIDER;
  tb_codec_require(c, j->nkey[TB_KEYS_DRIVE] == 0 || driven, "keys of a joint without a drive");
  tb_codec_require(c, j->nkey[TB_KEYS_EFFORT] == 0 || turns, "keys of a joint without an axis");
}

static void code_point(tbCodec* c, const tbBody* b, tbMaterialPoint* p)
{
  double sum = 0;
  tb_code_int(c, &p->element, 0, tb_nodes_of(b).nelement - 1);
  tb_code_numbers(c, p->weight, 4);
  for (int i = 0; i < 4; i++) sum += p->weight[i];
  if (tb_codec_good(c)) tb_codec_require(c, fabs(sum - 1) < 1e-6, "a joint to a point of no element");
}

static void code_joint(tbCodec* c, tbWorld* w, tbJoint* j)
{
  tbJointDef* d = &j->def;
  code_joint_name(c, w, (int)(j - tb_joints(w)), &d->name);
  int type = (int)d->type, last = (int)w->body.count - 1;
  tb_code_int(c, &type, 0, TB_JOINT_COUNT - 1);
  d->type = (tbJointType)type;
  tb_code_int(c, &j->a, -1, last);
  tb_code_int(c, &j->b, -1, last);
  if (tb_codec_reads(c)) d->a = tb_world_body_at(w, j->a), d->b = tb_world_body_at(w, j->b);
  tb_codec_require(c, j->a != j->b, "a joint of a body with itself");
  for (int side = 0; side < 2 && tb_codec_good(c); side++) {
    int body = side ? j->b : j->a;
    const tbKind* kind = body < 0 ? NULL : tb_bodies(w)[body].kind;
    tb_codec_require(c, !kind || kind->framed || kind->material_point, "a joint to a deformable body");
    if (kind && kind->material_point && tb_codec_good(c))
      code_point(c, &tb_bodies(w)[body], side ? &j->point_b : &j->point_a);
  }
  tb_code_vec3(c, &d->anchor);
  tb_code_vec3(c, &d->axis);
  tb_code_bool(c, &d->limited);
  tb_code_extended(c, &d->lower);
  tb_code_extended(c, &d->upper);
  tb_code_bool(c, &d->motor);
  tb_code_number(c, &d->motor_speed);
  tb_code_extended(c, &d->motor_force);
  tb_code_bool(c, &d->servoed);
  tb_code_number(c, &d->servo.stiffness);
  tb_code_number(c, &d->servo.damping);
  tb_code_extended(c, &d->servo.force);
  tb_code_number(c, &d->servo_target);
  tb_code_number(c, &d->effort);
  code_joint_keys(c, w, j);
  tb_code_number(c, &d->friction);
  tb_code_number(c, &d->armature);
  tb_code_number(c, &d->compliance);
  tb_code_number(c, &d->damping);
  tb_code_bool(c, &d->collide);
  tb_code_vec3(c, &j->anchor_a);
  tb_code_vec3(c, &j->anchor_b);
  tb_code_quat(c, &j->frame_a);
  tb_code_quat(c, &j->frame_b);
  tb_code_number(c, &j->length);
  tb_code_numbers(c, j->impulse, sizeof j->impulse / sizeof *j->impulse);
  tb_code_vec3(c, &j->force);
  tb_code_vec3(c, &j->torque);
  tb_code_number(c, &j->effort);
  if (tb_codec_good(c))
    tb_codec_require(c, d->motor_force >= 0 && d->lower <= d->upper && tb_joint_check(c->ctx, d) == TB_OK,
                     "a joint that cannot be");
}

void tb_code_joints(tbCodec* c, tbWorld* w)
{
  tb_code_array(c, &w->joint_key, 16);
  for (size_t i = 0; i < w->joint_key.count && tb_codec_good(c); i++) {
    tbJointKey* key = (tbJointKey*)w->joint_key.data + i;
    tb_code_number(c, &key->t);
    tb_code_number(c, &key->value);
  }
  tb_code_array(c, &w->joint, 300);
  for (size_t i = 0; i < w->joint.count && tb_codec_good(c); i++) code_joint(c, w, &tb_joints(w)[i]);
  if (tb_codec_good(c))
    tb_codec_require(c,
                     w->joint.count == 0
                         ? w->joint_key.count == 0
                         : (size_t)keys_end(&tb_joints(w)[w->joint.count - 1]) == w->joint_key.count,
                     "keys of no joint");
}
