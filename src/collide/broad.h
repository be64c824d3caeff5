// SPDX-License-Identifier: Apache-2.0
// Broad phase: which boxes meet.
#ifndef TB_COLLIDE_BROAD_H
#define TB_COLLIDE_BROAD_H

#include "base/array.h"
#include "tribo/geometry.h"

typedef struct tbPair {
  int a, b; // a < b
} tbPair;

// What may meet: a box, the group it belongs to (items of one group, a body's shapes, never meet), and
// whether it moves (two that do not move never meet). Infinite boxes (planes) are welcome.
typedef struct tbBroadItem {
  tbBox box;
  int group;
  bool moves;
} tbBroadItem;

// All pairs of items whose boxes meet, sorted by a, then b, into `pairs`, an array of tbPair that is emptied
// first. Cost O((n + pairs) log n), memory O(n + pairs) from the arena; a tree is built anew every time, so
// nothing is remembered. An arena that is kept from call to call saves about half the time: fresh memory
// costs as much as the search.
tbStatus tb_broad_pairs(tbContext* ctx, tbArena* arena, const tbBroadItem* items, int count, tbArray* pairs);

#endif
