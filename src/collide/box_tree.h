// SPDX-License-Identifier: Apache-2.0
// A binary tree over boxes of floats that follows them as they move: refitted in place, built anew when it
// has grown loose. Which boxes a search finds depends on the boxes alone, never on the tree.
//
// Six numbers make a box, lo and −hi; six others, hi and −lo, ask for it. The two meet where none of the
// first is above its counterpart: two vector comparisons.
#ifndef TB_COLLIDE_BOX_TREE_H
#define TB_COLLIDE_BOX_TREE_H

#include "base/array.h"
#include "base/simd.h"
#include "tribo/geometry.h"

typedef struct tbFatBox {
  float bound[6]; // lo, −hi
} tbFatBox;

// The smallest box of floats around a box of doubles.
tbFatBox tb_fat_box(const tbBox* box);
bool tb_fat_box_is_finite(const tbFatBox* box); // and of a size whose square is finite: fit for a tree

static inline tbFatBox tb_fat_box_ask(const tbFatBox* b) // what to compare others with
{
  const float* x = b->bound;
  return (tbFatBox){{-x[3], -x[4], -x[5], -x[0], -x[1], -x[2]}};
}

static inline bool tb_fat_box_meets(const tbFatBox* box, const tbFatBox* ask)
{
  return tb6f_at_most(box->bound, ask->bound);
}

// Depth first: an inner node's first child follows it.
typedef struct tbBoxTreeNode {
  tbFatBox box;
  int link;  // of an inner node its second child, of a leaf its first entry
  int count; // entries of a leaf; 0: an inner node
} tbBoxTreeNode;

typedef struct tbBoxTreeEntry {
  tbFatBox box;
  int item, spare;
} tbBoxTreeEntry;

typedef struct tbBoxTree {
  tbArray node, entry; // tbBoxTreeNode; tbBoxTreeEntry, in the order of the leaves
  double area;         // of all nodes together
} tbBoxTree;

void tb_box_tree_init(tbBoxTree* tree);
void tb_box_tree_free(tbContext* ctx, tbBoxTree* tree);

// Builds the tree over tree->entry, whose boxes are finite, and puts the entries in the order of its leaves.
// Cost O(n log n); no allocation while the entries are no more than ever before.
tbStatus tb_box_tree_build(tbContext* ctx, tbBoxTree* tree);
void tb_box_tree_refit(tbBoxTree* tree); // entries have moved

enum { TB_BOX_TREE_STACK = 96 };

// A walk over the leaves that meet a box.
typedef struct tbBoxTreeWalk {
  const tbBoxTreeNode* node;
  int depth, stack[TB_BOX_TREE_STACK];
} tbBoxTreeWalk;

static inline void tb_box_tree_walk(const tbBoxTree* tree, tbBoxTreeWalk* walk)
{
  walk->node = tree->node.data;
  walk->depth = tree->node.count > 0;
  walk->stack[0] = 0;
}

// The next leaf whose box meets what is asked for; null: there is none.
static inline const tbBoxTreeNode* tb_box_tree_next(tbBoxTreeWalk* walk, const tbFatBox* ask)
{
  while (walk->depth > 0) {
    int k = walk->stack[--walk->depth];
    const tbBoxTreeNode* node = &walk->node[k];
    if (!tb_fat_box_meets(&node->box, ask)) continue;
    if (node->count > 0) return node;
    walk->stack[walk->depth++] = node->link;
    walk->stack[walk->depth++] = k + 1;
  }
  return NULL;
}

#endif
