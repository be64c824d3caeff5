// SPDX-License-Identifier: Apache-2.0
// A step that is cancelled has not happened, and a step with a budget keeps to it.
#include "known/worlds.h"
#include "test.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double worked(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Boxes on top of each other that strike the ground.
#define STACK(count)                                                                                       \
  "{\"tribo\": 1, \"bodies\": [{\"name\": \"ground\", \"fixed\": true, \"shape\": {\"type\": \"plane\"}}," \
  " {\"name\": \"b\", \"mass\": 2, \"restitution\": 0.5, \"velocity\": [1, 0, -3], \"position\": [0, 0, "  \
  "0.5],"                                                                                                  \
  "  \"shape\": {\"type\": \"box\", \"size\": [1, 1, 1]}, \"repeat\": {\"count\": [1, 1, " count           \
  "], \"spacing\": "                                                                                       \
  "[2, 2, 1]}}]}"
static const char boxes[] = STACK("4"), one_box[] = STACK("1");
static const char jelly[] = "{\"tribo\": 1, \"scheme\": \"implicit\", \"bodies\": [{\"name\": \"ground\", "
                            "\"fixed\": true, \"shape\": "
                            "{\"type\": \"plane\"}}], \"soft\": [{\"name\": \"s\", \"mesh\": {\"box\": "
                            "{\"size\": [1, 1, 1], \"cells\": "
                            "[3, 3, 3]}}, \"young\": 1e5, \"poisson\": 0.3, \"density\": 1000, \"position\": "
                            "[0, 0, 0.51], \"velocity\": "
                            "[0, 0, -2]}]}";

static tbScene parse(tbContext* ctx, const char* text)
{
  tbScene scene = {0};
  CHECK_OK(ctx, tb_scene_parse(ctx, "test", text, strlen(text), NULL, &scene));
  return scene;
}

// The same step, cancelled after every number of questions, then taken: the world is as if nothing had been.
static void cancel_everywhere(const char* text, const char* scheme, bool by_context)
{
  tbContext ctx = tb_default_context();
  tbScene a = parse(&ctx, text), b = parse(&ctx, text);
  if (!a.world || !b.world) return;
  a.step.scheme = b.step.scheme = scheme;
  int cancelled = 0;
  for (int step = 0; step < 3; step++) {
    uint64_t before = tb_world_hash(a.world);
    for (int after = 0;; after = test_quick() ? 3 * after + 1 : after < 8 ? after + 1 : 2 * after) {
      Countdown c = {.after = after};
      tbStepOptions o = a.step;
      tbStepReport report = {.contacts = -7};
      if (by_context) ctx.interrupt = (tbInterrupt){count_down, &c};
      else o.solver.cancelled = count_down, o.solver.cancelled_user = &c;
      tbStatus status = tb_world_step(&ctx, a.world, &o, &report);
      bool asked = !by_context || (ctx.interrupt.asked == count_down && ctx.interrupt.user == &c);
      ctx.interrupt = (tbInterrupt){0};
      CHECK(asked);
      if (status == TB_OK) {
        CHECK(c.calls <= after);
        break;
      }
      cancelled++;
      CHECK(status == TB_ERROR_CANCELLED && c.calls == after + 1 && report.contacts == -7);
      CHECK(tb_world_hash(a.world) == before && tb_world_step_count(a.world) == step);
    }
    CHECK_OK(&ctx, tb_world_step(&ctx, b.world, &b.step, NULL));
    CHECK(tb_world_hash(a.world) == tb_world_hash(b.world));
  }
  if (cancelled < 9) test_failed(__FILE__, __LINE__, "%s was asked %d times only", scheme, cancelled);
  tb_scene_free(&ctx, &a);
  tb_scene_free(&ctx, &b);
}

TEST(a_cancelled_step_has_not_happened) // of one box by ipc, which takes a hundred times as long as others
{
  for (int i = 0; i < tb_scheme_count(); i++)
    for (int by_context = 0; by_context < 2; by_context++)
      cancel_everywhere(strcmp(tb_scheme_at(i)->name, "ipc") == 0 ? one_box : boxes, tb_scheme_at(i)->name,
                        by_context);
  static const char* const soft[] = {"implicit", "pd", "ipc", "primal", "vbd", "avbd"};
  for (int i = 0; i < 6; i++) cancel_everywhere(jelly, soft[i], true);
}

TEST(a_budget_is_that_of_all_solves_of_a_step)
{
  static const char* const text[] = {boxes, boxes, jelly};
  static const char* const scheme[] = {"semi-implicit", "moreau", "implicit"};
  for (int i = 0; i < 3; i++) {
    int late = 0;
    tbContext ctx = tb_default_context();
    tbScene s = parse(&ctx, text[i]);
    REQUIRE(s.world);
    s.step.scheme = scheme[i];
    s.step.budget_s = 5e-3;
    s.step.solver.tolerance = s.step.solver.velocity_tolerance = 0; // never reached
    s.step.solver.max_iterations = 2000000000;
    s.step.solver.solver = "bgs";
    for (int step = 0; step < 3; step++) {
      tbStepReport r = {0};
      double begun = worked();
      CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &r));
      double took = worked() - begun;
      if (took > s.step.budget_s + 0.3) test_failed(__FILE__, __LINE__, "%s took %g s", scheme[i], took);
      CHECK(r.outcome != TB_MAX_ITERATIONS && r.outcome != TB_CANCELLED);
      late += r.outcome == TB_TIME;
    }
    if (late == 0) test_failed(__FILE__, __LINE__, "%s never ran out of time", scheme[i]);
    tb_scene_free(&ctx, &s);
  }
}

