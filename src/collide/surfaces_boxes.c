// SPDX-License-Identifier: Apache-2.0
// Boxes that vertices may move in within a step, and the trees that hold them.
#include "base/threads.h"
#include "collide/surfaces_find.h"

#include <limits.h>
#include <string.h>

enum { SKIN_GRAIN = 4, VERTEX_GRAIN = 1024 };

static const double aside = 0.5;  // of its motion: so far a vertex may leave its way
static const double spare = 0.25; // of the reach: and so far besides
static const double slack = 0.03; // of a mean edge: and so far, however slow it is
static const double bend = 0.1;   // of its whole motion: so far beside the drift of its surface

typedef tbSurfaceLayer Layer;
typedef tbSurfaceSearch Find;

static tbBox place(const Find* w, tbVec3 x, tbVec3 move, double free)
{
  tbBox box = tb_box_add((tbBox){x, x}, tb_madd3(x, w->ahead, move));
  return tb_box_grow(box, spare * w->reach + aside * tb_maxabs3(move) + free);
}

static void place_vertices(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int i = begin; i < end; i++) {
    int s = w->vertex_surface[i];
    const Layer* l = &w->layer[s];
    if (w->fresh && w->fresh[s]) {
      w->box[i] = ((const tbBox*)w->old->box.data)[i], w->own[i] = ((const tbBox*)w->old->own.data)[i];
      continue;
    }
    tbVec3 x = l->moving->start[i - l->first_vertex], move = tb_sub3(l->moving->end[i - l->first_vertex], x);
    double free = l->moving->fixed ? 0 : slack * l->surface->edge_length;
    w->box[i] = place(w, x, move, free);
    w->own[i] = place(w, x, tb_sub3(move, w->drift[s]), free + bend * tb_maxabs3(move));
  }
}

static void bound(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int s = begin; s < end; s++) {
    Layer* l = &w->layer[s];
    l->box = tb_box_empty();
    for (int v = 0; v < l->surface->nvertex; v++) l->box = tb_box_join(l->box, l->vertex[v]);
    if (l->surface->nvertex > 0) l->box = tb_box_grow(l->box, l->grow);
  }
}

static void refit(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int s = begin; s < end; s++) {
    Layer* l = &w->layer[s];
    if (!l->wanted) continue;
    for (int t = 0; t < l->surface->ntriangle; t++)
      l->triangle[t] = tb_surface_box(l, l->surface->triangle[t], 3);
    for (int e = 0; e < l->surface->nedge; e++) l->edge[e] = tb_surface_box(l, l->surface->edge[e], 2);
    tb_bvh_refit(&l->tree, l->triangle);
    for (int i = 0; i < l->surface->ntriangle; i++) {
      const double* box = &l->triangle[l->tree.order[i]].lo.x;
      for (int k = 0; k < 6; k++) l->side[k][i] = box[k];
    }
  }
}

static tbStatus check(tbContext* ctx, const Find* w)
{
  if (!(w->reach > 0) || !(w->ahead >= 1) || !(w->reach < INFINITY) || !(w->ahead < INFINITY))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a reach of %g and boxes %g times as long as the motion", w->reach,
                   w->ahead);
  int64_t nvertex = 0, nedge = 0;
  for (int s = 0; s < w->scene->nsurface; s++) {
    const tbMovingSurface* m = &w->scene->surface[s];
    for (int v = 0; v < m->surface->nvertex; v++) {
      tbVec3 move = tb_sub3(m->end[v], m->start[v]);
      if (!(fabs(move.x) + fabs(move.y) + fabs(move.z) < 1e100)) // NaN too
        return tb_fail(ctx, TB_ERROR_NUMERIC, "vertex %d of surface %d is not finite, or leaves for 1e100 m",
                       v, s);
    }
    nvertex += m->surface->nvertex, nedge += m->surface->nedge;
  }
  if (nvertex > INT_MAX / 4 || nedge > INT_MAX / 4)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "surfaces of more than 2^29 vertices or edges");
  return TB_OK;
}

tbStatus tb_surface_search_layers(tbContext* ctx, tbArena* arena, Find* w)
{
  TB_TRY(check(ctx, w));
  int n = w->scene->nsurface;
  w->layer = TB_TAKE(arena, Layer, 2 * (size_t)n);
  w->drift = TB_TAKE(arena, tbVec3, (size_t)n);
  if (!w->layer || !w->drift) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    const tbMovingSurface* m = &w->scene->surface[s];
    // Barriers of edges inside a face share its pressure: where rigid pairs are asked for, they stay.
    bool whole = w->scene->rigid_pairs || !m->rigid;
    w->layer[s] = (Layer){.moving = m,
                          .flat = whole ? NULL : m->surface->flat,
                          .surface = m->surface,
                          .first_vertex = w->nvertex,
                          .first_edge = w->nedge,
                          .first_triangle = w->ntriangle,
                          .grow = m->radius + 0.5 * w->reach};
    w->nvertex += m->surface->nvertex, w->nedge += m->surface->nedge, w->ntriangle += m->surface->ntriangle;
    w->drift[s] = tb_surface_drift(m);
  }
  w->vertex_surface = TB_TAKE(arena, int, (size_t)w->nvertex);
  w->edge_surface = TB_TAKE(arena, int, (size_t)w->nedge);
  w->box = TB_TAKE(arena, tbBox, (size_t)w->nvertex);
  w->own = TB_TAKE(arena, tbBox, (size_t)w->nvertex);
  if (!w->vertex_surface || !w->edge_surface || !w->box || !w->own) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    Layer* l = &w->layer[s];
    l->vertex = w->box + l->first_vertex;
    w->layer[n + s] = *l;
    w->layer[n + s].vertex = w->own + l->first_vertex;
    w->layer[n + s].grow = tb_surface_self_radius(l->moving) + 0.5 * w->reach;
    for (int v = 0; v < l->surface->nvertex; v++) w->vertex_surface[l->first_vertex + v] = s;
    for (int e = 0; e < l->surface->nedge; e++) w->edge_surface[l->first_edge + e] = s;
  }
  tb_parallel_for(ctx->threads, w->nvertex, VERTEX_GRAIN, place_vertices, w);
  tb_parallel_for(ctx->threads, n, SKIN_GRAIN, bound, w);
  return TB_OK;
}

tbStatus tb_surface_search_trees(tbContext* ctx, tbArena* arena, Find* w)
{
  for (int s = 0; s < 2 * w->scene->nsurface; s++) {
    Layer* l = &w->layer[s];
    if (!l->wanted) continue;
    l->tree = l->surface->bvh;
    l->tree.node = TB_TAKE(arena, tbBvhNode, (size_t)l->tree.nnode);
    l->triangle = TB_TAKE(arena, tbBox, (size_t)l->surface->ntriangle);
    l->edge = TB_TAKE(arena, tbBox, (size_t)l->surface->nedge);
    double* side = TB_TAKE(arena, double, 6 * ((size_t)l->surface->ntriangle + 4));
    if (!l->tree.node || !l->triangle || !l->edge || !side) return TB_ERROR_MEMORY;
    for (int k = 0; k < 6; k++) l->side[k] = side + (size_t)k * ((size_t)l->surface->ntriangle + 4);
    memcpy(l->tree.node, l->surface->bvh.node, (size_t)l->tree.nnode * sizeof *l->tree.node);
  }
  tb_parallel_for(ctx->threads, 2 * w->scene->nsurface, SKIN_GRAIN, refit, w);
  return TB_OK;
}
