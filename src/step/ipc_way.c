// SPDX-License-Identifier: Apache-2.0
// The way of an iterate: continuous collision detection finds the features that come too close on it, and it
// is shortened.
#include "step/ipc.h"

static const double NEARBY = 0.1;  // of d̂: what a step may leave between features that were farther apart
static const double SHORTER = 0.9; // of the way to where features come too close

static const double LOADED = 0.01; // of what barriers hold: more of it is noticed

static const double ANEW = 0.25; // of the way: where features are searched for again

enum { CUTS = 60 }; // of a step, before it is given up

void tb_ipc_go(tbIpc* ipc, double share)
{
  for (int i = 0; i < ipc->nblock; i++) ipc->trial[i] = tb_madd3(ipc->v[i], share, ipc->direction[i]);
  tb_ipc_place(ipc, ipc->trial, share < 1 ? ipc->progress + share * (1 - ipc->progress) : 1);
}

tbStatus tb_ipc_first_impact(tbContext* ctx, tbIpc* ipc, double* when)
{
  const tbSurfaces* s = &ipc->surfaces;
  *when = 1;
  ipc->met.count = 0;
  if (!tb_surface_inside(&s->scene, &ipc->candidates)) // a body that turns leaves the straight way
    TB_TRY(tb_surface_find(ctx, &s->scene, 1.01 * ipc->most_dhat, 1, &ipc->candidates));
  TB_TRY(tb_surface_meet(ctx, &s->scene, &ipc->candidates, NEARBY * ipc->dhat, &ipc->met));
  for (size_t i = 0; i < ipc->met.count; i++) {
    const tbSurfaceContact* c = (const tbSurfaceContact*)ipc->met.data + i;
    if (tb_surface_may_touch(&ipc->surfaces.scene, tb_surfaces_body(s, &c->of, 0),
                             tb_surfaces_body(s, &c->of, 1)))
      *when = fmin(*when, SHORTER * c->t);
  }
  return TB_OK;
}

tbStatus tb_ipc_is_clear(tbContext* ctx, tbIpc* ipc, bool* clear)
{
  double when, barrier;
  TB_TRY(tb_ipc_first_impact(ctx, ipc, &when));
  *clear = when == 1;
  if (!*clear) return TB_OK;
  TB_TRY(tb_ipc_find(ctx, ipc, &barrier));
  *clear = barrier + tb_ipc_volume_energy(ipc) <= (1 + LOADED) * ipc->stored;
  return TB_OK;
}

// A shorter share of a body that turns is another way, and has to be looked at again; where it has become
// much shorter, at the few features alone that can meet on it.
tbStatus tb_ipc_clear_way(tbContext* ctx, tbIpc* ipc, double* share)
{
  double found = *share; // candidates are of this share, or of a longer one
  for (int cut = 0; cut < CUTS; cut++) {
    double when;
    tb_ipc_go(ipc, *share);
    if (*share == 0) return TB_OK;
    if (*share < ANEW * found) {
      TB_TRY(tb_surface_find(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, &ipc->candidates));
      found = *share;
    }
    TB_TRY(tb_ipc_first_impact(ctx, ipc, &when));
    if (when == 1) return TB_OK;
    *share *= fmin(fmax(when, 0.05), 0.95);
  }
  *share = 0;
  tb_ipc_go(ipc, 0);
  return TB_OK;
}
