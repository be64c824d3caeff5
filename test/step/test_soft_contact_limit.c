// SPDX-License-Identifier: Apache-2.0
// No more contacts between surfaces than there is use for: the most urgent stay, in their order.
#include "step/soft_contact.h"
#include "step/soft_stage.h"

enum { MANY = 500, MOST = 256 + 4 * 2 + 4 * 4 }; // of two bodies, one of four nodes

typedef struct {
  Stage stage;
  tbArena arena;
  tbSurfaces surfaces;
} Sheet;

static void sheet_begin(Sheet* s)
{
  s->stage = soft_stage(0.5, 0.01);
  tbContext* ctx = &s->stage.ctx;
  tbDeformableDef def = soft_at(0, tb_vec3(0, 0, 1), tb_zero3());
  def.cloth.thickness = 0.2;
  stage_fixed(&s->stage, tb_shape_box(tb_vec3(1, 1, 1)), tb_zero3(), tb_quat_identity());
  add_cloth(&s->stage, 1, 1, def);
  tb_arena_init(&s->arena, ctx);
  tbTransform pose[2] = {tb_transform_identity(), tb_transform_identity()};
  CHECK_OK(ctx, tb_surfaces_begin(ctx, &s->arena, s->stage.world->cache, s->stage.world, pose, &s->surfaces));
}

static void sheet_end(Sheet* s)
{
  tb_arena_free(&s->arena);
  stage_close(&s->stage);
}

// By their gaps, less what the surfaces keep from each other: of the cloth its radius, of a box nothing.
TEST(the_deepest_contacts_at_the_start_are_kept)
{
  Sheet s;
  sheet_begin(&s);
  tbContext* ctx = &s.stage.ctx;
  tbArray contacts = TB_ARRAY(tbSoftContact);
  double key[MANY], bound = -INFINITY;
  for (int i = 0; i < MANY; i++) {
    bool cloth = i % 2; // with the box; the others are of the box alone
    tbSoftContact c = {.misses = i};
    c.contact.of.kind = cloth ? TB_SURFACE_FACE_VERTEX : TB_SURFACE_PLANE_VERTEX;
    c.contact.of.surface_a = 1, c.contact.of.surface_b = !cloth;
    c.contact.gap = 1e-3 * (i * 7919 % 1009);
    key[i] = c.contact.gap - (cloth ? 0.1 : 0);
    CHECK_OK(ctx, tb_array_push(ctx, &contacts, &c, 1));
  }
  CHECK_OK(ctx, tb_soft_contact_limit(ctx, s.stage.world, &s.surfaces, 1e-3, &contacts));
  CHECK(contacts.count == MOST);
  const tbSoftContact* c = contacts.data;
  bool kept[MANY] = {false};
  for (size_t i = 0; i < contacts.count; i++) {
    CHECK(i == 0 || c[i].misses > c[i - 1].misses);
    kept[c[i].misses] = true, bound = fmax(bound, key[c[i].misses]);
  }
  for (int i = 0; i < MANY; i++) CHECK(kept[i] || key[i] >= bound);
  size_t before = contacts.count;
  CHECK_OK(ctx, tb_soft_contact_limit(ctx, s.stage.world, &s.surfaces, 1e-3, &contacts));
  CHECK(contacts.count == before);
  tb_array_free(ctx, &contacts);
  sheet_end(&s);
}

// However deep others are that a node is in.
TEST(every_node_keeps_its_deepest_contact)
{
  Sheet s;
  sheet_begin(&s);
  tbContext* ctx = &s.stage.ctx;
  tbArray contacts = TB_ARRAY(tbSoftContact);
  for (int i = 0; i < MANY; i++) {
    tbSoftContact c = {.misses = i}; // of the box with the sheet's first node, and one with its second
    c.contact.of = (tbSurfaceFeatures){TB_SURFACE_FACE_VERTEX, 1, 0, 0, 0};
    c.contact.count_b = 1, c.contact.vertex_b[0] = i == MANY - 1;
    c.contact.gap = 1e-3 * i;
    CHECK_OK(ctx, tb_array_push(ctx, &contacts, &c, 1));
  }
  CHECK_OK(ctx, tb_soft_contact_limit(ctx, s.stage.world, &s.surfaces, 1e-3, &contacts));
  const tbSoftContact* c = contacts.data;
  CHECK(contacts.count == MOST && c[MOST - 2].misses == MOST - 2 && c[MOST - 1].misses == MANY - 1);
  tb_array_free(ctx, &contacts);
  sheet_end(&s);
}

// Beside those there are.
TEST(the_first_contacts_on_the_way_are_kept)
{
  for (int there = 0; there <= 300; there += 100) {
    Sheet s;
    sheet_begin(&s);
    tbContext* ctx = &s.stage.ctx;
    tbArray contacts = TB_ARRAY(tbSoftContact), met = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(ctx, tb_array_push(ctx, &contacts, NULL, (size_t)there));
    for (int i = 0; i < MANY; i++) {
      tbSurfaceContact c = {.of = {.feature_a = i}, .t = (i * 7919 % 499) / 499.0}; // the last as the first
      CHECK_OK(ctx, tb_array_push(ctx, &met, &c, 1));
    }
    CHECK_OK(ctx, tb_soft_contact_limit_met(ctx, s.stage.world, &contacts, &met));
    size_t room = there < MOST ? (size_t)(MOST - there) : 0;
    CHECK(met.count == room);
    const tbSurfaceContact* c = met.data;
    for (size_t i = 0; i < met.count; i++) {
      CHECK(i == 0 || c[i].of.feature_a > c[i - 1].of.feature_a);
      CHECK(c[i].t * 499 < (double)room - 0.5);
    }
    tb_array_free(ctx, &contacts);
    tb_array_free(ctx, &met);
    sheet_end(&s);
  }
}
