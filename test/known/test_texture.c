// SPDX-License-Identifier: Apache-2.0
// Texture friction: a sawtooth slides one way and holds the other, by the coefficients the plowing model
// predicts (course §6.3, figure 40).
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/limits.h"

#include <math.h>

static const double g = 9.81;

// Three quarters of the width rise gently towards −x, a quarter falls steeply towards x.
static const double GENTLE = 0.2, STEEP = 1.1;

static int sawtooth(Stage* s)
{
  enum { W = 8, H = 2 };
  tbVec3 normal[W * H];
  int texture = 0;
  for (int i = 0; i < W * H; i++)
    normal[i] =
        i % W < 6 ? tb_vec3(-sin(GENTLE), 0, cos(GENTLE)) : tb_vec3(2 * sin(STEEP), 0, 2 * cos(STEEP));
  CHECK_OK(&s->ctx, tb_world_add_texture(&s->ctx, s->world, W, H, normal, &texture));
  return texture;
}

// What resists the textured surface moving towards x, and towards −x.
static double plow(bool along)
{
  return along ? 0.25 * sin(STEEP) * 2 / TB_PI * STEEP : 0.75 * sin(GENTLE) * 2 / TB_PI * GENTLE;
}

typedef struct {
  bool on_block, block_first, uphill; // the map's x points up the slope
  int directions;
  double turn, mu;             // of the block, and of the surface without texture
  const char *solver, *scheme; // scheme: null, semi-implicit
} Setup;

static double acceleration(const Setup* u, double slope)
{
  Stage s = stage_open(0.5, 0);
  s.step.solver.solver = u->solver, s.step.dt = 1.0 / 128;
  if (u->scheme) s.step.scheme = u->scheme;
  tbQuat turn = stage_turn(slope, 0.3), own = tb_quat_mul(turn, tb_quat_exp(tb_vec3(0, 0, u->turn)));
  tbVec3 n = stage_normal(slope, 0.3), start = tb_scale3(0.05, n);
  tbBodyId box = {0}, floor = {0};
  for (int i = 0; i < 2; i++) {
    if ((i == 0) == u->block_first) box = stage_add(&s, tb_shape_box(tb_vec3(0.8, 0.6, 0.1)), 2, start, own);
    else floor = stage_fixed(&s, tb_shape_box(tb_vec3(40, 40, 1)), tb_scale3(-0.5, n), turn);
  }
  double way = u->uphill ? TB_PI : 0, a = u->on_block ? way - u->turn : way;
  tbFriction rough = {.kind = TB_FRICTION_TEXTURE,
                      .direction = tb_vec3(cos(a), sin(a), 0),
                      .directions = u->directions},
             plain = tb_friction(u->mu);
  rough.texture = sawtooth(&s);
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, u->on_block ? &plain : &rough));
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, box, u->on_block ? &rough : &plain));
  stage_run_for(&s, 0.5);
  double v = tb_dot3(stage_state(&s, box).velocity, stage_down(slope, 0.3));
  CHECK(s.unconverged == 0 || u->scheme);
  stage_close(&s);
  return v / 0.5;
}

TEST(a_sawtooth_slides_one_way_and_holds_the_other)
{
  static const char* const solvers[] = {"auto",  "bgs",       "pgs",  "newton-ac",
                                        "lemke", "staggered", "apgd", "dantzig"};
  CHECK(plow(false) < 0.05 && plow(true) > 0.15);
  for (int i = 0; i < 16; i++) {
    Setup u = {.on_block = i % 2,
               .block_first = i / 2 % 2,
               .uphill = i / 4 % 2,
               .directions = i < 8 ? 4 : 8,
               .turn = 0.4 * (i % 3),
               .mu = i % 3 == 0 ? 0 : 0.05,
               .solver = solvers[i % 8]};
    if (u.directions == 8 && (i % 8 == 7)) u.solver = "nncg"; // Dantzig's method takes boxes
    // The block moves down. Its own map resists by the facets that face down; the floor's by those that face
    // up.
    double mu = plow(u.on_block != u.uphill) + u.mu;
    for (int steep = 0; steep < 2; steep++) {
      double slope = atan(steep ? mu + 0.1 : 0.9 * mu), s = acceleration(&u, slope);
      double want = steep ? g * (sin(slope) - mu * cos(slope)) : 0;
      if (!(fabs(s - want) < 1e-3 * (1e-3 + want)))
        test_failed(__FILE__, __LINE__, "%s, case %d, %s: %.5f m/s², expected %.5f", u.solver, i,
                    steep ? "steep" : "gentle", s, want);
    }
  }
}

