// SPDX-License-Identifier: Apache-2.0
// Which bodies may touch each other, and what the caller keeps with them.
#include "scene/world.h"

#include "tribo/change.h"

#include <string.h>

// Where the pair of places a < b stands among those that ignore each other, or would.
static size_t find_pair(const tbWorld* w, int a, int b)
{
  const tbBodyPair* pair = w->ignored.data;
  size_t lo = 0, hi = w->ignored.count;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (pair[mid].a < a || (pair[mid].a == a && pair[mid].b < b)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

bool tb_world_may_touch(const tbWorld* w, int a, int b)
{
  if (a == b) return true; // whether a surface touches itself is the body's own
  const tbBody *A = &tb_bodies(w)[a], *B = &tb_bodies(w)[b];
  if (!(A->category & B->mask) || !(B->category & A->mask)) return false;
  if (w->ignored.count == 0) return true;
  int lower = a < b ? a : b, upper = a < b ? b : a;
  size_t i = find_pair(w, lower, upper);
  const tbBodyPair* pair = (const tbBodyPair*)w->ignored.data + i;
  return !(i < w->ignored.count && pair->a == lower && pair->b == upper);
}

tbStatus tb_body_set_filter(tbContext* ctx, tbWorld* w, tbBodyId id, uint32_t category, uint32_t mask)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  tb_bodies(w)[place].category = category, tb_bodies(w)[place].mask = mask;
  tb_world_changed(w, place);
  return TB_OK;
}

tbStatus tb_world_ignore_pair(tbContext* ctx, tbWorld* w, tbBodyId a, tbBodyId b, bool ignore)
{
  int pa, pb;
  TB_TRY(tb_body_find(ctx, w, a, &pa));
  TB_TRY(tb_body_find(ctx, w, b, &pb));
  if (pa == pb) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pair needs two different bodies");
  tbBodyPair pair = {pa < pb ? pa : pb, pa < pb ? pb : pa};
  size_t i = find_pair(w, pair.a, pair.b);
  tbBodyPair* at = (tbBodyPair*)w->ignored.data + i;
  bool there = i < w->ignored.count && at->a == pair.a && at->b == pair.b;
  if (there == ignore) return TB_OK;
  if (ignore) {
    TB_TRY(tb_array_push(ctx, &w->ignored, NULL, 1));
    at = (tbBodyPair*)w->ignored.data + i;
    memmove(at + 1, at, (w->ignored.count - 1 - i) * sizeof *at);
    *at = pair;
  } else {
    memmove(at, at + 1, (w->ignored.count - 1 - i) * sizeof *at);
    w->ignored.count--;
  }
  tb_world_changed(w, pa);
  tb_world_changed(w, pb);
  return TB_OK;
}

void tb_world_set_user(tbWorld* w, void* user) { w->user = user; }
void* tb_world_user(const tbWorld* w) { return w->user; }

bool tb_body_set_user(tbWorld* w, tbBodyId id, void* user)
{
  int place = tb_body_place(w, id);
  if (place >= 0) tb_bodies(w)[place].user = user;
  return place >= 0;
}

void* tb_body_user(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? NULL : tb_bodies(w)[place].user;
}

bool tb_joint_set_user(tbWorld* w, tbJointId id, void* user)
{
  int place = tb_joint_place(w, id);
  if (place >= 0) tb_joints(w)[place].user = user;
  return place >= 0;
}

void* tb_joint_user(const tbWorld* w, tbJointId id)
{
  int place = tb_joint_place(w, id);
  return place < 0 ? NULL : tb_joints(w)[place].user;
}
