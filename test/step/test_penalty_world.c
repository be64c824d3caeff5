// SPDX-License-Identifier: Apache-2.0
// Springs of the scheme penalty on a world of all kinds: same bits, checkpoints, memory that fails, what is
// removed.
#include "io/checkpoint/checkpoint.h"
#include "scene/kind.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"

#include <string.h>

static const char mixed[] =
    "{\"tribo\": 1, \"dt\": 0.002, \"bodies\": ["
    "{\"name\": \"slab\", \"fixed\": true, \"shape\": {\"type\": \"box\", \"size\": [2, 2, 0.2]}, "
    "\"position\": [0, 0, -0.1]},"
    "{\"name\": \"brick\", \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.1]}, \"position\": [0.3, 0, "
    "0.06]}],"
    "\"soft\": [{\"name\": \"jelly\", \"mesh\": {\"box\": {\"size\": [0.2, 0.2, 0.2], \"cells\": [2, 2, "
    "2]}}, "
    "\"young\": 1e5, \"position\": [0, 0, 0.115], \"velocity\": [0.5, 0, -0.5]}],"
    "\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": [0.3, 0.3], \"cells\": [4, 4]}}, "
    "\"area_density\": 0.2, \"position\": [0, 0, 0.24], \"attach\": [{\"body\": \"brick\", \"box\": [[0.14, "
    "-1, 0], [1, 1, 1]]}]}]}";

static tbScene open_scene(tbContext* ctx, tbPenaltyTime time)
{
  tbScene s = {0};
  CHECK_OK(ctx, tb_scene_parse(ctx, "test", mixed, strlen(mixed), NULL, &s));
  s.step.scheme = "penalty", s.step.penalty_time = time;
  return s;
}

static void go(tbContext* ctx, tbScene* s, int steps)
{
  for (int i = 0; i < steps; i++) CHECK_OK(ctx, tb_world_step(ctx, s->world, &s->step, NULL));
}

TEST(springs_of_all_kinds_have_the_same_bits_for_any_number_of_threads)
{
  for (tbPenaltyTime time = TB_PENALTY_EXPLICIT; time <= TB_PENALTY_IMPLICIT; time++) {
    uint64_t hash[2];
    for (int t = 0; t < 2; t++) {
      tbContext ctx = tb_default_context();
      tbScene s = open_scene(&ctx, time);
      CHECK_OK(&ctx, tb_threads_create(&ctx, 1 + 2 * t, &ctx.threads));
      go(&ctx, &s, 12);
      hash[t] = tb_world_hash(s.world);
      tb_threads_destroy(&ctx, ctx.threads);
      ctx.threads = NULL;
      tb_scene_free(&ctx, &s);
    }
    CHECK(hash[0] == hash[1]);
  }
}

// The anchors of deformable surfaces are in a checkpoint, too.
TEST(springs_of_all_kinds_resume)
{
  tbContext ctx = tb_default_context();
  tbScene whole = open_scene(&ctx, TB_PENALTY_EXPLICIT), half = open_scene(&ctx, TB_PENALTY_EXPLICIT),
          read = {0};
  tbOut bytes = tb_out_memory(&ctx);
  go(&ctx, &whole, 20), go(&ctx, &half, 14);
  CHECK_OK(&ctx, tb_checkpoint_print(&ctx, &bytes, &half));
  CHECK_OK(&ctx, tb_checkpoint_parse(&ctx, "checkpoint", bytes.bytes, bytes.length, &read));
  REQUIRE(read.world);
  go(&ctx, &read, 6);
  CHECK(tb_world_hash(read.world) == tb_world_hash(whole.world));
  tb_out_free(&bytes);
  tb_scene_free(&ctx, &read), tb_scene_free(&ctx, &half), tb_scene_free(&ctx, &whole);
}

TEST(springs_of_all_kinds_survive_every_failed_allocation)
{
  for (tbPenaltyTime time = TB_PENALTY_EXPLICIT; time <= TB_PENALTY_IMPLICIT; time++) {
    tbFailingAllocator state = {.countdown = -1};
    tbContext ctx = test_failing_context(&state);
    tbScene s = open_scene(&ctx, time);
    go(&ctx, &s, 12);
    s.world->cache->pool.off = true;
    uint64_t before = tb_world_hash(s.world);
    tbStatus status = TB_ERROR_MEMORY;
    for (long k = 0; status != TB_OK && k < 100000; k += k < 40 ? 1 : k / 8) {
      state.countdown = k, state.for_good = k % 2;
      status = tb_world_step(&ctx, s.world, &s.step, NULL);
      state.countdown = -1;
      if (status != TB_OK) CHECK(status == TB_ERROR_MEMORY && tb_world_hash(s.world) == before);
    }
    CHECK(status == TB_OK);
    tb_scene_free(&ctx, &s);
    CHECK(state.alive == 0);
  }
}

// A body that goes takes its anchors along; those that stay find no others'.
TEST(springs_go_on_when_a_body_is_removed)
{
  tbContext ctx = tb_default_context();
  tbScene s = open_scene(&ctx, TB_PENALTY_EXPLICIT);
  go(&ctx, &s, 14);
  tbBodyId brick = tb_world_find_body(s.world, "brick");
  CHECK_OK(&ctx, tb_world_remove_body(&ctx, s.world, brick));
  go(&ctx, &s, 40); // contacts part again
  CHECK(s.world->body.count == 3);
  tb_scene_free(&ctx, &s);
}

// Springs that no power describes have no potential here.
TEST(implicit_exponential_springs_are_refused)
{
  tbContext ctx = tb_default_context();
  tbScene s = open_scene(&ctx, TB_PENALTY_IMPLICIT);
  s.step.penalty_spring = TB_SPRING_EXPONENTIAL;
  CHECK(tb_world_step(&ctx, s.world, &s.step, NULL) == TB_ERROR_ARGUMENT);
  s.step.penalty_time = TB_PENALTY_EXPLICIT;
  CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
  tb_scene_free(&ctx, &s);
}
