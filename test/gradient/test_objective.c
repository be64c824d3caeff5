// SPDX-License-Identifier: Apache-2.0
// Objectives: names of numbers, scenes with other numbers, and searches.
#include "gradient/objectives.h"

static const char small[] = "{\"tribo\": 1, \"time\": 0.05, \"materials\": {\"wood\": {}},\n \"bodies\": "
                            "[{\"name\": \"ball\", \"material\": \"wood\", "
                            "\"density\": 500, \"friction\": {\"mu\": 0.3, \"rolling\": 0.01}, \"shape\": "
                            "{\"type\": \"sphere\", \"radius\": 0.1}},\n  "
                            "{\"name\": \"brick\", \"mass\": 2, \"position\": [0, 0, 4], \"shape\": "
                            "{\"type\": \"box\", \"size\": [1, 1, 1]}, \"repeat\": "
                            "{\"count\": [2, 1, 1], \"spacing\": [2, 0, 0]}}]}";

// Elements go by numbers or letters, which of a quaternion are w, x, y and z; also where the file has none.
TEST(elements_of_arrays_have_numbers_and_letters)
{
  static const struct {
    const char* wrt;
    double value;
  } at[] = {{"a.orientation.w", 0.5}, {"a.orientation.x", -0.5}, {"b.orientation.w", 1},
            {"b.orientation.x", 0},   {"a.velocity.2", 3},       {"a.velocity.z", 3},
            {"gravity.2", -9.81},     {"gravity.z", -9.81}};
  char text[900];
  put_text("\"time\": 0.1",
           "{\"name\": \"a\", \"orientation\": [0.5, -0.5, 0.7, 0.1], \"velocity\": [1, 2, 3], \"shape\": "
           "{\"type\": "
           "\"sphere\", \"radius\": 0.1}}, {\"name\": \"b\", \"position\": [2, 0, 0], \"shape\": {\"type\": "
           "\"sphere\", \"radius\": 0.1}}",
           text, sizeof text);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, "a:0.5,0,0", at[i].wrt);
    REQUIRE(o);
    double x[MOST];
    tb_objective_values(o, x);
    CHECK(tb_objective_size(o) == 1 && x[0] == at[i].value);
    tb_objective_free(&ctx, o);
  }
}

TEST(what_is_not_there_is_told_with_the_nearest_name)
{
  check_refused(small, "bal:0,0,0", "ball.mass", TB_ERROR_ARGUMENT, "did you mean \"ball\"");
  check_refused(small, "ball:0,0", "ball.mass", TB_ERROR_ARGUMENT, "NAME:x,y,z");
  check_refused(small, "ball", "ball.mass", TB_ERROR_ARGUMENT, "NAME:x,y,z");
  check_refused(small, "ball:0,0,0", "", TB_ERROR_ARGUMENT, "name the parameters");
  check_refused(small, "ball:0,0,0", "bal.velocity", TB_ERROR_ARGUMENT, "did you mean \"ball\"");
  check_refused(small, "ball:0,0,0", "ball.velocty", TB_ERROR_INPUT, "did you mean \"velocity\"");
  check_refused(small, "ball:0,0,0", "ball.velocty", TB_ERROR_INPUT, "scene.json:2:");
  check_refused(small, "ball:0,0,0", "ball.friction", TB_ERROR_INPUT, "mu, rolling");
  check_refused(small, "ball:0,0,0", "ball.velocity.w", TB_ERROR_INPUT,
                "no \"w\": elements are counted from 0 to 2");
  check_refused(small, "ball:0,0,0", "ball.angular_velocity.q", TB_ERROR_INPUT, "elements are counted");
  check_refused(small, "ball:0,0,0", "bodies.99.mass", TB_ERROR_INPUT, "elements are counted");
  check_refused(small, "ball:0,0,0", "ball", TB_ERROR_ARGUMENT, "as in \"ball.velocity\"");
  check_refused(small, "ball:0,0,0", "brick/1.inertia", TB_ERROR_ARGUMENT, "mass");
  check_refused(small, "ball:0,0,0", "dt", TB_ERROR_ARGUMENT, "no parameter");
  check_refused(small, "ball:0,0,0", "ball.mass,ball.mass", TB_ERROR_ARGUMENT, "same number");
  check_refused(small, "ball:0,0,0", "ball.velocity.x,ball.velocity", TB_ERROR_ARGUMENT, "same number");
}