// soft-step has an ellipse in place of the texture's set, which has its friction along the way of the block.
TEST(a_sawtooth_slides_one_way_and_holds_the_other_in_real_time)
{
  for (int i = 0; i < 40; i++) {
    Setup u = {.on_block = i % 2,
               .block_first = i / 2 % 2,
               .uphill = i / 4 % 2,
               .directions = i % 3 ? 4 : 8,
               .turn = 0.4 * (i % 13),
               .solver = "auto",
               .scheme = "soft-step"};
    double mu = plow(u.on_block != u.uphill);
    for (int steep = 0; steep < 2; steep++) {
      double slope = atan(steep ? mu + 0.1 : 0.9 * mu), s = acceleration(&u, slope);
      double want = steep ? g * (sin(slope) - mu * cos(slope)) : 0;
      if (!(fabs(s - want) < 2e-3 * (1e-2 + want)))
        test_failed(__FILE__, __LINE__, "case %d, %s: %.5f m/s², expected %.5f", i,
                    steep ? "steep" : "gentle", s, want);
    }
  }
}

TEST(normal_maps_that_do_not_point_out_of_the_surface_are_refused)
{
  Stage s = stage_open(0.5, 0);
  tbVec3 flat[2] = {{0, 0, 1}, {0, 0, 0}};
  int texture = 7;
  CHECK(tb_world_add_texture(&s.ctx, s.world, 2, 1, flat, &texture) == TB_ERROR_ARGUMENT);
  flat[1] = tb_vec3(1, 0, -0.1);
  CHECK(tb_world_add_texture(&s.ctx, s.world, 2, 1, flat, &texture) == TB_ERROR_ARGUMENT);
  flat[1].z = 0; // in the surface: steeper than any slope
  CHECK(tb_world_add_texture(&s.ctx, s.world, 2, 1, flat, &texture) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_add_texture(&s.ctx, s.world, 0, 1, flat, &texture) == TB_ERROR_ARGUMENT && texture == 7);
  stage_close(&s);
}

// The closest point to z of the convex hull of points around 0, z outside of it.
static void closest_of_hull(int n, const double (*p)[2], const double z[2], double out[2])
{
  double least = INFINITY;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double e[2] = {p[j][0] - p[i][0], p[j][1] - p[i][1]}, ee = e[0] * e[0] + e[1] * e[1];
      double t = ee > 0 ? ((z[0] - p[i][0]) * e[0] + (z[1] - p[i][1]) * e[1]) / ee : 0;
      t = fmin(1, fmax(0, t));
      double x[2] = {p[i][0] + t * e[0], p[i][1] + t * e[1]}, far = hypot(z[0] - x[0], z[1] - x[1]);
      if (far < least) least = far, out[0] = x[0], out[1] = x[1];
    }
}

// Two sawteeth on each other, their maps at the angles a (floor) and b (block, as it lies) from the way down.
typedef struct {
  double a, b;
  int directions;
  bool block_first;
  const char* scheme;
} Teeth;

static void slide_teeth(const Teeth* u, double slope, double got[2])
{
  Stage s = stage_open(0.5, 0);
  s.step.dt = 1.0 / 128, s.step.scheme = u->scheme;
  tbQuat turn = stage_turn(slope, 0.3);
  tbVec3 n = stage_normal(slope, 0.3);
  tbBodyId box = {0}, floor = {0};
  for (int i = 0; i < 2; i++)
    if ((i == 0) == u->block_first)
      box = stage_add(&s, tb_shape_box(tb_vec3(0.8, 0.6, 0.1)), 2, tb_scale3(0.05, n), turn);
    else floor = stage_fixed(&s, tb_shape_box(tb_vec3(40, 40, 1)), tb_scale3(-0.5, n), turn);
  for (int i = 0; i < 2; i++) {
    double at = i ? u->b : u->a;
    tbFriction rough = {.kind = TB_FRICTION_TEXTURE,
                        .direction = tb_vec3(cos(at), sin(at), 0),
                        .directions = u->directions,
                        .texture = sawtooth(&s)};
    CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, i ? box : floor, &rough));
  }
  stage_run_for(&s, 0.5);
  tbVec3 v = tb_quat_unrotate(turn, stage_state(&s, box).velocity);
  got[0] = v.x / 0.5, got[1] = v.y / 0.5;
  stage_close(&s);
}

