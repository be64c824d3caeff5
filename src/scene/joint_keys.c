// SPDX-License-Identifier: Apache-2.0
// What drives of joints do over time by keys: straight lines between them.
#include "scene/world.h"

#include <string.h>

static const char* const key_names[TB_KEYS_COUNT] = {"a drive", "an effort"};

// Where keys of a joint begin: those of its effort stand behind those of its drive.
static int first_key(const tbJoint* j, int of) { return j->key + (of == TB_KEYS_EFFORT ? j->nkey[0] : 0); }

const tbJointKey* tb_joint_keys(const tbWorld* w, const tbJoint* j, int of)
{
  return j->nkey[of] > 0 ? (const tbJointKey*)w->joint_key.data + first_key(j, of) : NULL;
}

tbStatus tb_joint_keys_check(tbContext* ctx, int of, const tbJointKey* keys, int count)
{
  const char* name = key_names[of];
  if (count < 0 || (count > 0 && !keys)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d keys of %s", count, name);
  for (int i = 0; i < count; i++) {
    if (!isfinite(keys[i].value))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "key %d of %s has no finite value", i, name);
    if (!isfinite(keys[i].t) || (i > 0 && !(keys[i].t > keys[i - 1].t)))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the times of the keys of %s must increase", name);
  }
  return TB_OK;
}

// Keys stand in the order of their joints, without holes.
tbStatus tb_joint_keys_replace(tbContext* ctx, tbWorld* w, int place, int of, const tbJointKey* keys,
                               int count)
{
  tbJoint* j = &tb_joints(w)[place];
  int more = count - j->nkey[of], first = first_key(j, of);
  size_t total = w->joint_key.count, behind = total - (size_t)(first + j->nkey[of]);
  if (more > 0) TB_TRY(tb_array_push(ctx, &w->joint_key, NULL, (size_t)more));
  tbJointKey* at = w->joint_key.data; // null where there are none
  if (first > 0) at += first;
  if (behind > 0) memmove(at + count, at + j->nkey[of], behind * sizeof *at);
  if (count > 0) memcpy(at, keys, (size_t)count * sizeof *at);
  w->joint_key.count = (size_t)((int)total + more);
  j->nkey[of] = count;
  for (size_t i = (size_t)place + 1; i < w->joint.count; i++) tb_joints(w)[i].key += more;
  return TB_OK;
}

static double value_at(const tbWorld* w, const tbJoint* j, int of, double t, double constant)
{
  const tbJointKey* key = tb_joint_keys(w, j, of);
  if (!key) return constant;
  if (t <= key[0].t) return key[0].value;
  int low = 0, high = j->nkey[of] - 1; // key[low].t < t; key[high].t ≥ t, or it is the last
  if (t >= key[high].t) return key[high].value;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (t < key[middle].t) high = middle;
    else low = middle;
  }
  double share = (t - key[low].t) / (key[high].t - key[low].t);
  return key[low].value + share * (key[high].value - key[low].value);
}

double tb_servo_target(const tbWorld* w, const tbJoint* j, double t, double h, double* rate)
{
  double target = value_at(w, j, TB_KEYS_DRIVE, t, j->def.servo_target);
  *rate = h > 0 ? (target - value_at(w, j, TB_KEYS_DRIVE, t - h, target)) / h : 0;
  return target;
}

double tb_motor_speed(const tbWorld* w, const tbJoint* j, double t)
{
  return value_at(w, j, TB_KEYS_DRIVE, t, j->def.motor_speed);
}

double tb_joint_effort(const tbWorld* w, const tbJoint* j, double t)
{
  return value_at(w, j, TB_KEYS_EFFORT, t, j->def.effort);
}