// Numbers stand where the file has them, or where it would; what is not asked for stays as it is.
TEST(a_scene_is_written_with_other_numbers)
{
  tbContext ctx = tb_default_context();
  tbObjective* o =
      open_objective(&ctx, small, "ball:0,0,0",
                     "ball.velocity.y,ball.mass,wood.restitution,ball.friction.mu,brick/1.velocity");
  REQUIRE(o);
  double x[MOST];
  tb_objective_values(o, x);
  CHECK(tb_objective_size(o) == 7 && x[2] == 0 && x[3] == 0.3);
  CHECK_NEAR(x[1], 500 * 4.0 / 3 * 3.14159265358979 * 0.001, 1e-10);
  x[0] = 2, x[1] = 3, x[2] = 0.25, x[3] = 0.7, x[6] = 5;
  tbScene scene;
  CHECK_OK(&ctx, tb_objective_scene(&ctx, o, x, &scene));
  tbBodyId ball = tb_world_find_body(scene.world, "ball"), brick = tb_world_find_body(scene.world, "brick/1");
  CHECK(tb_body_state(scene.world, ball).velocity.y == 2 && tb_body_mass(scene.world, ball) == 3);
  CHECK(tb_body_state(scene.world, brick).velocity.z == 5 &&
        tb_body_state(scene.world, brick).position.x == 2);
  tb_scene_free(&ctx, &scene);
  tb_objective_free(&ctx, o);
  o = open_objective(&ctx, small, "ball:0,0,0", "ball.mass,brick.position.z");
  tbOut text = tb_out_memory(&ctx);
  tb_objective_values(o, x);
  x[1] = 7;
  CHECK_OK(&ctx, tb_objective_print(&ctx, o, x, &text));
  CHECK(strstr(text.bytes, "[0, 0, 7]") && !strstr(text.bytes, "density") &&
        strstr(text.bytes, "\"rolling\": 0.01"));
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "again.json", text.bytes, text.length, NULL, &scene));
  tb_scene_free(&ctx, &scene);
  tb_out_free(&text);
  tb_objective_free(&ctx, o);
}

// Through two bounces to a point (Macklin et al. 2020, fig. 13), and to the nearest there is within bounds.
TEST(a_search_finds_the_throw_that_hits)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.5, \"materials\": {\"m\": "
                             "{\"friction\": 0.2, \"restitution\": 0.7}}, \"bodies\": "
                             "[{\"name\": \"ground\", \"fixed\": true, \"material\": \"m\", \"shape\": "
                             "{\"type\": \"plane\"}}, {\"name\": \"wall\", "
                             "\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\", "
                             "\"normal\": [-1, 0, 0], \"offset\": -1.5}}, {\"name\": "
                             "\"a\", \"mass\": 0.5, \"material\": \"m\", \"shape\": {\"type\": \"sphere\", "
                             "\"radius\": 0.1}, \"position\": [0, 0, 0.6], "
                             "\"velocity\": [4, 0, -3]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:0.9,0.05,0.6", "a.velocity");
  REQUIRE(o);
  tbMinimize how = tb_default_minimize();
  tbMinimum found;
  double x[3], lower[3] = {-9, -9, -9}, upper[3] = {4.5, 0.01, 9};
  how.loss = 1e-8;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_minimize(&ctx, o, &how, x, &found));
  CHECK(found.converged && sqrt(found.loss) < 1e-3 && found.first_loss > 0.01 && found.iterations < 40);
  how.lower = lower, how.upper = upper, how.iterations = 15;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_minimize(&ctx, o, &how, x, &found));
  CHECK(x[0] <= 4.5 && x[1] <= 0.01 && found.loss < found.first_loss && found.loss > 1e-4);
  tb_objective_free(&ctx, o);
}
