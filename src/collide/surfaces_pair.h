// SPDX-License-Identifier: Apache-2.0
// What the searches among surfaces share: the corners of a pair of features, and loops over many pairs.
#ifndef TB_COLLIDE_SURFACES_PAIR_H
#define TB_COLLIDE_SURFACES_PAIR_H

#include "collide/features.h"
#include "collide/surfaces.h"
#include "tribo/geometry.h"

// Features, counts and vertices; the rest is zero.
tbSurfaceContact tb_surface_corners(const tbSurfaceScene* scene, const tbSurfaceFeatures* features);

// Where the corners are, in the order of features.h and ccd.h: those of b, then those of a.
static inline void tb_surface_places(const tbSurfaceScene* scene, const tbSurfaceContact* c, bool end,
                                     tbVec3 x[4])
{
  const tbMovingSurface *a = &scene->surface[c->of.surface_a], *b = &scene->surface[c->of.surface_b];
  const tbVec3 *xa = end ? a->end : a->start, *xb = end ? b->end : b->start;
  int n = 0;
  for (int k = 0; k < c->count_b; k++) x[n++] = xb[c->vertex_b[k]];
  for (int k = 0; k < c->count_a; k++) x[n++] = xa[c->vertex_a[k]];
}

static inline void tb_surface_weigh(tbSurfaceContact* c, const double weight[4])
{
  for (int k = 0; k < c->count_b; k++) c->weight_b[k] = weight[k];
  for (int k = 0; k < c->count_a; k++) c->weight_a[k] = weight[c->count_b + k];
}

// p_b − p_a for these weights.
static inline tbVec3 tb_surface_way(const tbVec3 x[4], const tbSurfaceContact* c)
{
  tbVec3 way = tb_zero3();
  for (int k = 1; k < c->count_b; k++) way = tb_madd3(way, c->weight_b[k], tb_sub3(x[k], x[0]));
  for (int k = 0; k < c->count_a; k++) way = tb_madd3(way, c->weight_a[k], tb_sub3(x[0], x[c->count_b + k]));
  return way;
}

// The least n·(x_b − x_a) over corners, with what rounding may hide taken off. x: nb corners of b, then those
// of a; n of length 1 at most.
static inline double tb_surface_parted(const tbVec3 x[4], int nb, tbVec3 n)
{
  double b = 0, a = -INFINITY, size = 0; // along n, from the first corner of b
  for (int k = 1; k < 4; k++) {
    tbVec3 d = tb_sub3(x[k], x[0]);
    double h = tb_dot3(n, d);
    size += tb_maxabs3(d);
    if (k < nb) b = fmin(b, h);
    else a = fmax(a, h);
  }
  return b - a - 4e-15 * size;
}

// The normal of features whose closest points, of the given weights, are known: along the way between them,
// or where that is lost in rounding their common normal, on the side they are on. False: there is none.
bool tb_surface_normal(const tbSurfaceScene* scene, const tbSurfaceContact* c, const tbVec3 x[4], tbVec3 way,
                       tbVec3* normal);

// Whether a vertex and a face are the ones to report their closest points, of which these are the face's
// weights.
bool tb_surface_reports(const tbSurfaceScene* scene, const tbSurfaceFeatures* features,
                        const double weight[3]);

// The triangle beyond a side or a corner that is closer to a point than a triangle of the surface, whose
// closest place has these weights; all at the moment t. Then *way leads to the point from there; −1: there is
// none.
int tb_surface_closer_beyond(const tbMovingSurface* surface, int triangle, const double weight[3],
                             tbVec3 point, double t, tbVec3* way);

// The signed distance of a vertex from a plane, both at the start or at the end.
static inline double tb_surface_height(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, bool end)
{
  const tbMovingPlane* plane = &scene->plane[f->surface_a];
  const tbMovingSurface* surface = &scene->surface[f->surface_b];
  return tb_dot3(plane->normal[end], (end ? surface->end : surface->start)[f->feature_b]) -
         plane->offset[end];
}

// A search that was stopped, or had no memory.
tbStatus tb_surface_fail(tbContext* ctx, tbStatus status);

// Whether its vertices end in their boxes, and in those beside the surface's drift if it may touch itself.
bool tb_surface_is_inside(const tbMovingSurface* surface, const tbBox* box, const tbBox* own);

// Of faces and vertices, or of edges.
void tb_surface_ways(tbContext* ctx, const tbSurfaceScene* scene, const tbArray* features, tbSurfaceWay* out);

// Calls `test` for every candidate (way: null for planes), in pieces side by side; what it makes a contact of
// is appended to `contacts`, in the order of candidates. When it fails the contacts are as they were.
typedef bool tbSurfaceTest(const tbSurfaceScene* scene, const tbSurfaceFeatures* features,
                           const tbSurfaceWay* way, double distance, tbSurfaceContact* out);
tbStatus tb_surface_gather(tbContext* ctx, const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates,
                           tbSurfaceTest* test, double distance, tbArray* contacts);

#endif
