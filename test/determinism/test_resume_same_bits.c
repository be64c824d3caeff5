// SPDX-License-Identifier: Apache-2.0
// A run that is stopped and resumed, anywhere and on any number of threads, ends in the same bits.
#include "io/checkpoint/checkpoint.h"
#include "step/soft_worlds.h"
#include "test.h"

#include <string.h>

enum { STEPS = 60 };

static const char text[] =
    "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.6, \"scheme\": \"SCHEME\",\n"
    " \"solver\": {\"name\": \"auto\", \"iterations\": 200, \"tolerance\": 1e-6},\n"
    " \"materials\": {\"ice\": {\"friction\": 0.05, \"restitution\": 0.4}},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"ground\", \"shape\": {\"type\": \"plane\", \"normal\": [0,0,1], \"offset\": 0}, "
    "\"fixed\": true},\n"
    "  {\"name\": \"box\", \"shape\": {\"type\": \"box\", \"size\": [0.5,0.4,0.3]}, \"position\": "
    "[0,0,0.16],\n"
    "   \"velocity\": [0.5,0,0], \"angular_velocity\": [0,0,1],\n"
    "   \"repeat\": {\"count\": [1,1,4], \"spacing\": [0,0,0.301]}},\n"
    "  {\"name\": \"ball\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.2}, \"position\": [1.5,0,0.5], "
    "\"material\": \"ice\"},\n"
    "  {\"name\": \"bar\", \"shape\": {\"type\": \"capsule\", \"radius\": 0.1, \"length\": 0.6}, "
    "\"position\": [2.5,0,1]},\n"
    "  {\"name\": \"sweep\", \"shape\": {\"type\": \"box\", \"size\": [0.1,1,0.5]}, \"position\": "
    "[-0.7,0,0.3],\n"
    "   \"kinematic\": {\"keys\": [{\"t\": 0, \"position\": [-0.7,0,0.3]}, {\"t\": 0.5, \"position\": "
    "[-0.2,0,0.3]}]}}],\n"
    " \"joints\": [{\"type\": \"ball\", \"a\": \"bar\", \"b\": \"world\", \"anchor\": [2.5,0,1.3]}]}\n";

static tbScene load(tbContext* ctx, const char* scheme)
{
  char scene_text[sizeof text + 32];
  const char* mark = strstr(text, "SCHEME");
  snprintf(scene_text, sizeof scene_text, "%.*s%s%s", (int)(mark - text), text, scheme,
           mark + strlen("SCHEME"));
  tbScene scene = {0};
  CHECK_OK(ctx, tb_scene_parse(ctx, "scene", scene_text, strlen(scene_text), NULL, &scene));
  return scene;
}

static void run(tbContext* ctx, tbScene* scene, int64_t last)
{
  tbStepReport report;
  while (tb_world_step_count(scene->world) < last)
    if (tb_world_step(ctx, scene->world, &scene->step, &report) != TB_OK) {
      test_failed(__FILE__, __LINE__, "step: %s", ctx->error.message);
      return;
    }
}

// Stops after `step` steps, writes a checkpoint, reads it, and goes on to the end on other threads.
static uint64_t stop_and_go(tbContext* ctx, const char* scheme, int step, int threads)
{
  tbScene first = load(ctx, scheme), second = {0};
  if (!first.world) return 0;
  tbOut bytes = tb_out_memory(ctx);
  run(ctx, &first, step);
  CHECK_OK(ctx, tb_checkpoint_print(ctx, &bytes, &first));
  tb_scene_free(ctx, &first);
  CHECK_OK(ctx, tb_checkpoint_parse(ctx, "checkpoint", bytes.bytes, bytes.length, &second));
  tb_out_free(&bytes);
  if (!second.world) return 0;
  CHECK_OK(ctx, tb_threads_create(ctx, threads, &ctx->threads));
  run(ctx, &second, STEPS);
  uint64_t hash = tb_world_hash(second.world);
  tb_threads_destroy(ctx, ctx->threads);
  ctx->threads = NULL;
  tb_scene_free(ctx, &second);
  return hash;
}

TEST(a_resumed_run_ends_in_the_same_bits)
{
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(11);
  for (int i = 0; i < tb_scheme_count(); i++) {
    const char* scheme = tb_scheme_at(i)->name;
    if (strcmp(scheme, "ipc") == 0) continue; // the meshes of round shapes take longer: see ipc_resumes
    tbScene whole = load(&ctx, scheme);
    REQUIRE(whole.world != NULL);
    run(&ctx, &whole, STEPS);
    uint64_t hash = tb_world_hash(whole.world);
    CHECK(tb_world_contact_count(whole.world) > 0);
    tb_scene_free(&ctx, &whole);
    for (int k = 0; k < (test_quick() ? 1 : 10); k++) {
      int step = test_below(&random, STEPS + 1);
      uint64_t resumed = stop_and_go(&ctx, scheme, step, 1 + (i + k) % 3);
      if (resumed != hash)
        test_failed(__FILE__, __LINE__, "%s, resumed after step %d: other bits", scheme, step);
    }
  }
}

static tbScene soft_scene(tbContext* ctx, const char* scheme)
{
  tbWorldDef def = tb_default_world_def();
  tbScene scene = {.step = tb_default_step_options(), .time = 1, .threads = 1};
  scene.step.scheme = scheme, scene.step.solver.tolerance = 1e-4;
  scene.name = TB_NEW(ctx, char, 1);
  CHECK_OK(ctx, tb_world_create(ctx, &def, &scene.world));
  CHECK_OK(ctx, soft_heap(ctx, scene.world));
  return scene;
}

static void resume_soft(const char* scheme)
{
  enum { LAST = 30 };
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(5);
  tbScene whole = soft_scene(&ctx, scheme);
  run(&ctx, &whole, LAST);
  uint64_t hash = tb_world_hash(whole.world);
  tb_scene_free(&ctx, &whole);
  for (int k = 0; k < (test_quick() ? 2 : 6); k++) {
    int step = test_below(&random, LAST + 1);
    tbScene first = soft_scene(&ctx, scheme), second = {0};
    tbOut bytes = tb_out_memory(&ctx);
    run(&ctx, &first, step);
    CHECK_OK(&ctx, tb_checkpoint_print(&ctx, &bytes, &first));
    tb_scene_free(&ctx, &first);
    CHECK_OK(&ctx, tb_checkpoint_parse(&ctx, "checkpoint", bytes.bytes, bytes.length, &second));
    tb_out_free(&bytes);
    REQUIRE(second.world != NULL);
    run(&ctx, &second, LAST);
    if (tb_world_hash(second.world) != hash)
      test_failed(__FILE__, __LINE__, "%s, resumed after step %d: other bits", scheme, step);
    tb_scene_free(&ctx, &second);
  }
}

TEST(a_resumed_run_of_soft_bodies_ends_in_the_same_bits)
{
  resume_soft("implicit");
  resume_soft("pd");
}
