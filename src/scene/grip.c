// SPDX-License-Identifier: Apache-2.0
// Holding a body by a point: which one, and how hard. What the pull does to a body is its kind's to say.
//
//   Δu = h (ω² (target − p − h u) − 2 ω u) / (1 + h ω)²
#include "tribo/grip.h"

#include "scene/kind.h"

static const double FIRMEST = 500; // m/s²

tbVec3 tb_grip_kick(tbVec3 p, tbVec3 u, tbVec3 target, double h)
{
  const double w = TB_GRIP_FREQUENCY;
  tbVec3 a = tb_sub3(tb_scale3(w * w, tb_sub3(tb_sub3(target, p), tb_scale3(h, u))), tb_scale3(2 * w, u));
  a = tb_scale3(1 / ((1 + h * w) * (1 + h * w)), a);
  double size = tb_norm3(a);
  return tb_scale3(size > FIRMEST ? h * FIRMEST / size : h, a);
}

static const tbBody* find(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? NULL : &tb_bodies(w)[place];
}

tbStatus tb_grip_begin(tbContext* ctx, const tbWorld* w, tbBodyId id, tbVec3 point, tbGrip* out)
{
  const tbBody* b = find(w, id);
  if (!b || b->motion != TB_BODY_DYNAMIC || !b->kind->pull)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a body that moves freely can be held");
  if (!isfinite(tb_norm3(point))) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a point must be finite");
  *out = (tbGrip){.body = id, .target = point, .local = tb_quat_unrotate(b->q, tb_sub3(point, b->x))};
  tbNodes nodes = tb_nodes_of(b);
  for (int i = 1; i < nodes.count; i++)
    if (tb_distance3(nodes.x[i], point) < tb_distance3(nodes.x[out->node], point)) out->node = i;
  return TB_OK;
}

tbVec3 tb_grip_point(const tbWorld* w, const tbGrip* grip)
{
  const tbBody* b = find(w, grip->body);
  if (!b) return tb_zero3();
  tbNodes nodes = tb_nodes_of(b);
  bool there = grip->node >= 0 && grip->node < nodes.count;
  if (nodes.count > 0) return nodes.x[there ? grip->node : 0];
  return tb_add3(b->x, tb_quat_rotate(b->q, grip->local));
}

tbStatus tb_grip_pull(tbContext* ctx, tbWorld* w, const tbGrip* grip, double h)
{
  const tbBody* b = find(w, grip->body);
  if (!b || b->motion != TB_BODY_DYNAMIC || !b->kind->pull)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a body that moves freely can be held");
  if (!isfinite(tb_norm3(grip->target)) || !(h > 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a grip's target must be finite, and the step positive");
  b->kind->pull(w, (int)(b - tb_bodies(w)), grip, h);
  return TB_OK;
}
