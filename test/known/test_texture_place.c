// SPDX-License-Identifier: Apache-2.0
// Where images lie on surfaces: planar and box maps, texture coordinates of a mesh, maps of directions.
#include "io/mesh/mesh_io.h"
#include "known/worlds.h"
#include "scene/world.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"
#include "tribo/tools/text.h"

#include <math.h>
#include <string.h>

static const double g = 9.81, GENTLE = 0.2, STEEP = 1.1;

// Three quarters of the width rise gently towards −x, a quarter falls steeply towards x.
static int sawtooth(Stage* s)
{
  enum { W = 8, H = 2 };
  tbVec3 normal[W * H];
  int texture = 0;
  for (int i = 0; i < W * H; i++)
    normal[i] = i % W < 6 ? tb_vec3(-sin(GENTLE), 0, cos(GENTLE)) : tb_vec3(sin(STEEP), 0, cos(STEEP));
  CHECK_OK(&s->ctx, tb_world_add_texture(&s->ctx, s->world, W, H, normal, &texture));
  return texture;
}

// Two triangles over a rectangle: the corner, its sides, and what u and v are along them.
static int rectangle(Stage* s, tbVec3 corner, tbVec3 side_u, tbVec3 side_v, double u0, double u1, double v0,
                     double v1)
{
  const int turn[6] = {0, 1, 2, 0, 2, 3};
  tbVec3 x[6];
  double uv[12];
  int chart = 0;
  for (int i = 0; i < 6; i++) {
    int k = turn[i], a = k == 1 || k == 2, b = k >= 2;
    x[i] = tb_add3(corner, tb_add3(tb_scale3(a, side_u), tb_scale3(b, side_v)));
    uv[2 * i] = a ? u1 : u0, uv[2 * i + 1] = b ? v1 : v0;
  }
  CHECK_OK(&s->ctx, tb_world_add_chart(&s->ctx, s->world, 2, x, uv, &chart));
  return chart;
}

enum { PLANAR, BOX, SIDE_OF_BOX, CHART, HOWS };

// A small box on a slope whose map has repeats of 4 m: x is how far down the slope from the body's origin it
// starts.
static double acceleration(int how, double x, double patch, bool block_first)
{
  double slope = 0.3;
  Stage s = stage_open(0, 0);
  s.step.dt = 1.0 / 256, s.step.solver.tolerance = 1e-10;
  tbQuat turn = stage_turn(slope, 0.3), lie = turn;
  tbVec3 n = stage_normal(slope, 0.3), down = stage_down(slope, 0.3), size = tb_vec3(40, 40, 1);
  if (how == SIDE_OF_BOX) // the floor's x is up, its y down the slope
    lie = tb_quat_mul(turn, tb_quat(0.5, -0.5, -0.5, -0.5)), size = tb_vec3(1, 40, 40);
  tbBodyId box = {0}, floor = {0};
  for (int i = 0; i < 2; i++) {
    if ((i == 0) == block_first)
      box = stage_add(&s, tb_shape_box(tb_vec3(0.02, 0.02, 0.01)), 2, tb_madd3(tb_scale3(0.505, n), x, down),
                      turn);
    else floor = stage_fixed(&s, tb_shape_box(size), tb_zero3(), lie);
  }
  tbFriction rough = {
      .kind = TB_FRICTION_TEXTURE, .direction = {1, 0, 0}, .directions = 4, .scale = 4, .patch = patch};
  if (how == PLANAR) rough.mapping = TB_MAPPING_PLANAR;
  if (how == BOX || how == SIDE_OF_BOX) rough.mapping = TB_MAPPING_BOX;
  if (how == CHART) { // whatever direction and scale say
    rough.chart = rectangle(&s, tb_vec3(-20, -20, 0.5), tb_vec3(40, 0, 0), tb_vec3(0, 40, 0), -5, 5, 3, 23);
    rough.direction = tb_vec3(0.3, 1, 0), rough.scale = 0;
  }
  tbFriction none = tb_friction(0);
  rough.texture = sawtooth(&s);
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, &rough));
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, box, &none));
  stage_run(&s, 8);
  double v = tb_dot3(stage_state(&s, box).velocity, down);
  CHECK(s.unconverged == 0);
  stage_close(&s);
  return v * 256 / 8;
}

TEST(patches_lie_where_planar_box_and_mesh_coordinates_say)
{
  double gentle = sin(GENTLE) * 2 / TB_PI * GENTLE;
  const struct {
    double x, patch, mu;
  } cases[] = {
      {1.4, 0.5, gentle}, {-2.6, 0.5, gentle}, {3.5, 0.5, 0}, {3.2, 1, 0.3 * gentle}, {2, 0, 0.75 * gentle}};
  for (int how = 0; how < HOWS; how++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      double a = acceleration(how, cases[i].x, cases[i].patch, i % 2);
      double expected = g * (sin(0.3) - cases[i].mu * cos(0.3));
      if (!(fabs(a - expected) <= 2e-3 * g))
        test_failed(__FILE__, __LINE__, "map %d, case %zu: %g, expected %g", how, i, a, expected);
    }
}

