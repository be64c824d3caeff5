// SPDX-License-Identifier: Apache-2.0
// Small scenes that no mesh should have, but some do: a step takes bounded memory, contacts and iterations.
#include "scene/world.h"
#include "step/soft_stage.h"

#include <stdlib.h>

// Bytes in use, and the most there were.
typedef struct {
  size_t now, peak;
} Memory;

typedef union {
  size_t size;
  max_align_t align;
  char room[64];
} Header;

static void* take(void* user, size_t size, size_t alignment)
{
  Memory* m = user;
  if (alignment > sizeof(Header)) return NULL;
  Header* h =
      aligned_alloc(sizeof(Header), (size + 2 * sizeof(Header) - 1) / sizeof(Header) * sizeof(Header));
  if (!h) return NULL;
  h->size = size;
  m->now += size;
  if (m->now > m->peak) m->peak = m->now;
  return h + 1;
}

static void give(void* user, void* pointer)
{
  Memory* m = user;
  Header* h = (Header*)pointer - 1;
  if (!pointer) return;
  m->now -= h->size;
  free(h);
}

// A few steps of a world that `build` fills: fails where one takes more than a world of its size should.
static void run_bounded(const char* what, void (*build)(Stage*), int steps)
{
  Memory memory = {0};
  Stage s = {.ctx = tb_default_context(), .step = tb_default_step_options()};
  tbWorldDef def = tb_default_world_def();
  s.ctx.allocator = (tbAllocator){take, give, &memory};
  s.step.scheme = "implicit", s.step.solver.tolerance = 1e-6, s.step.solver.max_iterations = 2000;
  CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.world));
  build(&s);
  int nodes = 0;
  for (int i = 0; i < tb_world_body_count(s.world); i++)
    nodes += tb_body_node_count(s.world, tb_world_body_at(s.world, i));
  for (int i = 0; i < steps; i++) {
    stage_run(&s, 1);
    if (s.report.contacts <= 4 * nodes + 300 && s.report.iterations <= 2000 && isfinite(stage_energy(&s)))
      continue;
    test_failed(__FILE__, __LINE__, "%s, step %d: %d contacts of %d nodes, %d iterations, %g J", what, i,
                s.report.contacts, nodes, s.report.iterations, stage_energy(&s));
  }
  if (memory.peak > (size_t)64 << 20)
    test_failed(__FILE__, __LINE__, "%s: %.0f MB", what, (double)memory.peak / (1 << 20));
  stage_close(&s);
  CHECK(memory.now == 0);
}

static void two_cloths(Stage* s)
{
  for (int k = 0; k < 2; k++) add_cloth(s, 1, 8, soft_at(0, tb_zero3(), tb_zero3()));
}

static void two_cloths_shifted(Stage* s)
{
  add_cloth(s, 1, 8, soft_at(0, tb_zero3(), tb_zero3()));
  add_cloth(s, 1, 8, soft_at(0, tb_vec3(0.02, 0.01, 0), tb_zero3()));
}

static void two_cubes(Stage* s)
{
  for (int k = 0; k < 2; k++) add_box(s, tb_vec3(1, 1, 1), 3, soft_at(1e5, tb_zero3(), tb_zero3()));
}

static void flat_block(Stage* s)
{
  add_box(s, tb_vec3(1, 1, 1e-6), 4, soft_at(1e5, tb_vec3(0, 0, 0.5), tb_zero3()));
}

static void flat_block_on_edge(Stage* s)
{
  tbBodyDef ground = tb_default_body_def();
  tbShape plane = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  ground.kind = TB_BODY_FIXED, ground.shapes = &plane, ground.shape_count = 1;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &ground, NULL));
  s->step.solver = tb_default_step_options().solver;
  add_box(s, tb_vec3(1e-6, 1, 1), 4, soft_at(1e6, tb_vec3(0, 0, 0.501), tb_zero3()));
}

static void thick_cloth(Stage* s)
{
  tbDeformableDef def = soft_at(0, tb_zero3(), tb_zero3());
  def.cloth.thickness = 0.5; // four cells
  add_cloth(s, 1, 8, def);
  stage_fixed(s, tb_shape_sphere(0.2), tb_vec3(0, 0, -0.5), tb_quat_identity());
}

static void thick_cloths(Stage* s)
{
  tbDeformableDef def = soft_at(0, tb_zero3(), tb_zero3());
  def.cloth.thickness = 0.5;
  add_cloth(s, 1, 8, def);
  def.position.z = 0.1;
  add_cloth(s, 1, 8, def);
}

