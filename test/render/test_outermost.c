// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "render/view.h"

#include <stdlib.h>

enum { COUNT = 20000, DIRECTIONS = 200 };

// How far balls reach in a direction.
static double reach(const tbBall* ball, size_t count, tbVec3 along)
{
  double most = -INFINITY;
  for (size_t i = 0; i < count; i++) most = fmax(most, tb_dot3(ball[i].centre, along) + ball[i].radius);
  return most;
}

static tbVec3 any_vector(tbRandom* random)
{
  double x = test_uniform(random, -1, 1), y = test_uniform(random, -1, 1);
  return tb_vec3(x, y, test_uniform(random, -1, 1));
}

// Points, balls of one size and of many, a flat cloud, and all at one place: in no direction do those that
// are kept reach less far, to the bit, and of a full cloud most go.
TEST(outermost_balls_reach_as_far_as_all)
{
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(21);
  tbBall* ball = calloc(COUNT, sizeof *ball);
  for (int kind = 0; kind < 5; kind++) {
    tbArray outer = TB_ARRAY(tbBall);
    for (int i = 0; i < COUNT; i++) {
      tbVec3 at = any_vector(&random);
      if (kind == 3) at.z = 0.5;
      if (kind == 4) at = tb_vec3(1, 2, 3);
      ball[i] = (tbBall){at, kind == 1 ? 0.1 : kind == 2 ? test_uniform(&random, 0, 0.3) : 0};
    }
    CHECK_OK(&ctx, tb_outermost_balls(&ctx, ball, COUNT, &outer));
    int less = 0;
    for (int i = 0; i < DIRECTIONS; i++) {
      tbVec3 along = any_vector(&random);
      less += reach(ball, COUNT, along) != reach(outer.data, outer.count, along);
    }
    CHECK(less == 0);
    CHECK(kind > 1 || outer.count < COUNT / 2);
    tb_array_free(&ctx, &outer);
  }
  free(ball);
}