TEST(texture_coordinates_are_those_of_the_closest_triangle)
{
  Stage s = stage_open(0, 0);
  enum { N = 13 };
  tbVec3 corner[2 * N * N * 3];
  double uv[2 * N * N * 6];
  int chart = 0, k = 0;
  for (int i = 0; i < N; i++) // a wavy sheet whose u runs along y, and v along −x with 0.5 m a repeat
    for (int j = 0; j < N; j++)
      for (int c = 0; c < 6; c++, k++) {
        const int right[6] = {0, 1, 1, 0, 1, 0}, up[6] = {0, 0, 1, 0, 1, 1};
        double x = 0.1 * (i + right[c]), y = 0.1 * (j + up[c]);
        corner[k] = tb_vec3(x, y, 0.05 * sin(7 * x + 3 * y));
        uv[2 * k] = y, uv[2 * k + 1] = -2 * x;
      }
  CHECK_OK(&s.ctx, tb_world_add_chart(&s.ctx, s.world, 2 * N * N, corner, uv, &chart));
  tbRandom r = test_random(3);
  for (int trial = 0; trial < 60; trial++) {
    tbVec3 at =
        tb_vec3(test_uniform(&r, -0.1, 1.4), test_uniform(&r, -0.1, 1.4), test_uniform(&r, -0.1, 0.1));
    double least = INFINITY;
    for (int t = 0; t < 2 * N * N; t++) // among points of each triangle
      for (int a = 0; a <= 12; a++)
        for (int b = 0; b <= 12 - a; b++) {
          const tbVec3* x = corner + 3 * t;
          tbVec3 p = tb_add3(tb_scale3(a / 12.0, x[0]),
                             tb_add3(tb_scale3(b / 12.0, x[1]), tb_scale3((12 - a - b) / 12.0, x[2])));
          least = fmin(least, tb_distance3(p, at));
        }
    tbChartPlace place;
    REQUIRE(tb_chart_find(s.world, chart, at, &place));
    tbVec3 found =
        tb_vec3(-place.at[1] / 2, place.at[0], 0); // its height is the sheet's, to the sag of a triangle
    found.z = 0.05 * sin(7 * found.x + 3 * found.y);
    CHECK(tb_distance3(found, at) < least + 0.006);
    CHECK_NEAR(place.by_u.y, 1, 1e-9);
    CHECK_NEAR(place.by_v.x, -0.5, 1e-9);
  }
  CHECK(!tb_chart_find(s.world, chart + 1, tb_zero3(), &(tbChartPlace){0}));
  stage_close(&s);
}

// A block slides on grooves: of a direction, of a map of directions that has it in every pixel, and of one
// whose axes are those of texture coordinates.
static tbVec3 grooved_run(int how, bool soft, bool on_block)
{
  double angle = 0.7, slope = 0.5;
  Stage s = stage_open(0, 0);
  s.step.dt = 1.0 / 128, s.step.scheme = soft ? "implicit" : "semi-implicit";
  s.step.solver.velocity_tolerance = 1e-10;
  tbQuat turn = stage_turn(slope, 0.3);
  tbVec3 n = stage_normal(slope, 0.3);
  tbFriction grooves = {.kind = TB_FRICTION_ELLIPTIC,
                        .mu_t = 0.1,
                        .mu_b = 0.5,
                        .direction = {cos(angle), sin(angle), 0}},
             plain = tb_friction(0.4);
  if (how > 0) {
    double map[2 * 6];
    for (int i = 0; i < 6; i++) { // lines: every other one the other way round
      double way = how == 1 ? angle : 0, sign = i % 2 ? -3 : 1;
      map[2 * i] = sign * cos(way), map[2 * i + 1] = sign * sin(way);
    }
    CHECK_OK(&s.ctx, tb_world_add_direction_map(&s.ctx, s.world, 3, 2, map, &grooves.direction_map));
    grooves.direction = tb_vec3(1, 0, 0), grooves.scale = 0.3,
    grooves.mapping = how == 1 ? TB_MAPPING_BOX : 0;
    if (how == 2) {
      tbVec3 d = tb_vec3(30 * cos(angle), 30 * sin(angle), 0),
             c = tb_vec3(-30 * sin(angle), 30 * cos(angle), 0);
      tbVec3 corner = tb_scale3(-0.5, tb_add3(c, d));
      grooves.chart = rectangle(&s, corner, d, c, 0, 70, 0, 40);
    }
  }
  tbVec3 start = tb_scale3(soft ? 0.0252 : 0.025, n);
  tbBodyId floor = stage_fixed(&s, tb_shape_box(tb_vec3(20, 20, 1)), tb_scale3(-0.5, n), turn), box = {0};
  if (soft) {
    tbTetMesh* mesh = NULL;
    CHECK_OK(&s.ctx, tb_tet_box(&s.ctx, tb_vec3(0.2, 0.16, 0.05), (int[3]){2, 1, 1}, 5, &mesh));
    tbDeformableDef def = tb_default_deformable_def();
    def.solid = mesh, def.soft.young = 1e7, def.position = start, def.orientation = turn;
    def.friction = on_block ? &grooves : &plain;
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &box));
    tb_tet_mesh_free(&s.ctx, mesh);
  } else {
    box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.16, 0.05)), 1, start, turn);
    CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, box, on_block ? &grooves : &plain));
  }
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, on_block ? &plain : &grooves));
  stage_run(&s, 24);
  tbVec3 v = tb_quat_unrotate(turn, stage_state(&s, box).velocity);
  stage_close(&s);
  return v;
}

