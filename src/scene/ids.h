// SPDX-License-Identifier: Apache-2.0
// Ids of things that come and go: which place in its array a thing has now.
//
// Things stand in their arrays without holes and in order of creation; when one is removed, those behind it
// move up. An id names an entry here, which follows its thing. The entry of a thing that is gone serves
// another later, under a generation it never had before: an old id finds nothing.
#ifndef TB_SCENE_IDS_H
#define TB_SCENE_IDS_H

#include "base/array.h"

typedef struct tbIdEntry {
  int place;           // of its thing; −1: free
  uint32_t generation; // of the id that finds it
  uint32_t last;       // the latest generation this entry has had, in any past of the world
} tbIdEntry;

typedef struct tbIds {
  tbArray entry; // tbIdEntry
  size_t low;    // no entry below is free
} tbIds;

void tb_ids_init(tbIds* ids);
void tb_ids_free(tbContext* ctx, tbIds* ids);
// Reserve first: add itself cannot fail then. Returns the entry, the lowest that is free.
tbStatus tb_ids_reserve(tbContext* ctx, tbIds* ids);
int tb_ids_add(tbIds* ids, int place);
int tb_ids_find(const tbIds* ids, int entry, uint32_t generation); // its place; −1: none
uint32_t tb_ids_generation(const tbIds* ids, int entry);
// Frees an entry, and moves the places behind its thing's up by one.
void tb_ids_remove(tbIds* ids, int entry);
// After a return to an earlier state, in which `old` was what it is now: no generation comes again that was
// handed out since. Memory for it: tb_ids_room.
tbStatus tb_ids_room(tbContext* ctx, tbIds* ids, const tbIds* old);
void tb_ids_outlive(tbIds* ids, const tbIds* old);

#endif
