// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused with a message that names the file, or open as a replay whose frames are read or
// refused one by one, with poses, nodes and contacts that can be used without another look, and that is
// exported and drawn, or refused.
#include "fuzz.h"
#include "io/replay/replay.h"
#include "tribo/render.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIXELS = 16, FRAMES = 8 };

static void check_frame(const tbReplay* r, const tbReplayFrame* f)
{
  CHECK(isfinite(f->time) && f->step >= 0);
  for (int i = 0; i < tb_replay_pose_count(r); i++) {
    tbQuat q = f->pose[i].q;
    CHECK(isfinite(f->pose[i].x.x) && fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < 1e-12);
  }
  for (int i = 0; i < tb_replay_node_count(r); i++) CHECK(isfinite(f->node[i].x));
  for (int i = 0; i < f->contact_count; i++) CHECK(f->contact[i].a >= 0 && f->contact[i].b >= 0);
}

// A folder for the files of one export, without a disk behind it where there is such a place.
static void folder_make(char path[64])
{
  strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tribo-fuzz-XXXXXX" : "/tmp/tribo-fuzz-XXXXXX");
  CHECK(mkdtemp(path));
}

static int folder_remove(const char* path)
{
  int count = 0;
  DIR* listing = opendir(path);
  for (const struct dirent* entry; listing && (entry = readdir(listing));) {
    char file[400];
    if (entry->d_name[0] == '.') continue;
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    if (unlink(file) != 0) count += folder_remove(file);
    else count++;
  }
  if (listing) closedir(listing);
  rmdir(path);
  return count;
}

// As one of the kinds of files, which one depending on the replay's size. One that is refused leaves nothing.
static tbStatus export(tbContext* ctx, tbReplay* r, size_t size)
{
  char folder[64], path[128];
  int64_t frames = tb_replay_frame_count(r), last = frames < FRAMES ? frames - 1 : FRAMES - 1;
  const tbRecordKind* kind = tb_record_kind_at((int)(size % (size_t)tb_record_kind_count()));
  folder_make(folder);
  snprintf(path, sizeof path, "%s/out", folder);
  tbStatus status = tb_replay_export(ctx, r, kind->name, path, 0, last, NULL, NULL);
  int files = folder_remove(folder);
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || status == TB_ERROR_INPUT ||
        status == TB_ERROR_UNSUPPORTED || status == TB_ERROR_NUMERIC || status == TB_ERROR_ARGUMENT);
  CHECK(status == TB_OK || files == 0);
  return status == TB_ERROR_MEMORY ? status : TB_OK;
}

static tbStatus draw(tbContext* ctx, tbReplay* r)
{
  unsigned char rgb[3 * PIXELS * PIXELS];
  tbRenderOptions o = tb_default_render_options();
  tbRenderer* renderer = NULL;
  o.width = o.height = PIXELS, o.samples = 1, o.last = 0;
  tbStatus status = tb_renderer_create(ctx, r, o, &renderer);
  if (status == TB_OK) status = tb_renderer_draw(ctx, renderer, 0, rgb);
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || status == TB_ERROR_INPUT ||
        status == TB_ERROR_UNSUPPORTED || status == TB_ERROR_NUMERIC);
  tb_renderer_free(ctx, renderer);
  return status == TB_ERROR_MEMORY ? status : TB_OK;
}

static tbStatus read_once(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  (void)user;
  tbReplay* r = NULL;
  tbStatus status = tb_replay_open_bytes(ctx, "fuzz", bytes, size, &r);
  CHECK((status == TB_OK) == (r != NULL));
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || strncmp(ctx->error.message, "fuzz:", 5) == 0);
  int64_t frames = r ? tb_replay_frame_count(r) : 0;
  for (int64_t i = 0; i < frames && i < 4 && status == TB_OK; i++) {
    tbReplayFrame f;
    int64_t found;
    status = tb_replay_read(ctx, r, frames - 1 - i, &f);
    if (status == TB_OK) check_frame(r, &f);
    if (status == TB_OK) status = tb_replay_find(ctx, r, f.time, &found);
    if (status == TB_OK) CHECK(found >= 0 && found < frames);
  }
  if (status == TB_OK && r) status = export(ctx, r, size);
  if (status == TB_OK && r) status = draw(ctx, r);
  tb_replay_close(ctx, r);
  return status;
}

static void put_u64(uint8_t* to, uint64_t value)
{
  for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

// As it is, and with the frame around it (magic, version, lengths) made good, so that what is inside is
// reached.
FUZZ(trajectory)
{
  tbStatus status = fuzz_starve(read_once, NULL, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT);
  if (size < 80) return;
  uint8_t* good = malloc(size);
  memcpy(good, bytes, size);
  memcpy(good, TB_REPLAY_MAGIC "\1\0\0\0", 12);
  memcpy(good + size - 8, TB_REPLAY_END, 8);
  put_u64(good + size - 16, size);
  uint64_t entries = good[size - 24] % 4u + 1;
  if (TB_REPLAY_HEAD + 16 * entries + 40 <= size) {
    put_u64(good + size - 40, size - 40 - 16 * entries);
    put_u64(good + size - 32, entries);
    put_u64(good + size - 24, entries | (uint64_t)1 << 32);
  }
  status = fuzz_starve(read_once, NULL, good, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT);
  free(good);
}
