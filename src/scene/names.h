// SPDX-License-Identifier: Apache-2.0
// Names of a world's things: copied, and found again in constant time.
#ifndef TB_SCENE_NAMES_H
#define TB_SCENE_NAMES_H

#include "base/memory.h"

// Open addressing over (kind, name) → index. Kinds keep bodies and materials apart.
typedef struct tbNames {
  struct tbNameText* text; // all texts that are kept, as a list
  struct tbNameSlot* slot;
  size_t count, capacity; // capacity: a power of two, or 0
} tbNames;

enum { TB_NAME_BODY, TB_NAME_MATERIAL, TB_NAME_JOINT };

void tb_names_init(tbNames* names);
void tb_names_free(tbContext* ctx, tbNames* names);
// A copy that lives until it is dropped, or as long as the names; null: no memory.
const char* tb_names_keep(tbContext* ctx, tbNames* names, const char* text);
void tb_names_drop(tbContext* ctx, tbNames* names, const char* kept);
int tb_names_find(const tbNames* names, int kind, const char* name); // −1: none
// The name must be new and its text kept. Reserve first: add itself cannot fail then.
tbStatus tb_names_reserve(tbContext* ctx, tbNames* names);
void tb_names_add(tbNames* names, int kind, const char* kept, int index);
void tb_names_move_up(tbNames* names, int kind, int index); // things of the kind behind this one, by one
// The name of a thing that goes; things of the kind behind it move up by one. Its text stays kept.
void tb_names_remove(tbNames* names, int kind, const char* name);

#endif
