// Any bytes are refused with a message that names the file, or open as a replay whose frames are read or
// refused one by one, with poses, nodes and contacts that can be used without another look.
#include "fuzz.h"
#include "io/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
