// SPDX-License-Identifier: Apache-2.0
// Filters and ignored pairs hold for every kind of body, under every scheme that moves it, from scene files
// on.
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"
#include "tribo/step.h"

#include <string.h>

enum { STEPS = 30, ROOM = 2000 };

// A block of jelly or a sheet just over something that stands still: a plane, a box or a soft bed.
static void write_scene(char* text, const char* scheme, bool sheet, int under, const char* filter,
                        const char* ignore)
{
  static const char* const below[] = {
      "{\"name\": \"under\", \"shape\": {\"type\": \"plane\"}, \"fixed\": true}",
      "{\"name\": \"under\", \"shape\": {\"type\": \"box\", \"size\": [0.6, 0.6, 0.2]}, \"position\": [0, 0, "
      "-0.1],"
      " \"fixed\": true}",
      "",
  };
  const char* bed =
      ", {\"name\": \"under\", \"mesh\": {\"box\": {\"size\": [0.6, 0.6, 0.2], \"cells\": [2, 2, 1]}},"
      " \"young\": 1e6, \"position\": [0, 0, -0.1], \"pins\": [{\"box\": [[-1, -1, -1], [1, 1, 1]]}]}";
  const char* jelly =
      "{\"name\": \"jelly\", \"mesh\": {\"box\": {\"size\": 0.2, \"cells\": 1}}, \"young\": 1e5,"
      " \"position\": [0.01, 0.02, 0.13]%s}";
  const char* cloth = "{\"name\": \"jelly\", \"mesh\": {\"grid\": {\"size\": 0.2, \"cells\": 2}},"
                      " \"position\": [0.01, 0.02, 0.03]%s}";
  char own[500];
  snprintf(own, sizeof own, sheet ? cloth : jelly, filter);
  snprintf(text, ROOM,
           "{\"tribo\": 1, \"dt\": 0.01, \"scheme\": \"%s\", \"bodies\": [%s], \"soft\": [%s%s], \"cloth\": "
           "[%s]%s}",
           scheme, below[under], sheet ? "" : own,
           under < 2 ? ""
           : sheet   ? bed + 2
                     : bed,
           sheet ? own : "", ignore);
}

// Height after the steps; the scene refused: NaN, with a failure.
static double height_after(const char* text)
{
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  double height = 0.0 / 1;
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "filters", text, strlen(text), ".", &scene));
  if (!scene.world) return height;
  tbBodyId jelly = tb_world_find_body(scene.world, "jelly");
  for (int i = 0; i < STEPS; i++) CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, NULL));
  height = tb_body_state(scene.world, jelly).position.z;
  tb_scene_free(&ctx, &scene);
  return height;
}

static void check(const char* scheme, bool sheet, int under)
{
  static const char* const ignored = ", \"ignore\": [{\"a\": \"under\", \"b\": \"jelly\"}]";
  char text[ROOM];
  double height[4];
  write_scene(text, scheme, sheet, under, "", "");
  height[0] = height_after(text);
  write_scene(text, scheme, sheet, under, ", \"category\": 2, \"mask\": 4", "");
  height[1] = height_after(text);
  write_scene(text, scheme, sheet, under, ", \"category\": 0", ""); // nothing sees it
  height[2] = height_after(text);
  write_scene(text, scheme, sheet, under, "", ignored);
  height[3] = height_after(text);
  const double fallen = -0.1; // of 0.44 m
  if (!(height[0] > -0.01) || !(height[1] < fallen) || !(height[2] < fallen) || !(height[3] < fallen))
    test_failed(__FILE__, __LINE__,
                "%s, %s over %d: at %.3f m when nothing is filtered, %.3f by its mask, %.3f by its category, "
                "%.3f as an ignored pair",
                scheme, sheet ? "cloth" : "jelly", under, height[0], height[1], height[2], height[3]);
}

LONG_TEST(filters_hold_for_deformable_bodies)
{
  for (int i = 0; i < tb_scheme_count(); i++) {
    const tbScheme* s = tb_scheme_at(i);
    if (!(s->moves & TB_MOVES_NODES)) continue;
    for (int sheet = 0; sheet < 2; sheet++)
      for (int under = 0; under < 3; under++)
        if (!test_quick() || under == (sheet ? 0 : 2)) check(s->name, sheet, under);
  }
}

TEST(bodies_that_ignore_each_other_are_no_crossing)
{
  char text[ROOM];
  tbContext ctx = tb_default_context();
  for (int ignore = 0; ignore < 2; ignore++) {
    tbScene scene = {0};
    write_scene(text, "implicit", false, 1, "",
                ignore ? ", \"ignore\": [{\"a\": \"jelly\", \"b\": \"under\"}]" : "");
    char* at = strstr(text, "0.13]");
    memcpy(at, "0.05]", 5); // halfway into the box
    CHECK_OK(&ctx, tb_scene_parse(&ctx, "filters", text, strlen(text), ".", &scene));
    tbStepReport report = {0};
    CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, &report));
    CHECK((report.intersections > 0) == !ignore);
    tb_scene_free(&ctx, &scene);
  }
}
