// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused with a message that names the file, or give a scene that is saved to the same bytes
// and that goes on: a step, and another after it has been saved and loaded in between.
// The frame (version, length, checksum) is made good first, so that what is inside is reached.
#include "io/checkpoint/checkpoint.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

// Saves the scene, unless its numbers are not finite any more, loads it and steps it.
static tbStatus go_on(tbContext* ctx, tbScene* scene)
{
  tbScene again = {0};
  tbOut out = tb_out_memory(ctx);
  tbStatus status = tb_checkpoint_print(ctx, &out, scene);
  bool finite = status != TB_ERROR_NUMERIC;
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || !finite);
  if (status == TB_OK) status = tb_checkpoint_parse(ctx, "again", out.bytes, out.length, &again);
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || !finite);
  if (status == TB_OK) status = fuzz_steps(ctx, &again, 1);
  if (!finite && out.status != TB_ERROR_MEMORY) status = TB_OK;
  else if (!finite) status = out.status;
  tb_out_free(&out);
  tb_scene_free(ctx, &again);
  return status;
}

static tbStatus parse_once(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  (void)user;
  tbScene scene = {0};
  tbOut out = tb_out_memory(ctx);
  tbStatus status = tb_checkpoint_parse(ctx, "fuzz", bytes, size, &scene);
  CHECK((status == TB_OK) == (scene.world != NULL));
  if (status == TB_OK) {
    status = tb_checkpoint_print(ctx, &out, &scene);
    CHECK(status == TB_ERROR_MEMORY ||
          (status == TB_OK && out.length == size && memcmp(out.bytes, bytes, size) == 0));
    if (status == TB_OK) status = fuzz_steps(ctx, &scene, 1);
    if (status == TB_OK) status = go_on(ctx, &scene);
  } else {
    CHECK(status == TB_ERROR_MEMORY || strncmp(ctx->error.message, "fuzz: ", 6) == 0);
  }
  tb_out_free(&out);
  tb_scene_free(ctx, &scene);
  return status;
}

static void parse(const uint8_t* bytes, size_t size)
{
  tbStatus status = fuzz_starve(parse_once, NULL, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT || status == TB_ERROR_UNSUPPORTED);
}

static void put_u64(uint8_t* to, uint64_t value)
{
  for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

FUZZ(checkpoint)
{
  parse(bytes, size);
  if (size < 32) return;
  uint8_t* good = malloc(size);
  memcpy(good, bytes, size);
  memcpy(good, "\x89TRIBO\r\n", 8);
  put_u64(good + 8, TB_CHECKPOINT_VERSION);
  put_u64(good + 16, size);
  put_u64(good + size - 8, tb_checkpoint_sum(good, size - 8));
  parse(good, size);
  free(good);
}