TEST(maps_of_directions_turn_friction_as_a_direction_does)
{
  for (int i = 0; i < 4; i++) {
    tbVec3 want = grooved_run(0, i & 1, i & 2);
    CHECK(fabs(want.y) > 0.05);
    for (int how = 1; how < 3; how++) {
      double off = tb_distance3(grooved_run(how, i & 1, i & 2), want);
      if (!(off < 1e-7)) test_failed(__FILE__, __LINE__, "case %d, map %d: %g m/s apart", i, how, off);
    }
  }
}

TEST(a_map_of_directions_is_exact_in_the_middle_of_pixels_and_turns_between_them)
{
  Stage s = stage_open(0, 0);
  const double angle[4] = {0.1, 0.5, 1.2, -0.4}; // two by two
  double map[8], d[2];
  int number = 0;
  for (int i = 0; i < 4; i++) map[2 * i] = 2 * cos(angle[i]), map[2 * i + 1] = 2 * sin(angle[i]);
  CHECK_OK(&s.ctx, tb_world_add_direction_map(&s.ctx, s.world, 2, 2, map, &number));
  const tbTexture* t = (const tbTexture*)s.world->texture.data + (number - 1);
  for (int i = 0; i < 4; i++)
    for (int repeat = -2; repeat < 2; repeat++) {
      tb_texture_direction(t, s.world->facet.data,
                           (double[2]){0.25 + 0.5 * (i % 2) + repeat, 0.25 + 0.5 * (i / 2) - repeat}, d);
      CHECK_NEAR(d[0], cos(angle[i]), 1e-12);
      CHECK_NEAR(d[1], sin(angle[i]), 1e-12);
    }
  tb_texture_direction(t, s.world->facet.data, (double[2]){0.5, 0.25}, d); // halfway between the first two
  CHECK_NEAR(atan2(d[1], d[0]), 0.3, 1e-12);
  double last = 0;
  for (int k = 0; k <= 2000; k++) {
    tb_texture_direction(t, s.world->facet.data, (double[2]){k / 1000.0, 0.4}, d);
    double a = atan2(d[1], d[0]);
    if (k > 0) CHECK(fabs(sin(a - last)) < 0.01);
    last = a;
  }
  map[3] = map[2] = 0;
  CHECK(tb_world_add_direction_map(&s.ctx, s.world, 2, 2, map, &number) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "pixel 1, 0"));
  stage_close(&s);
}

static tbStatus parse(tbContext* ctx, const char* text, tbSoup* soup)
{
  *soup = tb_soup_empty();
  return tb_soup_parse_charted(ctx, "m", text, strlen(text), soup);
}

