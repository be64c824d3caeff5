// SPDX-License-Identifier: Apache-2.0
// Values put in the place of a scene file's own.
#include "io/io_test.h"
#include "scene/world.h"
#include "tribo/change.h"
#include "test.h"

#include <string.h>

static const char text[] =
    "{\"tribo\": 1, \"gravity\": [0, 0, -9.81],\n"
    " \"materials\": {\"wood\": {\"friction\": 0.5}, \"wood.old\": {\"friction\": 0.6}},\n"
    " \"pairs\": [{\"a\": \"wood\", \"b\": \"wood\", \"friction\": 0.4}],\n"
    " \"bodies\": [{\"name\": \"ball\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}, \"mass\": 2},\n"
    "  {\"name\": \"0\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}, \"mass\": 3, \"position\": [9, 0, "
    "0]}]}";

static tbStatus parse(tbContext* ctx, const char* const* settings, int count, tbScene* out)
{
  return tb_scene_parse_with(ctx, "s.json", text, sizeof text - 1, NULL, settings, count, out);
}

static double mass_of(const tbScene* s, const char* name)
{
  return tb_body_mass(s->world, tb_world_find_body(s->world, name));
}

TEST(settings_replace_values_by_key_name_and_number)
{
  static const char* const settings[] = {"gravity=[0,0,-1]", "bodies.ball.mass=5", "bodies.1.mass=7",
                                         "bodies.*.velocity=[1,0,0]", "dt=0.5"};
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, settings, 5, &s));
  CHECK(mass_of(&s, "ball") == 5);
  CHECK(mass_of(&s, "0") == 7); // the second body, since none is called "1"
  CHECK(s.step.dt == 0.5);
  CHECK(tb_world_gravity(s.world).z == -1);
  for (int i = 0; i < 2; i++) CHECK(tb_body_state(s.world, tb_world_body_at(s.world, i)).velocity.x == 1);
  tb_scene_free(&ctx, &s);
}

TEST(settings_name_before_number_and_names_with_dots)
{
  static const char* const settings[] = {"bodies.0.mass=7", "materials.wood.old.friction=0.9",
                                         "solver.name=bgs"};
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, settings, 2, &s));
  CHECK(mass_of(&s, "ball") == 2);
  CHECK(mass_of(&s, "0") == 7);
  CHECK(tb_materials(s.world)[1].contact_material.friction.mu == 0.5);
  CHECK(tb_materials(s.world)[2].contact_material.friction.mu == 0.9);
  tb_scene_free(&ctx, &s);
  // A key on the way to the last must be there; a word is a string.
  CHECK(parse(&ctx, settings, 3, &s) == TB_ERROR_INPUT && !s.world);
  CHECK(strstr(ctx.error.message, "solver.name: the scene has no \"solver\""));
  CHECK_OK(&ctx, parse(&ctx, (const char* const[]){"solver=bgs"}, 1, &s));
  CHECK(strcmp(s.step.solver.solver, "bgs") == 0);
  tb_scene_free(&ctx, &s);
}

TEST(settings_say_what_is_wrong_with_them)
{
  static const struct {
    const char *setting, *says;
  } cases[] = {
      {"bodies.ball", "a setting is KEY=VALUE, not \"bodies.ball\""},
      {"=3", "a setting is KEY=VALUE"},
      {"bodies.bell.mass=3", "\"bodies\" has no element of that name or number: \"bell\""},
      {"bodies.ball.mass.x=3", "\"bodies.ball.mass\" has no parts: \"x\""},
      {"bodies.ball.shape.size.x=3", "\"bodies.ball.shape\" has no such key: \"size\""},
      {"bodes.ball.mass=3", "the scene has no \"bodes\""},
      {"bodies.ball.mass=-3", "bodies.ball.mass=-3:1:1: "},
      {"bodies.ball.mass=heavy", "bodies.ball.mass=heavy:1:1: "},
      {"bodies.ball.mass=[1", "bodies.ball.mass=[1:1:"},
      {"bodies.ball.mass=", "bodies.ball.mass=:1:1: "},
      {"bodies.ball.masss=3", "did you mean \"mass\""},
      {"bodies.5.mass=3", "no element of that name or number: \"5\""},
      {"bodies.*=3", "bodies.*=3:1:1: "},
      {"=", "a setting is KEY=VALUE"},
      {".=1", "the scene has no \"\""},
      {"bodies..mass=1", "has no element of that name or number: \"\""},
      {"*.*=1", "has no parts"},
      {"*=1", "*=1:1:1: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tbContext ctx = tb_default_context();
    tbScene s = {0};
    CHECK(parse(&ctx, &cases[i].setting, 1, &s) == TB_ERROR_INPUT && !s.world);
    if (!strstr(ctx.error.message, cases[i].says))
      test_failed(__FILE__, __LINE__, "%s: %s", cases[i].setting, ctx.error.message);
  }
}

TEST(settings_add_members_to_objects_of_many)
{
  char many[2000] = "{\"tribo\": 1, \"materials\": {\"m\": {\"friction\": 0.5}";
  for (int i = 0; i < 40; i++) // more than are searched one by one
    snprintf(many + strlen(many), sizeof many - strlen(many), ", \"m%d\": {\"friction\": 0.1}", i);
  strcat(many, "}}");
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  static const char* const settings[] = {"materials.b={\"friction\":0.7}", "materials.m7.friction=0.8",
                                         "materials.*.restitution=0.25"};
  CHECK_OK(&ctx, tb_scene_parse_with(&ctx, "s", many, strlen(many), NULL, settings, 3, &s));
  int b = 0, m7 = 0, bounce = 0;
  for (int i = 0; i < tb_world_material_count(s.world); i++) {
    const tbContactMaterial* m = &tb_materials(s.world)[i].contact_material;
    b += m->friction.mu == 0.7, m7 += m->friction.mu == 0.8, bounce += m->restitution == 0.25;
  }
  CHECK(b == 1 && m7 == 1 && bounce == 42);
  tb_scene_free(&ctx, &s);
}

TEST(settings_survive_every_failed_allocation)
{
  static const char* const settings[] = {"bodies.*.velocity=[1,0,0]", "bodies.ball.mass=5", "solver=bgs"};
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbScene s = {0};
    status = parse(&poor, settings, 3, &s);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    CHECK((status == TB_OK) == (s.world != NULL));
    tb_scene_free(&poor, &s);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 5000);
  }
}

TEST(springs_of_contacts_are_said_by_k_and_b_or_by_erp_and_cfm)
{
  static const char* const settings[] = {"materials.wood.stiffness=2e4",
                                         "materials.wood.damping=100",
                                         "materials.wood.coat=0.01",
                                         "dt=0.02",
                                         "pairs.0.erp=0.25",
                                         "pairs.0.cfm=0.5"};
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, settings, 6, &s));
  tbContactSpring wood = tb_materials(s.world)[1].contact_material.spring;
  CHECK(wood.stiffness == 2e4 && wood.damping == 100 && wood.coat == 0.01);
  tbBody body = {.material = 1, .own_contact_material = -1};
  tbContactSpring pair = tb_world_friction_pair(s.world, &body, &body).spring;
  CHECK_NEAR(tb_contact_spring_erp(pair, 0.02), 0.25, 1e-14);
  CHECK_NEAR(tb_contact_spring_cfm(pair, 0.02), 0.5, 1e-14);
  tb_scene_free(&ctx, &s);
}
