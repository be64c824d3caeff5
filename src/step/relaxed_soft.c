// SPDX-License-Identifier: Apache-2.0
// Deformable bodies in a relaxed step: linear about its start, A = M + hB + h²K, and their contacts, found
// once.
#include "step/relaxed.h"
#include "step/trim.h"

static const double NEAR = 6; // clearances: features so close are contacts

// A thousandth of the finest surface's mean edge.
static double clearance_of(const tbSurfaces* s, const tbStepOptions* o)
{
  if (o->clearance > 0) return o->clearance;
  double least = INFINITY;
  for (int i = 0; i < s->scene.nsurface; i++)
    if (s->shape[i] < 0) least = fmin(least, s->surface[i].surface->edge_length);
  return least < INFINITY ? 1e-3 * least : 0;
}

// Vertices are taken to go on as they go, and fall; where bodies in prescribed motion go is known.
static void expect(const tbWorld* w, double h, const tbStepWork* work, tbRelaxedSoft* r)
{
  tbSurfaces* s = &r->surfaces;
  tbStepView view = {.world = w, .h = h, .unconstrained = work->unconstrained, .step = r->step};
  tb_surfaces_lead(&view, s);
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbMovingSurface* m = &s->surface[i];
    if (m->fixed) continue;
    if (s->shape[i] < 0) {
      tb_bodies(w)[m->body].kind->expect(&view, m->body, s->end[i]);
      continue;
    }
    const tbUnconstrained* f = &work->unconstrained[m->body];
    for (int k = 0; k < m->surface->nvertex; k++) {
      tbVec3 arm = tb_sub3(m->start[k], work->centre[m->body].x);
      s->end[i][k] = tb_madd3(m->start[k], h, tb_add3(f->v, tb_cross3(f->w, arm)));
    }
  }
}

tbStatus tb_relaxed_soft_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                               tbRelaxedSoft* r)
{
  double fall = tb_norm3(w->gravity) * o->dt * o->dt;
  bool changed;
  r->candidates.scratch = work->arena;
  TB_TRY(tb_free_motion_solved(ctx, work->arena, work->cache, w, o, &r->step));
  TB_TRY(tb_surfaces_begin(ctx, work->arena, work->cache, w, work->pose, &r->surfaces));
  r->clearance = clearance_of(&r->surfaces, o);
  expect(w, o->dt, work, r);
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
