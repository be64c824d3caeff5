// SPDX-License-Identifier: Apache-2.0
#include "known/worlds.h"
#include "test.h"
#include "tribo/io.h"

#include <string.h>

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

enum { BALLS = 12, PAIRS = BALLS * (BALLS + 1) };

// Which pairs of bodies touch, as the contacts tell, at a · (BALLS + 1) + b by their places.
static void touching(const tbWorld* w, bool out[PAIRS + BALLS + 1])
{
  memset(out, 0, (PAIRS + BALLS + 1) * sizeof *out);
  for (int k = 0; k < tb_world_contact_count(w); k++) {
    tbContactView c = tb_world_contact(w, k);
    int a = c.a.index < c.b.index ? c.a.index : c.b.index, b = c.a.index + c.b.index - a;
    if (c.impulse[0] > 0) out[a * (BALLS + 1) + b] = true;
  }
}

// Steps, and compares the events with the contacts before and after.
static int step_and_compare(Stage* s)
{
  bool before[PAIRS + BALLS + 1], after[PAIRS + BALLS + 1];
  int events = 0;
  touching(s->world, before);
  stage_run(s, 1);
  touching(s->world, after);
  for (int k = 0; k < tb_world_event_count(s->world); k++, events++) {
    tbContactEvent e = tb_world_event(s->world, k);
    int at = e.a.index * (BALLS + 1) + e.b.index;
    CHECK(before[at] == !e.begins && after[at] == e.begins);
    before[at] = after[at];
  }
  CHECK(memcmp(before, after, sizeof before) == 0); // and no event is missing
  return events;
}

// soft-step knows which bodies touch without reading its records; so it must after a world was restored, and
// after steps of another scheme.
TEST(events_are_what_the_contacts_before_and_after_say)
{
  Stage s = stage_open(0.5, 0.6);
  s.step.scheme = "soft-step";
  tbBodyId floor = stage_floor(&s, 0, 0);
  CHECK(floor.index == 0);
  for (int i = 0; i < BALLS; i++)
    stage_throw(&s, tb_shape_sphere(0.2), 1, tb_vec3(0.45 * (i % 3), 0.3 * (i % 2), 0.3 + 0.15 * i),
                tb_vec3(0, 0.5, -0.3 * i));
  tbSnapshot* then = NULL;
  int events = 0;
  for (int step = 0; step < 200; step++) {
    if (step == 60) CHECK_OK(&s.ctx, tb_world_snapshot(&s.ctx, s.world, &then));
    if (step == 61) CHECK_OK(&s.ctx, tb_world_restore(&s.ctx, s.world, then));
    s.step.scheme = step % 50 == 49 ? "semi-implicit" : "soft-step";
    events += step_and_compare(&s);
  }
  CHECK(events > 50);
  tb_snapshot_free(&s.ctx, then);
  stage_close(&s);
}
