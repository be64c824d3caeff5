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

// A run written down at some of its steps, the first and the last among them.
enum { STOPS = 6 };
typedef struct {
  int64_t step[STOPS];
  tbOut bytes[STOPS];
} Stops;

static bool same_bytes(const tbOut* a, const tbOut* b)
{
  return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

// Runs a scene and frees it; a checkpoint after every stop's step.
static void write_down(tbContext* ctx, tbScene* scene, tbRandom* random, int last, Stops* stops)
{
  for (int k = 0; k < STOPS; k++) {
    int64_t before = k ? stops->step[k - 1] : 0, left = last - before;
    stops->step[k] = k == 0           ? 0
                     : k == STOPS - 1 ? last
                                      : before + test_below(random, 1 + 2 * (int)left / (STOPS - k));
    run(ctx, scene, stops->step[k]);
    stops->bytes[k] = tb_out_memory(ctx);
    CHECK_OK(ctx, tb_checkpoint_print(ctx, &stops->bytes[k], scene));
  }
  CHECK(tb_world_contact_count(scene->world) > 0);
  tb_scene_free(ctx, scene);
}

// Reads each checkpoint and goes on to the next on another number of threads, where the bytes have to be
// those of the run that was not stopped: then so is all that follows.
static void go_on(tbContext* ctx, const char* scheme, int threads, Stops* stops)
{
  for (int k = 0; k + 1 < STOPS; k++) {
    tbScene scene = {0};
    tbOut bytes = tb_out_memory(ctx), *from = &stops->bytes[k];
    CHECK_OK(ctx, tb_checkpoint_parse(ctx, "checkpoint", from->bytes, from->length, &scene));
    REQUIRE(scene.world != NULL);
    CHECK_OK(ctx, tb_threads_create(ctx, 1 + (threads + k) % 3, &ctx->threads));
    run(ctx, &scene, stops->step[k + 1]);
    tb_threads_destroy(ctx, ctx->threads);
    ctx->threads = NULL;
    CHECK_OK(ctx, tb_checkpoint_print(ctx, &bytes, &scene));
    if (!same_bytes(&bytes, &stops->bytes[k + 1]))
      test_failed(__FILE__, __LINE__, "%s, resumed after step %d: other bits after step %d", scheme,
                  (int)stops->step[k], (int)stops->step[k + 1]);
    tb_out_free(&bytes);
    tb_scene_free(ctx, &scene);
  }
  for (int k = 0; k < STOPS; k++) tb_out_free(&stops->bytes[k]);
}

LONG_TEST(a_resumed_run_ends_in_the_same_bits)
{
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(11);
  for (int i = 0; i < tb_scheme_count(); i++) {
    const char* scheme = tb_scheme_at(i)->name;
    bool barriers = strcmp(scheme, "ipc") == 0; // the meshes of round shapes take longer
    tbScene whole = load(&ctx, scheme);
    Stops stops;
    REQUIRE(whole.world != NULL);
    write_down(&ctx, &whole, &random, barriers ? 8 : test_quick() ? STEPS / 2 : STEPS, &stops);
    go_on(&ctx, scheme, i, &stops);
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
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(5);
  tbScene whole = soft_scene(&ctx, scheme);
  Stops stops;
  write_down(&ctx, &whole, &random, test_quick() ? 18 : 30, &stops);
  go_on(&ctx, scheme, 0, &stops);
}

LONG_TEST(a_resumed_run_of_soft_bodies_ends_in_the_same_bits)
{
  resume_soft("implicit");
  resume_soft("pd");
}
