// SPDX-License-Identifier: Apache-2.0
// Deformable bodies in a relaxed step: linear about its start, A = M + hB + h²K, and their contacts, found
// once.
#include "step/relaxed.h"
#include "step/foresee.h"

tbStatus tb_relaxed_soft_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                               tbRelaxedSoft* r)
{
  r->candidates.scratch = work->arena;
  TB_TRY(tb_free_motion_solved(ctx, work->arena, work->cache, w, o, &r->step));
  TB_TRY(tb_surfaces_ahead(ctx, w, o, work, r->step, &r->surfaces, &r->clearance));
  TB_TRY(tb_surfaces_contacts(ctx, w, o, work, &r->surfaces, r->clearance, &r->candidates, &r->met,
                              &r->soft_contacts));
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