TEST(texture_coordinates_are_read_from_obj)
{
  tbContext ctx = tb_default_context();
  tbSoup soup;
  CHECK_OK(&ctx, parse(&ctx,
                       "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 2 0 0\nvt 2 3\nvt 0 3\n"
                       "f 1/1/7 2/2 3/3//\nf -4/-4 -2/-2 -1/-1\nf 1//1 2//1 3//1\nf 1/1 2 3/3\n",
                       &soup));
  const int want[6] = {0, 1, 2, 0, 2, 3};
  REQUIRE(soup.corner_coordinate.count == 6 && soup.triangle.count == 6); // the last two faces have none
  for (int i = 0; i < 6; i++) CHECK(((int*)soup.corner_coordinate.data)[i] == want[i]);
  CHECK(((double*)soup.coordinate.data)[5] == 3);
  tb_soup_free(&ctx, &soup);
  const struct {
    const char *text, *says;
  } wrong[] = {
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "m: no face has texture coordinates"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/2\n",
       "texture coordinates 1, counted from 0; there are 1"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/-2\n", "m:5: a face with texture coordinates"},
      {"v 0 0 0\nvt x\n", "m:2: expected a texture coordinate"},
      {"v 0 0 0\nvt\n", "m:2: texture coordinates need a number"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(parse(&ctx, wrong[i].text, &soup) == TB_ERROR_INPUT);
    if (!strstr(ctx.error.message, wrong[i].says)) test_failed(__FILE__, __LINE__, "%s", ctx.error.message);
    tb_soup_free(&ctx, &soup);
  }
}

TEST(texture_coordinates_are_checked)
{
  Stage s = stage_open(0, 0);
  tbVec3 x[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  double uv[12] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
  int chart = 7;
  CHECK(tb_world_add_chart(&s.ctx, s.world, 0, x, uv, &chart) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_add_chart(&s.ctx, s.world, 1, x + 3, uv, &chart) == TB_ERROR_ARGUMENT); // no area
  uv[3] = INFINITY;
  CHECK(tb_world_add_chart(&s.ctx, s.world, 1, x, uv, &chart) == TB_ERROR_ARGUMENT && chart == 7);
  uv[3] = 0;
  CHECK_OK(&s.ctx, tb_world_add_chart(&s.ctx, s.world, 2, x, uv, &chart)); // the second one is left out
  CHECK(chart == 1 && s.world->chart_triangle.count == 1);
  tbFriction f = {.kind = TB_FRICTION_ELLIPTIC, .direction = {1, 0, 0}, .mapping = (tbMapping)9};
  CHECK(tb_friction_check(&s.ctx, &f) == TB_ERROR_ARGUMENT);
  f.mapping = 0, f.direction_map = 1;
  CHECK(tb_friction_check(&s.ctx, &f) == TB_ERROR_ARGUMENT); // without a scale
  f.chart = chart;
  CHECK_OK(&s.ctx, tb_friction_check(&s.ctx, &f));
  stage_close(&s);
}

// Through checkpoints, to the same bits.
TEST(a_world_with_maps_and_coordinates_resumes_to_the_same_bits)
{
  Stage s = stage_open(0, 0);
  tbBodyId floor = stage_fixed(&s, tb_shape_box(tb_vec3(4, 4, 1)), tb_vec3(0, 0, -0.5), tb_quat_identity()),
           box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.1)), 1, tb_vec3(0, 0, 0.05),
                           tb_quat_identity());
  tbFriction rough = {.kind = TB_FRICTION_TEXTURE,
                      .direction = {1, 0, 0},
                      .directions = 8,
                      .patch = 0.2,
                      .texture = sawtooth(&s),
                      .chart = rectangle(&s, tb_vec3(-2, -2, 0.5), tb_vec3(4, 0.5, 0), tb_vec3(0, 4, 0), 0, 3,
                                         0, 5)},
             grooved = {.kind = TB_FRICTION_ELLIPTIC,
                        .mu_t = 0.1,
                        .mu_b = 0.4,
                        .direction = {1, 0, 0},
                        .scale = 0.7,
                        .mapping = TB_MAPPING_PLANAR};
  CHECK_OK(&s.ctx, tb_world_add_direction_map(&s.ctx, s.world, 2, 1, (double[4]){1, 1, 1, -0.5},
                                              &grooved.direction_map));
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, &rough));
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, box, &grooved));
  tbBodyState state = stage_state(&s, box);
  state.velocity = tb_vec3(1.5, 0.6, 0), state.angular_velocity = tb_vec3(0, 0, 2);
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, box, &state));
  tbScene a = {.world = s.world, .step = s.step, .time = 1, .threads = 1}, b = {0};
  tbOut out = tb_out_memory(&s.ctx);
  stage_run(&s, 5);
  CHECK_OK(&s.ctx, tb_checkpoint_print(&s.ctx, &out, &a));
  CHECK_OK(&s.ctx, tb_checkpoint_parse(&s.ctx, "maps", out.bytes, out.length, &b));
  tbStepReport report;
  for (int i = 0; i < 10; i++) {
    CHECK_OK(&s.ctx, tb_world_step(&s.ctx, a.world, &a.step, &report));
    CHECK_OK(&s.ctx, tb_world_step(&s.ctx, b.world, &b.step, &report));
  }
  CHECK(tb_world_hash(a.world) == tb_world_hash(b.world));
  tb_out_free(&out);
  tb_scene_free(&s.ctx, &b);
  stage_close(&s);
}
