// SPDX-License-Identifier: Apache-2.0
// What stands stays: stacks, houses of cards and arches for as long as a test can wait (bench/standing.c
// waits longer).
#include "known/worlds.h"
#include "test.h"
#include "tribo/io.h"

enum { BODIES_MOST = 100 };

typedef struct {
  double sink, drift; // the most any body has gone down, and sideways
  int unconverged;
} Rest;

static Rest stand(const char* name, const char* solver, double seconds)
{
  Rest rest = {0};
  char path[400];
  snprintf(path, sizeof path, "%s/scenes/%s.json", TB_SOURCE_FOLDER, name);
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  if (tb_scene_load(&ctx, path, &scene) != TB_OK) {
    test_failed(__FILE__, __LINE__, "%s", ctx.error.message);
    return rest;
  }
  scene.step.solver.solver = solver;
  tbVec3 start[BODIES_MOST];
  int count = tb_world_body_count(scene.world);
  for (int i = 0; i < count && i < BODIES_MOST; i++)
    start[i] = tb_body_state(scene.world, tb_world_body_at(scene.world, i)).position;
  for (int k = 0; k < (int)(seconds / scene.step.dt); k++) {
    tbStepReport report;
    CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, &report));
    rest.unconverged += report.outcome != TB_CONVERGED;
  }
  for (int i = 0; i < count && i < BODIES_MOST; i++) {
    tbVec3 d = tb_sub3(tb_body_state(scene.world, tb_world_body_at(scene.world, i)).position, start[i]);
    rest.sink = fmax(rest.sink, fabs(d.z)), rest.drift = fmax(rest.drift, sqrt(d.x * d.x + d.y * d.y));
  }
  tb_scene_free(&ctx, &scene);
  return rest;
}

LONG_TEST(house_of_cards_and_arch_stand)
{
  static const char* const names[] = {"cards", "arch", "stack", "pyramid"};
  for (int i = 0; i < 4; i++) {
    Rest rest = stand(names[i], "auto", test_quick() ? 0.5 : 3);
    if (!(rest.sink < 1e-3) || !(rest.drift < 1e-3) || rest.unconverged)
      test_failed(__FILE__, __LINE__, "%s: sank %g m, drifted %g m, %d steps unconverged", names[i],
                  rest.sink, rest.drift, rest.unconverged);
  }
}

// Ten boxes: something heavy on top, or grams between kilograms. At the defaults none moves by a tenth of a
// millimetre in ten seconds.
static double mass_of(int k, double top)
{
  if (top > 0) return k == 9 ? top : 1;
  return k % 2 ? 1 : 1e-3;
}

TEST(stacks_do_not_creep_whatever_their_masses)
{
  static const double size[] = {0.05, 1, 5, 0.1}, top[] = {3000, 300, 1000, 0};
  for (int i = 0; i < 4; i++) {
    Stage s = stage_open(0.5, 0);
    s.step.dt = 1.0 / 60;
    stage_floor(&s, 0, 0);
    tbBodyId box[10];
    for (int k = 0; k < 10; k++)
      box[k] = stage_add(&s, tb_shape_box(tb_vec3(size[i], size[i], size[i])), mass_of(k, top[i]),
                         tb_vec3(0, 0, (k + 0.5) * size[i]), tb_quat_identity());
    stage_run_for(&s, test_quick() ? 1 : 10);
    double drift = 0;
    for (int k = 0; k < 10; k++) {
      tbVec3 x = stage_state(&s, box[k]).position;
      drift = fmax(drift, tb_distance3(x, tb_vec3(0, 0, (k + 0.5) * size[i])));
    }
    if (!(drift < 1e-5) || s.unconverged)
      test_failed(__FILE__, __LINE__, "size %g, %g on top: moved %g m, %d steps unconverged, worst %g",
                  size[i], top[i], drift, s.unconverged, s.worst);
    stage_close(&s);
  }
}

// A tolerance that is relative to the largest impulse does not stand alone: a step that creeps is not
// converged.
LONG_TEST(a_wide_tolerance_hides_no_creep)
{
  Stage s = stage_open(0.5, 0);
  s.step.solver.solver = "bgs", s.step.solver.tolerance = 1e-3;
  stage_floor(&s, 0, 0);
  tbBodyId box[10];
  for (int k = 0; k < 10; k++)
    box[k] = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1, tb_vec3(0, 0, k + 0.5), tb_quat_identity());
  for (int step = 0; step < (test_quick() ? 40 : 200); step++) {
    stage_run(&s, 1);
    double fastest = 0;
    for (int k = 0; k < 10; k++) fastest = fmax(fastest, tb_norm3(stage_state(&s, box[k]).velocity));
    if (s.report.outcome == TB_CONVERGED && !(fastest < 1e-3))
      test_failed(__FILE__, __LINE__, "step %d: converged, and a box moves at %g m/s", step, fastest);
  }
  stage_close(&s);
}

// Bodies dropped on a heap lose energy, step by step, and win none when they lie.
TEST(pile_gains_no_energy)
{
  Stage s = stage_open(0.4, 0);
  s.step.dt = 1.0 / 60;
  stage_floor(&s, 0, 0);
  tbRandom r = test_random(5);
  for (int i = 0; i < 12; i++) {
    double a = test_uniform(&r, 0.1, 0.3), b = test_uniform(&r, 0.1, 0.3), turn = test_uniform(&r, -1, 1);
    tbShape shape = i % 3 == 0 ? tb_shape_sphere(a) : tb_shape_box(tb_vec3(2 * a, 2 * b, a + b));
    stage_add(&s, shape, 0, tb_vec3(0.2 * (i % 2), 0.2 * (i / 2 % 2), 0.4 + 0.8 * i),
              tb_quat_exp(tb_vec3(turn, 0.5, 0.3)));
  }
  double last = stage_energy(&s), most = 0, start = last;
  for (int k = 0; k < (test_quick() ? 60 : 600); k++) {
    stage_run(&s, 1);
    double now = stage_energy(&s);
    most = fmax(most, (now - last) / start);
    last = now;
  }
  CHECK(most < 1e-6);
  stage_close(&s);
}
