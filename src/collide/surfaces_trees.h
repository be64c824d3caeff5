// SPDX-License-Identifier: Apache-2.0
// Surfaces with boxes around what their vertices may do, compared tree against tree: the inside of
// surfaces_find.c.
#ifndef TB_COLLIDE_SURFACES_TREES_H
#define TB_COLLIDE_SURFACES_TREES_H

#include "collide/surfaces.h"
#include "geometry/box.h"

typedef struct tbSurfaceLayer {
  const tbMovingSurface* moving;
  const tbSurfaceMesh* surface;
  const uint8_t* flat; // edges that are left out; null: none                               (nedge)
  int first_vertex, first_edge, first_triangle; // in the numbers across all surfaces
  double grow;                                  // radius and half the reach
  tbBox* vertex;                                // where they may move
  tbBox box;                                    // of all of them, grown
  bool wanted;                                  // something may meet it: only then it has what follows
  tbBox *triangle, *edge;                       // of their vertices, grown
  tbBvh tree;
  double* side[6]; // of the triangles' boxes, lo and hi, in the order of leaves           (ntriangle + 4)
} tbSurfaceLayer;

static inline tbBox tb_surface_box(const tbSurfaceLayer* l, const int* vertex, int count) // grown
{
  tbBox box = l->vertex[vertex[0]];
  for (int k = 1; k < count; k++) box = tb_box_join(box, l->vertex[vertex[k]]);
  return tb_box_grow(box, l->grow);
}

// The least n·(x − o) over the box.
static inline double tb_box_along(const tbBox* b, tbVec3 n, tbVec3 o)
{
  return n.x * ((n.x > 0 ? b->lo.x : b->hi.x) - o.x) + n.y * ((n.y > 0 ? b->lo.y : b->hi.y) - o.y) +
         n.z * ((n.z > 0 ? b->lo.z : b->hi.z) - o.z);
}

// Two layers and a node of either's tree; twice the same: all pairs below it.
typedef struct tbSurfaceNodes {
  int a, b, p, q;
} tbSurfaceNodes;

typedef struct tbSurfaceKey {
  uint32_t a, b; // features, numbered across all surfaces
} tbSurfaceKey;

typedef struct tbSurfaceKeys {
  tbContext ctx;                  // memory for them
  tbArray face_vertex, edge_edge; // tbSurfaceKey
  tbStatus status;                // of the first allocation that failed
} tbSurfaceKeys;

// Into at most three pairs of nodes whose boxes meet; *leaves: two leaves, with nothing to take apart.
int tb_surface_nodes_split(const tbSurfaceLayer* layers, tbSurfaceNodes nodes, tbSurfaceNodes out[3],
                           bool* leaves);

// Adds every pair of features below the nodes that can come close.
void tb_surface_nodes_meet(const tbSurfaceLayer* layers, tbSurfaceNodes nodes, tbSurfaceKeys* keys);

// The pairs [begin, end) that the layer's surface lists as close, those with faces before those of edges; its
// tree then leaves them out.
void tb_surface_close_meet(const tbSurfaceLayer* layer, int begin, int end, tbSurfaceKeys* keys);

#endif
