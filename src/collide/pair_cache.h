// SPDX-License-Identifier: Apache-2.0
// Broad phase that is updated from step to step.
//
// The cache keeps a box for every item that is a little larger than the item needs, a tree over these, and
// the pairs of them that meet. An update asks the tree only for items that have left their boxes; then the
// items' own boxes say which of the pairs are handed out. So the pairs of an update are those of
// tb_broad_pairs for the same items, in the same order, whatever the cache has seen before: nothing of it
// belongs in a checkpoint.
#ifndef TB_COLLIDE_PAIR_CACHE_H
#define TB_COLLIDE_PAIR_CACHE_H

#include "collide/broad.h"

typedef struct tbPairCache tbPairCache;

typedef struct tbCachedPair {
  int a, b; // items, a < b
  int was;  // where this pair stood in the list of the update before; −1: it did not
} tbCachedPair;

// Pairs that never matter: asked once when a pair of boxes comes near, and again when it comes back. After
// anything that changes the answers, tb_pair_cache_clear.
typedef struct tbPairFilter {
  bool (*may_meet)(const void* user, int a, int b); // a < b
  const void* user;
} tbPairFilter;

tbStatus tb_pair_cache_create(tbContext* ctx, tbPairCache** out);
void tb_pair_cache_free(tbContext* ctx, tbPairCache* cache); // takes null
// Empty again, memory kept: after items were removed or put in another order, or filters changed. Items may
// be added at the end, change group and begin or cease to move without.
void tb_pair_cache_clear(tbPairCache* cache);

// The pairs of items whose boxes meet, sorted by a, then b. `filter` may be null. No allocation when there
// are no more items and pairs than ever before. On failure the cache is empty.
//
// Cost      per step 10 ns per item and 5 ns per pair of kept boxes; 0.5 µs for an item that has left its
// box. Per
//           infinite box, a comparison for each of these.
tbStatus tb_pair_cache_update(tbContext* ctx, tbPairCache* cache, const tbBroadItem* items, int count,
                              const tbPairFilter* filter);

// Of the last update; they live until the next.
const tbCachedPair* tb_pair_cache_pairs(const tbPairCache* cache, int* count);

#endif