// What pushes the block along d: the floor's facets that lean towards d, and its own that lean the other way.
static double push_along(const Teeth* u, double d)
{
  double floor = cos(d - u->a), block = cos(d - u->b + TB_PI);
  return fabs(floor) * plow(floor > 0) + fabs(block) * plow(block > 0);
}

// From rest, friction that dissipates the most that its set allows leaves the acceleration
// g_T − g_n P_F(g_T/g_n). The set has the directions of the first map, turned half way to the second's.
TEST(textures_push_by_the_closest_point_of_their_set)
{
  static const char* const schemes[] = {"semi-implicit", "soft-step", "pd", "primal", "xpbd", "ipc"};
  for (int i = 0; i < 24; i++) {
    Teeth u = {.a = 0.7 * i, .b = 2.1 - 0.37 * i, .directions = 4 + 2 * (i % 7), .scheme = schemes[i % 6]};
    u.block_first = i / 6 % 2;
    int n = u.directions;
    double apart = 2 * TB_PI / n, first = u.a + remainder(u.b - u.a, apart) / 2, slope = 0.45;
    double corner[2 * TB_MAX_SIDES][2], f[2], got[2], pull[2] = {-tan(slope), 0};
    for (int k = 0; k < n; k++) {
      double d = first + k * apart, mu = push_along(&u, d);
      corner[k][0] = mu * cos(d), corner[k][1] = mu * sin(d);
    }
    for (int k = 0; k < 4 && n == 4; k++) // a box: the corners of its sides
      for (int l = 0; l < 2; l++) corner[4 + k][l] = corner[k][l] + corner[(k + 1) % 4][l];
    closest_of_hull(n == 4 ? 8 : n, (const double(*)[2])corner, pull, f);
    slide_teeth(&u, slope, got);
    double want[2] = {g * cos(slope) * (f[0] - pull[0]), g * cos(slope) * f[1]};
    // what sticks in one direction creeps under ipc, by a millimetre a second
    double off = hypot(got[0] - want[0], got[1] - want[1]), room = i % 6 == 5 ? 3e-3 : 0;
    if (!(off < 3e-3 * hypot(want[0], want[1]) + room))
      test_failed(__FILE__, __LINE__, "%s, %d directions, %s first: (%.4f, %.4f), expected (%.4f, %.4f)",
                  u.scheme, n, u.block_first ? "block" : "floor", got[0], got[1], want[0], want[1]);
  }
}

TEST(textures_meet_alike_whichever_comes_first)
{
  for (int i = 0; i < 8; i++) { // half of them with two sides of the box as close as each other
    Teeth u = {.a = 0.9 * i, .b = i % 2 ? 0.4 : 0.9 * i + TB_PI / 4, .directions = i < 4 ? 4 : 8};
    double one[2], other[2];
    u.scheme = "semi-implicit";
    slide_teeth(&u, 0.45, one);
    u.block_first = true;
    slide_teeth(&u, 0.45, other);
    CHECK(hypot(one[0] - other[0], one[1] - other[1]) < 1e-6);
  }
}

TEST(directions_of_textures_are_even_and_at_most_sixteen)
{
  Stage s = stage_open(0, 0);
  tbBodyId floor = stage_floor(&s, 0, 0);
  tbFriction rough = {.kind = TB_FRICTION_TEXTURE, .direction = tb_vec3(1, 0, 0), .texture = sawtooth(&s)};
  static const int wrong[] = {-4, 2, 5, 18};
  for (int i = 0; i < 4; i++) {
    rough.directions = wrong[i];
    CHECK(tb_body_set_friction(&s.ctx, s.world, floor, &rough) == TB_ERROR_ARGUMENT);
  }
  rough.directions = TB_MAX_SIDES;
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, &rough));
  stage_close(&s);
}

