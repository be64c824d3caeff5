// SPDX-License-Identifier: Apache-2.0
// All pairs of triangles that meet, within surfaces and between surfaces whose boxes meet.
//
// Every surface has a tree: the one that it comes with, examined and filled anew with where its triangles
// are, or one made here. A triangle is looked up in its own tree, for those that come after it in the order
// of leaves, and in the trees of the surfaces that come after its own: every pair comes up once.
//
// What touches is told apart afterwards (intersect_touch.c).
//
// Cost   a query or a few for each triangle, and the signs of intersect.c for each pair whose boxes meet.
#include "base/threads.h"
#include "base/shared.h"
#include "base/sort.h"
#include "base/stop.h"
#include "collide/broad.h"
#include "collide/intersect_touch.h"
#include "geometry/box.h"

#include <assert.h>
#include <string.h>

enum { GRAIN = 256, STACK = 64, ASK = 16 }; // ASK: triangles between questions whether to stop
enum { MOST = 1 << 16 };                    // pairs that a piece lists; more are not told apart, nor counted

typedef struct {
  tbContext ctx; // memory for them
  tbArray pair;  // tbTrianglePair
  tbStatus status;
} Found;

typedef struct {
  const tbTriangles* of;
  int first;       // of its triangles, among those of all surfaces
  int pair, npair; // later surfaces whose boxes meet its own, in Search.pair
  bool wanted;     // something may meet it: only then it has what follows
  bool lent;       // its tree is the one that it comes with
  tbBvh tree;
  tbBox* box; // of triangles
  int* last;  // of a node: where its triangles end in the order of leaves
} Surface;

typedef struct {
  Surface* surface;
  int count, total;  // surfaces, triangles
  tbBroadItem* item; // of surfaces
  const tbPair* pair;
  tbShared shared;
  Found* found; // by piece
} Search;

static void load(const tbTriangles* s, int t, tbVec3 out[3])
{
  for (int k = 0; k < 3; k++) out[k] = s->vertex[s->triangle[t][k]];
}

// ---- comparing ----

