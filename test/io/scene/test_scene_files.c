// SPDX-License-Identifier: Apache-2.0
// Scene files that name mesh files: found beside the scene, read once, refused where they cannot serve.
#include "base/file.h"
#include "io/io_test.h"
#include "io/record/growing.h"
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

// Two pixels: along the columns, and along the rows.
static const unsigned char corner[] = {
    137, 80,  78,  71,  13, 10,  26,  10, 0,   0,   0,   13,  73,  72,  68,  82, 0,  0,
    0,   2,   0,   0,   0,  1,   8,   2,  0,   0,   0,   123, 64,  232, 221, 0,  0,  0,
    15,  73,  68,  65,  84, 120, 218, 99, 248, 223, 192, 208, 240, 159, 1,   0,  11, 255,
    2,   255, 219, 201, 95, 33,  0,   0,  0,   0,   73,  69,  78,  68,  174, 66, 96, 130,
};

TEST(scene_reads_maps_of_directions_and_texture_coordinates_beside_it)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  const char* scene =
      "{\"tribo\": 1, \"materials\": {\"flow\": {\"friction\": {\"mu_t\": 0.1, \"mu_b\": 0.4, \"direction\": "
      "[1, 0, 0], "
      "\"field\": {\"image\": \"flow.png\", \"scale\": 0.5, \"mapping\": \"box\"}}}, \"uv\": {\"friction\": "
      "{\"model\": \"tensor\", \"matrix\": [[0.2, 0], [0, 0.1]], \"field\": {\"image\": \"flow.png\", "
      "\"coordinates\": "
      "\"uv.obj\", \"coordinates_scale\": 2}}}}}";
  CHECK_OK(&ctx, tb_write_file(&ctx, io_temp("flow.png"), (const char*)corner, sizeof corner));
  write_file("uv.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n");
  write_file("flow.json", scene);
#ifdef TB_HAVE_PNG
  CHECK_OK(&ctx, tb_scene_load(&ctx, io_temp("flow.json"), &s));
  REQUIRE(s.world && s.world->texture.count == 2 && s.world->chart.count == 1);
  const tbFriction* f =
      &tb_materials(s.world)[tb_world_find_material(s.world, "flow").index].contact_material.friction;
  CHECK(f->direction_map == 1 && f->scale == 0.5 && f->mapping == TB_MAPPING_BOX && f->chart == 0);
  const tbFacet* d = s.world->facet.data;
  CHECK(d[0].x == 1 && d[0].y == 0 && d[1].x == 0 && d[1].y == 1);
  f = &tb_materials(s.world)[tb_world_find_material(s.world, "uv").index].contact_material.friction;
  CHECK(f->direction_map == 2 && f->chart == 1);
  CHECK(((const tbChartTriangle*)s.world->chart_triangle.data)->corner[1].x == 2);
  tb_scene_free(&ctx, &s);
#endif
  const struct {
    const char *field, *says;
  } wrong[] = {
      {"{\"image\": \"flow.png\", \"points\": [[0, 0, 0]]}", "exclude each other"},
      {"{\"image\": \"flow.png\", \"coordinates\": \"uv.obj\", \"mapping\": \"box\"}", "exclude each other"},
      {"{\"scale\": 2}", "a field has"},
      {"{\"image\": \"flow.png\", \"coordinates\": \"nowhere.obj\"}", "nowhere.obj"},
      {"{\"image\": \"flow.png\", \"mapping\": \"boxes\"}", "boxes"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "{\"tribo\": 1, \"materials\": {\"flow\": {\"friction\": {\"mu_t\": 0.1, \"mu_b\": 0.4, "
             "\"field\": %s}}}}",
             wrong[i].field);
    write_file("wrong.json", text);
    CHECK(tb_scene_load(&ctx, io_temp("wrong.json"), &s) == TB_ERROR_INPUT);
    if (!strstr(ctx.error.message, wrong[i].says))
      test_failed(__FILE__, __LINE__, "%zu: %s", i, ctx.error.message);
  }
}

// ---- meshes in motion ----

static void write_cache(const char* name, uint32_t points, uint32_t samples, size_t floats, double far)
{
  float at[64] = {0};
  uint32_t words[8] = {0};
  tbContext ctx = tb_default_context();
  tbFile file;
  memcpy(words, "POINTCACHE2", 12);
  words[3] = 1, words[4] = points, words[7] = samples;
  for (size_t i = 0; i < floats; i++) at[i] = (float)(i / 12 ? far : 0.5); // two samples of four points
  CHECK_OK(&ctx, tb_file_begin(&ctx, io_temp(name), &file));
  tbOut out = tb_out_sink(&ctx, tb_file_sink(&file), file.path);
  for (int i = 0; i < 3; i++) tb_out_bytes(&out, (const char*)words + 4 * i, 4);
  for (int i = 3; i < 8; i++) tb_out_u32(&out, words[i]);
  for (size_t i = 0; i < floats; i++) tb_out_f32(&out, (double)at[i]);
  tbStatus status = tb_out_finish(&out);
  tb_out_free(&out);
  CHECK_OK(&ctx, tb_file_end(&ctx, &file, status));
}

