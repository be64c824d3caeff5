// SPDX-License-Identifier: Apache-2.0
#include "step/foresee.h"

#include "step/trim.h"

static const double NEAR = 6; // clearances: features so close are contacts

tbStatus tb_surfaces_ahead(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           const tbBodyStep* step, tbSurfaces* out, double* clearance)
{
  TB_TRY(tb_surfaces_begin(ctx, work->arena, work->cache, w, work->pose, out));
  *clearance = tb_surfaces_clearance(out, o->clearance);
  tbStepView view = {
      .world = w, .h = o->dt, .unconstrained = work->unconstrained, .centre = work->centre, .step = step};
  tb_surfaces_expect(&view, out);
  return TB_OK;
}

tbStatus tb_surfaces_contacts(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                              const tbSurfaces* s, double clearance, tbSurfaceCandidates* candidates,
                              tbArray* met, tbArray* soft_contacts)
{
  double reach = fmax(NEAR * clearance + tb_norm3(w->gravity) * o->dt * o->dt, o->margin);
  reach += tb_soft_contact_coat(w, s);
  bool changed;
  TB_TRY(tb_surface_find(ctx, &s->scene, reach, TB_SURFACES_AHEAD, candidates));
  TB_TRY(tb_soft_contact_begin(ctx, w, o, s, work->pose, candidates, clearance, soft_contacts));
  TB_TRY(tb_surface_meet(ctx, &s->scene, candidates, clearance, met));
  tbSoftContactMet how = {.expected = true, .clearance = clearance};
  return tb_soft_contact_absorb(ctx, w, s, work->pose, how, met, soft_contacts, &changed);
}
