// SPDX-License-Identifier: Apache-2.0
#include "collide/broad.h"
#include "geometry/box.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static tbStatus broad_pairs(tbContext* ctx, const tbBroadItem* items, int count, tbArray* pairs)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = tb_broad_pairs(ctx, &arena, items, count, pairs);
  tb_arena_free(&arena);
  return status;
}

static const tbBox everywhere = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};

static tbBroadItem cube(tbRandom* r, double spread, double size, int group, bool moves)
{
  tbVec3 x = tb_vec3(test_uniform(r, 0, spread), test_uniform(r, 0, spread), test_uniform(r, 0, spread));
  tbVec3 d = tb_vec3(test_uniform(r, 0, size), test_uniform(r, 0, size), test_uniform(r, 0, size));
  return (tbBroadItem){{x, tb_add3(x, d)}, group, moves};
}

static bool should_meet(const tbBroadItem* a, const tbBroadItem* b)
{
  return a->group != b->group && (a->moves || b->moves) && !tb_box_is_empty(&a->box) &&
         !tb_box_is_empty(&b->box) && tb_box_meets(&a->box, &b->box);
}

// The pairs are brute force's, in order.
static void check_pairs(const tbBroadItem* items, int count)
{
  tbContext ctx = tb_default_context();
  tbArray pairs = TB_ARRAY(tbPair);
  CHECK_OK(&ctx, broad_pairs(&ctx, items, count, &pairs));
  const tbPair* p = pairs.data;
  size_t k = 0;
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++)
      if (should_meet(&items[i], &items[j])) {
        REQUIRE(k < pairs.count && p[k].a == i && p[k].b == j);
        k++;
      }
  CHECK(k == pairs.count);
  tb_array_free(&ctx, &pairs);
}

TEST(broad_phase_finds_what_brute_force_finds_in_order)
{
  tbRandom r = test_random(5);
  tbBroadItem items[1500];
  for (int count = 0; count <= 1500; count = count < 8 ? count + 1 : count * 3) {
    for (int i = 0; i < count; i++) items[i] = cube(&r, 10, i % 5 ? 0.6 : 2, i / 2, i % 3 != 0);
    check_pairs(items, count);
  }
}

TEST(broad_phase_takes_planes_empty_boxes_crowds_and_still_worlds)
{
  tbRandom r = test_random(6);
  tbBroadItem items[900];
  for (int i = 0; i < 900; i++) {
    items[i] = cube(&r, 5, 0.5, i, i % 4 != 0);
    if (i % 50 == 0) items[i].box = everywhere;
    if (i % 61 == 0) items[i].box.lo.z = -INFINITY;
    if (i % 71 == 0) items[i].box = tb_box_empty();
  }
  check_pairs(items, 900);
  for (int i = 0; i < 900; i++) items[i] = (tbBroadItem){{{0, 0, 0}, {1, 1, 1}}, i, true}; // all in one place
  check_pairs(items, 900);
  for (int i = 0; i < 900; i++) items[i].moves = i == 450;
  check_pairs(items, 900);
  for (int i = 0; i < 900; i++) items[i].moves = false;
  check_pairs(items, 900);
}

TEST(broad_phase_gives_the_same_pairs_for_any_number_of_threads)
{
  enum { COUNT = 8001 };
  tbRandom r = test_random(7);
  tbBroadItem* items = calloc(COUNT, sizeof *items);
  for (int i = 0; i < COUNT; i++) items[i] = cube(&r, 12, 1, i, true);
  items[COUNT - 1].box = (tbBox){{-500, -500, -10}, {500, 500, 0.5}};
  tbArray reference = TB_ARRAY(tbPair), pairs = TB_ARRAY(tbPair);
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, broad_pairs(&ctx, items, COUNT, &reference));
  CHECK(reference.count > COUNT);
  for (int threads = 2; threads <= 4; threads++) {
    CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
    CHECK_OK(&ctx, broad_pairs(&ctx, items, COUNT, &pairs));
    REQUIRE(pairs.count == reference.count);
    CHECK(memcmp(pairs.data, reference.data, pairs.count * sizeof(tbPair)) == 0);
    tb_threads_destroy(&ctx, ctx.threads);
    ctx.threads = NULL;
  }
  tb_array_free(&ctx, &pairs);
  tb_array_free(&ctx, &reference);
  free(items);
}

TEST(broad_phase_survives_every_failed_allocation)
{
  tbRandom r = test_random(8);
  tbBroadItem items[300];
  for (int i = 0; i < 300; i++) items[i] = cube(&r, 2, 1, i, true);
  items[7].box = everywhere;
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 200; k++) {
    tbFailingAllocator failing = {.countdown = k};
    tbContext ctx = test_failing_context(&failing);
    tbArray pairs = TB_ARRAY(tbPair);
    status = broad_pairs(&ctx, items, 300, &pairs);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && pairs.count == 0));
    tb_array_free(&ctx, &pairs);
    CHECK(failing.alive == 0);
  }
  CHECK(status == TB_OK);
}
