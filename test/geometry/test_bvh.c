// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "geometry/box.h"
#include "geometry/bvh.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char* seen; // by item
  int count;
} Found;

static bool note(void* user, int item)
{
  Found* f = user;
  f->seen[item]++;
  f->count++;
  return true;
}

static tbBox random_box(tbRandom* r, double spread, double size)
{
  tbVec3 lo = tb_vec3(test_uniform(r, -spread, spread), test_uniform(r, -spread, spread),
                      test_uniform(r, -spread, spread));
  tbVec3 d = tb_vec3(test_uniform(r, 0, size), test_uniform(r, 0, size), test_uniform(r, 0, size));
  return (tbBox){lo, tb_add3(lo, d)};
}

static bool meets(tbBox a, tbBox b)
{
  return !tb_box_is_empty(&a) && !tb_box_is_empty(&b) && tb_box_meets(&a, &b);
}

// Depth of the tree, or −1 when nodes do not cover the items exactly once or a box is left by its items.
static int sound_depth(const tbBvh* bvh, const tbBox* boxes, int node, char* covered)
{
  const tbBvhNode* n = &bvh->node[node];
  if (n->right) {
    int left = sound_depth(bvh, boxes, node + 1, covered), right = sound_depth(bvh, boxes, n->right, covered);
    return left < 0 || right < 0 ? -1 : 1 + (left > right ? left : right);
  }
  for (int i = 0; i < n->count; i++) {
    int item = bvh->order[n->first + i];
    tbBox both = tb_box_is_empty(&boxes[item]) ? n->box : tb_box_join(n->box, boxes[item]);
    if (covered[item]++ || memcmp(&both, &n->box, sizeof both) != 0) return -1;
  }
  return 1;
}

// Builds a tree over the boxes and asks it for `queries` boxes; every answer must be brute force's.
static void check_tree(tbBox* boxes, int count, const tbBox* queries, int query_count)
{
  tbContext ctx = tb_default_context();
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  tbBvh bvh;
  CHECK_OK(&ctx, tb_bvh_build(&ctx, &arena, boxes, count, &bvh));
  char* seen = calloc((size_t)count + 1, 1);
  int depth = sound_depth(&bvh, boxes, 0, seen);
  CHECK(depth > 0 && depth <= 64);
  for (int q = 0; q < query_count; q++) {
    memset(seen, 0, (size_t)count);
    Found found = {seen, 0};
    tb_bvh_query(&bvh, boxes, queries[q], note, &found);
    for (int i = 0; i < count; i++) REQUIRE(seen[i] == meets(boxes[i], queries[q]));
  }
  free(seen);
  tb_arena_free(&arena);
}

TEST(bvh_finds_what_brute_force_finds)
{
  tbRandom r = test_random(1);
  tbBox boxes[700], queries[60];
  for (int count = 1; count <= 700; count = count < 12 ? count + 1 : count * 2 + 1) {
    for (int i = 0; i < count; i++) boxes[i] = random_box(&r, 10, i % 7 ? 1 : 8);
    for (int q = 0; q < 60; q++) queries[q] = random_box(&r, 11, q % 3 ? 2 : 0);
    check_tree(boxes, count, queries, 60);
  }
}

