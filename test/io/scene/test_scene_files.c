// SPDX-License-Identifier: Apache-2.0
// Scene files that name mesh files: found beside the scene, read once, refused where they cannot serve.
#include "base/file.h"
#include "io/io_test.h"
#include "scene/world.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char cube[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
static const char open_cube[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                                "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static void write_file(const char* name, const char* text)
{
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, tb_write_file(&ctx, io_temp(name), text, strlen(text)));
}

// Every kind of shape that names a file, most of them twice.
static const char meshes[] =
    "{\"tribo\": 1, \"bodies\": [\n"
    " {\"name\": \"tray\", \"fixed\": true, \"shape\": {\"type\": \"mesh\", \"file\": \"open.obj\"}},\n"
    " {\"name\": \"dice\", \"shape\": {\"type\": \"mesh\", \"file\": \"cube.obj\"},\n"
    "  \"repeat\": {\"count\": [2, 2, 1], \"spacing\": [2, 2, 2]}},\n"
    " {\"name\": \"more dice\", \"shape\": {\"type\": \"mesh\", \"file\": \"cube.obj\"}},\n"
    " {\"name\": \"big\", \"shape\": {\"type\": \"mesh\", \"file\": \"cube.obj\", \"scale\": 2}},\n"
    " {\"name\": \"hull\", \"shapes\": [{\"type\": \"convex\", \"file\": \"open.obj\"},\n"
    "                             {\"type\": \"convex\", \"file\": \"open.obj\", \"position\": [2, 0, "
    "0]}]},\n"
    " {\"name\": \"grid\", \"shape\": {\"type\": \"sdf\", \"file\": \"cube.obj\", \"resolution\": 8}},\n"
    " {\"name\": \"grid again\", \"shape\": {\"type\": \"sdf\", \"file\": \"cube.obj\", \"resolution\": "
    "8}},\n"
    " {\"name\": \"fine grid\", \"shape\": {\"type\": \"sdf\", \"file\": \"cube.obj\", \"resolution\": "
    "9}}]}\n";

static void write_meshes(void)
{
  write_file("cube.obj", cube);
  write_file("open.obj", open_cube);
  write_file("scene.json", meshes);
}

TEST(scene_reads_each_mesh_file_once)
{
  write_meshes();
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_load(&ctx, io_temp("scene.json"), &s));
  REQUIRE(s.world && tb_world_body_count(s.world) == 11);
  CHECK(s.world->mesh.count == 3 && s.world->hull.count == 1 && s.world->sdf.count == 2);
  CHECK(strcmp(s.name, "scene") == 0);
  const tbShape* shape = tb_shapes(s.world);
  CHECK(shape[1].mesh == shape[5].mesh && shape[1].mesh != shape[6].mesh);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "dice/3")), 1000, 1e-9);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "big")), 8000, 1e-8);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "hull")), 2000, 1e-9);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "grid")), 1000, 1e-9);
  tb_scene_free(&ctx, &s);
}

TEST(scene_in_memory_reads_files_from_the_folder_it_is_given)
{
  write_meshes();
  static const char* const ends[] = {"", "/"};
  for (int i = 0; i < 2; i++) {
    char folder[600];
    tbContext ctx = tb_default_context();
    tbScene s = {0};
    snprintf(folder, sizeof folder, "%s%s", io_temp_folder(), ends[i]);
    CHECK_OK(&ctx, tb_scene_parse(&ctx, "page", meshes, strlen(meshes), folder, &s));
    CHECK(s.world && s.world->mesh.count == 3);
    tb_scene_free(&ctx, &s);
  }
}

// What is wrong with a mesh file is said at the place that names it.
static void expect(const char* shape, const char* says)
{
  char text[1000], start[200];
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  snprintf(text, sizeof text, "{\"tribo\": 1, \"bodies\": [{\"shape\":\n %s}]}", shape);
  write_file("bad.json", text);
  CHECK(tb_scene_load(&ctx, io_temp("bad.json"), &s) == TB_ERROR_INPUT && !s.world);
  const char* message = ctx.error.message;
  int column = (int)(strstr(shape, "\"file\": ") - shape) + 10;
  snprintf(start, sizeof start, "%s:2:%d: ", io_temp("bad.json"), column);
  if (strncmp(message, start, strlen(start)) != 0 || !strstr(message, says))
    test_failed(__FILE__, __LINE__, "%s", message);
}

TEST(scene_refuses_mesh_files_at_the_place_that_names_them)
{
  write_meshes();
  write_file("broken.obj", "v 0 0 0\nf 1 2 3\n");
  expect("{\"type\": \"mesh\", \"file\": \"missing.obj\"}", "missing.obj: No such file");
  expect("{\"type\": \"mesh\", \"file\": \"/nowhere/missing.obj\"}", "/nowhere/missing.obj");
  expect("{\"type\": \"mesh\", \"file\": \"\"}", "");
  expect("{\"type\": \"mesh\", \"file\": \"broken.obj\"}", "broken.obj:2: ");
  expect("{\"type\": \"convex\", \"file\": \"broken.obj\"}", "broken.obj");
  expect("{\"type\": \"mesh\", \"file\": \"open.obj\"}", "the mesh is not closed and oriented outward");
  expect("{\"type\": \"sdf\", \"file\": \"open.obj\"}", "");
}

