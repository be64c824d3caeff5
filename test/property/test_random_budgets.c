// SPDX-License-Identifier: Apache-2.0
// Budgets hold whatever the world: every scheme, methods in turn, worlds drawn from seeds. Time is the
// thread's own, so that a busy machine changes nothing.
#include "property/random_worlds.h"
#include "tribo/io.h"

#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double ALLOWED = 0.5; // s; everything is slower there
#else
static const double ALLOWED = 0.1;
#endif

static double worked(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The first method from the seed on that takes the laws of the scheme as they stand.
static const char* a_solver(const char* scheme, uint64_t seed)
{
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at((int)((seed + (uint64_t)i) % (uint64_t)tb_solver_count()));
    tbFit fit = tb_scheme_fit(tb_scheme_find(scheme), s);
    if (!fit.modelled && !fit.refused) return s->name;
  }
  return "auto";
}

TEST(steps_of_random_worlds_keep_to_their_budgets)
{
  static const double budget[] = {2e-4, 2e-3};
  const Units si = {1, 1, 1};
  int late = 0, steps = 0;
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++)
    for (uint64_t seed = 1; seed <= (test_quick() ? 2 : 4); seed++) {
      RandomWorld r = random_world(RANDOM_HEAP, seed);
      MadeWorld m = make_world(&r, tb_scheme_at(scheme)->name, si, NULL, true);
      m.step.solver.solver = a_solver(m.step.scheme, 5 * seed + (uint64_t)scheme);
      m.step.solver.tolerance = m.step.solver.velocity_tolerance = 0; // none is ever done
      m.step.solver.max_iterations = 2000000000;
      m.step.budget_s = budget[seed % 2];
      for (int i = 0; i < 40; i++) {
        tbStepReport report = {0};
        double begun = worked();
        CHECK_OK(&m.ctx, tb_world_step(&m.ctx, m.world, &m.step, &report));
        double took = worked() - begun;
        if (took > m.step.budget_s + ALLOWED)
          test_failed(__FILE__, __LINE__, "%s, %s, seed %d: a step of %.3f s", m.step.scheme,
                      m.step.solver.solver, (int)seed, took);
        late += report.outcome == TB_TIME, steps++;
      }
      drop_world(&m);
    }
  printf("[%d steps of %d out of time] ", late, steps);
  CHECK(late > 20);
}

// A ball and a block that sheets and solids fall on: contacts all over from the first step on.
static const char SOFT[] =
    "{\"tribo\": 1, \"dt\": 0.01, \"bodies\": ["
    "  {\"fixed\": true, \"shape\": {\"type\": \"sphere\", \"radius\": 0.3}, \"position\": [0, 0, 0.3]},"
    "  {\"fixed\": true, \"shape\": {\"type\": \"box\", \"size\": [1, 1, 0.5]}, \"position\": [1, 0, 0.25]}"
    "], \"cloth\": [{\"mesh\": {\"grid\": {\"size\": [1, 1], \"cells\": [16, 16]}}, \"area_density\": 0.2,"
    "  \"stretch\": 200, \"bend\": 1e-4, \"thickness\": 0.002,"
    "  \"position\": [0, 0, 0.605], \"velocity\": [0, 0, -2]"
    "}], \"soft\": [{\"mesh\": {\"box\": {\"size\": [0.6, 0.6, 0.4], \"cells\": [8, 8, 6]}},"
    "  \"density\": 1000, \"young\": 1e5, \"poisson\": 0.3,"
    "  \"position\": [1, 0, 0.705], \"velocity\": [0, 0, -2]"
    "}]}";

// Deformable bodies as well, whose schemes have loops of their own: rounds of contacts, of elasticity, of
// projections.
TEST(steps_of_soft_worlds_keep_to_their_budgets)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    if (!(tb_scheme_at(k)->moves & TB_MOVES_NODES)) continue;
    tbContext ctx = tb_default_context();
    tbScene scene = {0};
    int late = 0;
    CHECK_OK(&ctx, tb_scene_parse(&ctx, "soft", SOFT, strlen(SOFT), NULL, &scene));
    tbStepOptions o = scene.step;
    o.scheme = tb_scheme_at(k)->name, o.budget_s = 1e-3;
    o.solver.tolerance = o.solver.velocity_tolerance = 0;
    o.newton_tolerance = 1e-15; // none is ever done
    o.solver.max_iterations = 2000000000;
    o.iterations = 5000, o.newton_steps = o.rounds = o.relinearizations = 1000;
    for (int i = 0; i < 6 && scene.world; i++) {
      tbStepReport report = {0};
      double begun = worked();
      CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &o, &report));
      double took = worked() - begun;
      if (took > o.budget_s + ALLOWED)
        test_failed(__FILE__, __LINE__, "%s, step %d: %.3f s", o.scheme, i, took);
      late += report.outcome == TB_TIME;
    }
    tb_scene_free(&ctx, &scene);
    CHECK(late > 1);
  }
}
