// SPDX-License-Identifier: Apache-2.0
// Contacts that begin and end with a step.
#ifndef TB_STEP_EVENTS_H
#define TB_STEP_EVENTS_H

#include "scene/world.h"

typedef struct tbEventSearch {
  tbBodyPair *before, *after; // that touch
  int count;                  // of those before
} tbEventSearch;

// Before the world is moved to contacts of its own, at most so many: room for what is found afterwards, which
// cannot fail. The events of the last step are gone.
tbStatus tb_events_begin(tbContext* ctx, tbArena* arena, tbWorld* world, size_t contacts, tbEventSearch* out);
void tb_events_end(tbEventSearch* search, tbWorld* world);

#endif
