// SPDX-License-Identifier: Apache-2.0
// A kept box is the item's own, rounded outward to floats, grown by GROW of its size and by AHEAD times the
// way that the item has come since the last update, in that direction: what falls is asked for every few
// steps.
//
// Items that leave their boxes lose their pairs and get them anew: all such searches run in parallel, then
// two counting sorts and one merge put the list in order. Infinite boxes are in no tree; each item that moves
// is compared with all of them.
#include "collide/pair_cache.h"

#include "base/shared.h"
#include "base/threads.h"
#include "collide/box_tree.h"
#include "geometry/box.h"

#include <string.h>

enum { PIECES = 64, GRAIN = 32, ITEMS = 1024, PAIRS = 4096 };
static const double GROW = 0.06, AHEAD = 4, MOST_AHEAD = 1; // in the sizes of items; steps; sizes
static const double LOOSE = 1.4; // a tree whose boxes have grown by so much is built anew

typedef enum { ABSENT, INSIDE, OUTSIDE } Where; // empty; in the tree; infinite

typedef struct {
  tbFatBox box; // kept
  int group;
  uint8_t moves, where, moved; // moved: has left its box with this update
  tbVec3 lo;                   // of its own box, at the last update
  int entry;                   // in the tree
} Item;

// As in tbFatBox: lo, −hi; and two zeros, for two vectors of four.
typedef struct {
  double bound[8];
} Own;

typedef struct {
  int a, b;
  int at; // in the list handed out last; −1: it was not in it
} Kept;

struct tbPairCache {
  tbArray item;          // Item
  tbArray own;           // Own: of the items as they are now
  tbArray away;          // uint8_t, items: `moved` once more, where all of it stays in the nearest cache
  tbArray moved;         // int, items
  tbArray outside;       // int, items
  tbBoxTree tree;        // of all items inside
  double built;          // area of the tree when it was built
  tbArray kept;          // Kept, sorted: pairs whose kept boxes meet
  tbArray next;          // Kept, room for the merge
  tbArray start;         // size_t, counting sort
  tbArray sorted;        // tbPair, of this update's searches; two halves
  tbArray found[PIECES]; // tbPair
  tbArray pairs;         // tbCachedPair
  tbArray meets;         // uint8_t, by kept pair
};

tbStatus tb_pair_cache_create(tbContext* ctx, tbPairCache** out)
{
  tbPairCache* c = TB_NEW(ctx, tbPairCache, 1);
  *out = c;
  if (!c) return TB_ERROR_MEMORY;
  c->item = TB_ARRAY(Item);
  c->own = TB_ARRAY(Own);
  c->away = TB_ARRAY(uint8_t);
  c->moved = c->outside = TB_ARRAY(int);
  tb_box_tree_init(&c->tree);
  c->kept = c->next = TB_ARRAY(Kept);
  c->start = TB_ARRAY(size_t);
  c->sorted = TB_ARRAY(tbPair);
  for (int p = 0; p < PIECES; p++) c->found[p] = TB_ARRAY(tbPair);
  c->pairs = TB_ARRAY(tbCachedPair);
  c->meets = TB_ARRAY(uint8_t);
  return TB_OK;
}

void tb_pair_cache_free(tbContext* ctx, tbPairCache* c)
{
  if (!c) return;
  tbArray* const array[] = {&c->item, &c->own,   &c->away,   &c->moved, &c->outside, &c->kept,
                            &c->next, &c->start, &c->sorted, &c->pairs, &c->meets};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tb_array_free(ctx, array[i]);
  for (int p = 0; p < PIECES; p++) tb_array_free(ctx, &c->found[p]);
  tb_box_tree_free(ctx, &c->tree);
  tb_free(ctx, c);
}

void tb_pair_cache_clear(tbPairCache* c)
{
  c->item.count = c->outside.count = c->kept.count = c->pairs.count = 0;
  c->tree.entry.count = c->tree.node.count = 0;
}

const tbCachedPair* tb_pair_cache_pairs(const tbPairCache* c, int* count)
{
  *count = (int)c->pairs.count;
  return c->pairs.data;
}

// Makes it n values, of which the first are as before and the others anything.
static tbStatus resize(tbContext* ctx, tbArray* array, size_t n)
{
  if (n > array->capacity) TB_TRY(tb_array_push(ctx, array, NULL, n - array->count));
  array->count = n;
  return TB_OK;
}

static bool inside(const tbBox* box, const tbFatBox* kept)
{
  const float* f = kept->bound;
  return (f[0] <= box->lo.x) & (f[1] <= box->lo.y) & (f[2] <= box->lo.z) & (f[3] <= -box->hi.x) &
         (f[4] <= -box->hi.y) & (f[5] <= -box->hi.z);
}