static bool neighbours(const int a[3], const int b[3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (a[i] == b[j]) return true;
  return false;
}

static bool is_attached(const tbTriangles* s, const int* corner, int body)
{
  for (int k = 0; s->holder && k < 3; k++)
    if (s->holder[corner[k]] == body) return true;
  return false;
}

static void compare(const tbTriangles* all, const tbTriangles* a, int t, const tbVec3 x[3],
                    const tbTriangles* b, int u, Found* found)
{
  const int *p = a->triangle[t], *q = b->triangle[u];
  if (a != b && (is_attached(a, p, b->body) || is_attached(b, q, a->body))) return;
  if (a != b && a->rigid && b->rigid && a->body == b->body) return; // parts of one body
  tbVec3 y[3];
  load(b, u, y);
  bool rims = a != b || !neighbours(p, q);
  tbMeeting meeting = tb_triangles_meeting(x, y, rims);
  if (meeting == TB_OVERLAPPING && !rims) meeting = TB_CROSSING; // folded flat onto its neighbour
  if (meeting == TB_APART || (meeting == TB_TOUCHING && !rims)) return;
  tbTrianglePair pair = {(int)(a - all), (int)(b - all), t, u, meeting};
  if (found->status == TB_OK && found->pair.count < MOST)
    found->status = tb_array_push(&found->ctx, &found->pair, &pair, 1);
}

// Triangle t of a with those of b from place `from` of the order of leaves.
static void look_up(const tbTriangles* all, const Surface* a, int t, const Surface* b, int from, Found* found)
{
  const tbBvhNode* node = b->tree.node;
  const tbBox* box = &a->box[t];
  int stack[STACK], depth = 0;
  tbVec3 x[3];
  load(a->of, t, x);
  if (b->tree.nnode > 0) stack[depth++] = 0;
  while (depth > 0) {
    int k = stack[--depth];
    if (b->last[k] <= from || !tb_box_meets(&node[k].box, box)) continue;
    if (node[k].right) {
      assert(depth + 2 <= STACK);
      stack[depth++] = node[k].right;
      stack[depth++] = k + 1;
      continue;
    }
    for (int j = node[k].first > from ? node[k].first : from; j < b->last[k]; j++) {
      int u = b->tree.order[j];
      if (tb_box_meets(box, &b->box[u])) compare(all, a->of, t, x, b->of, u, found);
    }
  }
}

// Triangles are numbered across surfaces, in each by the order of its leaves.
static void search_range(void* user, int begin, int end, int piece)
{
  Search* s = user;
  const tbTriangles* all = s->surface[0].of;
  Found* found = &s->found[piece];
  *found = (Found){tb_shared_context(&s->shared), TB_ARRAY(tbTrianglePair), TB_OK};
  int k = 0;
  for (int lo = 0, hi = s->count; hi - lo > 1;) { // the last surface that starts at or before `begin`
    k = (lo + hi) / 2;
    if (s->surface[k].first <= begin) lo = k;
    else hi = k;
    k = lo;
  }
  for (int i = begin; i < end; i++) {
    while (i >= s->surface[k].first + s->surface[k].of->ntriangle) k++;
    const Surface* a = &s->surface[k];
    if (i % ASK == 0 && tb_asked(found->ctx.interrupt)) found->status = TB_ERROR_CANCELLED;
    if (!a->wanted || found->status != TB_OK) continue;
    int place = i - a->first, t = a->tree.order[place];
    if (!a->of->rigid) look_up(all, a, t, a, place + 1, found);
    for (int p = a->pair; p < a->pair + a->npair; p++)
      look_up(all, a, t, &s->surface[s->pair[p].b], 0, found);
  }
}

// ---- trees ----

static tbStatus check(tbContext* ctx, const tbTriangles* surfaces, int count)
{
  int64_t sum = 0;
  for (int i = 0; i < count; i++) {
    const tbTriangles* s = &surfaces[i];
    for (int k = 0; k < s->nvertex; k++) {
      tbVec3 p = s->vertex[k];
      if (!(fabs(p.x) <= 0x1p100 && fabs(p.y) <= 0x1p100 && fabs(p.z) <= 0x1p100))
        return tb_fail(ctx, TB_ERROR_NUMERIC, "surface %d: vertex %d is not finite, or beyond 2^100", i, k);
    }
    for (int t = 0; t < s->ntriangle; t++)
      for (int k = 0; k < 3; k++)
        if (s->triangle[t][k] < 0 || s->triangle[t][k] >= s->nvertex)
          return tb_fail(ctx, TB_ERROR_ARGUMENT, "surface %d: triangle %d has no vertex %d", i, t,
                         s->triangle[t][k]);
    sum += s->ntriangle;
  }
  if (sum > INT32_MAX / 2) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "more than 2^30 triangles");
  return TB_OK;
}

static void bound(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Search* s = user;
  for (int i = begin; i < end; i++) {
    const tbTriangles* of = s->surface[i].of;
    tbBox box = tb_box_empty();
    for (int k = 0; k < of->nvertex; k++) box = tb_box_add(box, of->vertex[k]);
    s->item[i] = (tbBroadItem){box, i, !of->rigid || of->alert};
  }
}

static void fill(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Search* s = user;
  for (int i = begin; i < end; i++) {
    Surface* a = &s->surface[i];
    for (int t = 0; a->wanted && t < a->of->ntriangle; t++) {
      tbVec3 p[3];
      load(a->of, t, p);
      a->box[t] = tb_box_add(tb_box_add((tbBox){p[0], p[0]}, p[1]), p[2]);
    }
    if (a->wanted && a->lent) tb_bvh_refit(&a->tree, a->box);
  }
}