// Reading any of these would never end, or wait forever.
TEST(scene_refuses_pipes_and_devices_as_mesh_files)
{
  char soft[] = "{\"tribo\": 1, \"soft\": [{\"mesh\": {\"file\": \"/dev/zero\"}}]}";
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  REQUIRE(mkfifo(io_temp("pipe.obj"), 0600) == 0 || errno == EEXIST);
  expect("{\"type\": \"mesh\", \"file\": \"pipe.obj\"}", "pipe.obj: not a file but a pipe");
  expect("{\"type\": \"mesh\", \"file\": \"/dev/zero\"}", "/dev/zero: not a file but a device");
  expect("{\"type\": \"convex\", \"file\": \"/dev/zero\"}", "/dev/zero: not a file but a device");
  expect("{\"type\": \"sdf\", \"file\": \"/dev/zero\"}", "/dev/zero: not a file but a device");
  CHECK(tb_scene_parse(&ctx, "scene", soft, strlen(soft), ".", &s) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "/dev/zero: not a file but a device"));
  unlink(io_temp("pipe.obj"));
}

TEST(scene_with_files_survives_every_failed_allocation)
{
  write_meshes();
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k += test_quick() ? 7 : 1) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbScene s = {0};
    status = tb_scene_load(&poor, io_temp("scene.json"), &s);
    if (status != TB_OK && status != TB_ERROR_MEMORY)
      test_failed(__FILE__, __LINE__, "allocation %ld: %s", k, poor.error.message);
    CHECK((status == TB_OK) == (s.world != NULL));
    tb_scene_free(&poor, &s);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 5000);
  }
  CHECK(k > 50);
}

TEST(scene_that_cannot_be_read_is_an_error_of_the_file_system)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK(tb_scene_load(&ctx, io_temp("nowhere.json"), &s) == TB_ERROR_IO);
  CHECK(strstr(ctx.error.message, "nowhere.json") && !s.world);
}

// A sawtooth of 16 × 4 pixels, as any program would write it.
static const unsigned char sawtooth[] = {
    137, 80, 78,  71,  13,  10,  26,  10, 0,  0,   0,  13,  73, 72,  68,  82,  0,  0,   0,  16,  0,
    0,   0,  4,   8,   2,   0,   0,   0,  8,  214, 40, 187, 0,  0,   0,   24,  73, 68,  65, 84,  120,
    218, 99, 72,  107, 248, 131, 134, 62, 54, 236, 4,  34,  92, 226, 12,  131, 79, 3,   0,  156, 101,
    125, 1,  191, 232, 84,  55,  0,   0,  0,  0,   73, 69,  78, 68,  174, 66,  96, 130,
};

TEST(scene_reads_normal_maps_beside_it)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  const char* scene = "{\"tribo\": 1, \"materials\": {\"saw\": {\"friction\": {\"model\": \"texture\", "
                      "\"normal_map\": \"saw.png\", \"scale\": 0.1, \"directions\": 8}}}}";
  CHECK_OK(&ctx, tb_write_file(&ctx, io_temp("saw.png"), (const char*)sawtooth, sizeof sawtooth));
  write_file("textured.json", scene);
#ifdef TB_HAVE_PNG
  CHECK_OK(&ctx, tb_scene_load(&ctx, io_temp("textured.json"), &s));
  REQUIRE(s.world && s.world->texture.count == 1);
  const tbMaterial* m = tb_materials(s.world) + tb_world_find_material(s.world, "saw").index;
  CHECK(m->contact_material.friction.kind == TB_FRICTION_TEXTURE &&
        m->contact_material.friction.texture == 1 && m->contact_material.friction.directions == 8);
  // eq. 335 over three quarters at 0.2 rad and one at 1.1 rad, but for the bytes' half steps
  const double* plow = ((const tbTexture*)s.world->texture.data)->plow;
  CHECK_NEAR(plow[0], 0.25 * sin(1.1) * 2 / TB_PI * 1.1, 1e-3);
  CHECK_NEAR(plow[TB_PLOW_DIRECTIONS / 2], 0.75 * sin(0.2) * 2 / TB_PI * 0.2, 1e-3);
  CHECK_NEAR(plow[TB_PLOW_DIRECTIONS / 4], 0, 1e-12);
  tb_scene_free(&ctx, &s);
  unsigned char broken[sizeof sawtooth];
  for (int i = 0; i < 2; i++) { // cut off; and no PNG at all
    memcpy(broken, sawtooth, sizeof broken);
    broken[1] = i ? 'Q' : 'P';
    CHECK_OK(&ctx, tb_write_file(&ctx, io_temp("saw.png"), (const char*)broken, i ? sizeof broken : 50));
    CHECK(tb_scene_load(&ctx, io_temp("textured.json"), &s) == TB_ERROR_INPUT);
    CHECK(strstr(ctx.error.message, "textured.json:1:") && strstr(ctx.error.message, "saw.png"));
  }
#else
  CHECK(tb_scene_load(&ctx, io_temp("textured.json"), &s) == TB_ERROR_INPUT &&
        strstr(ctx.error.message, "libpng"));
#endif
}