static const char square[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

// Vertices go where mesh files and point caches say, in the order and number of the mesh's own file.
TEST(meshes_in_motion_follow_files)
{
  static const char scene[] = "{\"tribo\": 1, \"dt\": 0.05, \"animated\": ["
                              "{\"name\": \"a\", \"mesh\": \"square.obj\", \"scale\": 2, \"cache\": "
                              "{\"file\": \"way.pc2\", \"start\": 0.1, "
                              "\"fps\": 10}},"
                              "{\"name\": \"b\", \"mesh\": \"square.obj\", \"frames\": [{\"t\": 0, \"file\": "
                              "\"square.obj\"}, {\"t\": 1, "
                              "\"file\": \"moved.obj\"}]}]}\n";
  write_file("square.obj", square);
  write_file("moved.obj", "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 1 2 3 4\n");
  write_cache("way.pc2", 4, 2, 24, 2.5);
  write_file("moving.json", scene);
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_load(&ctx, io_temp("moving.json"), &s));
  REQUIRE(s.world && strcmp(s.step.scheme, "implicit") == 0);
  tbBodyId a = tb_world_find_body(s.world, "a"), b = tb_world_find_body(s.world, "b");
  REQUIRE(tb_body_node_count(s.world, a) == 4 && tb_body_triangle_count(s.world, b) == 2);
  static const double at[5] = {1, 1, 1, 3, 5}; // 0.1 + i/10 s
  for (int i = 0; i < 5; i++) {
    CHECK_NEAR(tb_body_nodes(s.world, a)[3].y, at[i], 1e-9);
    CHECK_NEAR(tb_body_nodes(s.world, b)[1].z, 0.05 * i, 1e-9);
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
  }
  tb_scene_free(&ctx, &s);
}

static void expect_animated(const char* rest, const char* says)
{
  char text[600];
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  snprintf(text, sizeof text, "{\"tribo\": 1, \"animated\": [{\"mesh\": \"square.obj\", %s}]}", rest);
  write_file("bad.json", text);
  tbStatus status = tb_scene_load(&ctx, io_temp("bad.json"), &s);
  if (status != TB_ERROR_INPUT || !strstr(ctx.error.message, says) ||
      !strstr(ctx.error.message, "bad.json:1:"))
    test_failed(__FILE__, __LINE__, "%s: %s", rest, status == TB_OK ? "taken" : ctx.error.message);
  tb_scene_free(&ctx, &s);
}

TEST(files_of_meshes_in_motion_are_refused_where_they_are_named)
{
  write_file("square.obj", square);
  write_file("three.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
  write_cache("few.pc2", 3, 2, 18, 1);
  write_cache("short.pc2", 4, 3, 24, 1);
  write_cache("nowhere.pc2", 4, 2, 24, NAN);
  write_cache("huge.pc2", UINT32_MAX, UINT32_MAX, 24, 1);
  write_cache("empty.pc2", 4, 0, 0, 1);
  expect_animated("\"name\": \"x\"", "where the vertices go");
  expect_animated("\"frames\": [{\"t\": 0}]", "where the vertices are");
  expect_animated("\"frames\": [{\"t\": 0, \"file\": \"three.obj\"}]", "3 vertices of a mesh that has 4");
  expect_animated("\"frames\": [{\"t\": 0, \"vertices\": [[0,0,0],[0,0,1],[1,0,0]]}]", "3 vertices");
  expect_animated("\"frames\": [{\"t\": 1, \"file\": \"square.obj\"}, {\"t\": 1, \"file\": \"square.obj\"}]",
                  "must increase");
  expect_animated("\"cache\": {\"file\": \"square.obj\", \"fps\": 24}", "no point cache");
  expect_animated("\"cache\": {\"file\": \"few.pc2\", \"fps\": 24}", "3 vertices of a mesh that has 4");
  expect_animated("\"cache\": {\"file\": \"short.pc2\", \"fps\": 24}", "ends before the last of its 3");
  expect_animated("\"cache\": {\"file\": \"nowhere.pc2\", \"fps\": 24}", "nowhere");
  expect_animated("\"cache\": {\"file\": \"huge.pc2\", \"fps\": 24}", "without points");
  expect_animated("\"cache\": {\"file\": \"empty.pc2\", \"fps\": 24}", "without points");
  expect_animated("\"cache\": {\"file\": \"missing.pc2\", \"fps\": 24}", "missing.pc2");
  expect_animated("\"cache\": {\"file\": \"short.pc2\"}", "fps");
}
