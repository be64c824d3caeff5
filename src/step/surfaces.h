// SPDX-License-Identifier: Apache-2.0
// The surfaces of a world over one step: where their vertices start, and where a solution takes them.
#ifndef TB_STEP_SURFACES_H
#define TB_STEP_SURFACES_H

#include "collide/intersect.h"
#include "collide/surfaces.h"
#include "step/integrate.h"

// m/s: what sticks may slide by so much under schemes that stop after some iterations.
#define TB_CREEP 1e-3

typedef struct tbSurfaces {
  tbSurfaceScene scene;
  tbMovingSurface* surface; // bodies' own, in their order, then those of shapes            (scene.nsurface)
  tbVec3** end; // of each: where its vertices end                                          (scene.nsurface)
  int* shape;   // of each: in tbWorld.shape; −1: a body's own                              (scene.nsurface)
  tbMovingPlane* plane; // (scene.nplane)
  int* plane_shape;     // (scene.nplane)
  int* of_body;  // the body's own surface; −1: it has none                                     (bodies)
  int* of_shape; // the surface, or plane, of a shape                                           (shapes)
  bool spread;   // spheres are touched at many places: at the corners of their surfaces
  bool crossing; // steps may end with surfaces in each other: solids are pushed back out of what they are in
  double rest;   // m/s: slower sliding counts as rest, where the scheme creeps; 0: where a step is exact
} tbSurfaces;

// Of the features of a contact: the body of a side, its shape (−1: a deformable body has none), and what the
// two keep from each other beyond the clearance. A round shape's radius is only how far its surface lies
// within it.
static inline int tb_surfaces_body(const tbSurfaces* s, const tbSurfaceFeatures* of, int side)
{
  if (side) return s->surface[of->surface_b].body;
  return of->kind == TB_SURFACE_PLANE_VERTEX ? s->plane[of->surface_a].body : s->surface[of->surface_a].body;
}

static inline int tb_surfaces_shape(const tbSurfaces* s, const tbSurfaceFeatures* of, int side)
{
  if (side) return s->shape[of->surface_b];
  return of->kind == TB_SURFACE_PLANE_VERTEX ? s->plane_shape[of->surface_a] : s->shape[of->surface_a];
}

static inline double tb_surfaces_radius(const tbSurfaces* s, const tbSurfaceFeatures* of)
{
  double sum = s->surface[of->surface_b].rigid ? 0 : s->surface[of->surface_b].radius;
  if (of->kind != TB_SURFACE_PLANE_VERTEX && !s->surface[of->surface_a].rigid)
    sum += s->surface[of->surface_a].radius;
  return sum;
}

// Everything at its start: rigid bodies at the poses given. Makes the surface meshes that the cache lacks.
tbStatus tb_surfaces_begin(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* world,
                           const tbTransform* pose, tbSurfaces* out);

// The mean edge of the finest surface that deforms, or, where none does, that is led; ∞: there is neither.
double tb_surfaces_edge(const tbSurfaces* surfaces);

// How far deformable surfaces stay from others: as asked, or 0: a thousandth of the finest one's mean edge.
double tb_surfaces_clearance(const tbSurfaces* surfaces, double asked);

// What is in prescribed motion, to its end.
void tb_surfaces_lead(const tbStepView* view, tbSurfaces* surfaces);

// Everything to where it would end before anything is solved: what is in prescribed motion is known, all else
// goes on as it goes, and falls.
void tb_surfaces_expect(const tbStepView* view, tbSurfaces* surfaces);

// What moves freely, to the ends of the step that velocities lead to.
void tb_surfaces_move(tbContext* ctx, const tbStepView* view, tbSurfaces* surfaces);

// What meets at the end: pairs of triangles (intersect.h), and vertices behind planes or in them. Rigid
// surfaces among each other do not count, unless scene.rigid_pairs says so. The list: an array of
// tbSurfacesMeet, of bodies; two bodies may come up several times.
tbStatus tb_surfaces_count(tbContext* ctx, const tbSurfaces* surfaces, tbIntersections* out);
tbStatus tb_surfaces_list(tbContext* ctx, const tbSurfaces* surfaces, tbArray* out);

// The same into a step's report. A step whose surfaces cross or overlap at its end has not converged.
tbStatus tb_surfaces_report(tbContext* ctx, const tbSurfaces* surfaces, tbStepReport* report);

#endif
