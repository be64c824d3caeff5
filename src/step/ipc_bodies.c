// SPDX-License-Identifier: Apache-2.0
// The unknowns of a step: rigid bodies and nodes that move freely, surfaces, and what is known of them.
#include "step/ipc.h"

#include "kind/unconstrained.h"

#include <string.h>

enum { PIECES = 8 }; // of the rotation of bodies that are not known to turn fast

static tbStatus begin_frame(const tbWorld* w, const tbStepWork* work, int body, tbIpc* ipc)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbTransform at = work->centre[body];
  tbMat3 R = tb_quat_mat3(at.q);
  work->unconstrained[body].held = true; // x + h v: no parabola
  ipc->frame[ipc->nframe++] = (tbIpcFrame){.body = body,
                                           .block = ipc->nblock,
                                           .start = at,
                                           .inertia = tb_mat3_mul(R, tb_mat3_mult(b->inertia, R)),
                                           .v_free = work->unconstrained[body].v,
                                           .w_free = work->unconstrained[body].w,
                                           .v_forced = tb_sub3(work->unconstrained[body].v, b->v),
                                           .w_forced = tb_sub3(work->unconstrained[body].w, b->w),
                                           .start_share = 1,
                                           .now = at,
                                           .turn = tb_mat3_identity()};
  ipc->nblock += 2;
  return TB_OK;
}

static tbStatus begin_nodes(tbContext* ctx, const tbWorld* w, tbStepWork* work, int body, tbIpc* ipc)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbIpcNodes* n = &ipc->nodes[ipc->nnodes++];
  *n = (tbIpcNodes){.body = body, .block = ipc->nblock, .start_share = 1, .elastic = 1};
  tbBodyFactor* kept = (tbBodyFactor*)work->cache->factor.data + body;
  TB_TRY(b->kind->potential(ipc->arena, kept, w, b, ipc->h, &n->of));
  TB_TRY(b->kind->begin(ctx, ipc->arena, kept, b, &ipc->step[body]));
  ipc->step[body].lent = true;
  size_t count = (size_t)n->of.fem->nnode, upper = (size_t)n->of.fem->assembly.upper_adr[count];
  n->start = TB_TAKE(ipc->arena, tbVec3, count), n->x = TB_TAKE(ipc->arena, tbVec3, count);
  n->rhs = TB_TAKE(ipc->arena, tbVec3, count), n->force = TB_TAKE(ipc->arena, double, 3 * count);
  n->base = (double(*)[9])TB_TAKE(ipc->arena, double, 9 * upper);
  n->slot = TB_TAKE(ipc->arena, int, upper);
  if (!n->start || !n->x || !n->rhs || !n->force || !n->base || !n->slot) return TB_ERROR_MEMORY;
  if (!n->of.fem->cloth) {
    n->guarded = TB_TAKE(ipc->arena, uint8_t, (size_t)n->of.fem->nelement[0]);
    if (!n->guarded) return TB_ERROR_MEMORY;
  }
  memcpy(n->start, n->of.x, count * sizeof *n->start);
  memcpy(n->x, n->of.x, count * sizeof *n->x);
  tb_node_base(ctx, ipc->h, &n->of, n->force, n->base, n->rhs);
  ipc->nblock += (int)count;
  return TB_OK;
}

static tbStatus refuse(tbContext* ctx, const tbWorld* w, const tbStepOptions* o)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion == TB_BODY_DYNAMIC && b->kind->surface && !b->kind->potential)
      return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "the scheme ipc does not move \"%s\", a body of the kind %s",
                     b->name, b->kind->name);
  }
  if (o->exact_friction && o->integrator != TB_INTEGRATOR_EULER)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "the scheme ipc has exact_friction with the integrator euler alone");
  return TB_OK;
}

static tbStatus begin_surface(const tbWorld* w, const int* of_body, int i, tbIpc* ipc)
{
  tbMovingSurface* m = &ipc->surfaces.surface[i];
  tbIpcSurface* s = &ipc->surface[i];
  size_t n = (size_t)m->surface->nvertex;
  const tbBody* b = &tb_bodies(w)[m->body];
  s->index = of_body[m->body];
  s->source = b->motion != TB_BODY_DYNAMIC ? TB_IPC_KNOWN
              : ipc->surfaces.shape[i] < 0 ? TB_IPC_NODE
                                           : TB_IPC_FRAME;
  s->begin = TB_TAKE(ipc->arena, tbVec3, n), s->now = TB_TAKE(ipc->arena, tbVec3, n);
  s->last = TB_TAKE(ipc->arena, tbVec3, n);
  if (!s->begin || !s->now || !s->last) return TB_ERROR_MEMORY;
  if (n) {
    memcpy(s->begin, m->start, n * sizeof *s->begin);
    memcpy(s->now, m->start, n * sizeof *s->now);
    memcpy(s->last, m->end, n * sizeof *s->last);
  }
  if (s->source == TB_IPC_FRAME) {
    m->radius = 0; // its triangles are its surface
    tbIpcFrame* f = &ipc->frame[s->index];
    for (size_t k = 0; k < n; k++) f->reach = fmax(f->reach, tb_distance3(s->begin[k], f->start.x));
  } else if (s->source == TB_IPC_KNOWN) m->radius = 0;
  m->start = s->now;
  return TB_OK;
}

