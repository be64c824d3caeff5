// SPDX-License-Identifier: Apache-2.0
// A convex polytope: vertices, faces and edges, ready for support queries, separating axes and clipping.
#ifndef TB_GEOMETRY_HULL_H
#define TB_GEOMETRY_HULL_H

#include "tribo/geometry.h"

typedef struct tbHullEdge {
  int vertex[2]; // ends
  int face[2];   // the faces it joins; vertex[0] → vertex[1] runs counter-clockwise around face[0]
} tbHullEdge;

struct tbHull {
  int nvertex, nface, nedge;
  tbVec3* vertex;      // (nvertex)
  tbVec3* face_normal; // unit, outward                                        (nface)
  double* face_offset; // normal·x = offset on the face; no vertex lies beyond, to rounding (nface)
  int* face_adr;       // first corner of a face in face_vertex                (nface+1)
  int* face_vertex;    // corners, counter-clockwise seen from outside         (face_adr[nface])
  tbHullEdge* edge;    // each once                                            (nedge)
  int* near_adr;       // first neighbour of a vertex in `near`                (nvertex+1)
  int* near;           // vertices joined to it by an edge                     (near_adr[nvertex])
  tbVec3 centre;       // of volume
  double radius;       // of the smallest sphere about the centre that holds the hull
};

// Zeroed arrays for so many features, face_vertex and near of 2·nedge each; null: no memory. Free with
// tb_hull_free.
tbHull* tb_hull_allocate(tbContext* ctx, int nvertex, int nface, int nedge);

#endif
