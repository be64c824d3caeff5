// SPDX-License-Identifier: Apache-2.0
// Which bodies a question to a world is put to: all of them, or those that a tree of their boxes leaves.
#ifndef TB_STEP_QUERY_TREE_H
#define TB_STEP_QUERY_TREE_H

#include "tribo/query.h"

// May change between calls: what was found narrows what is looked for.
typedef struct tbQuestion {
  bool (*may_meet)(const void* user, const tbBox* box); // false: nothing in the box matters
  void (*ask)(void* user, int place);
  void* user;
} tbQuestion;

// tree null: every body in the order of its place; else those in boxes that matter, in any order.
void tb_put_question(const tbWorld* world, const tbQueryTree* tree, const tbQuestion* question);

const tbWorld* tb_query_tree_world(const tbQueryTree* tree);
tbBox tb_query_box(const tbWorld* world, int place); // around a body; empty: it has no shape

#endif
