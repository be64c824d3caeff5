// SPDX-License-Identifier: Apache-2.0
// State hashes of three mixed scenes (mixed_*.json: laws of friction, joints, soft and reduced bodies, cloth)
// after a few steps under every scheme and its larger options, as they were when golden_schemes.txt was
// written: what a scheme does that leaves its results plausible shows here. `make golden` writes the file
// anew; the commit that does so says why.
#include "test.h"
#include "tribo/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = TB_SOURCE_FOLDER "/test/determinism";
enum { STEPS = 4, MOST_OPTIONS = 2 };

typedef struct {
  const char *scene, *scheme, *option[MOST_OPTIONS];
} Case;

static const Case cases[] = {
    {"rigid", "semi-implicit", {NULL}},
    {"rigid", "semi-implicit", {"scheme.stabilization={\"kind\":\"projection\"}", NULL}},
    {"rigid", "moreau", {NULL}},
    {"rigid", "soft-step", {"scheme.certify=1", NULL}},
    {"rigid", "penalty", {NULL}},
    {"rigid", "primal", {NULL}},
    {"rigid", "primal", {"scheme.substeps=2", NULL}},
    {"rigid", "xpbd", {NULL}},
    {"rigid", "xpbd", {"scheme.update=incremental", NULL}},
    {"rigid", "xpbd", {"scheme.update=restart", "scheme.jacobi=true"}},
    {"rigid", "vbd", {NULL}},
    {"rigid", "avbd", {NULL}},
    {"rigid", "ipc", {NULL}},
    {"nodes", "implicit", {NULL}},
    {"nodes", "implicit", {"scheme.newton_steps=3", NULL}},
    {"nodes", "pd", {NULL}},
    {"nodes", "primal", {NULL}},
    {"nodes", "xpbd", {NULL}},
    {"nodes", "vbd", {NULL}},
    {"nodes", "avbd", {NULL}},
    {"nodes", "penalty", {NULL}},
    {"nodes", "ipc", {NULL}},
    {"nodes", "ipc", {"scheme.integrator=bdf2", NULL}},
    {"nodes", "ipc", {"scheme.exact_friction=true", NULL}},
    {"reduced", "implicit", {NULL}},
    {"reduced", "semi-implicit", {NULL}},
    {"reduced", "primal", {NULL}},
    {"reduced", "penalty", {NULL}},
};

static uint64_t hash_of(const Case* c)
{
  char path[600], name[64];
  const char* set[1 + MOST_OPTIONS] = {name};
  int count = 1;
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  snprintf(path, sizeof path, "%s/mixed_%s.json", folder, c->scene);
  snprintf(name, sizeof name, "scheme.name=%s", c->scheme);
  for (int i = 0; i < MOST_OPTIONS && c->option[i]; i++) set[count++] = c->option[i];
  CHECK_OK(&ctx, tb_scene_load_with(&ctx, path, set, count, &scene));
  if (!scene.world) return 0;
  for (int i = 0; i < STEPS; i++) CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, NULL));
  uint64_t hash = tb_world_hash(scene.world);
  tb_scene_free(&ctx, &scene);
  return hash;
}

LONG_TEST(schemes_end_in_the_states_that_are_written_down)
{
  char path[600], line[200], expected[200];
  snprintf(path, sizeof path, "%s/golden_schemes.txt", folder);
  bool writes = getenv("TRIBO_WRITE_GOLDEN");
  FILE* file = fopen(path, writes ? "w" : "r");
  REQUIRE(file);
  if (writes) fprintf(file, "# scene, scheme, options, hash of the state; written by make golden\n");
  else CHECK(fgets(expected, sizeof expected, file) && expected[0] == '#');
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Case* c = &cases[i];
    const char *first = c->option[0] ? c->option[0] : "-", *second = first[0] != '-' ? c->option[1] : NULL;
    snprintf(line, sizeof line, "%s %s %s %s %016" PRIx64 "\n", c->scene, c->scheme, first,
             second ? second : "-", hash_of(c));
    if (writes) fputs(line, file);
    else if (!fgets(expected, sizeof expected, file) || strcmp(line, expected) != 0)
      test_failed(__FILE__, __LINE__, "%.*s, was %s", (int)strcspn(line, "\n"), line, expected);
  }
  CHECK(writes || !fgets(expected, sizeof expected, file));
  fclose(file);
}
