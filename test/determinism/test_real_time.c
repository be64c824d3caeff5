// SPDX-License-Identifier: Apache-2.0
// Ten scenes in real time (soft-step) end in the states that golden_real_time.txt holds: on one to eight
// threads, by every vector width of the processor, and when they are written down in the middle and read
// again. scripts/same-bits holds every other build against the same file, test/wasm the library in wasm.
// `make golden` writes it anew; the commit that does so says why.
#include "test.h"
#include "tribo/io.h"
#include "widths.h"

#include <inttypes.h>
#include <stdlib.h>

static const char path[] = TB_SOURCE_FOLDER "/test/determinism/golden_real_time.txt";

typedef struct {
  char name[64];
  int steps;
  uint64_t hash;
} Golden;

static void open_scene(tbContext* ctx, const char* name, tbScene* out)
{
  char file[600];
  snprintf(file, sizeof file, "%s/scenes/%s.json", TB_SOURCE_FOLDER, name);
  CHECK_OK(ctx, tb_scene_load(ctx, file, out));
  out->step.scheme = "soft-step", out->step.certify = 0;
}

static void run(tbContext* ctx, tbScene* scene, int steps, int threads)
{
  CHECK_OK(ctx, tb_threads_create(ctx, threads, &ctx->threads));
  for (int i = 0; i < steps; i++) CHECK_OK(ctx, tb_world_step(ctx, scene->world, &scene->step, NULL));
  tb_threads_destroy(ctx, ctx->threads);
  ctx->threads = NULL;
}

// In the place of the scene: the same, written down and read again.
static void resume(tbContext* ctx, tbScene* scene)
{
  tbOut bytes = tb_out_memory(ctx);
  tbScene again = {0};
  CHECK_OK(ctx, tb_checkpoint_print(ctx, &bytes, scene));
  CHECK_OK(ctx, tb_checkpoint_parse(ctx, "checkpoint", bytes.bytes, bytes.length, &again));
  tb_out_free(&bytes);
  tb_scene_free(ctx, scene);
  *scene = again;
}

// The second half by another width and on another number of threads, from a checkpoint.
static uint64_t hash_of(const Golden* g, int threads, int width, bool stop)
{
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  open_scene(&ctx, g->name, &scene);
  if (!scene.world) return 0;
  int half = stop ? g->steps / 2 : 0;
  test_take_width(width);
  run(&ctx, &scene, half, threads);
  if (stop) resume(&ctx, &scene);
  if (stop) test_take_width((width + 1) % test_widths());
  run(&ctx, &scene, g->steps - half, stop ? 9 - threads : threads);
  test_take_width(-1);
  CHECK(tb_world_contact_count(scene.world) > 0);
  uint64_t hash = tb_world_hash(scene.world);
  tb_scene_free(&ctx, &scene);
  return hash;
}

static void write_anew(void)
{
  static const Golden scenes[] = {
      {"arch", 20, 0},   {"cards", 20, 0}, {"chain-links", 20, 0}, {"dominoes", 20, 0}, {"heap", 40, 0},
      {"hopper", 20, 0}, {"kaplas", 5, 0}, {"pile-1000", 40, 0},   {"pyramid", 20, 0},  {"wall", 20, 0}};
  FILE* file = fopen(path, "w");
  REQUIRE(file);
  fprintf(file, "# scene, steps, hash of the state after them by soft-step; written by make golden\n");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    fprintf(file, "%s %d %016" PRIx64 "\n", scenes[i].name, scenes[i].steps,
            hash_of(&scenes[i], 1, -1, false));
  fclose(file);
}

LONG_TEST(ten_scenes_in_real_time_end_in_the_hashes_that_are_written_down)
{
  if (getenv("TRIBO_WRITE_GOLDEN")) write_anew();
  char line[200];
  int scenes = 0;
  FILE* file = fopen(path, "r");
  REQUIRE(file);
  while (fgets(line, sizeof line, file)) {
    Golden g;
    if (line[0] == '#') continue;
    REQUIRE(sscanf(line, "%63s %d %" SCNx64, g.name, &g.steps, &g.hash) == 3);
    scenes++;
    for (int threads = 1; threads <= 8; threads += test_quick() ? 3 : 1) {
      int width = threads % test_widths();
      bool stop = threads % 2 == 0;
      uint64_t hash = hash_of(&g, threads, width, stop);
      if (hash != g.hash)
        test_failed(__FILE__, __LINE__, "%s, %d threads, %s%s: %016" PRIx64 " instead of %016" PRIx64, g.name,
                    threads, test_width_name(width), stop ? ", stopped and resumed" : "", hash, g.hash);
    }
  }
  fclose(file);
  CHECK(scenes == 10);
}
