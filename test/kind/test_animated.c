// SPDX-License-Identifier: Apache-2.0
// Meshes that go where they are told, vertex by vertex.
#include "kind/animated.h"
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double g = 9.81;

// A plate of one cell, two metres wide; its frames are those of tbAnimatedDef.
typedef struct {
  const double* times;
  const tbVec3* offset; // of the whole plate in a frame
  int frames;
} Way;

static const tbVec3 corner[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
static const int half[2][3] = {{0, 1, 2}, {0, 2, 3}};
enum { MOST = 8 };

static tbAnimatedDef plate_def(Way way, tbVec3* vertices)
{
  for (int f = 0; f < way.frames; f++)
    for (int k = 0; k < 4; k++) vertices[4 * f + k] = tb_add3(corner[k], way.offset[f]);
  tbAnimatedDef d = tb_default_animated_def();
  d.vertex_count = 4, d.triangle_count = 2, d.triangles = half;
  d.frame_count = way.frames, d.times = way.times, d.vertices = vertices;
  return d;
}

static tbBodyId add_plate(Stage* s, Way way)
{
  tbVec3 vertices[4 * MOST];
  tbAnimatedDef d = plate_def(way, vertices);
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_world_add_animated(&s->ctx, s->world, &d, &id));
  return id;
}

static tbBodyId add_sheet(Stage* s, tbVec3 position, int cells)
{
  tbMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  tbDeformableDef d = tb_default_deformable_def();
  CHECK_OK(&s->ctx, tb_cloth_grid(&s->ctx, 0.5, 0.4, cells, cells, &mesh));
  d.sheet = mesh, d.position = position;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &d, &id));
  tb_mesh_free(&s->ctx, mesh);
  return id;
}

// Vertices as frames and the motion of their frame say, at frames and between them, before and behind them.
TEST(vertices_are_where_frames_say)
{
  static const double t[3] = {0.1, 0.2, 0.4};
  static const tbVec3 offset[3] = {{0, 0, 0}, {0, 0, 1}, {2, 0, 1}};
  Stage s = stage_open(0.5, 0);
  s.step.scheme = "implicit", s.step.dt = 0.05;
  tbVec3 vertices[12];
  tbAnimatedDef d = plate_def((Way){t, offset, 3}, vertices);
  d.position = tb_vec3(0, 5, 0), d.velocity = tb_vec3(0, 1, 0);
  tbBodyId id = {-1, 0};
  CHECK_OK(&s.ctx, tb_world_add_animated(&s.ctx, s.world, &d, &id));
  static const double x[11] = {0, 0, 0, 0, 0, 0.5, 1, 1.5, 2, 2, 2},
                      z[11] = {0, 0, 0, 0.5, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 11; i++) {
    tbVec3 at = tb_body_nodes(s.world, id)[2];
    CHECK_NEAR(at.x, 1 + x[i], 1e-12);
    CHECK_NEAR(at.y, 6 + 0.05 * i, 1e-12);
    CHECK_NEAR(at.z, z[i], 1e-12);
    if (i > 0) CHECK_NEAR(tb_body_node_velocities(s.world, id)[2].x, (x[i] - x[i - 1]) / 0.05, 1e-10);
    stage_run(&s, 1);
  }
  CHECK(tb_body_dofs(s.world, id) == 0 && tb_body_mass(s.world, id) == 0);
  CHECK(strcmp(tb_body_kind(s.world, id), "animated") == 0);
  CHECK(tb_world_energy(s.world).kinetic == 0 && tb_norm3(tb_world_momentum(s.world)) == 0);
  stage_close(&s);
}

// A plate that drives off drags a sheet up to its speed: v = μ g t, until they go together.
TEST(a_plate_that_drives_off_drags_a_sheet_to_its_speed)
{
  static const char* const schemes[] = {"pd", "implicit"};
  const double t[2] = {0, 2}, speed = 0.6, mu = 0.3;
  const tbVec3 offset[2] = {{0, 0, 0}, {2 * speed, 0, 0}};
  for (int k = 0; k < 2; k++) {
    Stage s = stage_open(mu, 0);
    s.step.scheme = schemes[k], s.step.dt = 5e-3;
    add_plate(&s, (Way){t, offset, 2});
    tbBodyId sheet = add_sheet(&s, tb_vec3(0, 0, 6e-4), 4);
    stage_run(&s, 20);
    CHECK_NEAR(stage_state(&s, sheet).velocity.x, mu * g * 0.1, 2e-2 * mu * g * 0.1);
    stage_run(&s, 10);
    CHECK_NEAR(stage_state(&s, sheet).velocity.x, mu * g * 0.15, 2e-2 * mu * g * 0.15);
    stage_run(&s, 30);
    CHECK_NEAR(stage_state(&s, sheet).velocity.x, speed, 1e-6);
    CHECK(s.report.intersections == 0);
    stage_close(&s);
  }
}

