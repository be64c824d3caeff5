// SPDX-License-Identifier: Apache-2.0
// Bodies that lie inside each other: which, and how deep.
#include "tribo/check.h"
#include "scene/world.h"
#include "test.h"
#include "tribo/io.h"

#include <string.h>

#define BALL(name, x, more)                    \
  "{\"name\": \"" name "\", \"position\": [" x \
  ", 0, 1], \"shape\": {\"type\": \"sphere\", \"radius\": 1}" more "}"

static tbArray overlaps_of(tbContext* ctx, tbScene* s, const char* bodies, const char* joints)
{
  char text[2000];
  tbArray found = TB_ARRAY(tbOverlap);
  snprintf(text, sizeof text, "{\"tribo\": 1, \"bodies\": [%s], \"joints\": [%s]}", bodies, joints);
  CHECK_OK(ctx, tb_scene_parse(ctx, "scene", text, strlen(text), NULL, s));
  if (s->world) CHECK_OK(ctx, tb_world_overlaps(ctx, s->world, 0.01, &found));
  return found;
}

static void expect_none(const char* bodies, const char* joints)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  tbArray found = overlaps_of(&ctx, &s, bodies, joints);
  if (found.count) test_failed(__FILE__, __LINE__, "%zu overlaps of %s", found.count, bodies);
  tb_array_free(&ctx, &found);
  tb_scene_free(&ctx, &s);
}

TEST(overlaps_are_named_deepest_first)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  // Contacts of a box on a plane: four, one entry. The ball c, fast or not, is in b by half its radius.
  tbArray found = overlaps_of(
      &ctx, &s,
      "{\"name\": \"ground\", \"fixed\": true, \"shape\": {\"type\": \"plane\"}},"
      "{\"name\": \"box\", \"position\": [0, 9, 0.9], \"shape\": {\"type\": \"box\", \"size\": [2, 2, "
      "2]}}," BALL("b", "0", "") "," BALL("c", "1.5", ", \"velocity\": [1e4, 0, 0], \"bullet\": true"),
      "");
  REQUIRE(found.count == 2);
  const tbOverlap* o = found.data;
  CHECK(o[0].a == 2 && o[0].b == 3);
  CHECK_NEAR(o[0].depth, 0.5, 1e-9);
  CHECK(o[1].a == 0 && o[1].b == 1);
  CHECK_NEAR(o[1].depth, 0.1, 1e-9);
  tb_array_free(&ctx, &found);
  tb_scene_free(&ctx, &s);
}

TEST(what_only_touches_or_may_overlap_does_not_count)
{
  expect_none(BALL("a", "0", "") "," BALL("b", "2", ""), "");
  expect_none(BALL("a", "0", "") "," BALL("b", "1.995", ""), ""); // by half a percent
  expect_none(BALL("a", "0", ", \"velocity\": [100, 0, 0]") "," BALL("b", "2.1", ""), "");
  expect_none(BALL("a", "0", ", \"fixed\": true") "," BALL("b", "1", ", \"fixed\": true"), "");
  expect_none(BALL("a", "0", "") "," BALL("b", "1", ""), "{\"type\": \"weld\", \"a\": \"a\", \"b\": \"b\"}");
}

TEST(overlaps_survive_every_failed_allocation)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  tbArray found = overlaps_of(&ctx, &s, BALL("a", "0", "") "," BALL("b", "1", ""), "");
  tb_array_free(&ctx, &found);
  REQUIRE(s.world);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status == TB_ERROR_MEMORY && k < 100; k++) {
    tbFailingAllocator state = {.countdown = k};
    tbContext poor = test_failing_context(&state);
    status = tb_world_overlaps(&poor, s.world, 0.01, &found);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    tb_array_free(&poor, &found);
    CHECK(state.alive == 0);
  }
  CHECK(status == TB_OK);
  tb_scene_free(&ctx, &s);
}
