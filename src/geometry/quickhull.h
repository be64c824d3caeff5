// SPDX-License-Identifier: Apache-2.0
// The convex hull of points as triangles; src/geometry/hull.c makes polygons of them.
#ifndef TB_GEOMETRY_QUICKHULL_H
#define TB_GEOMETRY_QUICKHULL_H

#include "base/memory.h"
#include "tribo/math.h"

typedef struct tbHullTriangle {
  int v[3];       // counter-clockwise seen from outside; v[0] < 0: a slot not in use
  int near[3];    // the triangle across v[i] → v[i+1]
  tbVec3 normal;  // unit
  int stamp;      // of the last point that looked at it; negative: and does not see it
  int outside;    // first of the points above it that wait to be added; −1: none
  int farthest;   // of those
  double height;  // of the farthest
  int prev, next; // in the queue of triangles with points outside
} tbHullTriangle;

typedef struct tbTriangleHull {
  const tbVec3* point;
  int npoint;
  double tolerance; // points at most this far above a triangle's plane count as on it
  tbHullTriangle* triangle;
  int nslot; // slots of `triangle` that are or were in use
} tbTriangleHull;

static inline double tb_hull_height(const tbTriangleHull* h, const tbHullTriangle* t, tbVec3 p)
{
  return tb_dot3(t->normal, tb_sub3(p, h->point[t->v[0]]));
}

// Points must be at most 1 in size, and zero where below 2⁻¹⁰⁰; memory from the arena.
tbStatus tb_quickhull(tbContext* ctx, tbArena* arena, const tbVec3* points, int count, tbTriangleHull* out);

#endif