TEST(bodies_in_the_same_place_take_no_more_than_others)
{
  run_bounded("two cloths in one place", two_cloths, 3);
  run_bounded("two cloths in one plane", two_cloths_shifted, 3);
  run_bounded("two cubes in one place", two_cubes, 3);
}

LONG_TEST(flat_blocks_and_thick_cloths_take_no_more_than_others)
{
  run_bounded("a block of a micrometre", flat_block, 3);
  run_bounded("a block of a micrometre on its edge", flat_block_on_edge, test_quick() ? 3 : 4);
  run_bounded("a cloth thicker than its cells", thick_cloth, 3);
  run_bounded("two of them", thick_cloths, 3);
}

// What lies closer to itself than the clearance, or than a sheet is thick, at rest, stays as it is.
TEST(thin_blocks_and_thick_cloths_do_not_swell)
{
  Stage s = soft_stage(0.5, 0.01);
  add_box(&s, tb_vec3(1, 1, 1e-6), 4, soft_at(1e5, tb_vec3(0, 0, 5), tb_zero3()));
  tbDeformableDef def = soft_at(0, tb_zero3(), tb_zero3());
  def.cloth.thickness = 0.5;
  add_cloth(&s, 1, 8, def);
  for (int i = 0; i < 5; i++) {
    stage_run(&s, 1);
    CHECK(s.report.contacts == 0 && s.report.intersections == 0);
  }
  CHECK(tb_world_energy(s.world).elastic < 1e-9);
  stage_close(&s);
}

// Rounds share the iterations of a step.
TEST(rounds_share_the_budget_of_the_step)
{
  for (int most = 1; most <= 64; most *= 4) {
    Stage s = soft_stage(0.3, 5e-3);
    s.step.solver.max_iterations = most;
    stage_fixed(&s, tb_shape_box(tb_vec3(0.6, 0.6, 0.002)), tb_vec3(0, 0, 0.2), tb_quat_identity());
    add_box(&s, tb_vec3(0.08, 0.08, 0.08), 1, soft_at(1e5, tb_vec3(0.01, 0.02, 0.3), tb_vec3(0, 0, -30)));
    int rounds = 0;
    for (int i = 0; i < 8; i++) {
      stage_run(&s, 1);
      CHECK(s.report.iterations <= most);
      CHECK(s.report.intersections == 0);
      rounds = s.report.rounds > rounds ? s.report.rounds : rounds;
    }
    CHECK(rounds > 1);
    stage_close(&s);
  }
}

static bool at_once(void* user)
{
  ++*(int*)user;
  return true;
}

TEST(a_cancelled_step_makes_no_rounds)
{
  Stage s = soft_stage(0.3, 5e-3);
  int asked = 0;
  s.step.solver.cancelled = at_once, s.step.solver.cancelled_user = &asked;
  stage_fixed(&s, tb_shape_box(tb_vec3(0.6, 0.6, 0.002)), tb_vec3(0, 0, 0.2), tb_quat_identity());
  add_box(&s, tb_vec3(0.08, 0.08, 0.08), 1, soft_at(1e5, tb_vec3(0.01, 0.02, 0.3), tb_vec3(0, 0, -30)));
  CHECK(tb_world_step(&s.ctx, s.world, &s.step, NULL) == TB_ERROR_CANCELLED);
  CHECK(asked == 1 && tb_world_step_count(s.world) == 0);
  stage_close(&s);
}

static bool after_a_while(void* user) { return --*(int*)user < 0; }

// However often it has been asked before: the step is given up, and nothing has happened.
TEST(an_interrupt_during_the_search_leaves_the_world_as_it_was)
{
  Stage s = soft_stage(0.3, 5e-3);
  stage_fixed(&s, tb_shape_sphere(0.2), tb_zero3(), tb_quat_identity());
  add_cloth(&s, 0.6, 12, soft_at(0, tb_vec3(0.01, 0.02, 0.21), tb_vec3(0, 0, -3)));
  uint64_t before = tb_world_hash(s.world);
  int given_up = 0;
  for (int k = 0; k < 1 << 20; k = k * 3 / 2 + 1) {
    int left = k;
    s.ctx.interrupt = (tbInterrupt){after_a_while, &left};
    tbStatus status = tb_world_step(&s.ctx, s.world, &s.step, &s.report);
    if (status == TB_OK) break;
    given_up++;
    CHECK(status == TB_ERROR_CANCELLED && tb_world_hash(s.world) == before);
  }
  CHECK(given_up > 10);
  CHECK(tb_world_hash(s.world) != before);
  s.ctx.interrupt = (tbInterrupt){0};
  stage_close(&s);
}
