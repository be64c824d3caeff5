// SPDX-License-Identifier: Apache-2.0
// Pairs of boxes that meet, by a tree built anew and compared with itself.
//
// Boxes that reach to infinity are compared with everything; the others go into a tree. A pair of nodes is
// taken apart, the larger one first, as long as their boxes meet, starting with the root and itself; equal
// nodes fall into three pairs, so that a pair of items is found once. The first few hundred pairs of nodes,
// breadth first, are tasks that run in parallel; each piece of tasks has room for a fair share of pairs, and
// a piece that needs more counts what it found and is run again with all the room it needs. Two counting
// sorts, by b and then by a, put the pairs in order.
//
// Cost      O(n log n + pairs), and n for every infinite box.
#include "collide/broad.h"
#include "base/threads.h"
#include "geometry/box.h"
#include "geometry/bvh.h"

#include <assert.h>
#include <string.h>

enum { TASKS = 512, GRAIN = 8, ROOM = 24, STACK = 256 };

typedef struct {
  tbPair* pairs;
  size_t count, room; // count > room: not all of them fit
} Found;

typedef struct {
  tbBox box;
  int item, group;
  bool moves;
} Entry;

typedef struct {
  int a, b; // nodes; a = b: all pairs below it
} Task;

typedef struct {
  const tbBroadItem* items;
  int ninside, noutside;
  int *inside, *outside; // items in the tree; items that are infinite
  tbBox* boxes;          // of those in the tree
  tbBvh bvh;
  Entry* entry; // the tree's items in the order of its leaves
  bool* moves;  // whether anything below a node moves
  int ntask;
  Task* task;
  Found* found; // by piece of tasks
} Broad;

static bool may_meet(const tbBroadItem* a, const tbBroadItem* b)
{
  return a->group != b->group && (a->moves || b->moves) && tb_box_meets(&a->box, &b->box);
}

static tbPair make_pair(int i, int j) { return i < j ? (tbPair){i, j} : (tbPair){j, i}; }

static void add(Found* f, int i, int j)
{
  if (f->count < f->room) f->pairs[f->count] = make_pair(i, j);
  f->count++;
}

static void meet_leaves(const Broad* w, const tbBvhNode* a, const tbBvhNode* b, Found* f)
{
  for (int i = a->first; i < a->first + a->count; i++)
    for (int j = a == b ? i + 1 : b->first; j < b->first + b->count; j++) {
      const Entry *p = &w->entry[i], *q = &w->entry[j];
      if (tb_box_meets(&p->box, &q->box) && p->group != q->group && (p->moves || q->moves))
        add(f, p->item, q->item);
    }
}

static double extent(const tbBox* b)
{
  return (b->hi.x - b->lo.x) + (b->hi.y - b->lo.y) + (b->hi.z - b->lo.z);
}

static bool is_open(const Broad* w, Task t) // its nodes meet, and not everything below them stands still
{
  const tbBvhNode* node = w->bvh.node;
  return (w->moves[t.a] | w->moves[t.b]) && (t.a == t.b || tb_box_meets(&node[t.a].box, &node[t.b].box));
}

// Takes a pair of nodes apart into at most three; 0 for two leaves.
static int take_apart(const Broad* w, Task t, Task out[3])
{
  const tbBvhNode* node = w->bvh.node;
  int a = t.a, b = t.b, ra = node[a].right, rb = node[b].right;
  if (a == b) {
    if (!ra) return 0;
    out[0] = (Task){a + 1, a + 1};
    out[1] = (Task){ra, ra};
    out[2] = (Task){a + 1, ra};
    return 3;
  }
  if (!ra && !rb) return 0;
  if (!rb || (ra && extent(&node[a].box) >= extent(&node[b].box))) {
    out[0] = (Task){a + 1, b};
    out[1] = (Task){ra, b};
  } else {
    out[0] = (Task){a, b + 1};
    out[1] = (Task){a, rb};
  }
  return 2;
}

