// SPDX-License-Identifier: Apache-2.0
#include "collide/pair_cache.h"
#include "geometry/box.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 600 };

typedef struct {
  tbBroadItem item[MOST];
  tbVec3 v[MOST];
  int count;
} Crowd;

static tbVec3 anywhere(tbRandom* r, double lo, double hi)
{
  return tb_vec3(test_uniform(r, lo, hi), test_uniform(r, lo, hi), test_uniform(r, lo, hi));
}

// Boxes of about 1 m that drift, a floor, a plane, walls that stand still, an empty box now and then.
static void fill(Crowd* c, tbRandom* r, int count, double spread, tbVec3 origin)
{
  c->count = count;
  for (int i = 0; i < count; i++) {
    tbVec3 lo = tb_add3(origin, anywhere(r, 0, spread)), size = anywhere(r, 0.2, i % 40 == 3 ? 6 : 1.2);
    c->item[i] = (tbBroadItem){{lo, tb_add3(lo, size)}, i / 2, i % 5 != 0};
    c->v[i] = i % 5 != 0 ? anywhere(r, -0.2, 0.2) : tb_zero3();
    if (i % 97 == 10) c->v[i] = anywhere(r, -5, 5); // fast
  }
  c->item[0].box = (tbBox){{-500, -500, -10}, {500, 500, 0.5}};
  c->item[1].box = (tbBox){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0.2}};
  c->item[2].box = tb_box_empty();
}

static void move(Crowd* c, tbRandom* r, int step)
{
  for (int i = 3; i < c->count; i++) {
    if ((i + step) % 7 == 0) continue; // rests
    c->item[i].box.lo = tb_add3(c->item[i].box.lo, c->v[i]);
    c->item[i].box.hi = tb_add3(c->item[i].box.hi, c->v[i]);
    if (test_below(r, 50) == 0) c->v[i] = tb_neg3(c->v[i]);
  }
  int k = 3 + test_below(r, c->count - 3); // something comes or goes, changes sides or stops
  switch (test_below(r, 6)) {
  case 0: c->item[k].box = tb_box_empty(); break;
  case 1: c->item[k].box = c->item[0].box; break;
  case 2: c->item[k].group = test_below(r, c->count); break;
  case 3: c->item[k].moves = !c->item[k].moves; break;
  case 4: c->item[k].box.hi.x = INFINITY; break;
  default: break;
  }
}

static bool odd_sum(const void* user, int a, int b) { return (void)user, (a + b) % 2 == 1; }

// The pairs are those of a search from nothing, less what the filter takes out; `was` names them in the last
// list.
static void check_update(tbContext* ctx, tbPairCache* cache, const Crowd* c, const tbPairFilter* filter,
                         tbArray* last)
{
  tbArena arena;
  tbArray all = TB_ARRAY(tbPair), now = TB_ARRAY(tbCachedPair);
  tb_arena_init(&arena, ctx);
  CHECK_OK(ctx, tb_broad_pairs(ctx, &arena, c->item, c->count, &all));
  CHECK_OK(ctx, tb_pair_cache_update(ctx, cache, c->item, c->count, filter));
  int count, at = 0;
  const tbCachedPair *pair = tb_pair_cache_pairs(cache, &count), *old = last->data;
  bool same = true;
  for (size_t k = 0; k < all.count; k++) {
    tbPair p = ((tbPair*)all.data)[k];
    if (filter && !filter->may_meet(filter->user, p.a, p.b)) continue;
    same = same && at < count && pair[at].a == p.a && pair[at].b == p.b;
    at++;
  }
  CHECK(same && at == count);
  for (int k = 0; k < count; k++) {
    int was = pair[k].was, found = -1;
    for (size_t i = 0; i < last->count; i++)
      if (old[i].a == pair[k].a && old[i].b == pair[k].b) found = (int)i;
    if (was != found) same = false;
  }
  CHECK(same); // the place in the last list
  CHECK_OK(ctx, tb_array_push(ctx, &now, pair, (size_t)count));
  tb_array_free(ctx, last);
  *last = now;
  tb_array_free(ctx, &all);
  tb_arena_free(&arena);
}

static void run_crowd(uint64_t seed, int count, double spread, tbVec3 origin, const tbPairFilter* filter,
                      int steps)
{
  static Crowd c;
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(seed);
  tbPairCache* cache;
  tbArray last = TB_ARRAY(tbCachedPair);
  fill(&c, &r, count, spread, origin);
  CHECK_OK(&ctx, tb_pair_cache_create(&ctx, &cache));
  for (int step = 0; step < steps; step++) {
    check_update(&ctx, cache, &c, filter, &last);
    move(&c, &r, step);
  }
  CHECK(last.count > (size_t)count / 4);
  tb_array_free(&ctx, &last);
  tb_pair_cache_free(&ctx, cache);
}