TEST(bvh_takes_degenerate_boxes)
{
  tbRandom r = test_random(2);
  enum { COUNT = 500 };
  tbBox boxes[COUNT], queries[42];
  for (int q = 0; q < 40; q++) queries[q] = random_box(&r, 4, 3);
  queries[40] = tb_box_empty();
  queries[41] = (tbBox){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  for (int i = 0; i < COUNT; i++) boxes[i] = (tbBox){{1, 1, 1}, {2, 2, 2}}; // all equal
  check_tree(boxes, COUNT, queries, 42);
  for (int i = 0; i < COUNT; i++) boxes[i] = tb_box_empty();
  check_tree(boxes, COUNT, queries, 42);
  for (int i = 0; i < COUNT; i++) { // points, empty, half-infinite, infinite, inside out, all together
    boxes[i] = random_box(&r, 3, i % 2 ? 0 : 1);
    if (i % 11 == 0) boxes[i] = tb_box_empty();
    if (i % 13 == 0) boxes[i].hi.z = INFINITY;
    if (i % 17 == 0) boxes[i] = queries[41];
    if (i % 19 == 0) boxes[i].lo.x = 5, boxes[i].hi.x = -5;
    if (i % 23 == 0) boxes[i].lo = boxes[i].hi = tb_vec3(1e308, -1e308, 1e-308);
  }
  check_tree(boxes, COUNT, queries, 42);
}

TEST(bvh_stays_shallow_on_boxes_that_shrink_geometrically)
{
  enum { COUNT = 4000 };
  tbBox* boxes = calloc(COUNT, sizeof *boxes);
  double x = 1e300;
  for (int i = 0; i < COUNT; i++, x *= 0.71) boxes[i] = (tbBox){{x, 0, 0}, {x, 1, 1}};
  tbBox queries[3] = {{{0, 0, 0}, {1, 1, 1}}, {{1e-3, 0, 0}, {1e100, 1, 1}}, {{-1, 0, 0}, {0, 1, 1}}};
  check_tree(boxes, COUNT, queries, 3);
  free(boxes);
}

LONG_TEST(bvh_of_100000_boxes_is_the_same_twice_and_refits)
{
  int count = test_quick() ? 20000 : 100000;
  tbRandom r = test_random(3);
  tbContext ctx = tb_default_context();
  tbBox* boxes = calloc((size_t)count, sizeof *boxes);
  for (int i = 0; i < count; i++) boxes[i] = random_box(&r, 50, 1);
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  tbBvh one, two;
  CHECK_OK(&ctx, tb_bvh_build(&ctx, &arena, boxes, count, &one));
  CHECK_OK(&ctx, tb_bvh_build(&ctx, &arena, boxes, count, &two));
  CHECK(one.nnode == two.nnode && memcmp(one.order, two.order, (size_t)count * sizeof *one.order) == 0);
  for (int k = 0; k < one.nnode; k++)
    REQUIRE(one.node[k].right == two.node[k].right && one.node[k].first == two.node[k].first);

  for (int i = 0; i < count; i++) boxes[i] = random_box(&r, 50, 1);
  tb_bvh_refit(&one, boxes);
  char* seen = calloc((size_t)count, 1);
  CHECK(sound_depth(&one, boxes, 0, seen) > 0);
  for (int q = 0; q < 10; q++) {
    tbBox query = random_box(&r, 50, 10);
    memset(seen, 0, (size_t)count);
    Found found = {seen, 0};
    tb_bvh_query(&one, boxes, query, note, &found);
    for (int i = 0; i < count; i++) REQUIRE(seen[i] == meets(boxes[i], query));
  }
  free(seen);
  free(boxes);
  tb_arena_free(&arena);
}

static bool stop_at_once(void* user, int item)
{
  (void)item;
  ++*(int*)user;
  return false;
}

TEST(bvh_query_stops_when_told_and_an_empty_tree_has_nothing)
{
  tbContext ctx = tb_default_context();
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  tbBox boxes[100];
  for (int i = 0; i < 100; i++) boxes[i] = (tbBox){{0, 0, 0}, {1, 1, 1}};
  tbBvh bvh;
  CHECK_OK(&ctx, tb_bvh_build(&ctx, &arena, boxes, 100, &bvh));
  int calls = 0;
  tb_bvh_query(&bvh, boxes, boxes[0], stop_at_once, &calls);
  CHECK(calls == 1);
  CHECK_OK(&ctx, tb_bvh_build(&ctx, &arena, boxes, 0, &bvh));
  tb_bvh_query(&bvh, boxes, boxes[0], stop_at_once, &calls);
  tb_bvh_refit(&bvh, boxes);
  CHECK(calls == 1);
  tb_arena_free(&arena);
}
