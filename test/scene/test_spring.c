// SPDX-License-Identifier: Apache-2.0
// Springs of contacts: the two ways to say them, and how two surfaces meet.
#include "scene/world.h"
#include "test.h"

TEST(springs_and_rows_say_the_same_at_every_step)
{
  for (int i = 0; i < 20; i++) {
    double dt = 1e-3 * (i + 1), erp = 0.05 * (i + 1), cfm = 1e-4 * (21 - i);
    tbContactSpring s = tb_contact_spring(dt, erp, cfm);
    CHECK_NEAR(tb_contact_spring_erp(s, dt), erp, 1e-14);
    CHECK_NEAR(tb_contact_spring_cfm(s, dt), cfm, 1e-14 * cfm);
  }
  tbContactSpring s = {.stiffness = 3e4, .damping = 150}; // course, eq. 60: ε = 1/(h²k + hb), υ = hk/(hk + b)
  CHECK_NEAR(tb_contact_spring_erp(s, 0.01), 300.0 / 450, 1e-14);
  CHECK_NEAR(tb_contact_spring_cfm(s, 0.01), 1 / 4.5, 1e-14);
}

TEST(two_surfaces_are_springs_in_series)
{
  tbContactSpring a = {1e4, 100, 0.01}, b = {3e4, 600, 0.02}, none = {0};
  tbContactSpring ab = tb_contact_spring_meet(a, b), ba = tb_contact_spring_meet(b, a);
  CHECK_NEAR(ab.stiffness, 7500, 1e-9);
  // relaxation times 0.01 and 0.02 s, three to one
  CHECK_NEAR(ab.damping / ab.stiffness, 0.0125, 1e-15);
  CHECK_NEAR(ab.coat, 0.03, 1e-15);
  CHECK_NEAR(ab.stiffness, ba.stiffness, 1e-9);
  CHECK_NEAR(ab.damping, ba.damping, 1e-9);
  tbContactSpring alone = tb_contact_spring_meet(none, a), twice = tb_contact_spring_meet(a, a);
  CHECK(alone.stiffness == a.stiffness && alone.damping == a.damping);
  CHECK_NEAR(twice.stiffness, 5e3, 1e-9);
  CHECK_NEAR(twice.damping, 50, 1e-9);
}

TEST(springs_that_cannot_be_are_refused)
{
  const tbContactSpring bad[] = {{-1, 0, 0},       {NAN, 0, 0}, {INFINITY, 0, 0}, {1, -1, 0},
                                 {1, 0, INFINITY}, {0, 1, 0},   {0, 0, 1}};
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* world = NULL;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &world));
  tbMaterialId usual = tb_world_material_at(world, 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tbMaterialDef material = tb_default_material_def();
    material.name = "bad", material.spring = bad[i];
    CHECK(tb_world_add_material(&ctx, world, &material, NULL) == TB_ERROR_ARGUMENT);
    CHECK(tb_world_set_pair_spring(&ctx, world, usual, usual, bad[i]) == TB_ERROR_ARGUMENT);
  }
  tb_world_free(&ctx, world);
}

TEST(rules_of_springs_and_of_frictions_stand_beside_each_other)
{
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* world = NULL;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &world));
  tbMaterialDef soft = tb_default_material_def();
  tbMaterialId usual = tb_world_material_at(world, 0), id;
  soft.name = "soft", soft.restitution = 0.3, soft.spring = (tbContactSpring){1e4, 0, 0};
  CHECK_OK(&ctx, tb_world_add_material(&ctx, world, &soft, &id));
  tbBody a = {.material = 0, .own_contact_material = -1}, b = {.material = 1, .own_contact_material = -1};
  CHECK(tb_world_friction_pair(world, &a, &b).spring.stiffness == 1e4);
  CHECK_OK(&ctx, tb_world_set_pair_spring(&ctx, world, id, usual, (tbContactSpring){5e3, 7, 0}));
  tbFrictionPair pair = tb_world_friction_pair(world, &a, &b);
  CHECK(pair.spring.stiffness == 5e3 && pair.spring.damping == 7);
  CHECK(pair.restitution == 0.3 && pair.a && pair.b); // as without the rule
  CHECK_OK(&ctx, tb_world_set_pair(&ctx, world, usual, id, tb_friction(0.9), 0.1));
  pair = tb_world_friction_pair(world, &a, &b);
  CHECK(pair.spring.stiffness == 5e3 && pair.restitution == 0.1 && pair.a->mu == 0.9 && !pair.b);
  CHECK_OK(&ctx, tb_world_set_pair_spring(&ctx, world, id, usual, (tbContactSpring){0}));
  CHECK(tb_world_friction_pair(world, &a, &b).spring.stiffness == 1e4);
  tb_world_free(&ctx, world);
}