TEST(a_budget_out_of_range_is_refused)
{
  Stage s = stage_open(0.5, 0);
  s.step.budget_s = -1;
  CHECK(tb_world_step(&s.ctx, s.world, &s.step, NULL) == TB_ERROR_ARGUMENT);
  s.step.budget_s = NAN;
  CHECK(tb_world_step(&s.ctx, s.world, &s.step, NULL) == TB_ERROR_ARGUMENT);
  stage_close(&s);
}

// Ten boxes under one a thousand times as heavy: sweeps would need thousands of iterations.
TEST(auto_holds_a_heavy_stack_with_few_iterations)
{
  static const int most[] = {20, 30, 100};
  for (int i = 0; i < 3; i++) {
    char path[1024];
    tbContext ctx = tb_default_context();
    tbScene s = {0};
    snprintf(path, sizeof path, "%s/scenes/heavy-top.json", TB_SOURCE_FOLDER);
    CHECK_OK(&ctx, tb_scene_load(&ctx, path, &s));
    REQUIRE(s.world);
    s.step.solver.max_iterations = most[i];
    double worst = 0;
    for (int step = 0; step < 60; step++) {
      CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
      worst = fmax(worst, tb_world_energy(s.world).kinetic);
    }
    if (!(worst < 1e-3)) // J, of 62 tonnes: 0.2 mm/s
      test_failed(__FILE__, __LINE__, "%d iterations: %g J of motion", most[i], worst);
    tb_scene_free(&ctx, &s);
  }
}

// The judge's number of impulses in the coming step, m/s; null: of none.
static double missed_by(tbContext* ctx, const tbProblem* p, const double* impulses)
{
  tbSolveOptions look = tb_default_solve_options();
  tbSolveResult r = {0};
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  if (impulses) memcpy(lambda, impulses, (size_t)p->nrow * sizeof *lambda);
  look.solver = "bgs", look.max_iterations = 0, look.tolerance = 0, look.velocity_tolerance = 1e-12;
  CHECK_OK(ctx, tb_solve(ctx, p, &look, lambda, &r)); // the better of them and of none
  free(lambda);
  return r.residual.velocity;
}

// Iterations of a scheme that are cut short leave impulses that may throw an arch about.
TEST(schemes_out_of_time_do_no_worse_than_their_start_or_than_nothing)
{
  static const char* const scheme[] = {"primal", "xpbd", "vbd", "avbd"};
  static const double budget[] = {1e-6, 2e-4, 5e-4, 1e-3};
  for (int i = 0; i < 4; i++) {
    tbContext ctx = tb_default_context();
    tbScene s = {0};
    CHECK_OK(&ctx, tb_scene_load(&ctx, TB_SOURCE_FOLDER "/scenes/arch.json", &s));
    REQUIRE(s.world);
    s.step.scheme = scheme[i], s.step.iterations = 10000;
    for (int step = 0; step < 16; step++) {
      tbProblem* p = NULL;
      double* guess = NULL;
      tbStepReport r = {0};
      s.step.budget_s = 0;
      CHECK_OK(&ctx, tb_world_problem(&ctx, s.world, &s.step, &p, &guess));
      REQUIRE(p && guess);
      double before = missed_by(&ctx, p, guess);
      s.step.budget_s = budget[step % 4];
      CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &r));
      if (!(r.residual.velocity <= before * (1 + 1e-9)))
        test_failed(__FILE__, __LINE__, "%s, %g s: %g m/s, and %g m/s before", scheme[i], s.step.budget_s,
                    r.residual.velocity, before);
      tb_problem_free(p);
      tb_guess_free(&ctx, guess);
    }
    tb_scene_free(&ctx, &s);
  }
}

// Bodies that touch when a run starts are parted first, and barriers of what still touches are infinite.
TEST(ipc_out_of_time_before_bodies_are_parted_ends_its_steps)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_load(&ctx, TB_SOURCE_FOLDER "/scenes/arch.json", &s));
  REQUIRE(s.world);
  s.step.scheme = "ipc", s.step.budget_s = 1e-6;
  double before = tb_world_energy(s.world).potential;
  for (int step = 0; step < 3; step++) {
    tbStepReport r = {0};
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &r));
    CHECK(r.outcome != TB_CONVERGED && isfinite(r.residual.velocity));
  }
  tbEnergy after = tb_world_energy(s.world);
  CHECK(after.kinetic + after.potential <= before * (1 + 1e-12));
  tb_scene_free(&ctx, &s);
}
