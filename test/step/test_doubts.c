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
