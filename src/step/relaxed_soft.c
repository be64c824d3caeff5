// SPDX-License-Identifier: Apache-2.0
// Deformable bodies in a relaxed step: linear about its start, A = M + hB + h²K, or split into point masses
// and rows (xpbd); and their contacts, found once. With `newton_steps`, elasticity is taken anew where the
// step has ended, until that changes nothing.
#include "step/relaxed.h"
#include "step/foresee.h"

#include <math.h>
#include <string.h>

// All that deforms as point masses and rows, linear about what `last` leads to.
static tbStatus split_all(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                          tbRelaxedSoft* r)
{
  if (!r->step) r->step = TB_TAKE(work->arena, tbBodyStep, w->body.count);
  if (!r->step) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    const tbVec3* V = r->last ? (const tbVec3*)r->last[i] : NULL;
    if (b->kind->split) TB_TRY(b->kind->split(ctx, work->arena, w, b, o->dt, V, &r->step[i]));
  }
  return TB_OK;
}

tbStatus tb_relaxed_soft_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                               tbRelaxedSoft* r)
{
  r->candidates.scratch = work->arena;
  if (r->split) TB_TRY(split_all(ctx, w, o, work, r));
  else TB_TRY(tb_free_motion_solved(ctx, work->arena, work->cache, w, o, &r->step));
  if (!r->split && o->newton_steps > 1)
    TB_TRY(tb_implicit_newton_begin(ctx, work, w, TB_FORM_PRIMAL, o->dt, r->step, &r->newton));
  TB_TRY(tb_surfaces_ahead(ctx, w, o, work, r->step, &r->surfaces, &r->clearance));
  r->surfaces.crossing = true, r->surfaces.rest = r->split ? TB_CREEP : 0;
  r->surfaces.spread = r->spread;
  TB_TRY(tb_surfaces_contacts(ctx, w, o, work, &r->surfaces, r->clearance, &r->candidates, &r->met,
                              &r->soft_contacts));
  return tb_soft_contact_constraints(ctx, w, o, &r->surfaces, r->clearance, &r->soft_contacts,
                                     &work->constraints);
}

// What the velocities of nodes have changed by since elements were linearised about them.
static double change_of(const tbWorld* w, const tbStepWork* work, const tbRelaxedSoft* r)
{
  double most = 0;
  for (size_t i = 0; i < w->body.count; i++)
    for (int k = 0; k < r->step[i].size; k++) {
      double now = tb_view_velocity(&work->assembly.view, (int)i)[k];
      double change = fabs(now - (r->last ? r->last[i][k] : 0));
      most = change <= most ? most : change; // a NaN stays
    }
  return most;
}

static tbStatus split_again(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbRelaxedSoft* r)
{
  if (!r->last) r->last = TB_TAKE(work->arena, double*, w->body.count);
  if (!r->last) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) {
    size_t n = (size_t)r->step[i].size;
    if (!r->last[i]) r->last[i] = TB_TAKE(work->arena, double, n);
    if (!r->last[i]) return TB_ERROR_MEMORY;
    if (n > 0) memcpy(r->last[i], tb_view_velocity(&work->assembly.view, (int)i), n * sizeof **r->last);
  }
  return split_all(ctx, w, o, work, r);
}

tbStatus tb_relaxed_soft_again(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, bool last,
                               tbStepWork* work, tbStepReport* report, bool* again)
{
  tbRelaxedSoft* r = work->own;
  *again = false;
  if (!r->step || o->newton_steps == 1) return TB_OK;
  if (r->split) report->newton_change = change_of(w, work, r);
  else
    TB_TRY(tb_implicit_newton_next(ctx, &r->newton, &work->assembly.view, o->newton_tolerance, last, r->step,
                                   &report->newton_change));
  report->newton_missed = !(report->newton_change <= o->newton_tolerance);
  *again = report->newton_missed && !last;
  return *again && r->split ? split_again(ctx, w, o, work, r) : TB_OK;
}

tbStatus tb_relaxed_soft_count(tbContext* ctx, tbStepWork* work, tbRelaxedSoft* r, tbStepReport* report)
{
  if (!r->step) return TB_OK;
  tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
  return tb_surfaces_report(ctx, &r->surfaces, report);
}

void tb_relaxed_soft_end(tbContext* ctx, tbRelaxedSoft* r)
{
  tb_surface_candidates_free(ctx, &r->candidates);
  tb_array_free(ctx, &r->soft_contacts);
  tb_array_free(ctx, &r->met);
}
