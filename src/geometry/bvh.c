// SPDX-License-Identifier: Apache-2.0
// A binary tree of boxes, built from the top by the surface-area heuristic.
//
// A node's items are sorted into BINS slabs by their centroids along the widest axis of the centroids' box.
// Between two slabs the cut of least cost  |L| area(L) + |R| area(R)  is taken (Goldsmith & Salmon 1987;
// bins: Wald 2007). Below CUT_BY_COST levels, and where all centroids fall into one slab, a node is cut in
// two halves instead, which bounds the depth by CUT_BY_COST + 31 whatever the boxes are.
//
// Cost      O(n log n); 32 n at worst for the upper levels, n log n for the lower ones.
// Limits    infinite boxes count as boxes of 10¹⁵⁰ m while the tree is cut, and empty ones as points at the
//           origin; a tree with many of them is correct, not fast.
#include "geometry/bvh.h"
#include "geometry/box.h"
#include "geometry/patches.h"

#include <assert.h>
#include <string.h>

enum { LEAF = 4, BINS = 16, CUT_BY_COST = 32, STACK = 64 };

static const double far = 1e150; // its square times six is still finite

typedef struct {
  tbBvh* bvh;
  const tbBox* boxes;
  tbVec3* centre; // of every item, by item
  int* spare;     // room for one side of a partition
} Build;

static double clamp(double x) { return x < -far ? -far : x > far ? far : x; }

static tbVec3 centre_of(const tbBox* b)
{
  if (tb_box_is_empty(b)) return tb_zero3();
  return tb_vec3(0.5 * clamp(b->lo.x) + 0.5 * clamp(b->hi.x), 0.5 * clamp(b->lo.y) + 0.5 * clamp(b->hi.y),
                 0.5 * clamp(b->lo.z) + 0.5 * clamp(b->hi.z));
}

static double half_area(const tbBox* b)
{
  if (tb_box_is_empty(b)) return 0;
  double x = clamp(b->hi.x) - clamp(b->lo.x), y = clamp(b->hi.y) - clamp(b->lo.y),
         z = clamp(b->hi.z) - clamp(b->lo.z);
  return x * y + y * z + z * x;
}

static tbBox joined(tbBox box, const tbBox* b) { return tb_box_is_empty(b) ? box : tb_box_join(box, *b); }

