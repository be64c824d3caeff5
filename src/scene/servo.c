// SPDX-License-Identifier: Apache-2.0
// Targets of servos that move by keys: straight lines between them.
#include "scene/world.h"

#include <string.h>

static const tbServoKey* keys_of(const tbWorld* w, const tbJoint* j)
{
  return (const tbServoKey*)w->servo_key.data + j->key;
}

tbStatus tb_servo_keys_check(tbContext* ctx, const tbServoKey* keys, int count)
{
  if (count < 0 || (count > 0 && !keys)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d keys of a servo", count);
  for (int i = 0; i < count; i++) {
    if (!isfinite(keys[i].target))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "key %d of a servo has no finite target", i);
    if (!isfinite(keys[i].t) || (i > 0 && !(keys[i].t > keys[i - 1].t)))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the times of the keys of a servo must increase");
  }
  return TB_OK;
}

// Keys stand in the order of their joints, without holes.
tbStatus tb_servo_keys_replace(tbContext* ctx, tbWorld* w, int place, const tbServoKey* keys, int count)
{
  tbJoint* j = &tb_joints(w)[place];
  int more = count - j->nkey;
  size_t total = w->servo_key.count, behind = total - (size_t)(j->key + j->nkey);
  if (more > 0) TB_TRY(tb_array_push(ctx, &w->servo_key, NULL, (size_t)more));
  tbServoKey* at = (tbServoKey*)w->servo_key.data + j->key;
  if (behind > 0) memmove(at + count, at + j->nkey, behind * sizeof *at);
  if (count > 0) memcpy(at, keys, (size_t)count * sizeof *at);
  w->servo_key.count = (size_t)((int)total + more);
  j->nkey = count;
  for (size_t i = (size_t)place + 1; i < w->joint.count; i++) tb_joints(w)[i].key += more;
  return TB_OK;
}

static double target_at(const tbWorld* w, const tbJoint* j, double t)
{
  const tbServoKey* key = keys_of(w, j);
  if (t <= key[0].t) return key[0].target;
  for (int i = 1; i < j->nkey; i++)
    if (t < key[i].t) {
      double share = (t - key[i - 1].t) / (key[i].t - key[i - 1].t);
      return key[i - 1].target + share * (key[i].target - key[i - 1].target);
    }
  return key[j->nkey - 1].target;
}

double tb_servo_target(const tbWorld* w, const tbJoint* j, double t, double h, double* rate)
{
  *rate = 0;
  if (j->nkey == 0) return j->def.servo_target;
  double target = target_at(w, j, t);
  if (h > 0) *rate = (target - target_at(w, j, t - h)) / h;
  return target;
}
