// SPDX-License-Identifier: Apache-2.0
// One search for candidates: what its parts, surfaces_boxes.c and surfaces_find.c, share.
#ifndef TB_COLLIDE_SURFACES_FIND_H
#define TB_COLLIDE_SURFACES_FIND_H

#include "base/shared.h"
#include "collide/surfaces_trees.h"

typedef struct tbSurfaceSearch {
  const tbSurfaceScene* scene;
  double reach, ahead;
  const tbSurfaceCandidates* old;
  bool* fresh; // surfaces whose old boxes still hold; null: none     (nsurface)
  tbSurfaceLayer*
      layer; // of every surface, then of every surface as it sees itself              (2 nsurface)
  int nvertex, nedge, ntriangle;
  int *vertex_surface, *edge_surface; // whose they are                        (nvertex, nedge)
  tbBox *box, *own;                   // of vertices; and beside the drift of their surface   (nvertex)
  tbVec3* drift;                      // of surfaces                              (nsurface)
  tbArray task;                       // tbSurfaceNodes
  tbArray close;                      // of close pairs, to be looked at together
  tbShared shared;
  tbSurfaceKeys* found; // by piece of tasks, then by those of close pairs
  int npiece;           // of tasks
  size_t most, total;   // pairs of features that it may find, 0: any number; that tasks have found
} tbSurfaceSearch;

// Layers with their boxes; TB_ERROR_NUMERIC where vertices are not finite.
tbStatus tb_surface_search_layers(tbContext* ctx, tbArena* arena, tbSurfaceSearch* search);

// Trees for the layers that are wanted.
tbStatus tb_surface_search_trees(tbContext* ctx, tbArena* arena, tbSurfaceSearch* search);

#endif
