// SPDX-License-Identifier: Apache-2.0
// Rigid bodies that lie inside each other.
#include "tribo/check.h"
#include "scene/world.h"

#include "base/sort.h"
#include "step/find.h"

static int by_bodies(const void* x, const void* y)
{
  const tbOverlap *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  if (a->b != b->b) return a->b < b->b ? -1 : 1;
  return (a->depth < b->depth) - (a->depth > b->depth);
}

static int by_depth(const void* x, const void* y)
{
  const tbOverlap *a = x, *b = y;
  if (a->depth != b->depth) return a->depth > b->depth ? -1 : 1;
  return by_bodies(x, y);
}

// The contacts of a step that takes no time.
static tbStatus find(tbContext* ctx, tbArena* arena, const tbWorld* w, tbArray* constraints)
{
  tbStepOptions still = tb_default_step_options();
  tbUnconstrained* unconstrained = TB_TAKE(arena, tbUnconstrained, w->body.count);
  tbTransform* pose = TB_TAKE(arena, tbTransform, w->body.count);
  if (!unconstrained || !pose) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) pose[i] = tb_body_pose(&tb_bodies(w)[i]);
  still.dt = still.margin = 0;
  return tb_find_contacts(ctx, arena, NULL, w, &still, unconstrained, pose, constraints);
}

// One entry for each pair: its deepest contact.
static tbStatus gather(tbContext* ctx, const tbWorld* w, double share, const tbArray* constraints,
                       tbArray* out)
{
  const tbContactConstraint* t = constraints->data;
  for (size_t i = 0; i < constraints->count; i++) {
    int a = t[i].body_a, b = t[i].body_b;
    double size = fmin(tb_bodies(w)[a].radius, tb_bodies(w)[b].radius);
    tbOverlap found = {a < b ? a : b, a < b ? b : a, -t[i].point.gap};
    if (found.depth > share * size) TB_TRY(tb_array_push(ctx, out, &found, 1));
  }
  tb_sort(out->data, out->count, sizeof(tbOverlap), by_bodies);
  tbOverlap* o = out->data;
  size_t kept = 0;
  for (size_t i = 0; i < out->count; i++)
    if (i == 0 || o[i].a != o[kept - 1].a || o[i].b != o[kept - 1].b) o[kept++] = o[i];
  out->count = kept;
  tb_sort(out->data, out->count, sizeof(tbOverlap), by_depth);
  return TB_OK;
}

tbStatus tb_world_overlaps(tbContext* ctx, const tbWorld* w, double share, tbArray* out)
{
  tbArena arena;
  tbArray constraints = TB_ARRAY(tbContactConstraint);
  tb_arena_init(&arena, ctx);
  tbStatus status = find(ctx, &arena, w, &constraints);
  if (status == TB_OK) status = gather(ctx, w, share, &constraints, out);
  tb_array_free(ctx, &constraints);
  tb_arena_free(&arena);
  return status;
}
