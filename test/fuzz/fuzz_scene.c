// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused with a message that names the place, or give a world that can be measured and
// stepped. Running out of memory anywhere is reported as such and leaks nothing.
#include "steps.h"

#include <math.h>
#include <string.h>

static tbStatus load(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  (void)user;
  tbScene s = {0};
  tbStatus status = tb_scene_parse(ctx, "fuzz", (const char*)bytes, size, NULL, &s);
  CHECK((status == TB_OK) == (s.world != NULL) && !s.world == !s.name);
  if (status == TB_OK) {
    tbEnergy e = tb_world_energy(s.world);
    CHECK(tb_world_time(s.world) == 0 && s.step.dt > 0 && s.threads >= 1 &&
          !(e.elastic < 0)); // NaN: stiffness overflows
    for (int i = 0; i < tb_world_body_count(s.world); i++) {
      const char* name = tb_body_name(s.world, tb_world_body_at(s.world, i));
      CHECK(name[0] && tb_world_find_body(s.world, name).index == i);
      CHECK(tb_body_mass(s.world, tb_world_body_at(s.world, i)) >= 0);
      CHECK((tb_body_node_count(s.world, tb_world_body_at(s.world, i)) > 0) ==
            (tb_body_nodes(s.world, tb_world_body_at(s.world, i)) != NULL));
    }
    status = fuzz_steps(ctx, &s, 3);
  } else if (status == TB_ERROR_INPUT) {
    unsigned line, column;
    CHECK(sscanf(ctx->error.message, "fuzz:%u:%u: ", &line, &column) == 2 && line > 0 && column > 0);
  }
  tb_scene_free(ctx, &s);
  return status;
}

// Whether a number of more than one digit follows the word "cells".
static bool many_cells(const uint8_t* bytes, size_t size)
{
  const uint8_t *end = bytes + size, *at = bytes;
  while ((at = memmem(at, (size_t)(end - at), "cells", 5)) != NULL) {
    int digits = 0;
    for (at += 5; at < end && *at != ']' && *at != '}' && digits < 2; at++)
      digits = (*at >= '0' && *at <= '9') || *at == 'e' || *at == 'E' ? digits + 1 : 0;
    if (digits > 1) return true;
  }
  return false;
}

// Grids of copies and of cells are left small: their cost is no news.
static bool modest(const uint8_t* bytes, size_t size)
{
  int digits = 0;
  for (size_t i = 0; i < size; i++) {
    digits = bytes[i] >= '0' && bytes[i] <= '9' ? digits + 1 : 0;
    if (bytes[i] == 'e' || bytes[i] == 'E')
      digits += i > 0 && bytes[i - 1] >= '0' && bytes[i - 1] <= '9' ? 3 : 0;
    if (digits > 2 && memmem(bytes, size, "repeat", 6)) return false;
  }
  return !many_cells(bytes, size);
}

FUZZ(scene)
{
  if (!modest(bytes, size)) return;
  tbStatus status = fuzz_starve(load, NULL, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT);
}
