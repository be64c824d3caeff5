// SPDX-License-Identifier: Apache-2.0
// What is doubtful about the deformable bodies of a world before its first step: surfaces that pass through
// each other or lie in the same place, sheets thicker than their cells, flat elements. None of it is an
// error.
#include "tribo/check.h"
#include "scene/world.h"

#include "base/sort.h"
#include "step/surfaces.h"

#include <inttypes.h>
#include <stdio.h>

static int by_bodies(const void* x, const void* y)
{
  const tbSurfacesMeet *p = x, *q = y;
  return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

static tbStatus doubt_meeting(tbContext* ctx, const tbSurfacesMeet* m, tbArray* out)
{
  tbDoubt d = {.a = m->a, .b = m->a == m->b ? -1 : m->b};
  const char* each = d.b < 0 ? "itself" : "each other";
  if (m->count.crossing > 0)
    snprintf(d.what, sizeof d.what, "pass%s through %s at the start, %" PRId64 " times", d.b < 0 ? "es" : "",
             each, m->count.crossing);
  else if (m->count.overlapping > 0)
    snprintf(d.what, sizeof d.what,
             "touch%s %s at the start, with %" PRId64 " pairs of triangles in one plane", d.b < 0 ? "es" : "",
             each, m->count.overlapping);
  else return TB_OK;
  return tb_array_push(ctx, out, &d, 1);
}

static tbStatus doubt_meetings(tbContext* ctx, const tbWorld* w, tbArray* out)
{
  tbCache cache;
  tb_cache_init(&cache, ctx);
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbArray list = TB_ARRAY(tbSurfacesMeet);
  tbSurfaces s;
  tbTransform* pose = TB_TAKE(&arena, tbTransform, w->body.count);
  for (size_t i = 0; pose && i < w->body.count; i++) pose[i] = tb_body_pose(&tb_bodies(w)[i]);
  tbStatus status = pose ? tb_surfaces_begin(ctx, &arena, &cache, w, pose, &s) : TB_ERROR_MEMORY;
  if (status == TB_OK) status = tb_surfaces_list(ctx, &s, &list);
  tbSurfacesMeet* m = list.data;
  tb_sort(m, list.count, sizeof *m, by_bodies);
  for (size_t i = 0; status == TB_OK && i < list.count; i++) {
    tbSurfacesMeet* next = i + 1 < list.count ? &m[i + 1] : NULL;
    if (next && next->a == m[i].a && next->b == m[i].b) { // several shapes of one body
      next->count.crossing += m[i].count.crossing;
      next->count.overlapping += m[i].count.overlapping;
    } else status = doubt_meeting(ctx, &m[i], out);
  }
  tb_array_free(ctx, &list);
  tb_arena_free(&arena);
  tb_cache_free(ctx, &cache);
  return status;
}

tbStatus tb_world_doubts(tbContext* ctx, const tbWorld* w, tbArray* out)
{
  if (tb_first_deforming(w) < 0) return TB_OK;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    tbDoubt doubt = {.a = (int)i, .b = -1};
    if (b->kind->doubt && b->kind->doubt(b, doubt.what, sizeof doubt.what))
      TB_TRY(tb_array_push(ctx, out, &doubt, 1));
  }
  return doubt_meetings(ctx, w, out);
}
