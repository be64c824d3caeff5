// SPDX-License-Identifier: Apache-2.0
// A tree over the boxes of a world's bodies (collide/box_tree.h). Bodies whose boxes are infinite are asked
// always.
#include "step/query_tree.h"

#include "collide/box_tree.h"
#include "geometry/box.h"
#include "scene/kind.h"

static const double LOOSE = 1.4; // a tree whose boxes have grown by so much is built anew

struct tbQueryTree {
  const tbWorld* world;
  tbBoxTree tree;
  tbArray outside; // int, places
  tbArray entry;   // int, of a body in the tree; −1: it is not in it
  double built;    // area of the tree when it was built
};

const tbWorld* tb_query_tree_world(const tbQueryTree* t) { return t->world; }

tbStatus tb_query_tree_create(tbContext* ctx, const tbWorld* world, tbQueryTree** out)
{
  tbQueryTree* t = TB_NEW(ctx, tbQueryTree, 1);
  *out = NULL;
  if (!t) return TB_ERROR_MEMORY;
  t->world = world;
  t->outside = t->entry = TB_ARRAY(int);
  tb_box_tree_init(&t->tree);
  tbStatus status = tb_query_tree_update(ctx, t);
  if (status == TB_OK) *out = t;
  else tb_query_tree_free(ctx, t);
  return status;
}

void tb_query_tree_free(tbContext* ctx, tbQueryTree* t)
{
  if (!t) return;
  tb_box_tree_free(ctx, &t->tree);
  tb_array_free(ctx, &t->outside);
  tb_array_free(ctx, &t->entry);
  tb_free(ctx, t);
}

static tbFatBox fat_box(const tbWorld* w, int place, bool* empty)
{
  tbBox box = tb_query_box(w, place);
  *empty = tb_box_is_empty(&box);
  return tb_fat_box(&box);
}

static tbStatus build(tbContext* ctx, tbQueryTree* t)
{
  const tbWorld* w = t->world;
  t->tree.entry.count = t->tree.node.count = t->outside.count = t->entry.count = 0;
  for (int p = 0; p < (int)w->body.count; p++) {
    bool empty;
    tbBoxTreeEntry entry = {.box = fat_box(w, p, &empty), .item = p};
    int none = -1;
    TB_TRY(tb_array_push(ctx, &t->entry, &none, 1));
    if (empty) continue;
    if (tb_fat_box_is_finite(&entry.box)) TB_TRY(tb_array_push(ctx, &t->tree.entry, &entry, 1));
    else TB_TRY(tb_array_push(ctx, &t->outside, &p, 1));
  }
  TB_TRY(tb_box_tree_build(ctx, &t->tree));
  const tbBoxTreeEntry* entry = t->tree.entry.data;
  for (int k = 0; k < (int)t->tree.entry.count; k++) ((int*)t->entry.data)[entry[k].item] = k;
  t->built = t->tree.area;
  return TB_OK;
}

// Puts the boxes where the bodies are now; false: other bodies are in the tree.
static bool follow(tbQueryTree* t)
{
  const tbWorld* w = t->world;
  const int* at = t->entry.data;
  tbBoxTreeEntry* entry = t->tree.entry.data;
  size_t outside = 0;
  if (w->body.count != t->entry.count) return false;
  for (int p = 0; p < (int)w->body.count; p++) {
    bool empty;
    tbFatBox box = fat_box(w, p, &empty);
    bool finite = !empty && tb_fat_box_is_finite(&box);
    if (finite != (at[p] >= 0)) return false;
    if (finite) entry[at[p]].box = box;
    outside += !finite && !empty;
  }
  tb_box_tree_refit(&t->tree);
  return outside == t->outside.count && t->tree.area <= LOOSE * t->built;
}

tbStatus tb_query_tree_update(tbContext* ctx, tbQueryTree* t)
{
  if (follow(t)) return TB_OK;
  tbStatus status = build(ctx, t);
  if (status != TB_OK) t->tree.entry.count = t->tree.node.count = t->outside.count = t->entry.count = 0;
  return status;
}

static bool matters(const tbQuestion* q, const tbFatBox* box)
{
  const float* f = box->bound;
  tbBox b = {tb_vec3(f[0], f[1], f[2]), tb_vec3(-f[3], -f[4], -f[5])};
  return q->may_meet(q->user, &b);
}

void tb_put_question(const tbWorld* world, const tbQueryTree* t, const tbQuestion* q)
{
  for (int p = 0; !t && p < (int)world->body.count; p++) q->ask(q->user, p);
  if (!t) return;
  for (size_t i = 0; i < t->outside.count; i++) q->ask(q->user, ((const int*)t->outside.data)[i]);
  const tbBoxTreeNode* node = t->tree.node.data;
  const tbBoxTreeEntry* entry = t->tree.entry.data;
  int stack[TB_BOX_TREE_STACK] = {0}, depth = t->tree.node.count > 0;
  while (depth > 0) {
    int k = stack[--depth];
    if (!matters(q, &node[k].box)) continue;
    for (int i = node[k].link; i < node[k].link + node[k].count; i++)
      if (matters(q, &entry[i].box)) q->ask(q->user, entry[i].item);
    if (node[k].count > 0) continue;
    stack[depth++] = node[k].link;
    stack[depth++] = k + 1;
  }
}
