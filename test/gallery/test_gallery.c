// SPDX-License-Identifier: Apache-2.0
// The gallery: its scenes load for every corner of their parameters, the files in scenes/ are its own, and it
// answers bad names and numbers with the nearest good ones.
#include "base/file.h"
#include "gallery/gallery.h"
#include "io/io_test.h"

#include <stdlib.h>
#include <string.h>

// Whether a text is the file scenes/NAME of the sources.
static bool is_current(const char* name, const char* text, size_t length)
{
  tbContext ctx = tb_default_context();
  char path[600], *bytes = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, "%s/scenes/%s", TB_SOURCE_FOLDER, name);
  bool same = tb_read_file(&ctx, path, (size_t)1 << 28, &bytes, &size) == TB_OK && size == length &&
              memcmp(bytes, text, length) == 0;
  tb_free(&ctx, bytes);
  return same;
}

static void expect_current(const char* name, const char* text, size_t length)
{
  if (!is_current(name, text, length))
    test_failed(__FILE__, __LINE__, "scenes/%s is out of date; `make scenes` writes it", name);
}

TEST(scenes_are_what_the_gallery_makes_of_its_defaults)
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_gallery_count(); i++) {
    const tbGalleryScene* scene = tb_gallery_at(i);
    char name[100];
    tbOut out = tb_out_memory(&ctx);
    CHECK_OK(&ctx, tb_gallery_print(&ctx, scene, NULL, io_temp_folder(), &out));
    snprintf(name, sizeof name, "%s.json", scene->name);
    expect_current(name, out.bytes, out.length);
    tb_out_free(&out);
  }
}

TEST(scenes_have_the_meshes_that_the_gallery_makes)
{
  static const char* const names[] = {"meshes/wheel-16.obj",  "meshes/gear-9.obj", "meshes/ring.obj",
                                      "meshes/funnel-32.obj", "meshes/race.obj",   "meshes/strip-15.obj"};
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_gallery_count(); i++)
    if (tb_gallery_at(i)->files)
      CHECK_OK(&ctx, tb_gallery_save(&ctx, tb_gallery_at(i), NULL, io_temp("scene.json")));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *bytes = NULL, path[600];
    size_t length = 0;
    snprintf(path, sizeof path, "%s/%s", io_temp_folder(), names[i]);
    CHECK_OK(&ctx, tb_read_file(&ctx, path, (size_t)1 << 28, &bytes, &length));
    expect_current(names[i], bytes, length);
    tb_free(&ctx, bytes);
  }
}

// Counts are kept small: what is large is only more of the same.
static double corner(const tbGalleryParameter* p, bool high)
{
  return !high ? p->low : p->whole && p->high > p->value ? p->value + 1 : p->high;
}

LONG_TEST(scenes_load_for_every_corner_of_their_parameters)
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_gallery_count(); i++) {
    const tbGalleryScene* scene = tb_gallery_at(i);
    if (strcmp(scene->name, "pile-8000") == 0) continue; // as pile-1000
    int n = 0;
    while (n < TB_GALLERY_PARAMETERS && scene->parameter[n].name) n++;
    for (int corners = 0; corners < 1 << n; corners += test_quick() && n > 0 ? (1 << n) - 1 : 1) {
      double values[TB_GALLERY_PARAMETERS] = {0};
      for (int k = 0; k < n; k++) values[k] = corner(&scene->parameter[k], corners >> k & 1);
      tbScene s = {0};
      if (tb_gallery_load(&ctx, scene, values, io_temp_folder(), &s) != TB_OK)
        test_failed(__FILE__, __LINE__, "%s, corner %d: %s", scene->name, corners, ctx.error.message);
      tb_scene_free(&ctx, &s);
    }
  }
}