// The same motion as vertices' and as a rigid mesh's: the same contacts and the same bits of the sheet.
TEST(a_mesh_that_moves_as_one_is_a_kinematic_body)
{
  static const char* const schemes[] = {"pd", "implicit"};
  const double t[2] = {0, 1};
  const tbVec3 offset[2] = {{0, 0, 0}, {0.25, 0, 0.5}};
  for (int k = 0; k < 2; k++) {
    Stage s[2];
    tbBodyId sheet[2];
    tbMesh* mesh = NULL;
    for (int way = 0; way < 2; way++) {
      s[way] = stage_open(0.4, 0);
      s[way].step.scheme = schemes[k], s[way].step.dt = 0x1p-8;
      sheet[way] = add_sheet(&s[way], tb_vec3(0.8, 0.1, 0.02), 5); // over the rim
      if (way == 0) add_plate(&s[way], (Way){t, offset, 2});
    }
    CHECK_OK(&s[1].ctx, tb_mesh_create(&s[1].ctx, corner, 4, half[0], 2, &mesh));
    CHECK_OK(&s[1].ctx, tb_world_keep_mesh(&s[1].ctx, s[1].world, mesh));
    tbShape shape = tb_shape_mesh(mesh);
    tbBodyDef def = tb_default_body_def();
    def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1;
    def.velocity = tb_vec3(0.25, 0, 0.5);
    CHECK_OK(&s[1].ctx, tb_world_add_body(&s[1].ctx, s[1].world, &def, NULL));
    for (int way = 0; way < 2; way++) stage_run(&s[way], 24);
    CHECK(s[0].report.contacts > 0 && s[0].report.contacts == s[1].report.contacts);
    const tbVec3 *x = tb_body_nodes(s[0].world, sheet[0]), *y = tb_body_nodes(s[1].world, sheet[1]);
    for (int i = 0; i < tb_body_node_count(s[0].world, sheet[0]); i++)
      CHECK_NEAR(tb_distance3(x[i], y[i]), 0, 1e-9);
    for (int way = 0; way < 2; way++) stage_close(&s[way]);
  }
}

// A rigid ball, too, is lifted, under every scheme that moves deformables.
TEST(a_mesh_that_rises_lifts_a_ball)
{
  static const char* const schemes[] = {"pd", "implicit", "ipc", "vbd", "xpbd"};
  const double t[2] = {0, 1};
  const tbVec3 offset[2] = {{0, 0, 0}, {0, 0, 1}};
  for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
    Stage s = stage_open(0.4, 0);
    s.step.scheme = schemes[k];
    add_plate(&s, (Way){t, offset, 2});
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(0.2, 0.1, 0.101), tb_quat_identity());
    stage_run(&s, 20);
    if (!(fabs(stage_state(&s, ball).position.z - 0.3) < 5e-3))
      test_failed(__FILE__, __LINE__, "%s: at %g", schemes[k], stage_state(&s, ball).position.z);
    stage_close(&s);
  }
}

// Frames given while it runs: it goes from where it is to where they say.
TEST(frames_can_be_given_anew)
{
  const double t[1] = {0}, then[1] = {0};
  const tbVec3 offset[1] = {{0, 0, 0}};
  Stage s = stage_open(0.4, 0);
  s.step.scheme = "pd", s.step.dt = 5e-3;
  tbBodyId id = add_plate(&s, (Way){t, offset, 1}), sheet = add_sheet(&s, tb_vec3(0, 0, 6e-4), 4);
  stage_run(&s, 20);
  for (int i = 1; i <= 20; i++) {
    tbVec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = tb_add3(corner[k], tb_vec3(0, 0, 1e-3 * i));
    CHECK_OK(&s.ctx, tb_body_set_frames(&s.ctx, s.world, id, then, x, 1));
    stage_run(&s, 1);
    CHECK_NEAR(tb_body_node_velocities(s.world, id)[0].z, 0.2, 1e-12);
  }
  CHECK_NEAR(stage_state(&s, sheet).velocity.z, 0.2, 1e-6);
  CHECK(tb_body_set_frames(&s.ctx, s.world, sheet, then, corner, 1) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_set_nodes(&s.ctx, s.world, id, corner, corner) == TB_ERROR_ARGUMENT);
  stage_close(&s);
}

