// SPDX-License-Identifier: Apache-2.0
// State hashes of eleven scenes after a few steps, as they were when golden.txt was written: whatever changes
// a result, on purpose or not, shows here. `make golden` writes the file anew; the commit that does so says
// why.
#include "test.h"
#include "tribo/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = TB_SOURCE_FOLDER "/test/determinism/golden.txt";

// The hash after `steps` steps of scenes/NAME.json, and the residual of the last.
static uint64_t hash_of(const char* name, int steps, double* residual)
{
  char scene_path[600];
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  tbStepReport report = {0};
  snprintf(scene_path, sizeof scene_path, "%s/scenes/%s.json", TB_SOURCE_FOLDER, name);
  CHECK_OK(&ctx, tb_scene_load(&ctx, scene_path, &scene));
  if (!scene.world) return 0;
  for (int i = 0; i < steps; i++) CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, &report));
  uint64_t hash = tb_world_hash(scene.world);
  *residual = report.residual.fclib;
  tb_scene_free(&ctx, &scene);
  return hash;
}

static void write_anew(void)
{
  static const struct {
    const char* name;
    int steps;
  } scenes[] = {{"arch", 50},        {"billiards", 150},      {"bunnies", 10},   {"cards", 50},
                {"chain-links", 50}, {"cloth-on-sphere", 10}, {"cradle", 100},   {"door", 30},
                {"heap", 60},        {"jelly", 10},           {"tippe-top", 100}};
  FILE* file = fopen(path, "w");
  REQUIRE(file);
  fprintf(file, "# scene, steps, hash of the state after them; written by make golden\n");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    double residual;
    fprintf(file, "%s %d %016" PRIx64 "\n", scenes[i].name, scenes[i].steps,
            hash_of(scenes[i].name, scenes[i].steps, &residual));
  }
  fclose(file);
}

LONG_TEST(scenes_end_in_the_states_that_are_written_down)
{
  if (getenv("TRIBO_WRITE_GOLDEN")) write_anew();
  char line[200], name[64];
  int steps, scenes = 0;
  uint64_t golden;
  FILE* file = fopen(path, "r");
  REQUIRE(file);
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    REQUIRE(sscanf(line, "%63s %d %" SCNx64, name, &steps, &golden) == 3);
    scenes++;
    if (test_quick() && scenes % 3) continue;
    double residual = 0;
    uint64_t hash = hash_of(name, steps, &residual);
    if (hash != golden)
      test_failed(__FILE__, __LINE__,
                  "%s after %d steps: %016" PRIx64 " instead of %016" PRIx64 " (residual %.2g)", name, steps,
                  hash, golden, residual);
  }
  fclose(file);
  CHECK(scenes == 11);
}