TEST(gallery_parameters_have_defaults_in_range_and_names_of_their_own)
{
  for (int i = 0; i < tb_gallery_count(); i++) {
    const tbGalleryScene* scene = tb_gallery_at(i);
    CHECK(tb_gallery_find(scene->name) == scene);
    for (int k = 0; k < TB_GALLERY_PARAMETERS && scene->parameter[k].name; k++) {
      const tbGalleryParameter* p = &scene->parameter[k];
      CHECK(p->low <= p->value && p->value <= p->high && p->low < p->high);
      CHECK(!p->whole || p->value == floor(p->value));
      for (int j = 0; j < k; j++) CHECK(strcmp(p->name, scene->parameter[j].name) != 0);
    }
  }
  CHECK(!tb_gallery_find("nothing") && !tb_gallery_at(-1) && !tb_gallery_at(tb_gallery_count()));
}

static void expect(const char* assignment, const char* says)
{
  tbContext ctx = tb_default_context();
  const tbGalleryScene* arch = tb_gallery_find("arch");
  double values[TB_GALLERY_PARAMETERS], before[TB_GALLERY_PARAMETERS];
  tb_gallery_defaults(arch, values);
  memcpy(before, values, sizeof values);
  CHECK(tb_gallery_set(&ctx, arch, values, assignment) == TB_ERROR_ARGUMENT);
  CHECK(memcmp(values, before, sizeof values) == 0);
  if (!strstr(ctx.error.message, says))
    test_failed(__FILE__, __LINE__, "%s: %s", assignment, ctx.error.message);
}

TEST(gallery_answers_bad_settings_with_the_nearest_good_ones)
{
  expect("stons=3", "did you mean \"stones\"?");
  expect("colour=3", "it has stones, thickness, embrace_deg, friction");
  expect("stones=2.6", "the nearest is 3");
  expect("stones=-1", "the nearest is 2");
  expect("thickness=9", "the nearest is 1");
  expect("thickness=nan", "takes a number, not \"nan\"");
  expect("thickness=", "takes a number");
  expect("thickness", "expected PARAMETER=NUMBER");
  expect("", "expected PARAMETER=NUMBER");
}

TEST(gallery_checks_the_values_it_is_given)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  double values[TB_GALLERY_PARAMETERS] = {0, 0.2, 180, 0.5};
  CHECK(tb_gallery_load(&ctx, tb_gallery_find("arch"), values, NULL, &s) == TB_ERROR_ARGUMENT && !s.world);
  CHECK(tb_gallery_load(&ctx, tb_gallery_find("jam"), NULL, NULL, &s) == TB_ERROR_INPUT && !s.world);
}

// Every corner that one stone has on a joint, its neighbour has at the very same place.
TEST(stones_of_an_arch_share_their_corners_to_the_last_bit)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  const tbJson *root = NULL, *bodies;
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  CHECK_OK(&ctx, tb_gallery_print(&ctx, tb_gallery_find("arch"), NULL, NULL, &out));
  CHECK_OK(&ctx, tb_json_parse(&ctx, &arena, "arch", out.bytes, out.length, &root));
  bodies = tb_json_find(root, "bodies");
  REQUIRE(bodies && bodies->count == 28);
  double corner[2][8][3];
  for (uint32_t i = 3; i < bodies->count; i++) {
    const tbJson* at = tb_json_find(&bodies->items[i], "position");
    const tbJson* vertex = tb_json_find(tb_json_find(&bodies->items[i], "shape"), "vertices");
    REQUIRE(at && vertex && vertex->count == 8);
    for (int v = 0; v < 8; v++)
      for (int k = 0; k < 3; k++)
        corner[i % 2][v][k] = at->items[k].number + vertex->items[v].items[k].number;
    // Corners 0 and 1 lie on the joint before, 3 and 2 on the joint after; 4 more on the other side.
    for (int v = 0; v < 8 && i > 3; v++)
      if (v % 4 < 2)
        CHECK(memcmp(corner[i % 2][v], corner[(i + 1) % 2][v + 3 - 2 * (v % 4)], sizeof corner[0][0]) == 0);
  }
  tb_arena_free(&arena);
  tb_out_free(&out);
}

TEST(gallery_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k += test_quick() ? 7 : 1) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    status = tb_gallery_save(&poor, tb_gallery_find("funnel"), NULL, io_temp("scene.json"));
    if (status != TB_OK && status != TB_ERROR_MEMORY)
      test_failed(__FILE__, __LINE__, "allocation %ld: %s", k, poor.error.message);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 5000);
  }
  CHECK(k > 5);
}