static void run_task(const Broad* w, Task task, Found* f)
{
  Task stack[STACK], part[3];
  int depth = 0;
  stack[depth++] = task;
  while (depth > 0) {
    Task t = stack[--depth];
    int n = take_apart(w, t, part);
    if (n == 0) meet_leaves(w, &w->bvh.node[t.a], &w->bvh.node[t.b], f);
    assert(depth + n <= STACK); // a level of either tree leaves two behind
    for (int i = 0; i < n; i++)
      if (is_open(w, part[i])) stack[depth++] = part[i];
  }
}

static void run_piece(void* user, int begin, int end, int piece)
{
  const Broad* w = user;
  Found* f = &w->found[piece];
  if (f->count > 0 && f->count <= f->room) return; // done in the first round
  f->count = 0;
  for (int i = begin; i < end; i++) run_task(w, w->task[i], f);
}

// Takes pairs of nodes apart, oldest first, until there are enough of them.
static tbStatus make_tasks(Broad* w, tbArena* arena)
{
  Task* queue = TB_TAKE(arena, Task, 4 * TASKS);
  w->task = TB_TAKE(arena, Task, 4 * TASKS);
  if (!queue || !w->task) return TB_ERROR_MEMORY;
  int head = 0, tail = 0;
  queue[tail] = (Task){0, 0};
  if (w->bvh.nnode > 0 && w->moves[0]) tail++;
  while (head < tail && w->ntask + tail - head < TASKS && tail + 3 <= 4 * TASKS) {
    Task t = queue[head++], part[3];
    int n = take_apart(w, t, part);
    if (n == 0) w->task[w->ntask++] = t;
    for (int i = 0; i < n; i++)
      if (is_open(w, part[i])) queue[tail++] = part[i];
  }
  while (head < tail) w->task[w->ntask++] = queue[head++];
  return TB_OK;
}

static bool is_finite(const tbBox* b) { return tb_maxabs3(b->lo) < INFINITY && tb_maxabs3(b->hi) < INFINITY; }

static tbStatus sort_out(Broad* w, tbArena* arena, int count)
{
  w->inside = TB_TAKE(arena, int, (size_t)count);
  w->outside = TB_TAKE(arena, int, (size_t)count);
  w->boxes = TB_TAKE(arena, tbBox, (size_t)count);
  if (!w->inside || !w->outside || !w->boxes) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    const tbBox* box = &w->items[i].box;
    if (tb_box_is_empty(box)) continue;
    if (!is_finite(box)) {
      w->outside[w->noutside++] = i;
      continue;
    }
    w->boxes[w->ninside] = *box;
    w->inside[w->ninside++] = i;
  }
  return TB_OK;
}

// Puts the items in the order of the leaves, and tells which nodes have something that moves.
static tbStatus look_over_tree(Broad* w, tbArena* arena)
{
  const tbBvh* bvh = &w->bvh;
  w->moves = TB_TAKE(arena, bool, (size_t)bvh->nnode);
  w->entry = TB_TAKE(arena, Entry, (size_t)w->ninside);
  if (!w->moves || !w->entry) return TB_ERROR_MEMORY;
  for (int i = 0; i < w->ninside; i++) {
    int k = w->inside[bvh->order[i]];
    const tbBroadItem* item = &w->items[k];
    w->entry[i] = (Entry){item->box, k, item->group, item->moves};
  }
  for (int k = bvh->nnode - 1; k >= 0; k--) {
    const tbBvhNode* node = &bvh->node[k];
    if (node->right) w->moves[k] = w->moves[k + 1] || w->moves[node->right];
    for (int i = 0; i < node->count; i++) w->moves[k] |= w->entry[node->first + i].moves;
  }
  return TB_OK;
}

