// SPDX-License-Identifier: Apache-2.0
// The surfaces of a step's shapes: made once, one after the other, and given up between any two.
#include "step/soft_stage.h"
#include "step/surfaces.h"

enum { SHAPES = 6 };

// In a pile of thousands this is most of the first step.
TEST(surfaces_of_shapes_are_made_listening)
{
  Stage s = soft_stage(0.5, 0.01);
  tbTransform pose[SHAPES];
  for (int i = 0; i < SHAPES; i++) {
    stage_fixed(&s, tb_shape_sphere(0.1), tb_vec3(i, 0, 0), tb_quat_identity());
    pose[i] = tb_transform_identity();
  }
  tbArena arena;
  tb_arena_init(&arena, &s.ctx);
  for (int made = 0; made <= SHAPES; made++) { // one more each time
    tbSurfaces surfaces;
    Countdown c = {.after = made < SHAPES ? 1 : 0};
    s.ctx.interrupt = (tbInterrupt){count_down, &c};
    tbStatus status = tb_surfaces_begin(&s.ctx, &arena, s.world->cache, s.world, pose, &surfaces);
    s.ctx.interrupt = (tbInterrupt){0};
    CHECK(status == (made < SHAPES - 1 ? TB_ERROR_CANCELLED : TB_OK));
    CHECK(c.calls == (made < SHAPES - 1 ? 2 : made < SHAPES ? 1 : 0));
    CHECK((int)s.world->cache->surface.count == (made < SHAPES ? made + 1 : SHAPES));
  }
  tb_arena_free(&arena);
  stage_close(&s);
}
