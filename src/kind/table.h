// SPDX-License-Identifier: Apache-2.0
// The kinds of bodies there are.
#ifndef TB_KIND_TABLE_H
#define TB_KIND_TABLE_H

#include "scene/kind.h"

int tb_kind_count(void);
const tbKind* tb_kind_at(int index);
const tbKind* tb_kind_find(const char* name); // null: there is none

// What files call a body: by its kind, or by how it moves. And what such a name says; false: nothing.
const char* tb_kind_word(const tbBody* body);
bool tb_kind_of_word(const char* word, const tbKind** kind, tbBodyMotion* motion);

// The same as a number, which stays what it is when kinds are added behind the others.
int tb_kind_number(const tbBody* body);
bool tb_kind_of_number(int number, const tbKind** kind, tbBodyMotion* motion);

#endif