// A small box on a slope whose map has repeats of 4 m: x is how far from the body's origin it starts, along
// the map's x. What a patch sees of the sawtooth, and how fast the box slides for that.
static double patch_acceleration(double x, double patch, bool uphill, bool block_first)
{
  double slope = 0.3;
  Stage s = stage_open(0, 0);
  s.step.dt = 1.0 / 256, s.step.solver.tolerance = 1e-10;
  tbQuat turn = stage_turn(slope, 0.3);
  tbVec3 n = stage_normal(slope, 0.3), down = stage_down(slope, 0.3);
  tbVec3 start = tb_madd3(tb_scale3(0.005, n), uphill ? -x : x, down);
  tbBodyId box = {0}, floor = {0};
  for (int i = 0; i < 2; i++) {
    if ((i == 0) == block_first) box = stage_add(&s, tb_shape_box(tb_vec3(0.02, 0.02, 0.01)), 2, start, turn);
    else floor = stage_fixed(&s, tb_shape_box(tb_vec3(40, 40, 1)), tb_zero3(), turn);
  }
  tbVec3 lift = tb_scale3(0.5, n); // the floor's surface is half a metre above its origin
  tbBodyState state = stage_state(&s, box);
  state.position = tb_add3(state.position, lift);
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, box, &state));
  tbFriction rough = {.kind = TB_FRICTION_TEXTURE,
                      .direction = tb_vec3(uphill ? -1 : 1, 0, 0),
                      .directions = 4,
                      .scale = 4,
                      .patch = patch};
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

// Six of eight columns lean gently against what comes down x, two steeply against what comes up it.
TEST(a_patch_sees_the_part_of_the_texture_that_it_covers)
{
  double slope = 0.3, gentle = sin(GENTLE) * 2 / TB_PI * GENTLE, steep = sin(STEEP) * 2 / TB_PI * STEEP;
  const struct {
    double x, patch, mu;
    bool uphill;
  } cases[] = {
      {1.4, 0.5, gentle, false},     {-2.6, 0.5, gentle, false}, // a repeat before
      {3.5, 0.5, 0, false},                                      // behind the ridge: nothing resists
      {3.2, 1, 0.3 * gentle, false}, // 2.7 … 3.7: three tenths lie before the ridge at 3
      {2, 0, 0.75 * gentle, false},  {2, 5, 0.75 * gentle, false}, // whole repeats
      {1.4, 0.5, 0, true},           {3.5, 0.5, steep, true},      // holds
      {3.1, 1, 0.6 * steep, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int first = 0; first < 2; first++) {
      double a = patch_acceleration(cases[i].x, cases[i].patch, cases[i].uphill, first);
      double expected = fmax(0, g * (sin(slope) - cases[i].mu * cos(slope)));
      if (!(fabs(a - expected) <= 2e-3 * g))
        test_failed(__FILE__, __LINE__, "case %zu: %g, expected %g", i, a, expected);
    }
}

TEST(patches_of_textures_are_checked)
{
  Stage s = stage_open(0, 0);
  tbBodyId floor = stage_floor(&s, 0, 0);
  tbFriction rough = {.kind = TB_FRICTION_TEXTURE, .direction = tb_vec3(1, 0, 0), .directions = 4};
  rough.texture = sawtooth(&s), rough.patch = 0.1;
  CHECK(tb_body_set_friction(&s.ctx, s.world, floor, &rough) == TB_ERROR_ARGUMENT); // without a scale
  rough.scale = 1, rough.patch = -1;
  CHECK(tb_body_set_friction(&s.ctx, s.world, floor, &rough) == TB_ERROR_ARGUMENT);
  rough.patch = 0.1;
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, &rough));
  rough.scale = INFINITY;
  CHECK(tb_body_set_friction(&s.ctx, s.world, floor, &rough) == TB_ERROR_ARGUMENT);
  rough.scale = rough.patch = 0; // a texture that is the same all over
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, &rough));
  stage_close(&s);
}
