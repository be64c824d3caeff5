// SPDX-License-Identifier: Apache-2.0
// A binary tree of boxes over a fixed set of items: triangles of a mesh, shapes of a world.
#ifndef TB_GEOMETRY_BVH_H
#define TB_GEOMETRY_BVH_H

#include "base/memory.h"
#include "tribo/geometry.h"

// Nodes in depth-first order: an inner node's first child follows it. A leaf holds the items
// order[first … first+count).
typedef struct tbBvhNode {
  tbBox box;
  int right;        // index of the second child; 0: a leaf
  int first, count; // of a leaf
} tbBvhNode;

typedef struct tbBvh {
  int nnode, nitem;
  tbBvhNode* node;
  int* order;
} tbBvh;

// Over nitem boxes; memory from the arena. Cut by the surface-area heuristic on binned centroids; equal
// centroids are split in half, so depth stays within 64. The same tree for the same boxes, always.
tbStatus tb_bvh_build(tbContext* ctx, tbArena* arena, const tbBox* boxes, int nitem, tbBvh* out);
void tb_bvh_refit(tbBvh* bvh, const tbBox* boxes); // same items, moved

// Calls visit for every item whose box in the tree's leaf may meet the box; stops when it returns false.
typedef bool tbBvhVisit(void* user, int item);
void tb_bvh_query(const tbBvh* bvh, const tbBox* boxes, tbBox box, tbBvhVisit* visit, void* user);

#endif
