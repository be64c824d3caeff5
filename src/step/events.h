// SPDX-License-Identifier: Apache-2.0
// Contacts that begin and end with a step.
#ifndef TB_STEP_EVENTS_H
#define TB_STEP_EVENTS_H

#include "scene/world.h"

// Pairs of bodies that touch: sorted, each once.
typedef struct tbTouching {
  tbBodyPair* pair; // null: not known; the records say
  int count;
} tbTouching;

typedef struct tbEventSearch {
  tbTouching before, after;
} tbEventSearch;

// Sorts pairs, each with the lower body first, and drops those that come again; returns how many are left.
int tb_events_sort(tbBodyPair* pair, int count);

// The pairs of the world's records that touch, sorted, each once; returns how many. out: room for a pair per
// record.
int tb_events_touching(const tbWorld* world, tbBodyPair* out);

// Before the world is moved to contacts of its own, at most so many: room for what is found afterwards, which
// cannot fail. The events of the last step are gone. before, after: as far as the scheme knows them.
tbStatus tb_events_begin(tbContext* ctx, tbArena* arena, tbWorld* world, size_t contacts,
                         const tbTouching* before, tbEventSearch* out);
void tb_events_end(tbEventSearch* search, tbWorld* world, const tbTouching* after);

#endif
