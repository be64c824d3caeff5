// SPDX-License-Identifier: Apache-2.0
#include "step/trim.h"

static const double SPARE = 0.05; // of the clearance: what surfaces must at least keep of it
static const double CUT = 0.8;    // of the way to an impact that cannot be prevented, that is gone

enum { CUTS = 20 }; // before bodies that meet are left where they started

// What comes out of a solid in the step that it starts behind is let go.
static void let_out(const tbSurfaces* s, tbArray* met)
{
  tbSurfaceContact *c = met->data, start;
  size_t count = 0;
  for (size_t i = 0; i < met->count; i++)
    if (!tb_surface_contact_at(&s->scene, &c[i].of, 0, &start) || !tb_surface_is_behind(&s->scene, &start))
      c[count++] = c[i];
  met->count = count;
}

tbStatus tb_surfaces_look(tbContext* ctx, const tbSurfaces* s, double clearance,
                          tbSurfaceCandidates* candidates, tbArray* met)
{
  met->count = 0;
  if (!tb_surface_inside(&s->scene, candidates))
    TB_TRY(tb_surface_mesh_renew(ctx, &s->scene, 6 * clearance, TB_SURFACES_AHEAD, candidates));
  TB_TRY(tb_surface_meet(ctx, &s->scene, candidates, SPARE * clearance, met));
  if (s->crossing) let_out(s, met);
  return TB_OK;
}

static int moving_body(const tbWorld* w, const tbSurfaces* s, const tbSurfaceContact* c, int side)
{
  if (side == 0 && c->of.kind == TB_SURFACE_PLANE_VERTEX) return -1;
  int body = s->surface[side ? c->of.surface_b : c->of.surface_a].body;
  const tbBody* b = &tb_bodies(w)[body];
  return b->motion == TB_BODY_DYNAMIC ? body : -1;
}

// A body goes a share of the step, from its start: impacts on the way no longer count.
static void shorten(const tbWorld* w, double h, int body, double share, tbStepWork* work)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbUnconstrained* f = &work->unconstrained[body];
  f->at = tb_transform(b->q, b->x);
  f->struck = -1;
  f->share = share;
  f->lost = fmax(f->lost, (1 - share) * h);
}

tbStatus tb_surfaces_trim(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                          double clearance, tbSurfaces* s, tbSurfaceCandidates* candidates, tbArray* met,
                          tbStepReport* report)
{
  double least = 1;
  bool shorter = true;
  for (int round = 0; shorter && met->count > 0; round++) {
    shorter = false;
    for (size_t i = 0; i < met->count; i++) {
      const tbSurfaceContact* c = (const tbSurfaceContact*)met->data + i;
      for (int side = 0; side < 2; side++) {
        int body = moving_body(w, s, c, side);
        double before = body < 0 ? 0 : work->unconstrained[body].share;
        if (before == 0) continue;
        double share = round < CUTS ? before * fmin(CUT, c->t) : 0;
        shorten(w, o->dt, body, share, work);
        least = fmin(least, share);
        shorter = true;
      }
    }
    tb_surfaces_move(ctx, &work->assembly.view, s);
    TB_TRY(tb_surfaces_look(ctx, s, clearance, candidates, met));
  }
  report->trimmed = 1 - least;
  if (report->outcome == TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
  return TB_OK;
}