TEST(pair_cache_finds_what_a_search_from_nothing_finds)
{
  run_crowd(1, 4, 1, tb_zero3(), NULL, 30);
  run_crowd(2, 60, 3, tb_zero3(), NULL, 60);
  run_crowd(3, 300, 8, tb_zero3(), NULL, 40);
}

TEST(pair_cache_finds_all_pairs_a_million_metres_away)
{
  run_crowd(4, 200, 6, tb_vec3(1e6, -1e6, 3e6), NULL, 20);
}

TEST(pair_cache_asks_the_filter)
{
  tbPairFilter filter = {odd_sum, NULL};
  run_crowd(5, 200, 6, tb_zero3(), &filter, 30);
}

TEST(pair_cache_follows_items_that_are_added_and_taken_off_the_end)
{
  static Crowd c;
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(6);
  tbPairCache* cache;
  tbArray last = TB_ARRAY(tbCachedPair);
  fill(&c, &r, 200, 5, tb_zero3());
  CHECK_OK(&ctx, tb_pair_cache_create(&ctx, &cache));
  static const int counts[] = {100, 101, 150, 200, 90, 3, 120, 0, 60};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    c.count = counts[k];
    if (c.count < 100) tb_pair_cache_clear(cache), last.count = 0;
    check_update(&ctx, cache, &c, NULL, &last);
  }
  c.count = 30; // fewer, without a word: those that stay are the same
  check_update(&ctx, cache, &c, NULL, &last);
  tb_array_free(&ctx, &last);
  tb_pair_cache_free(&ctx, cache);
}

TEST(pair_cache_gives_the_same_pairs_for_any_number_of_threads)
{
  static Crowd c;
  tbContext ctx = tb_default_context();
  tbPairCache* cache[4];
  tbThreads* threads[4] = {NULL};
  tbRandom r = test_random(7);
  fill(&c, &r, MOST, 9, tb_zero3());
  for (int t = 0; t < 4; t++) CHECK_OK(&ctx, tb_pair_cache_create(&ctx, &cache[t]));
  for (int t = 1; t < 4; t++) CHECK_OK(&ctx, tb_threads_create(&ctx, t + 1, &threads[t]));
  for (int step = 0; step < 6; step++, move(&c, &r, step)) {
    int count[4];
    const tbCachedPair* pair[4];
    for (int t = 0; t < 4; t++) {
      ctx.threads = threads[t];
      CHECK_OK(&ctx, tb_pair_cache_update(&ctx, cache[t], c.item, c.count, NULL));
      pair[t] = tb_pair_cache_pairs(cache[t], &count[t]);
      REQUIRE(count[t] == count[0]);
      CHECK(memcmp(pair[t], pair[0], (size_t)count[0] * sizeof **pair) == 0);
    }
  }
  ctx.threads = NULL;
  for (int t = 0; t < 4; t++) tb_pair_cache_free(&ctx, cache[t]);
  for (int t = 1; t < 4; t++) tb_threads_destroy(&ctx, threads[t]);
}

TEST(pair_cache_allocates_nothing_once_it_has_seen_as_many_pairs)
{
  static Crowd c;
  tbFailingAllocator failing = {.countdown = -1};
  tbContext ctx = test_failing_context(&failing);
  tbRandom r = test_random(8);
  tbPairCache* cache;
  long before = 0;
  fill(&c, &r, 300, 8, tb_zero3());
  REQUIRE(tb_pair_cache_create(&ctx, &cache) == TB_OK);
  for (int step = 0; step < 40; step++) {
    double by = step % 2 ? 0.3 : -0.3; // all together, and back
    for (int i = 3; i < c.count; i++) c.item[i].box.lo.x += by, c.item[i].box.hi.x += by;
    CHECK_OK(&ctx, tb_pair_cache_update(&ctx, cache, c.item, c.count, NULL));
    if (step == 20) before = failing.total;
  }
  CHECK(before > 0 && failing.total == before);
  tb_pair_cache_free(&ctx, cache);
  CHECK(failing.alive == 0);
}

TEST(pair_cache_survives_every_failed_allocation)
{
  static Crowd c;
  tbRandom r = test_random(9);
  tbStatus status = TB_ERROR_MEMORY;
  fill(&c, &r, 120, 4, tb_zero3());
  for (long k = 0; status != TB_OK && k < 200; k++) {
    tbFailingAllocator failing = {.countdown = k};
    tbContext ctx = test_failing_context(&failing);
    tbPairCache* cache;
    int count = 0;
    status = tb_pair_cache_create(&ctx, &cache);
    if (status == TB_OK) status = tb_pair_cache_update(&ctx, cache, c.item, c.count, NULL);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    if (status != TB_OK && cache) tb_pair_cache_pairs(cache, &count);
    CHECK(count == 0);
    tb_pair_cache_free(&ctx, cache);
    CHECK(failing.alive == 0);
  }
  CHECK(status == TB_OK);
}