// Whether a given tree leads from its root to every triangle once: a count that rests on it must not be
// wrong.
static tbStatus examine(tbArena* arena, const tbBvh* tree, int triangles, bool* whole)
{
  int *size = TB_TAKE(arena, int, (size_t)tree->nnode), *seen = TB_TAKE(arena, int, (size_t)triangles);
  if (!size || !seen) return TB_ERROR_MEMORY;
  *whole = tree->nitem == triangles && tree->nnode > 0;
  for (int k = tree->nnode - 1; *whole && k >= 0; k--) { // of subtrees, which follow their roots
    const tbBvhNode* node = &tree->node[k];
    bool leaf = node->right == 0, sound = leaf || (node->right > k + 1 && node->right < tree->nnode);
    *whole = sound && (leaf || node->right == k + 1 + size[k + 1]);
    size[k] = leaf || !*whole ? 1 : 1 + size[k + 1] + size[node->right];
    *whole =
        *whole && (!leaf || (node->first >= 0 && node->count >= 0 && node->first <= triangles - node->count));
    for (int t = 0; *whole && leaf && t < node->count; t++) {
      int item = tree->order[node->first + t];
      *whole = item >= 0 && item < triangles && seen[item]++ == 0;
    }
  }
  for (int t = 0; *whole && t < triangles; t++) *whole = seen[t] == 1;
  *whole = *whole && size[0] == tree->nnode;
  return TB_OK;
}

static tbStatus take_trees(tbArena* arena, Search* s)
{
  for (int i = 0; i < s->count; i++) {
    Surface* a = &s->surface[i];
    if (!a->wanted) continue;
    a->box = TB_TAKE(arena, tbBox, (size_t)a->of->ntriangle);
    if (!a->box) return TB_ERROR_MEMORY;
    if (a->of->tree) TB_TRY(examine(arena, a->of->tree, a->of->ntriangle, &a->lent));
    if (!a->lent) continue;
    a->tree = *a->of->tree;
    a->tree.node = TB_TAKE(arena, tbBvhNode, (size_t)a->tree.nnode);
    if (!a->tree.node) return TB_ERROR_MEMORY;
    if (a->tree.nnode > 0)
      memcpy(a->tree.node, a->of->tree->node, (size_t)a->tree.nnode * sizeof *a->tree.node);
  }
  return TB_OK;
}

static tbStatus finish_trees(tbContext* ctx, tbArena* arena, Search* s)
{
  for (int i = 0; i < s->count; i++) {
    Surface* a = &s->surface[i];
    if (!a->wanted) continue;
    if (!a->lent) TB_TRY(tb_bvh_build(ctx, arena, a->box, a->of->ntriangle, &a->tree));
    a->last = TB_TAKE(arena, int, (size_t)a->tree.nnode);
    if (!a->last) return TB_ERROR_MEMORY;
    for (int k = a->tree.nnode - 1; k >= 0; k--) {
      const tbBvhNode* node = &a->tree.node[k];
      a->last[k] = node->right ? a->last[node->right] : node->first + node->count;
    }
  }
  return TB_OK;
}

// ---- the whole ----

// All pairs that the pieces found, in order.
static tbStatus collect(tbContext* ctx, Search* s, int pieces, tbArray* out)
{
  tbStatus status = TB_OK;
  for (int i = 0; i < pieces; i++) {
    Found* f = &s->found[i];
    if (status == TB_OK && f->status != TB_OK)
      status = tb_fail(ctx, f->status,
                       f->status == TB_ERROR_CANCELLED ? "cancelled" : "out of memory for crossings");
    if (status == TB_OK) status = tb_array_push(ctx, out, f->pair.data, f->pair.count);
    tb_array_free(ctx, &f->pair);
  }
  return status;
}

