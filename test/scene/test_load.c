// SPDX-License-Identifier: Apache-2.0
// Forces on bodies over time.
#include "base/text.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"
#include "tribo/step.h"

#include <math.h>
#include <string.h>

// A box, constantly; another after keys: from nothing to 4 N within 0.2 s, and then no more.
static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": "
                           "\"a\", \"mass\": 2, \"shape\": {\"type\": \"box\", "
                           "\"size\": [0.2, 0.2, 0.2]}, \"load\": {\"force\": [3, 0, 1], \"torque\": [0, 0, "
                           "0.02]}}, {\"name\": \"b\", \"mass\": 1, "
                           "\"position\": [2, 0, 0], \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, "
                           "\"load\": {\"keys\": [{\"t\": 0}, {\"t\": 0.2, "
                           "\"force\": [0, 4, 0]}]}}]}";

static tbScene scene_of(tbContext* ctx, const char* json)
{
  tbScene s = {0};
  CHECK_OK(ctx, tb_scene_parse(ctx, "scene.json", json, strlen(json), NULL, &s));
  return s;
}

// Momentum is the force's integral, and spin the torque's, whatever the scheme.
TEST(loads_give_bodies_their_impulse_under_every_scheme)
{
  double inertia = 2 * 0.2 * 0.2 / 6;
  for (int i = 0; i < tb_scheme_count(); i++) {
    tbContext ctx = tb_default_context();
    tbScene s = scene_of(&ctx, text);
    REQUIRE(s.world);
    s.step.scheme = tb_scheme_at(i)->name;
    for (int k = 0; k < 30; k++) CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
    tbBodyState a = tb_body_state(s.world, tb_world_find_body(s.world, "a")),
                b = tb_body_state(s.world, tb_world_find_body(s.world, "b"));
    double near = strcmp(s.step.scheme, "soft-step") == 0 ? 1e-5 : 1e-12; // in floats
    CHECK_NEAR(a.velocity.x, 3 * 0.3 / 2, near);
    CHECK_NEAR(a.velocity.z, 1 * 0.3 / 2, near);
    CHECK_NEAR(a.angular_velocity.z, 0.02 * 0.3 / inertia, 1e2 * near);
    CHECK_NEAR(b.velocity.y, 0.5 * 4 * 0.2 + 4 * 0.1, near);
    tb_scene_free(&ctx, &s);
  }
}

// A solid shares it out: its centre moves as a body of its mass does.
TEST(loads_act_on_what_deforms)
{
  static const char solid[] =
      "{\"tribo\": 1, \"dt\": 0.01, \"gravity\": [0, 0, 0], \"soft\": [{\"name\": \"a\", \"mesh\": {\"box\": "
      "{\"size\": [0.2, 0.2, "
      "0.2], \"cells\": [1, 1, 1]}}, \"young\": 1e4, \"density\": 500, \"load\": {\"force\": [0, 2, 0]}}]}";
  tbContext ctx = tb_default_context();
  tbScene s = scene_of(&ctx, solid);
  REQUIRE(s.world);
  for (int k = 0; k < 10; k++) CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
  CHECK_NEAR(tb_body_state(s.world, tb_world_find_body(s.world, "a")).velocity.y, 2 * 0.1 / 4, 1e-9);
  tbLoadKey turning = {.torque = {1, 0, 0}};
  CHECK(tb_body_set_load(&ctx, s.world, tb_world_body_at(s.world, 0), &turning, 1) == TB_ERROR_ARGUMENT);
  tb_scene_free(&ctx, &s);
}