// Runs all pieces, then those again that had too little room.
static tbStatus ask_tree(tbContext* ctx, Broad* w, tbArena* arena, int npiece)
{
  w->found = TB_TAKE(arena, Found, (size_t)npiece);
  if (!w->found) return TB_ERROR_MEMORY;
  size_t room = (size_t)ROOM * (size_t)w->ninside / (size_t)(npiece > 0 ? npiece : 1) + ROOM;
  for (int p = 0; p < npiece; p++) {
    w->found[p].room = room;
    w->found[p].pairs = TB_TAKE(arena, tbPair, room);
    if (!w->found[p].pairs) return TB_ERROR_MEMORY;
  }
  tb_parallel_for(ctx->threads, w->ntask, GRAIN, run_piece, w);
  bool again = false;
  for (int p = 0; p < npiece; p++) {
    Found* f = &w->found[p];
    if (f->count <= f->room) continue;
    f->pairs = TB_TAKE(arena, tbPair, f->count);
    if (!f->pairs) return TB_ERROR_MEMORY;
    f->room = f->count;
    f->count = f->room + 1; // not done yet
    again = true;
  }
  if (again) tb_parallel_for(ctx->threads, w->ntask, GRAIN, run_piece, w);
  return TB_OK;
}

static tbStatus ask_infinite(tbContext* ctx, const Broad* w, int count, tbArray* pairs)
{
  for (int k = 0; k < w->noutside; k++) {
    int u = w->outside[k];
    for (int i = 0; i < count; i++) {
      const tbBroadItem* item = &w->items[i];
      bool twice = i <= u && !is_finite(&item->box); // a pair of infinite boxes counts once
      if (twice || tb_box_is_empty(&item->box) || !may_meet(&w->items[u], item)) continue;
      tbPair pair = make_pair(u, i);
      TB_TRY(tb_array_push(ctx, pairs, &pair, 1));
    }
  }
  return TB_OK;
}

// Stable counting sort by one end of the pairs; `start` has room for count + 1.
static void sort_by(const tbPair* from, tbPair* to, size_t n, int count, bool by_b, size_t* start)
{
  memset(start, 0, ((size_t)count + 1) * sizeof *start);
  for (size_t i = 0; i < n; i++) start[(by_b ? from[i].b : from[i].a) + 1]++;
  for (int k = 0; k < count; k++) start[k + 1] += start[k];
  for (size_t i = 0; i < n; i++) to[start[by_b ? from[i].b : from[i].a]++] = from[i];
}

static tbStatus find_pairs(tbContext* ctx, tbArena* arena, Broad* w, int count, tbArray* pairs)
{
  TB_TRY(sort_out(w, arena, count));
  TB_TRY(tb_bvh_build(ctx, arena, w->boxes, w->ninside, &w->bvh));
  TB_TRY(look_over_tree(w, arena));
  TB_TRY(make_tasks(w, arena));
  int npiece = tb_piece_count(w->ntask, GRAIN);
  TB_TRY(ask_tree(ctx, w, arena, npiece));
  TB_TRY(ask_infinite(ctx, w, count, pairs));
  for (int p = 0; p < npiece; p++) TB_TRY(tb_array_push(ctx, pairs, w->found[p].pairs, w->found[p].count));

  tbPair* sorted = TB_TAKE(arena, tbPair, pairs->count);
  size_t* start = TB_TAKE(arena, size_t, (size_t)count + 1);
  if (!sorted || !start) return TB_ERROR_MEMORY;
  sort_by(pairs->data, sorted, pairs->count, count, true, start);
  sort_by(sorted, pairs->data, pairs->count, count, false, start);
  return TB_OK;
}

tbStatus tb_broad_pairs(tbContext* ctx, tbArena* arena, const tbBroadItem* items, int count, tbArray* pairs)
{
  pairs->count = 0;
  if (count <= 0) return TB_OK;
  Broad w = {.items = items};
  tbStatus status = find_pairs(ctx, arena, &w, count, pairs);
  if (status != TB_OK) pairs->count = 0;
  return status;
}
