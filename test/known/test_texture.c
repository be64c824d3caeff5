// SPDX-License-Identifier: Apache-2.0
// Texture friction: a sawtooth slides one way and holds the other, by the coefficients the plowing model
// predicts (course §6.3, figure 40).
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"

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
  double turn, mu; // of the block, and of the surface without texture
  const char* solver;
} Setup;

static double acceleration(const Setup* u, double slope)
{
  Stage s = stage_open(0.5, 0);
  s.step.solver.solver = u->solver, s.step.dt = 1.0 / 128;
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
  CHECK(s.unconverged == 0);
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

TEST(normal_maps_that_do_not_point_out_of_the_surface_are_refused)
{
  Stage s = stage_open(0.5, 0);
  tbVec3 flat[2] = {{0, 0, 1}, {0, 0, 0}};
  int texture = 7;
  CHECK(tb_world_add_texture(&s.ctx, s.world, 2, 1, flat, &texture) == TB_ERROR_ARGUMENT);
  flat[1] = tb_vec3(1, 0, -0.1);
  CHECK(tb_world_add_texture(&s.ctx, s.world, 2, 1, flat, &texture) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_add_texture(&s.ctx, s.world, 0, 1, flat, &texture) == TB_ERROR_ARGUMENT && texture == 7);
  stage_close(&s);
}