static tbStatus search_all(tbContext* ctx, tbArena* arena, Search* s, const tbTriangles* surfaces,
                           tbArray* pairs, tbArray* out)
{
  s->surface = TB_TAKE(arena, Surface, (size_t)s->count);
  s->item = TB_TAKE(arena, tbBroadItem, (size_t)s->count);
  if (!s->surface || !s->item) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->count; i++) {
    s->surface[i] =
        (Surface){.of = &surfaces[i], .first = s->total, .wanted = !surfaces[i].rigid || surfaces[i].alert};
    s->total += surfaces[i].ntriangle;
  }
  tb_parallel_for(ctx->threads, s->count, 1, bound, s);
  TB_TRY(tb_broad_pairs(ctx, arena, s->item, s->count, pairs));
  s->pair = pairs->data;
  for (int p = (int)pairs->count - 1; p >= 0; p--) { // sorted by a
    Surface *a = &s->surface[s->pair[p].a], *b = &s->surface[s->pair[p].b];
    a->pair = p, a->npair++;
    a->wanted = b->wanted = true;
  }
  TB_TRY(take_trees(arena, s));
  tb_parallel_for(ctx->threads, s->count, 1, fill, s);
  TB_TRY(finish_trees(ctx, arena, s));
  int pieces = tb_piece_count(s->total, GRAIN);
  s->found = TB_TAKE(arena, Found, (size_t)pieces);
  if (!s->found) return TB_ERROR_MEMORY;
  tb_shared_begin(&s->shared, ctx);
  tb_parallel_for(ctx->threads, s->total, GRAIN, search_range, s);
  tb_shared_end(&s->shared);
  return collect(ctx, s, pieces, out);
}

static int by_surfaces(const void* x, const void* y)
{
  const tbTrianglePair *p = x, *q = y;
  int order[4] = {p->a - q->a, p->b - q->b, p->t - q->t, p->u - q->u};
  for (int k = 0; k < 4; k++)
    if (order[k]) return order[k];
  return 0;
}

static tbStatus sum_up(tbContext* ctx, const tbArray* met, tbArray* out)
{
  const tbTrianglePair* p = met->data;
  tb_sort(met->data, met->count, sizeof *p, by_surfaces);
  for (size_t i = 0; i < met->count; i++) {
    tbSurfacesMeet none = {p[i].a, p[i].b, {0}};
    if (i == 0 || p[i].a != p[i - 1].a || p[i].b != p[i - 1].b) TB_TRY(tb_array_push(ctx, out, &none, 1));
    tbIntersections* n = &((tbSurfacesMeet*)out->data)[out->count - 1].count;
    n->crossing += p[i].meeting == TB_CROSSING;
    n->touching += p[i].meeting != TB_CROSSING;
    n->overlapping += p[i].meeting == TB_OVERLAPPING;
  }
  return TB_OK;
}

tbStatus tb_list_intersections(tbContext* ctx, const tbTriangles* surfaces, int count, tbArray* out)
{
  TB_TRY(check(ctx, surfaces, count));
  if (count == 0) return TB_OK;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbArray pairs = TB_ARRAY(tbPair), met = TB_ARRAY(tbTrianglePair);
  Search search = {.count = count};
  tbStatus status = search_all(ctx, &arena, &search, surfaces, &pairs, &met);
  tb_array_free(ctx, &pairs);
  tb_arena_free(&arena);
  if (status == TB_OK) status = tb_tell_touching(ctx, surfaces, count, met.data, met.count);
  if (status == TB_OK) status = sum_up(ctx, &met, out);
  tb_array_free(ctx, &met);
  return status;
}

tbIntersections tb_sum_intersections(const tbArray* meetings)
{
  const tbSurfacesMeet* m = meetings->data;
  tbIntersections sum = {0};
  for (size_t i = 0; i < meetings->count; i++) {
    sum.crossing += m[i].count.crossing;
    sum.touching += m[i].count.touching;
    sum.overlapping += m[i].count.overlapping;
  }
  return sum;
}

tbStatus tb_count_intersections(tbContext* ctx, const tbTriangles* surfaces, int count, tbIntersections* out)
{
  tbArray list = TB_ARRAY(tbSurfacesMeet);
  tbStatus status = tb_list_intersections(ctx, surfaces, count, &list);
  *out = tb_sum_intersections(&list);
  tb_array_free(ctx, &list);
  return status;
}
