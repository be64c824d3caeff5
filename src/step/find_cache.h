// SPDX-License-Identifier: Apache-2.0
// What finding contacts keeps from step to step: pairs of shapes that are near, and what kept them apart.
#ifndef TB_STEP_FIND_CACHE_H
#define TB_STEP_FIND_CACHE_H

#include "collide/narrow.h"
#include "collide/pair_cache.h"
#include "scene/cache.h"

// Pairs of items whose boxes meet, as tb_broad_pairs finds them. A null cache: by a search from nothing.
tbStatus tb_find_pairs(tbContext* ctx, tbArena* arena, tbCache* cache, const tbBroadItem* items, int count,
                       tbArray* pairs);

// A hint for each of the sorted pairs, with what was learnt of it when it was last asked for, to be written
// to by the one that looks at the pair; they live until the next call. Null without a cache.
tbStatus tb_find_hints(tbContext* ctx, tbCache* cache, const tbPair* pairs, int count, tbPairHint** out);

#endif