// Grows [lo, hi] on both sides, and ahead on one.
static void grow(double* lo, double* hi, double by, double way)
{
  *lo -= by - fmin(way, 0);
  *hi += by + fmax(way, 0);
}

static tbFatBox kept_box(tbBox b, tbVec3 way)
{
  double size = ((b.hi.x - b.lo.x) + (b.hi.y - b.lo.y) + (b.hi.z - b.lo.z)) / 3, most = MOST_AHEAD * size;
  if (!(size < INFINITY)) return tb_fat_box(&b);
  double far = AHEAD * tb_maxabs3(way);
  tbVec3 ahead = tb_scale3(far > most ? AHEAD * (most / far) : AHEAD, way);
  grow(&b.lo.x, &b.hi.x, GROW * size, ahead.x);
  grow(&b.lo.y, &b.hi.y, GROW * size, ahead.y);
  grow(&b.lo.z, &b.hi.z, GROW * size, ahead.z);
  return tb_fat_box(&b);
}

typedef struct {
  tbPairCache* cache;
  const tbBroadItem* items;
  int count, known; // items; those that the last update had, too
  tbShared shared;
  tbStatus status[PIECES];
} Update;

static void look_at_items(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Update* u = user;
  Item* item = u->cache->item.data;
  Own* own = u->cache->own.data;
  uint8_t* away = u->cache->away.data;
  for (int i = begin; i < end; i++) {
    const tbBroadItem* now = &u->items[i];
    Item* it = &item[i];
    Where absent = tb_box_is_empty(&now->box) ? ABSENT : INSIDE;
    bool known = i < u->known && (it->where == ABSENT) == (absent == ABSENT);
    it->moved = !known || it->group != now->group || it->moves != now->moves ||
                (absent != ABSENT && !inside(&now->box, &it->box));
    if (it->moved) {
      bool came = known && it->where == INSIDE;
      it->box = kept_box(now->box, came ? tb_sub3(now->box.lo, it->lo) : tb_zero3());
      it->group = now->group;
      it->moves = now->moves;
      Where where = absent == ABSENT ? ABSENT : tb_fat_box_is_finite(&it->box) ? INSIDE : OUTSIDE;
      it->moved = i < u->known && it->where == where ? 1 : 2; // 2: the tree is not of these items
      it->where = (uint8_t)where;
    }
    it->lo = now->box.lo;
    const tbBox* b = &now->box;
    own[i] = (Own){{b->lo.x, b->lo.y, b->lo.z, -b->hi.x, -b->hi.y, -b->hi.z}};
    away[i] = it->moved;
  }
}

// Lists what has moved, and says whether the tree has the right items.
static tbStatus list_moved(tbContext* ctx, const Update* u, bool* same_items)
{
  tbPairCache* c = u->cache;
  Item* item = c->item.data;
  size_t n = 0;
  TB_TRY(resize(ctx, &c->moved, (size_t)u->count));
  for (int i = 0; i < u->count; i++) {
    if (!item[i].moved) continue;
    *same_items &= item[i].moved == 1;
    ((int*)c->moved.data)[n++] = i;
  }
  c->moved.count = n;
  return TB_OK;
}

static tbStatus build_tree(tbContext* ctx, tbPairCache* c)
{
  Item* item = c->item.data;
  c->outside.count = c->tree.entry.count = 0;
  for (int i = 0; i < (int)c->item.count; i++) {
    tbBoxTreeEntry entry = {item[i].box, i, 0};
    if (item[i].where == OUTSIDE) TB_TRY(tb_array_push(ctx, &c->outside, &i, 1));
    if (item[i].where == INSIDE) TB_TRY(tb_array_push(ctx, &c->tree.entry, &entry, 1));
  }
  TB_TRY(tb_box_tree_build(ctx, &c->tree));
  const tbBoxTreeEntry* entry = c->tree.entry.data;
  for (int k = 0; k < (int)c->tree.entry.count; k++) item[entry[k].item].entry = k;
  c->built = c->tree.area;
  return TB_OK;
}

static tbStatus follow_items(tbContext* ctx, tbPairCache* c, bool same_items)
{
  if (!same_items) return build_tree(ctx, c);
  const Item* item = c->item.data;
  const int* moved = c->moved.data;
  tbBoxTreeEntry* entry = c->tree.entry.data;
  for (size_t k = 0; k < c->moved.count; k++)
    if (item[moved[k]].where == INSIDE) entry[item[moved[k]].entry].box = item[moved[k]].box;
  tb_box_tree_refit(&c->tree);
  return c->tree.area > LOOSE * c->built ? build_tree(ctx, c) : TB_OK;
}