TEST(definitions_of_meshes_in_motion_are_checked)
{
  const double t[2] = {0, 1}, late[2] = {1, 1};
  const tbVec3 offset[2] = {{0, 0, 0}, {0, 0, 1}};
  static const int bad[2][3] = {{0, 1, 2}, {0, 2, 4}}, flat[1][3] = {{0, 1, 1}};
  Stage s = stage_open(0.4, 0);
  tbVec3 vertices[8], nowhere[8];
  const tbAnimatedDef good = plate_def((Way){t, offset, 2}, vertices);
  memcpy(nowhere, vertices, sizeof nowhere);
  nowhere[5].y = NAN;
  tbAnimatedDef d[7] = {good, good, good, good, good, good, good};
  d[0].times = late, d[1].triangles = bad, d[2].triangles = flat, d[2].triangle_count = 1;
  d[3].frame_count = 0, d[4].vertices = nowhere, d[5].thickness = -1, d[6].orientation = tb_quat(0, 0, 0, 0);
  uint64_t before = tb_world_hash(s.world);
  for (int i = 0; i < 7; i++) {
    tbStatus status = tb_world_add_animated(&s.ctx, s.world, &d[i], NULL);
    if (status == TB_OK) test_failed(__FILE__, __LINE__, "definition %d was taken", i);
  }
  CHECK(tb_world_body_count(s.world) == 0 && tb_world_hash(s.world) == before);
  stage_close(&s);
}

// Whatever allocation fails, nothing is added and nothing is left.
TEST(adding_a_mesh_in_motion_survives_failed_allocations)
{
  const double t[2] = {0, 1};
  const tbVec3 offset[2] = {{0, 0, 0}, {0, 0, 1}};
  tbVec3 vertices[8];
  tbAnimatedDef d = plate_def((Way){t, offset, 2}, vertices);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 200; k++) {
    tbFailingAllocator state = {.countdown = -1};
    tbContext ctx = test_failing_context(&state);
    tbWorldDef def = tb_default_world_def();
    tbWorld* w = NULL;
    CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
    state.countdown = k;
    status = tb_world_add_animated(&ctx, w, &d, NULL);
    state.countdown = -1;
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && tb_world_body_count(w) == 0));
    tb_world_free(&ctx, w);
    CHECK(state.alive == 0);
  }
  CHECK(status == TB_OK);
}

// A world with one is kept in a checkpoint and goes on from there to the same bits.
TEST(a_mesh_in_motion_is_kept_in_checkpoints)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.005, \"scheme\": \"pd\", \"animated\": [{\"name\": "
                             "\"lift\", \"mesh\": {\"grid\": "
                             "{\"size\": 2, \"cells\": 1}}, \"friction\": 0.4, \"thickness\": 0.004, "
                             "\"frames\": [{\"t\": 0, \"vertices\": "
                             "[[-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]]}, {\"t\": 1, \"vertices\": "
                             "[[-1, -1, 0], [1, -1, 0], [-1, 1, 1], "
                             "[1, 1, 1]]}]}], \"cloth\": [{\"mesh\": {\"grid\": {\"size\": 0.4, \"cells\": "
                             "4}}, \"position\": [0, 0, 0.004]}]}";
  tbContext ctx = tb_default_context();
  tbScene s = {0}, again = {0};
  char path[100];
  snprintf(path, sizeof path, "/tmp/tribo-animated-%ld", (long)getpid());
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "s.json", text, strlen(text), NULL, &s));
  REQUIRE(s.world);
  for (int i = 0; i < 10; i++) CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
  CHECK_OK(&ctx, tb_checkpoint_save(&ctx, path, &s));
  CHECK_OK(&ctx, tb_checkpoint_load(&ctx, path, &again));
  remove(path);
  REQUIRE(again.world);
  CHECK(tb_world_hash(again.world) == tb_world_hash(s.world));
  for (int i = 0; i < 10; i++) {
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
    CHECK_OK(&ctx, tb_world_step(&ctx, again.world, &again.step, NULL));
  }
  CHECK(tb_world_hash(again.world) == tb_world_hash(s.world));
  CHECK_NEAR(tb_body_nodes(again.world, tb_world_find_body(again.world, "lift"))[3].z, 0.1, 1e-12);
  tb_scene_free(&ctx, &s);
  tb_scene_free(&ctx, &again);
}
