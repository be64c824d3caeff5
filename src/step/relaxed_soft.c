// SPDX-License-Identifier: Apache-2.0
// Deformable bodies in a relaxed step: linear about its start, A = M + hB + h²K, and their contacts, found
// once.
#include "step/relaxed.h"
#include "step/trim.h"

static const double NEAR = 6; // clearances: features so close are contacts

tbStatus tb_relaxed_soft_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                               tbRelaxedSoft* r)
{
  double fall = tb_norm3(w->gravity) * o->dt * o->dt;
  bool changed;
  r->candidates.scratch = work->arena;
  TB_TRY(tb_free_motion_solved(ctx, work->arena, work->cache, w, o, &r->step));
  TB_TRY(tb_surfaces_begin(ctx, work->arena, work->cache, w, work->pose, &r->surfaces));
  r->clearance = tb_surfaces_clearance(&r->surfaces, o->clearance);
  tb_surfaces_expect(&(tbStepView){.world = w,
                                   .h = o->dt,
                                   .unconstrained = work->unconstrained,
                                   .centre = work->centre,
                                   .step = r->step},
                     &r->surfaces);
  TB_TRY(tb_surface_find(ctx, &r->surfaces.scene, NEAR * r->clearance + fall, TB_SURFACES_AHEAD,
                         &r->candidates));
  TB_TRY(tb_soft_contact_begin(ctx, w, o, &r->surfaces, work->pose, &r->candidates, r->clearance,
                               &r->soft_contacts));
  TB_TRY(tb_surface_meet(ctx, &r->surfaces.scene, &r->candidates, r->clearance, &r->met));
  TB_TRY(
      tb_soft_contact_absorb(ctx, w, &r->surfaces, work->pose, false, &r->met, &r->soft_contacts, &changed));
  return tb_soft_contact_constraints(ctx, w, o, &r->surfaces, r->clearance, &r->soft_contacts,
                                     &work->constraints);
}

tbStatus tb_relaxed_soft_count(tbContext* ctx, tbStepWork* work, tbRelaxedSoft* r, tbStepReport* report)
{
  tbIntersections met;
  if (!r->step) return TB_OK;
  tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
  TB_TRY(tb_surfaces_count(ctx, &r->surfaces, &met));
  report->intersections = met.crossing, report->touching = met.touching;
  if (met.crossing + met.overlapping > 0 && report->outcome == TB_CONVERGED) report->outcome = TB_FAILED;
  return TB_OK;
}

void tb_relaxed_soft_end(tbContext* ctx, tbRelaxedSoft* r)
{
  tb_surface_candidates_free(ctx, &r->candidates);
  tb_array_free(ctx, &r->soft_contacts);
  tb_array_free(ctx, &r->met);
}
