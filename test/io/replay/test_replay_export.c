// SPDX-License-Identifier: Apache-2.0
// What a replay becomes without running again, held against what the run itself would have recorded.
#include "io/recorded.h"
#include "io/replay/replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 8 };

static tbReplay* record_replay(Recorded* r, double fps)
{
  tbReplay* replay = NULL;
  CHECK_OK(&r->ctx, recorded_run(r, "replay", recorded_path(r, "run.trp"), STEPS, fps, NULL, NULL));
  CHECK_OK(&r->ctx, tb_replay_open(&r->ctx, recorded_path(r, "run.trp"), &replay));
  return replay;
}

static tbStatus export_to(Recorded* r, tbReplay* replay, const char* kind, const char* name)
{
  return tb_replay_export(&r->ctx, replay, kind, recorded_path(r, name), 0, -1, NULL, NULL);
}

// Where the numbers of an array begin in a VTU file.
static const char* vtu_numbers(const char* file, const char* name)
{
  char key[64];
  snprintf(key, sizeof key, "Name=\"%s\"", name);
  const char* tag = strstr(file, key);
  const char* offset = tag ? strstr(tag, "offset=\"") : NULL;
  const char* data = strstr(file, "<AppendedData encoding=\"raw\">\n_");
  return offset && data ? strchr(data, '_') + 1 + strtol(offset + 8, NULL, 10) + 8 : NULL;
}

static tbVec3 vec3_at(const char* numbers, long i)
{
  double p[3];
  memcpy(p, numbers + 24 * i, sizeof p);
  return tb_load3(p);
}

TEST(exported_bodies_are_where_the_run_had_them)
{
  Recorded a = recorded_begin(), b = recorded_begin();
  tbReplay* replay = record_replay(&a, 0);
  CHECK_OK(&a.ctx, export_to(&a, replay, "vtk", "vtk"));
  CHECK_OK(&b.ctx, recorded_run(&b, "vtk", recorded_path(&b, "vtk"), STEPS, 0, NULL, NULL));
  size_t length;
  char* ours = recorded_read(recorded_path(&a, "vtk/bodies-000008.vtu"), &length);
  char* theirs = recorded_read(recorded_path(&b, "vtk/bodies-000008.vtu"), &length);
  const char *x = ours ? vtu_numbers(ours, "position") : NULL,
             *y = theirs ? vtu_numbers(theirs, "position") : NULL;
  const char *v = ours ? vtu_numbers(ours, "velocity") : NULL,
             *w = theirs ? vtu_numbers(theirs, "velocity") : NULL;
  CHECK(x && y && v && w);
  for (long i = 0; x && y && v && w && i < 200; i++) { // the rigid bodies come first
    CHECK_NEAR(tb_distance3(vec3_at(x, i), vec3_at(y, i)), 0, 1e-4);
    CHECK_NEAR(tb_distance3(vec3_at(v, i), vec3_at(w, i)), 0, 0.15); // the mean of a step, not its end
  }
  char* contacts = recorded_read(recorded_path(&a, "vtk/contacts-000008.vtu"), &length);
  CHECK(contacts && strstr(contacts, "Name=\"force\"") && !strstr(contacts, "Name=\"slip\""));
  free(contacts), free(ours), free(theirs);
  tb_replay_close(&a.ctx, replay);
  recorded_end(&a);
  recorded_end(&b);
}

TEST(exported_point_caches_have_samples_at_equal_times)
{
  Recorded r = recorded_begin();
  tbReplay* replay = record_replay(&r, 66.7); // three steps a frame: 0, 3, 6, and the end at 8
  size_t length;
  char folder[600], path[700];
  CHECK(tb_replay_frame_count(replay) == 4);
  CHECK_OK(&r.ctx, tb_replay_export(&r.ctx, replay, "pc2", r.folder, 0, -1, NULL, NULL));
  char* cache = recorded_read(recorded_path(&r, "nodes.pc2"), &length);
  int points = 56 + 24, head[2] = {0}; // the surface of a cube of 3³ cells, and a sheet
  CHECK(cache && length == 32 + 12 * (size_t)points * 3);
  if (cache) memcpy(&head[0], cache + 16, 4), memcpy(&head[1], cache + 28, 4);
  CHECK(head[0] == points && head[1] == 3);
  char* script = recorded_read(recorded_path(&r, "nodes.py"), &length);
  CHECK(script && strstr(script, "FIRST_FRAME = 0\n") && strstr(script, "FRAMES_PER_SECOND = 66.6"));
  free(script), free(cache);
  // A folder that is missing is made, and unmade where nothing comes of it.
  snprintf(folder, sizeof folder, "%s", recorded_path(&r, "caches"));
  for (long k = 0, done = 0; !done; k += 5) {
    tbFailingAllocator state = {.countdown = k};
    tbContext poor = test_failing_context(&state);
    tbReplay* again = NULL;
    tbStatus status = tb_replay_open(&poor, recorded_path(&r, "run.trp"), &again);
    if (status == TB_OK) status = tb_replay_export(&poor, again, "pc2", folder, 0, -1, NULL, NULL);
    tb_replay_close(&poor, again);
    done = status != TB_ERROR_MEMORY;
    if (!done) CHECK(access(folder, F_OK) != 0);
  }
  snprintf(path, sizeof path, "%s/nodes.pc2", folder);
  CHECK(access(path, R_OK) == 0);
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}

