// SPDX-License-Identifier: Apache-2.0
// What is said of deformable bodies before the first step, and what reports say of surfaces that start
// crossed.
#include "tribo/check.h"
#include "scene/world.h"
#include "step/soft_stage.h"

#include <string.h>

static void find_doubts(Stage* s, tbArray* out)
{
  *out = TB_ARRAY(tbDoubt);
  CHECK_OK(&s->ctx, tb_world_doubts(&s->ctx, s->world, out));
}

// Whether the only doubt is about these two, and says this.
static bool says(const tbArray* doubts, int a, int b, const char* what)
{
  const tbDoubt* d = doubts->data;
  return doubts->count == 1 && d->a == a && d->b == b && strstr(d->what, what);
}

static tbDeformableDef all_pinned(tbPinDef* pin, int* nodes, int count, double z)
{
  tbDeformableDef def = soft_at(0, tb_vec3(0, 0, z), tb_zero3());
  for (int i = 0; i < count; i++) nodes[i] = i;
  *pin = tb_default_pin_def();
  pin->nodes = nodes, pin->node_count = count;
  def.pins = pin, def.pin_count = 1;
  return def;
}

// The vertices of the surfaces of sphere, capsule and box lie in the plane of the cloth, or its edges in
// theirs: no two triangles cross, and yet the cloth goes right through.
TEST(cloth_pinned_through_a_shape_crosses_it)
{
  for (int k = 0; k < 4; k++) {
    tbShape shapes[4] = {tb_shape_sphere(0.25), tb_shape_capsule(0.2, 0.4), tb_shape_cylinder(0.2, 0.4),
                         tb_shape_box(tb_vec3(0.4, 0.4, 0.4))};
    for (int on_top = 0; on_top < 2; on_top++) {
      static const double top[4] = {0.25, 0.4, 0.2, 0.2};
      Stage s = soft_stage(0.5, 0.01);
      tbPinDef pin;
      int nodes[121];
      tbArray doubts;
      stage_fixed(&s, shapes[k], tb_zero3(), tb_quat_identity());
      add_cloth(&s, 1, 10, all_pinned(&pin, nodes, 121, on_top ? top[k] : 0));
      find_doubts(&s, &doubts);
      stage_run(&s, 1);
      if (on_top) CHECK(s.report.intersections == 0);
      else CHECK(says(&doubts, 0, 1, "pass through each other"));
      if (!on_top) CHECK(s.report.intersections > 20 && s.report.outcome == TB_FAILED);
      CHECK(s.report.intersections + s.report.touching > 0);
      tb_array_free(&s.ctx, &doubts);
      stage_close(&s);
    }
  }
}

TEST(doubts_name_what_is_wrong_and_nothing_else)
{
  for (int k = 0; k < 6; k++) {
    Stage s = soft_stage(0.5, 0.01);
    tbArray doubts;
    tbDeformableDef def = soft_at(1e5, tb_zero3(), tb_zero3());
    if (k == 4) stage_floor(&s, 0, 0);
    if (k == 1) def.cloth.thickness = 0.6;
    if (k < 3) add_cloth(&s, 1, 4, def);
    if (k == 2) add_cloth(&s, 1, 4, def);
    if (k >= 3) add_box(&s, k == 3 ? tb_vec3(1, 1, 1e-6) : tb_vec3(1, 1, 1), 2, def);
    def.position.x = 1; // face on face
    if (k == 5) add_box(&s, tb_vec3(1, 0.7, 0.7), 2, def);
    find_doubts(&s, &doubts);
    if (k == 0) CHECK(doubts.count == 0);
    if (k == 1) CHECK(says(&doubts, 0, -1, "thick"));
    if (k == 2) CHECK(says(&doubts, 0, 1, "in one plane"));
    if (k == 3) CHECK(says(&doubts, 0, -1, "flat elements"));
    if (k == 4) CHECK(says(&doubts, 0, 1, "pass through each other"));
    if (k == 5) CHECK(says(&doubts, 0, 1, "touch each other"));
    tb_array_free(&s.ctx, &doubts);
    stage_close(&s);
  }
}

// A body of two shapes that a cloth passes through is named once, with what both have to do with it; and
// every body that is in doubt by itself, in their order.
TEST(doubts_of_several_shapes_are_one)
{
  int times[3] = {0};
  for (int k = 0; k < 3; k++) { // the left, the right, both
    Stage s = soft_stage(0.5, 0.01);
    tbShape shapes[2] = {tb_shape_sphere(0.1), tb_shape_box(tb_vec3(0.2, 0.2, 0.2))};
    shapes[0].pose.x = tb_vec3(-0.3, 0, 0), shapes[1].pose.x = tb_vec3(0.3, 0, 0);
    tbArray doubts;
    for (int i = 0; i < 2; i++) {
      tbBodyDef def = tb_default_body_def();
      def.kind = TB_BODY_FIXED, def.shapes = shapes + (k == 1), def.shape_count = k == 2 ? 2 : 1;
      def.position = tb_vec3(0, i ? 0.3 : -0.3, 0.01);
      CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, NULL));
    }
    add_cloth(&s, 1, 10, soft_at(0, tb_zero3(), tb_zero3()));
    find_doubts(&s, &doubts);
    const tbDoubt* d = doubts.data;
    REQUIRE(doubts.count == 2);
    CHECK(d[0].a == 0 && d[0].b == 2 && d[1].a == 1 && d[1].b == 2);
    CHECK(sscanf(d[0].what, "pass through each other at the start, %d times", &times[k]) == 1);
    tb_array_free(&s.ctx, &doubts);
    stage_close(&s);
  }
  CHECK(times[0] > 5 && times[1] > 5 && times[2] == times[0] + times[1]);
}

TEST(doubts_survive_every_failed_allocation)
{
  Stage s = soft_stage(0.5, 0.01);
  stage_fixed(&s, tb_shape_sphere(0.25), tb_zero3(), tb_quat_identity());
  add_cloth(&s, 1, 4, soft_at(0, tb_zero3(), tb_zero3()));
  tbArray doubts;
  find_doubts(&s, &doubts); // and makes the surfaces, which stay
  tb_array_free(&s.ctx, &doubts);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; k < 300 && status != TB_OK; k++) {
    tbFailingAllocator all = {.countdown = k};
    tbContext failing = test_failing_context(&all);
    doubts = TB_ARRAY(tbDoubt);
    status = tb_world_doubts(&failing, s.world, &doubts);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    tb_array_free(&failing, &doubts);
    CHECK(all.alive == 0);
  }
  CHECK(status == TB_OK);
  stage_close(&s);
}