// Whether i, which has moved, answers for its pair with j: where both have, the lower one does.
static bool answers(const Item* item, int i, int j)
{
  return i != j && !(item[j].moved && j < i) && item[i].group != item[j].group &&
         (item[i].moves | item[j].moves);
}

static tbStatus add(tbContext* ctx, tbArray* out, int i, int j)
{
  tbPair pair = i < j ? (tbPair){i, j} : (tbPair){j, i};
  if (out->count == out->capacity) return tb_array_push(ctx, out, &pair, 1);
  ((tbPair*)out->data)[out->count++] = pair;
  return TB_OK;
}

static tbStatus search_one(tbContext* ctx, const tbPairCache* c, int i, tbArray* out)
{
  const Item* item = c->item.data;
  const tbBoxTreeEntry* entry = c->tree.entry.data;
  const int* outside = c->outside.data;
  tbFatBox ask = tb_fat_box_ask(&item[i].box);
  tbBoxTreeWalk walk;
  tb_box_tree_walk(&c->tree, &walk);
  for (const tbBoxTreeNode* leaf; (leaf = tb_box_tree_next(&walk, &ask)) != NULL;)
    for (int k = leaf->link; k < leaf->link + leaf->count; k++)
      if (tb_fat_box_meets(&entry[k].box, &ask) && answers(item, i, entry[k].item))
        TB_TRY(add(ctx, out, i, entry[k].item));
  for (size_t k = 0; k < c->outside.count; k++)
    if (tb_fat_box_meets(&item[outside[k]].box, &ask) && answers(item, i, outside[k]))
      TB_TRY(add(ctx, out, i, outside[k]));
  return TB_OK;
}

static void search(void* user, int begin, int end, int piece)
{
  Update* u = user;
  const tbPairCache* c = u->cache;
  const int* moved = c->moved.data;
  tbContext own = tb_shared_context(&u->shared);
  tbArray* out = &u->cache->found[piece];
  out->count = 0;
  u->status[piece] = TB_OK;
  for (int k = begin; k < end && u->status[piece] == TB_OK; k++)
    if (((const Item*)c->item.data)[moved[k]].where != ABSENT)
      u->status[piece] = search_one(&own, c, moved[k], out);
}

// Stable counting sort by one end of the pairs; `start` has room for count + 1.
static void sort_by(const tbPair* from, tbPair* to, size_t n, int count, bool by_b, size_t* start)
{
  memset(start, 0, ((size_t)count + 1) * sizeof *start);
  for (size_t i = 0; i < n; i++) start[(by_b ? from[i].b : from[i].a) + 1]++;
  for (int k = 0; k < count; k++) start[k + 1] += start[k];
  for (size_t i = 0; i < n; i++) to[start[by_b ? from[i].b : from[i].a]++] = from[i];
}

// All pairs of items that have moved, sorted, in the first half of c->sorted.
static tbStatus search_moved(tbContext* ctx, Update* u, size_t* count)
{
  tbPairCache* c = u->cache;
  int n = (int)c->moved.count, grain = n / PIECES + 1;
  grain = grain > GRAIN ? grain : GRAIN;
  int pieces = tb_piece_count(n, grain);
  tb_shared_begin(&u->shared, ctx);
  tb_parallel_for(ctx->threads, n, grain, search, u);
  tb_shared_end(&u->shared);
  *count = 0;
  for (int p = 0; p < pieces; p++) {
    if (u->status[p] != TB_OK) return tb_fail(ctx, TB_ERROR_MEMORY, "no memory for pairs");
    *count += c->found[p].count;
  }
  TB_TRY(resize(ctx, &c->sorted, 2 * *count));
  TB_TRY(resize(ctx, &c->start, (size_t)u->count + 1));
  if (*count == 0) return TB_OK;
  tbPair *first = c->sorted.data, *second = first + *count, *at = first;
  for (int p = 0; p < pieces; p++) {
    if (c->found[p].count) memcpy(at, c->found[p].data, c->found[p].count * sizeof *at);
    at += c->found[p].count;
  }
  sort_by(first, second, *count, u->count, true, c->start.data);
  sort_by(second, first, *count, u->count, false, c->start.data);
  return TB_OK;
}

static uint64_t key_of(int a, int b) { return (uint64_t)a << 32 | (uint32_t)b; }

// Takes over the old pairs up to a key whose items have not moved. No branches: which stay cannot be
// foreseen.
static const Kept* keep_until(uint64_t key, const Kept* old, const Kept* end, const uint8_t* away, Kept* to,
                              size_t* n)
{
  for (; old != end && key_of(old->a, old->b) < key; old++) {
    to[*n] = *old;
    *n += (away[old->a] | away[old->b]) == 0;
  }
  return old;
}

