// SPDX-License-Identifier: Apache-2.0
// Prescribed motion of kinematic bodies and of held nodes: pose as a function of time, exact at every key
// whatever the step.
#include "scene/kind.h"

#include <string.h>

tbTransform tb_motion_pose(const tbWorld* w, const tbMotion* m, double t)
{
  if (m->nkey == 0) // constant velocities since t = 0
    return tb_transform(tb_quat_integrate(m->initial.q, m->w, t), tb_madd3(m->initial.x, t, m->v));
  const tbMotionKey* key = (const tbMotionKey*)w->key.data + m->key;
  if (t <= key[0].t) return tb_transform(key[0].orientation, key[0].position);
  for (int i = 1; i < m->nkey; i++) {
    if (t >= key[i].t) continue;
    double s = (t - key[i - 1].t) / (key[i].t - key[i - 1].t);
    tbQuat from = key[i - 1].orientation;
    tbVec3 turn = tb_quat_log(tb_quat_mul(key[i].orientation, tb_quat_conj(from))); // the short way round
    return tb_transform(tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(s, turn)), from)),
                        tb_lerp3(key[i - 1].position, key[i].position, s));
  }
  return tb_transform(key[m->nkey - 1].orientation, key[m->nkey - 1].position);
}

tbTransform tb_motion_at(const tbWorld* w, const tbBody* b, double t)
{
  tbMotion motion = {b->key, b->nkey, b->initial, b->v, b->w};
  return tb_motion_pose(w, &motion, t);
}

tbTransform tb_motion_start(const tbWorld* world, tbTransform now, tbVec3 v, tbVec3 w)
{
  return tb_transform(tb_quat_integrate(now.q, w, -world->time), tb_madd3(now.x, -world->time, v));
}

tbStatus tb_keys_check(tbContext* ctx, const char* name, const tbMotionKey* keys, int count)
{
  for (int i = 0; i < count; i++) {
    tbQuat q = keys[i].orientation;
    if (!isfinite(keys[i].t) || (i > 0 && !(keys[i].t > keys[i - 1].t)))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the times of the motion keys of %s must increase", name);
    if (tb_state_check(ctx, name, keys[i].position, &q, tb_zero3(), tb_zero3()) != TB_OK)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "motion key %d of %s is not a pose", i, name);
  }
  return TB_OK;
}

tbStatus tb_keys_push(tbContext* ctx, tbWorld* w, const tbMotionKey* keys, int count)
{
  for (int i = 0; i < count; i++) {
    tbMotionKey key = keys[i];
    key.orientation = tb_quat_normalize(key.orientation);
    TB_TRY(tb_array_push(ctx, &w->key, &key, 1));
  }
  return TB_OK;
}

static tbMotion* motion_of(tbBody* b, int k) { return b->kind->motion_of ? b->kind->motion_of(b, k) : NULL; }

static void shift_keys(tbWorld* w, int place, int k, int by)
{
  tbMotion* m;
  for (int i = place; i < (int)w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    if (i > place) b->key += by;
    for (int n = i > place ? 0 : k + 1; (m = motion_of(b, n)); n++) m->key += by;
  }
}

tbStatus tb_keys_replace(tbContext* ctx, tbWorld* w, int place, int k, const tbMotionKey* keys, int count)
{
  tbBody* b = &tb_bodies(w)[place];
  tbMotion* motion = k < 0 ? NULL : motion_of(b, k);
  int *first = motion ? &motion->key : &b->key, *had = motion ? &motion->nkey : &b->nkey, more = count - *had;
  size_t total = w->key.count;
  if (more > 0) TB_TRY(tb_array_push(ctx, &w->key, NULL, (size_t)more));
  tbMotionKey* at = (tbMotionKey*)w->key.data + *first;
  size_t behind = total - (size_t)(*first + *had);
  if (behind > 0) memmove(at + count, at + *had, behind * sizeof *at);
  w->key.count = (size_t)((int)total + more);
  for (int i = 0; i < count; i++) {
    at[i] = keys[i];
    at[i].orientation = tb_quat_normalize(keys[i].orientation);
  }
  *had = count;
  shift_keys(w, place, k, more);
  return TB_OK;
}
