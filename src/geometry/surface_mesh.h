// SPDX-License-Identifier: Apache-2.0
// The surface of a body: its surface as triangles over vertices that may move, with each edge once, and a
// tree.
//
// Where surfaces are compared, every vertex and every edge is looked at on behalf of one of its triangles,
// the one that owns it: a pair of features then comes up for one pair of triangles only (Curtis, Tamstorf and
// Manocha 2008).
#ifndef TB_GEOMETRY_SURFACE_MESH_H
#define TB_GEOMETRY_SURFACE_MESH_H

#include "geometry/bvh.h"

enum { TB_SURFACE_OWNS_VERTEX = 1, TB_SURFACE_OWNS_EDGE = 8 }; // << corner; << side

typedef struct tbSurfaceMesh {
  int nvertex, nedge, ntriangle;
  tbVec3* rest;       // where the vertices were when it was made: a shape's, in its body's frame (nvertex)
  int* node;          // of a deformable body: the node of a vertex; null: rigid      (nvertex)
  int (*triangle)[3]; // counter-clockwise seen from outside                          (ntriangle)
  int (*edge)[2];     // in order of first appearance                                 (nedge)
  int (*triangle_edge)[3]; // side i runs from corner i to corner i+1                      (ntriangle)
  int (*edge_triangle)[2]; // on either side; −1: none; of three and more, the first two   (nedge)
  uint8_t* flat; // of shapes: 1, an edge lies inside a flat face; null: none does             (nedge)
  uint8_t* owns; // TB_SURFACE_OWNS bits                                            (ntriangle)
  int *star_adr,
      *star; // the triangles of vertex v: star[star_adr[v]] …               (nvertex+1, 3 ntriangle)
  int (*close_face)[2]; // a triangle and a vertex, as tb_surface_mesh_link() lists them (nclose_face)
  int (*close_edge)[2]; // two edges, the lower first                                  (nclose_edge)
  int nclose_face, nclose_edge;
  bool linked;        // the two lists are there
  bool closed;        // it bounds a solid: every edge has two triangles, which run along it in opposite ways
  double edge_length; // mean, at rest
  tbBvh bvh;          // over the triangles at rest: its boxes are stale, its shape is not
  int *triangle_patch, *vertex_patch; // in patches at rest (patches.h)     (ntriangle, nvertex)
  tbArena arena;                      // memory behind all of it
} tbSurfaceMesh;

// Triangles over `points`; node numbers the vertices used, in the order of the points: vertices are the
// points that a triangle uses. Indices must be in range.
tbStatus tb_surface_mesh_create(tbContext* ctx, const tbVec3* points, int npoint, const int (*triangles)[3],
                                int ntriangle, tbSurfaceMesh** out);
// Of a shape, in its body's frame. Round shapes become triangles whose corners lie on them: 48 around spheres
// and capsules, 64 around cylinders; a plane has no surface: *out is null.
tbStatus tb_surface_mesh_of_shape(tbContext* ctx, const tbShape* shape, tbSurfaceMesh** out);
// Lists the pairs of features that share no vertex, but whose owners do: what a surface that may touch itself
// need not look for. Leaves lists out where vertices have hundreds of triangles.
tbStatus tb_surface_mesh_link(tbContext* ctx, tbSurfaceMesh* surface);
void tb_surface_mesh_free(tbContext* ctx, tbSurfaceMesh* surface); // takes null

#endif