// Old pairs of items that have not moved, and the pairs found for those that have. A pair found again keeps
// its place in the last list.
static tbStatus merge(tbContext* ctx, const Update* u, const tbPair* found, size_t nfound,
                      const tbPairFilter* filter)
{
  tbPairCache* c = u->cache;
  const uint8_t* away = c->away.data;
  const Kept *old = c->kept.data, *end = old ? old + c->kept.count : NULL;
  TB_TRY(resize(ctx, &c->next, c->kept.count + nfound + 1)); // one that does not stay is written, too
  Kept* to = c->next.data;
  size_t n = 0;
  for (size_t f = 0; f < nfound; f++) {
    tbPair p = found[f];
    old = keep_until(key_of(p.a, p.b), old, end, away, to, &n);
    if (old != end && old->a == p.a && old->b == p.b) to[n++] = *old++;
    else if (!filter || filter->may_meet(filter->user, p.a, p.b)) to[n++] = (Kept){p.a, p.b, -1};
  }
  keep_until(UINT64_MAX, old, end, away, to, &n);
  c->next.count = n;
  tbArray swap = c->kept;
  c->kept = c->next;
  c->next = swap;
  return TB_OK;
}

static void compare(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Update* u = user;
  const Kept* kept = u->cache->kept.data;
  const Own* own = u->cache->own.data;
  uint8_t* meets = u->cache->meets.data;
  tb4d first = tb4_set1(0), second = first; // what none of the other box may be above
  for (int k = begin, a = -1; k < end; k++) {
    if (kept[k].a != a) { // most pairs have their first item in common with the one before
      const double* x = own[a = kept[k].a].bound;
      const double ask[8] = {-x[3], -x[4], -x[5], -x[0], -x[1], -x[2], 0, 0};
      first = tb4_load(ask), second = tb4_load(ask + 4);
    }
    const double* x = own[kept[k].b].bound;
    meets[k] = (tb4_at_most(tb4_load(x), first) & tb4_at_most(tb4_load(x + 4), second)) == 15;
  }
}

// Hands out the kept pairs whose items' own boxes meet.
static tbStatus hand_out(tbContext* ctx, Update* u)
{
  tbPairCache* c = u->cache;
  size_t n = 0;
  TB_TRY(resize(ctx, &c->meets, c->kept.count));
  TB_TRY(resize(ctx, &c->pairs, c->kept.count));
  tb_parallel_for(ctx->threads, (int)c->kept.count, PAIRS, compare, u);
  Kept* kept = c->kept.data;
  const uint8_t* meets = c->meets.data;
  tbCachedPair* pair = c->pairs.data;
  for (size_t k = 0; k < c->kept.count; k++) {
    int yes = -(int)meets[k]; // all bits, or none: no branches
    pair[n] = (tbCachedPair){kept[k].a, kept[k].b, kept[k].at};
    kept[k].at = ((int)n & yes) | ~yes;
    n += meets[k];
  }
  c->pairs.count = n;
  return TB_OK;
}

static void drop_pairs_beyond(tbArray* kept, int count)
{
  Kept* k = kept->data;
  size_t n = 0;
  for (size_t i = 0; i < kept->count; i++)
    if (k[i].b < count) k[n++] = k[i];
  kept->count = n;
}

static tbStatus update(tbContext* ctx, Update* u, const tbPairFilter* filter)
{
  tbPairCache* c = u->cache;
  bool same_items = u->known == u->count;
  if (u->count < u->known) drop_pairs_beyond(&c->kept, u->count);
  TB_TRY(resize(ctx, &c->item, (size_t)u->count));
  TB_TRY(resize(ctx, &c->own, (size_t)u->count));
  TB_TRY(resize(ctx, &c->away, (size_t)u->count));
  tb_parallel_for(ctx->threads, u->count, ITEMS, look_at_items, u);
  TB_TRY(list_moved(ctx, u, &same_items));
  if (c->moved.count > 0 || !same_items) {
    size_t found;
    TB_TRY(follow_items(ctx, c, same_items));
    TB_TRY(search_moved(ctx, u, &found));
    TB_TRY(merge(ctx, u, c->sorted.data, found, filter));
  }
  return hand_out(ctx, u);
}

tbStatus tb_pair_cache_update(tbContext* ctx, tbPairCache* cache, const tbBroadItem* items, int count,
                              const tbPairFilter* filter)
{
  Update u = {.cache = cache, .items = items, .count = count, .known = (int)cache->item.count};
  tbStatus status = update(ctx, &u, filter);
  if (status != TB_OK) tb_pair_cache_clear(cache);
  return status;
}
