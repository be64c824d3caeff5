// SPDX-License-Identifier: Apache-2.0
#include "known/worlds.h"
#include "test.h"

static tbBodyId add_plank(Stage* s, double height)
{
  tbShape twice[2] = {tb_shape_box(tb_vec3(2, 0.5, 0.2)), tb_shape_box(tb_vec3(2, 0.6, 0.2))};
  tbBodyDef def = tb_default_body_def();
  def.shapes = twice, def.shape_count = 2, def.mass = 1, def.position = tb_vec3(0, 0, height);
  tbBodyId id;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

// A plank of two boards at the same place over two posts: contacts come board by board, so that each pair of
// bodies comes up again after the other. It begins once, with the lower place first, and ends once.
TEST(bodies_of_several_shapes_begin_to_touch_once)
{
  Stage s = stage_open(0.5, 0);
  tbBodyId plank = add_plank(&s, 1.1005), post[2];
  for (int i = 0; i < 2; i++)
    post[i] = stage_fixed(&s, tb_shape_box(tb_vec3(0.2, 0.2, 1)), tb_vec3(i ? 0.8 : -0.8, 0, 0.5),
                          tb_quat_identity());
  int begun[2] = {0}, ended[2] = {0};
  for (int step = 0; step < 60; step++) {
    if (step == 40) stage_push(&s, plank, tb_vec3(0, 0, 3), tb_zero3());
    stage_run(&s, 1);
    for (int k = 0; k < tb_world_event_count(s.world); k++) {
      tbContactEvent e = tb_world_event(s.world, k);
      CHECK(e.a.index == plank.index && (e.b.index == post[0].index || e.b.index == post[1].index));
      CHECK(k == 0 || tb_world_event(s.world, k - 1).b.index < e.b.index);
      begun[e.b.index == post[1].index] += e.begins, ended[e.b.index == post[1].index] += !e.begins;
    }
  }
  for (int i = 0; i < 2; i++) CHECK(begun[i] == 1 && ended[i] == 1);
  stage_close(&s);
}
