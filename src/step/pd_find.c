// SPDX-License-Identifier: Apache-2.0
// Contacts of a projective step, found once: with planes, balls and capsules by distance (pd_obstacles.c), of
// vertices and faces of thick sheets by balls in motion (collide/surfaces_balls.c), else of all features.
#include "step/pd.h"
#include "step/foresee.h"
#include "step/pd_obstacles.h"

#include "collide/surfaces_balls.h"

static const double AHEAD = 2; // vertices are looked for so many times as far as they are expected

// Whether all that is to be looked at are sheets with a thickness: vertices and faces will do for them.
static bool are_thick(const tbSurfaces* s)
{
  for (int i = 0; i < s->scene.nsurface; i++)
    if (s->shape[i] >= 0 || !(s->surface[i].radius > 0)) return false;
  return true;
}

// Features of one sheet keep less from each other than its thickness where they are close at rest: those that
// will not come so close say nothing.
static void leave_out_neighbours(const tbSurfaces* s, double clearance, double reach, tbArray* near)
{
  tbSurfaceContact* c = near->data;
  size_t count = 0;
  for (size_t i = 0; i < near->count; i++) {
    const tbMovingSurface *a = &s->surface[c[i].of.surface_a], *b = &s->surface[c[i].of.surface_b];
    if (a == b) {
      int vertex = c[i].vertex_b[0];
      tbVec3 way = tb_sub3(b->end[vertex], b->start[vertex]);
      for (int k = 0; k < 3; k++)
        way = tb_madd3(way, -c[i].weight_a[k], tb_sub3(a->end[c[i].vertex_a[k]], a->start[c[i].vertex_a[k]]));
      double comes = fmax(-tb_dot3(c[i].normal, way), 0);
      if (c[i].gap - AHEAD * comes > tb_soft_contact_distance(s, &c[i], clearance).radius + reach) continue;
    }
    c[count++] = c[i];
  }
  near->count = count;
}

// Features of surfaces that are close, and those that meet on the way.
static tbStatus find_features(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                              double fall, tbPd* r)
{
  if (are_thick(&r->surfaces) && !o->certified) {
    double reach = 3 * r->clearance + fall + tb_soft_contact_coat(w, &r->surfaces);
    TB_TRY(tb_surface_balls_near(ctx, work->arena, &r->surfaces.scene, reach, AHEAD, &r->met));
    leave_out_neighbours(&r->surfaces, r->clearance, reach, &r->met);
    return tb_soft_contact_begin_near(ctx, w, o, &r->surfaces, work->pose, &r->met, r->clearance, INFINITY,
                                      &r->soft_contacts);
  }
  r->looks_again = true;
  return tb_surfaces_contacts(ctx, w, o, work, &r->surfaces, r->clearance, &r->candidates, &r->met,
                              &r->soft_contacts);
}

tbStatus tb_pd_find(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work, tbPd* r)
{
  double fall = tb_norm3(w->gravity) * o->dt * o->dt;
  TB_TRY(tb_surfaces_ahead(ctx, w, o, work, r->step, &r->surfaces, &r->clearance));
  r->surfaces.crossing = true, r->surfaces.rest = TB_CREEP;
  tbSurfaceScene all = r->surfaces.scene;
  if (tb_pd_obstacles_are_smooth(w,
                                 &r->surfaces)) { // leaves features of bodies' own surfaces to be looked at
    tbStepView view = {.world = w, .h = o->dt, .unconstrained = work->unconstrained, .centre = work->centre};
    TB_TRY(tb_pd_obstacles_find(ctx, work->arena, w, &view, work->pose, &r->surfaces, r->clearance, AHEAD,
                                fall, o, &r->smooth));
    while (r->surfaces.scene.nsurface > 0 && r->surfaces.shape[r->surfaces.scene.nsurface - 1] >= 0)
      r->surfaces.scene.nsurface--;
    r->surfaces.scene.nplane = 0;
  }
  tbStatus status = find_features(ctx, w, o, work, fall, r);
  r->surfaces.scene = all;
  return status;
}