TEST(exports_of_a_replay_name_what_they_cannot_do)
{
  Recorded r = recorded_begin();
  tbReplay* replay = record_replay(&r, 0);
  CHECK(export_to(&r, replay, "replay", "again.trp") == TB_ERROR_ARGUMENT);
  CHECK(export_to(&r, replay, "gtlf", "a.glb") == TB_ERROR_ARGUMENT);
  CHECK(export_to(&r, replay, "gltf", "nowhere/a.glb") == TB_ERROR_IO);
  CHECK(tb_replay_export(&r.ctx, replay, "gltf", recorded_path(&r, "a.glb"), 0, STEPS + 1, NULL, NULL) ==
        TB_ERROR_ARGUMENT);
  CHECK(tb_replay_export(&r.ctx, replay, "gltf", recorded_path(&r, "a.glb"), 3, 2, NULL, NULL) ==
        TB_ERROR_ARGUMENT);
  struct stat info;
  CHECK(stat(recorded_path(&r, "a.glb"), &info) != 0);
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}

TEST(replays_with_any_bytes_are_exported_or_refused)
{
  Recorded r = recorded_begin();
  tbRandom random = test_random(11);
  size_t length;
  CHECK_OK(&r.ctx, recorded_run(&r, "replay", recorded_path(&r, "run.trp"), 2, 0, NULL, NULL));
  char* good = recorded_read(recorded_path(&r, "run.trp"), &length);
  int exported = 0, refused = 0;
  for (int i = 0; good && i < (test_quick() ? 60 : 200); i++) {
    char* bytes = malloc(length);
    memcpy(bytes, good, length);
    for (int k = 0; k < 3; k++) {
      size_t at = k == 2 ? (size_t)test_below(&random, (int)length) : 16 + (size_t)test_below(&random, 4000);
      bool digit = bytes[at] >= '0' && bytes[at] <= '9';
      bytes[at] = (char)(at < 4000 && digit ? '0' + test_below(&random, 10) : test_below(&random, 256));
    }
    tbReplay* replay;
    if (tb_replay_open_bytes(&r.ctx, "any", bytes, length, &replay) == TB_OK) {
      static const char* const kinds[] = {"gltf", "usd", "vtk"};
      tbStatus status = export_to(&r, replay, kinds[i % 3], (const char*[]){"a.glb", "a.usda", "vtk"}[i % 3]);
      if (status == TB_OK) exported++;
      else refused++;
      tb_replay_close(&r.ctx, replay);
    }
    free(bytes);
  }
  CHECK(exported > 0 && refused > 0);
  free(good);
  recorded_end(&r);
}

TEST(exports_survive_every_failed_allocation)
{
  Recorded r = recorded_begin();
  char to[256];
  tb_replay_close(&r.ctx, record_replay(&r, 66.7));
  snprintf(to, sizeof to, "%s", recorded_path(&r, "a.glb"));
  long total = 0;
  for (long k = -1; k < total; k += test_quick() ? 7 : 2) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbReplay* replay = NULL;
    tbStatus status = tb_replay_open(&ctx, recorded_path(&r, "run.trp"), &replay);
    if (status == TB_OK) status = tb_replay_export(&ctx, replay, "gltf", to, 0, -1, NULL, NULL);
    tb_replay_close(&ctx, replay);
    if (k < 0) total = state.total;
    if (status != (k < 0 ? TB_OK : TB_ERROR_MEMORY) || state.alive != 0)
      test_failed(__FILE__, __LINE__, "allocation %ld: status %s, %ld blocks left", k, tb_status_name(status),
                  state.alive);
  }
  CHECK(total > 50);
  recorded_end(&r);
}
