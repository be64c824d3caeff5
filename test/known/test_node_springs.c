// SPDX-License-Identifier: Apache-2.0
// A plate on three springs: two triangles that nothing else joins, one of them held. It moves along the
// springs as one mass on their sum, and a step of the implicit Euler scheme of h takes it from x, v to
//
//   v⁺ = (v − h ω² x)/(1 + (h² + hβ) ω²),   x⁺ = x + h v⁺        ω² = k/m
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"

#include <string.h>

static const double K = 40, MASS = 0.02, LENGTH = 0.3, STRETCH = 0.1;

static tbBodyId add_plates(Stage* s, double damping, double length)
{
  const tbVec3 corner[6] = {{0, 0, 1},      {0, 0.1, 1},      {0, 0, 1.1},
                            {LENGTH, 0, 1}, {LENGTH, 0.1, 1}, {LENGTH, 0, 1.1}};
  static const int triangle[6] = {0, 1, 2, 3, 4, 5}, held[3] = {0, 1, 2};
  tbMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_mesh_create(&s->ctx, corner, 6, triangle, 2, &mesh));
  tbSpringDef spring[3];
  for (int i = 0; i < 3; i++) spring[i] = (tbSpringDef){{i, i + 3}, K / 3, length};
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = held, pin.node_count = 3;
  tbDeformableDef def = tb_default_deformable_def();
  def.sheet = mesh, def.pins = &pin, def.pin_count = 1, def.springs = spring, def.spring_count = 3;
  def.cloth.area_density = MASS / 0.005, def.cloth.warp = tb_vec3(0, 1, 0);
  def.cloth.stiffness_damping = damping;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_mesh_free(&s->ctx, mesh);
  return id;
}

static Stage plate_stage(const char* scheme)
{
  Stage s = stage_open(0, 0);
  CHECK_OK(&s.ctx, tb_world_set_gravity(&s.ctx, s.world, tb_zero3()));
  s.step.scheme = scheme;
  s.step.dt = 2e-3;
  return s;
}

static double along(const Stage* s, tbBodyId id) { return tb_body_nodes(s->world, id)[4].x - LENGTH; }

static void pull(Stage* s, tbBodyId id)
{
  tbVec3 x[6], v[6] = {{0}};
  for (int i = 0; i < 6; i++)
    x[i] = tb_add3(tb_body_nodes(s->world, id)[i], tb_vec3(i < 3 ? 0 : STRETCH, 0, 0));
  CHECK_OK(&s->ctx, tb_body_set_nodes(&s->ctx, s->world, id, x, v));
}

// Two periods, under every scheme that moves cloth, without and with damping.
TEST(a_plate_on_springs_swings_as_the_scheme_says)
{
  static const struct {
    const char* scheme;
    double tolerance; // of the amplitude
  } ways[] = {{"implicit", 1e-9}, {"pd", 1e-9},  {"ipc", 1e-6}, {"primal", 1e-6},
              {"xpbd", 1e-6},     {"vbd", 1e-6}, {"avbd", 1e-6}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
    for (int damped = 0; damped < 2; damped++) {
      Stage s = plate_stage(ways[w].scheme);
      double beta = damped ? 2e-3 : 0, h = s.step.dt, omega2 = K / MASS, x = STRETCH, v = 0, worst = 0;
      tbBodyId id = add_plates(&s, beta, -1);
      pull(&s, id);
      CHECK_NEAR(tb_world_energy(s.world).elastic, 0.5 * K * STRETCH * STRETCH, 1e-12);
      for (int i = 0; i < 140; i++) {
        stage_run(&s, 1);
        v = (v - h * omega2 * x) / (1 + (h * h + h * beta) * omega2), x += h * v;
        worst = fmax(worst, fabs(along(&s, id) - x));
      }
      if (!(worst <= ways[w].tolerance * STRETCH))
        test_failed(__FILE__, __LINE__, "%s%s: off by %.3g of the amplitude", ways[w].scheme,
                    damped ? ", damped" : "", worst / STRETCH);
      stage_close(&s);
    }
}

// A spring has the length that is asked for, and is the same after a snapshot.
TEST(springs_come_to_their_length_and_survive_a_snapshot)
{
  Stage s = plate_stage("pd");
  tbBodyId id = add_plates(&s, 0.05, 0.2);
  stage_run(&s, 20);
  tbSnapshot* half;
  CHECK_OK(&s.ctx, tb_world_snapshot(&s.ctx, s.world, &half));
  stage_run(&s, 300);
  uint64_t hash = tb_world_hash(s.world);
  CHECK_NEAR(along(&s, id), 0.2 - LENGTH, 1e-6);
  CHECK_OK(&s.ctx, tb_world_restore(&s.ctx, s.world, half));
  stage_run(&s, 300);
  CHECK(tb_world_hash(s.world) == hash);
  tb_snapshot_free(&s.ctx, half);
  stage_close(&s);
}

TEST(springs_that_cannot_be_are_refused)
{
  static const struct {
    tbSpringDef spring;
    const char* says;
  } bad[] = {{{{0, 6}, 1, -1}, "between nodes 0 and 6"},
             {{{2, 2}, 1, -1}, "between nodes 2 and 2"},
             {{{0, 3}, 0, -1}, "stiffness"},
             {{{0, 3}, 1, INFINITY}, "length"}};
  Stage s = plate_stage("pd");
  tbMesh* mesh = NULL;
  const tbVec3 corner[6] = {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {1, 1, 0}, {1, 0, 1}};
  static const int triangle[6] = {0, 1, 2, 3, 4, 5};
  CHECK_OK(&s.ctx, tb_mesh_create(&s.ctx, corner, 6, triangle, 2, &mesh));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tbDeformableDef def = tb_default_deformable_def();
    def.sheet = mesh, def.springs = &bad[i].spring, def.spring_count = 1, def.cloth.warp = tb_vec3(0, 1, 0);
    CHECK(tb_world_add_deformable(&s.ctx, s.world, &def, NULL) == TB_ERROR_ARGUMENT);
    CHECK(strstr(s.ctx.error.message, bad[i].says));
  }
  tb_mesh_free(&s.ctx, mesh);
  stage_close(&s);
}