static double along(tbVec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

typedef struct {
  int axis;
  double lo, scale; // bin = (centre − lo) scale
} Slabs;

static int bin_of(const Slabs* s, tbVec3 centre)
{
  int bin = (int)((along(centre, s->axis) - s->lo) * s->scale);
  return bin < BINS - 1 ? bin : BINS - 1;
}

// Slabs over the widest axis of the centroids' box; false when all centroids are one point.
static bool make_slabs(tbBox centres, Slabs* out)
{
  tbVec3 d = tb_sub3(centres.hi, centres.lo);
  int axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
  double scale = BINS / along(d, axis);
  *out = (Slabs){axis, along(centres.lo, axis), scale};
  return along(d, axis) > 0 && scale <= 1.7976931348623157e308;
}

// The slab that begins the right side of the cheapest cut.
static int cheapest_cut(const Build* b, const Slabs* slabs, const int* items, int count)
{
  int in_bin[BINS] = {0};
  tbBox box[BINS];
  for (int k = 0; k < BINS; k++) box[k] = tb_box_empty();
  for (int i = 0; i < count; i++) {
    int k = bin_of(slabs, b->centre[items[i]]);
    in_bin[k]++;
    box[k] = joined(box[k], &b->boxes[items[i]]);
  }
  double left_cost[BINS];
  tbBox left = tb_box_empty(), right = left;
  int left_count = 0, right_count = 0, best = BINS / 2;
  for (int k = 0; k < BINS - 1; k++) {
    left = tb_box_join(left, box[k]);
    left_count += in_bin[k];
    left_cost[k + 1] = left_count * half_area(&left);
  }
  double least = INFINITY;
  for (int k = BINS - 1; k > 0; k--) {
    right = tb_box_join(right, box[k]);
    right_count += in_bin[k];
    double cost = left_cost[k] + right_count * half_area(&right);
    if (right_count > 0 && right_count < count && cost < least) {
      least = cost;
      best = k;
    }
  }
  return best;
}

// Moves items of slabs before `cut` to the front, keeping their order; returns how many there are.
static int partition(Build* b, const Slabs* slabs, int cut, int* items, int count)
{
  int left = 0, right = 0;
  for (int i = 0; i < count; i++)
    if (bin_of(slabs, b->centre[items[i]]) < cut) items[left++] = items[i];
    else b->spare[right++] = items[i];
  memcpy(items + left, b->spare, (size_t)right * sizeof *items);
  return left;
}

static int split(Build* b, tbBox centres, int* items, int count, int depth)
{
  Slabs slabs;
  if (!make_slabs(centres, &slabs)) return count / 2;
  if (depth >= CUT_BY_COST) {
    tb_select_along(b->centre, slabs.axis, items, count, count / 2);
    return count / 2;
  }
  int left = partition(b, &slabs, cheapest_cut(b, &slabs, items, count), items, count);
  return left > 0 && left < count ? left : count / 2;
}

static void build_node(Build* b, int first, int count, int depth)
{
  tbBvh* bvh = b->bvh;
  int* items = bvh->order + first;
  tbBvhNode* node = &bvh->node[bvh->nnode++];
  tbBox centres = tb_box_empty();
  node->box = centres;
  for (int i = 0; i < count; i++) {
    node->box = joined(node->box, &b->boxes[items[i]]);
    centres = tb_box_add(centres, b->centre[items[i]]);
  }
  if (count <= LEAF) {
    node->first = first;
    node->count = count;
    return;
  }
  int left = split(b, centres, items, count, depth);
  build_node(b, first, left, depth + 1);
  node->right = bvh->nnode;
  build_node(b, first + left, count - left, depth + 1);
}

tbStatus tb_bvh_build(tbContext* ctx, tbArena* arena, const tbBox* boxes, int nitem, tbBvh* out)
{
  *out = (tbBvh){0};
  if (nitem <= 0) return TB_OK;
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  size_t n = (size_t)nitem;
  tbBvh bvh = {.nitem = nitem};
  Build b = {&bvh, boxes, TB_TAKE(&temporary, tbVec3, n), TB_TAKE(&temporary, int, n)};
  bvh.node = TB_TAKE(arena, tbBvhNode, 2 * n - 1);
  bvh.order = TB_TAKE(arena, int, n);
  bool fits = b.centre && b.spare && bvh.node && bvh.order;
  if (fits) {
    for (int i = 0; i < nitem; i++) {
      b.centre[i] = centre_of(&boxes[i]);
      bvh.order[i] = i;
    }
    build_node(&b, 0, nitem, 0);
    *out = bvh;
  }
  tb_arena_free(&temporary);
  return fits ? TB_OK : TB_ERROR_MEMORY;
}

void tb_bvh_refit(tbBvh* bvh, const tbBox* boxes)
{
  for (int k = bvh->nnode - 1; k >= 0; k--) { // children come after their parent
    tbBvhNode* node = &bvh->node[k];
    if (node->right) {
      node->box = tb_box_join(node[1].box, bvh->node[node->right].box);
      continue;
    }
    node->box = tb_box_empty();
    for (int i = 0; i < node->count; i++) node->box = joined(node->box, &boxes[bvh->order[node->first + i]]);
  }
}

void tb_bvh_query(const tbBvh* bvh, const tbBox* boxes, tbBox box, tbBvhVisit* visit, void* user)
{
  if (bvh->nnode == 0 || tb_box_is_empty(&box)) return;
  int stack[STACK], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const tbBvhNode* node = &bvh->node[stack[--depth]];
    if (!tb_box_meets(&node->box, &box)) continue;
    if (node->right) {
      assert(depth + 2 <= STACK);
      stack[depth++] = node->right;
      stack[depth++] = (int)(node - bvh->node) + 1;
      continue;
    }
    for (int i = 0; i < node->count; i++) {
      int item = bvh->order[node->first + i];
      if (!tb_box_is_empty(&boxes[item]) && tb_box_meets(&boxes[item], &box) && !visit(user, item)) return;
    }
  }
}
