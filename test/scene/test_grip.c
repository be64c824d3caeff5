// SPDX-License-Identifier: Apache-2.0
// A body held by a point comes to its target and stays there, whatever it weighs and is made of.
#include "scene/world.h"
#include "step/soft_stage.h"
#include "tribo/grip.h"

#include <limits.h>

static double miss_after(Stage* s, tbBodyId body, tbVec3 point, tbVec3 target, int steps)
{
  tbGrip grip = {0};
  CHECK_OK(&s->ctx, tb_grip_begin(&s->ctx, s->world, body, point, &grip));
  CHECK_NEAR(tb_distance3(grip.target, point), 0, 0);
  grip.target = target;
  for (int i = 0; i < steps; i++) {
    CHECK_OK(&s->ctx, tb_grip_pull(&s->ctx, s->world, &grip, s->step.dt));
    stage_run(s, 1);
  }
  return tb_distance3(tb_grip_point(s->world, &grip), target);
}

TEST(a_held_body_comes_to_its_target_whatever_it_weighs)
{
  double first = 0;
  for (int k = -3; k <= 3; k += 3) {
    Stage s = stage_open(0.5, 0);
    tbBodyId box =
        stage_throw(&s, tb_shape_box(tb_vec3(1, 1, 1)), pow(10, k), tb_vec3(0, 0, 3), tb_vec3(1, 2, 0));
    double sag = miss_after(&s, box, tb_vec3(0.5, 0.5, 3.5), tb_vec3(1, 0, 4), 400);
    CHECK_NEAR(sag, 9.81 / (15 * 15), 0.03); // the spring's, under gravity
    if (k > -3) CHECK_NEAR(sag, first, 1e-9);
    else first = sag;
    stage_close(&s);
  }
}

TEST(a_held_node_takes_its_body_along)
{
  Stage s = soft_stage(0.4, 0.01);
  s.world->gravity = tb_zero3();
  tbBodyId block = add_box(&s, tb_vec3(0.4, 0.3, 0.2), 2, soft_at(1e5, tb_vec3(0, 0, 1), tb_zero3()));
  CHECK_NEAR(miss_after(&s, block, tb_vec3(0.2, 0.15, 1.1), tb_vec3(1, 0, 1), 120), 0, 0.02);
  CHECK_NEAR(tb_body_state(s.world, block).position.x, 0.8, 0.25);
  stage_close(&s);
}

TEST(a_grip_of_a_node_that_is_none_holds_the_first)
{
  Stage s = soft_stage(0.4, 0.01);
  tbBodyId block = add_box(&s, tb_vec3(0.4, 0.3, 0.2), 2, soft_at(1e5, tb_vec3(0, 0, 1), tb_zero3()));
  const int wild[] = {-1, -1000000, 1000000, INT_MIN, INT_MAX};
  for (int i = 0; i < 5; i++) {
    tbGrip grip = {.body = block, .node = wild[i]};
    CHECK_NEAR(tb_distance3(tb_grip_point(s.world, &grip), tb_body_nodes(s.world, block)[0]), 0, 0);
    CHECK_OK(&s.ctx, tb_grip_pull(&s.ctx, s.world, &grip, 0.01));
  }
  stage_close(&s);
}

TEST(what_cannot_be_held_is_refused)
{
  Stage s = stage_open(0.5, 0);
  tbShape ball = tb_shape_sphere(1);
  tbBodyDef def = tb_default_body_def();
  def.shapes = &ball, def.shape_count = 1, def.kind = TB_BODY_FIXED;
  tbBodyId fixed;
  tbGrip grip;
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, &fixed));
  CHECK(tb_grip_begin(&s.ctx, s.world, fixed, tb_zero3(), &grip) == TB_ERROR_ARGUMENT);
  tbBodyId free = stage_throw(&s, ball, 1, tb_vec3(0, 0, 5), tb_zero3());
  CHECK(tb_grip_begin(&s.ctx, s.world, free, tb_vec3(NAN, 0, 0), &grip) == TB_ERROR_ARGUMENT);
  CHECK_OK(&s.ctx, tb_grip_begin(&s.ctx, s.world, free, tb_vec3(0, 0, 5), &grip));
  grip.target.x = INFINITY;
  CHECK(tb_grip_pull(&s.ctx, s.world, &grip, 0.01) == TB_ERROR_ARGUMENT);
  grip.target.x = 0;
  CHECK(tb_grip_pull(&s.ctx, s.world, &grip, 0) == TB_ERROR_ARGUMENT);
  grip.body.index = 99;
  CHECK(tb_grip_pull(&s.ctx, s.world, &grip, 0.01) == TB_ERROR_ARGUMENT);
  stage_close(&s);
}