// Set, looked at, taken away; a body that goes takes its own; the problem of the coming step feels them.
TEST(loads_are_changed_with_their_bodies)
{
  tbContext ctx = tb_default_context();
  tbScene s = scene_of(&ctx, text);
  REQUIRE(s.world);
  tbBodyId a = tb_world_find_body(s.world, "a"), b = tb_world_find_body(s.world, "b");
  tbLoadKey key[2];
  CHECK(tb_body_load(s.world, a, NULL) == 1 && tb_body_load(s.world, b, key) == 2 && key[1].force.y == 4);
  tbLoadKey three[3] = {{0, {1, 0, 0}, {0, 0, 0}}, {1, {2, 0, 0}, {0, 0, 0}}, {2, {3, 0, 0}, {0, 0, 0}}};
  CHECK_OK(&ctx, tb_body_set_load(&ctx, s.world, a, three, 3));
  CHECK(tb_body_load(s.world, a, NULL) == 3 && tb_body_load(s.world, b, key) == 2 && key[1].force.y == 4);
  three[2].t = 1;
  CHECK(tb_body_set_load(&ctx, s.world, a, three, 3) == TB_ERROR_ARGUMENT &&
        tb_body_load(s.world, a, NULL) == 3);
  CHECK_OK(&ctx, tb_world_remove_body(&ctx, s.world, a));
  CHECK(tb_body_load(s.world, a, NULL) == 0 && tb_body_load(s.world, b, key) == 2);
  for (int k = 0; k < 20; k++) CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
  CHECK_NEAR(tb_body_state(s.world, b).velocity.y, 0.5 * 4 * 0.2, 1e-12);
  CHECK_OK(&ctx, tb_body_set_load(&ctx, s.world, b, NULL, 0));
  CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
  CHECK_NEAR(tb_body_state(s.world, b).velocity.y, 0.5 * 4 * 0.2, 1e-12);
  tb_scene_free(&ctx, &s);
}

TEST(loads_are_in_checkpoints_and_in_the_problem_of_a_step)
{
  static const char resting[] = "{\"tribo\": 1, \"dt\": 0.01, \"bodies\": [{\"name\": \"g\", \"fixed\": "
                                "true, \"shape\": {\"type\": \"plane\"}}, {\"name\": \"a\", "
                                "\"mass\": 2, \"position\": [0, 0, 0.1], \"shape\": {\"type\": \"box\", "
                                "\"size\": [0.2, 0.2, 0.2]}, \"load\": {\"force\": [3, 0, "
                                "1]}}]}";
  tbContext ctx = tb_default_context();
  tbScene s = scene_of(&ctx, resting), back = {0};
  REQUIRE(s.world);
  tbProblem* p = NULL;
  CHECK_OK(&ctx, tb_world_problem(&ctx, s.world, &s.step, &p, NULL));
  CHECK(p && p->ndof == 6);
  if (p) CHECK_NEAR(p->v_free[0], 0.01 * 3 / 2, 1e-12);
  tb_problem_free(p);
  tbOut out = tb_out_memory(&ctx);
  CHECK_OK(&ctx, tb_checkpoint_print(&ctx, &out, &s));
  CHECK_OK(&ctx, tb_checkpoint_parse(&ctx, "checkpoint", out.bytes, out.length, &back));
  REQUIRE(back.world);
  for (int k = 0; k < 5; k++) {
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
    CHECK_OK(&ctx, tb_world_step(&ctx, back.world, &back.step, NULL));
  }
  CHECK(tb_world_hash(s.world) == tb_world_hash(back.world) &&
        tb_body_load(back.world, tb_world_body_at(back.world, 1), NULL) == 1);
  tb_out_free(&out);
  tb_scene_free(&ctx, &s);
  tb_scene_free(&ctx, &back);
}

TEST(loads_that_cannot_be_are_refused_at_their_place)
{
  static const struct {
    const char *load, *said;
  } bad[] = {
      {"\"fixed\": true, \"load\": {\"force\": [1, 0, 0]}", "does not move freely: no force can act on it"},
      {"\"load\": {\"keys\": []}", "must not be empty"},
      {"\"load\": {\"keys\": [{\"t\": 1}, {\"t\": 1}]}", "increase"},
      {"\"load\": {\"force\": [1, 0, 0], \"keys\": [{\"t\": 1}]}", "force"}};
  for (int i = 0; i < 4; i++) {
    char json[400];
    snprintf(json, sizeof json,
             "{\"tribo\": 1, \"bodies\": [{\"name\": \"a\", \"shape\": {\"type\": \"sphere\", \"radius\": "
             "1}, %s}]}",
             bad[i].load);
    tbContext ctx = tb_default_context();
    tbScene s = {0};
    tbStatus status = tb_scene_parse(&ctx, "scene.json", json, strlen(json), NULL, &s);
    if (status != TB_ERROR_INPUT || !strstr(ctx.error.message, bad[i].said))
      test_failed(__FILE__, __LINE__, "%d: %s, \"%s\"", i, tb_status_name(status), ctx.error.message);
    tb_scene_free(&ctx, &s);
  }
}
