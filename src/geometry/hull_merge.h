// SPDX-License-Identifier: Apache-2.0
// Triangles of a hull gathered into polygons.
#ifndef TB_GEOMETRY_HULL_MERGE_H
#define TB_GEOMETRY_HULL_MERGE_H

#include "geometry/quickhull.h"

typedef struct tbPolygonHull {
  int nface, ncorner;
  tbVec3* normal; // unit, outward                                         (nface)
  int* adr;       // first corner of a face                                (nface+1)
  int* corner;    // points, counter-clockwise                             (ncorner)
  int* across;    // the face across the edge from a corner to its next    (ncorner)
} tbPolygonHull;

// Memory from the arena. TB_ERROR_NUMERIC: no consistent set of polygons was found.
tbStatus tb_hull_merge(tbContext* ctx, tbArena* arena, const tbTriangleHull* triangles, tbPolygonHull* out);

#endif