// As many pieces as the body turns by now, or could once something stops it, within limits.
static void begin_turning(const tbIpc* ipc, tbStepWork* work, tbIpcFrame* f)
{
  int now = tb_turn_pieces(ipc->h * tb_norm3(f->w_free));
  int struck = f->reach > 0 ? tb_turn_pieces(ipc->h * tb_norm3(f->v_free) / f->reach) : 1;
  if (struck > PIECES) struck = PIECES;
  f->pieces = work->unconstrained[f->body].pieces = now > struck ? now : struck;
}

static tbStatus begin_vectors(tbIpc* ipc)
{
  size_t n = (size_t)ipc->nblock;
  ipc->held = TB_TAKE(ipc->arena, uint8_t, n);
  ipc->v = TB_TAKE(ipc->arena, tbVec3, n), ipc->trial = TB_TAKE(ipc->arena, tbVec3, n);
  ipc->gradient = TB_TAKE(ipc->arena, tbVec3, n), ipc->direction = TB_TAKE(ipc->arena, tbVec3, n);
  ipc->lead = TB_TAKE(ipc->arena, tbVec3, n), ipc->last = TB_TAKE(ipc->arena, tbVec3, n);
  if (!ipc->held || !ipc->v || !ipc->trial || !ipc->gradient || !ipc->direction || !ipc->lead || !ipc->last)
    return TB_ERROR_MEMORY;
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* b = &ipc->nodes[i];
    for (int k = 0; k < b->of.fem->nnode; k++) ipc->held[b->block + k] = b->of.fem->pinned[k];
  }
  return TB_OK;
}

tbStatus tb_ipc_begin_bodies(tbContext* ctx, tbStepWork* work, tbIpc* ipc)
{
  const tbWorld* w = ipc->world;
  size_t n = w->body.count;
  TB_TRY(refuse(ctx, w, ipc->options));
  TB_TRY(tb_cache_factors(ctx, work->cache, n));
  ipc->frame = TB_TAKE(ipc->arena, tbIpcFrame, n), ipc->nodes = TB_TAKE(ipc->arena, tbIpcNodes, n);
  ipc->step = TB_TAKE(ipc->arena, tbBodyStep, n);
  int* of_body = TB_TAKE(ipc->arena, int, n);
  if (!ipc->frame || !ipc->nodes || !ipc->step || !of_body) return TB_ERROR_MEMORY;
  for (int i = 0; i < (int)n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    of_body[i] = b->kind->surface ? ipc->nnodes : ipc->nframe;
    if (b->motion != TB_BODY_DYNAMIC) continue;
    if (b->kind->surface) TB_TRY(begin_nodes(ctx, w, work, i, ipc));
    else TB_TRY(begin_frame(w, work, i, ipc));
  }
  TB_TRY(begin_vectors(ipc));
  for (int i = 0; i < ipc->nnodes; i++)
    ipc->nodes[i].before = tb_ipc_before(ipc->kept, &ipc->nodes[i], ipc->h);
  TB_TRY(tb_ipc_begin_integrator(ctx, ipc));
  TB_TRY(tb_surfaces_begin(ctx, ipc->arena, work->cache, w, work->pose, &ipc->surfaces));
  ipc->surfaces.scene.rigid_pairs = true;
  tbStepView view = {.world = w, .h = ipc->h, .unconstrained = work->unconstrained, .step = ipc->step};
  tb_surfaces_lead(&view, &ipc->surfaces);
  int nsurface = ipc->surfaces.scene.nsurface, nplane = ipc->surfaces.scene.nplane;
  ipc->surface = TB_TAKE(ipc->arena, tbIpcSurface, (size_t)nsurface);
  ipc->plane = TB_TAKE(ipc->arena, tbMovingPlane, (size_t)nplane);
  if (!ipc->surface || !ipc->plane) return TB_ERROR_MEMORY;
  for (int i = 0; i < nsurface; i++) TB_TRY(begin_surface(w, of_body, i, ipc));
  if (nplane) memcpy(ipc->plane, ipc->surfaces.plane, (size_t)nplane * sizeof *ipc->plane);
  for (int i = 0; i < ipc->nframe; i++) begin_turning(ipc, work, &ipc->frame[i]);
  tb_ipc_begin_scale(ctx, ipc);
  ipc->smooth = ipc->h * ipc->options->velocity_threshold;
  return TB_OK;
}
