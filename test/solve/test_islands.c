// SPDX-License-Identifier: Apache-2.0
// `auto` on problems that fall apart: parts are the whole, for any number of threads, and nothing that holds
// for one solve is lost over many.
#include "problem/part.h"
#include "test.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS = 400 };

// Bodies by far more than contacts: islands of one contact and of a few dozen.
static tbProblem* scattered(tbContext* ctx, int metric)
{
  tbManufacture spec = tb_default_manufacture();
  spec.seed = (uint64_t)metric + 7;
  spec.contacts = CONTACTS;
  spec.bodies = 2 * CONTACTS;
  spec.metric = metric;
  spec.mu_max = 0.5;
  tbProblem* p = NULL;
  double* exact = NULL;
  CHECK_OK(ctx, tb_problem_manufacture(ctx, &spec, &p, &exact));
  tb_manufacture_free(ctx, exact);
  return p;
}

static int islands_of(tbContext* ctx, const tbProblem* p, int* island)
{
  int count = 0;
  CHECK_OK(ctx, tb_problem_islands(ctx, p, island, &count));
  return count;
}

TEST(a_part_moves_as_it_does_in_the_whole)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_UNSYMMETRIC; metric++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = scattered(&ctx, metric);
    REQUIRE(p);
    int island[CONTACTS], contact[CONTACTS], count = islands_of(&ctx, p, island), taken = 0;
    for (int i = 0; i < count; i += 2) // every second island
      for (int k = 0; k < CONTACTS; k++)
        if (island[k] == i) contact[taken++] = k;
    tbArena arena;
    tb_arena_init(&arena, &ctx);
    tbPartMaps maps;
    tbProblem part;
    tbRandom r = test_random(3);
    double *whole = TB_TAKE(&arena, double, (size_t)p->nrow), *u = TB_TAKE(&arena, double, (size_t)p->nrow),
           *few = TB_TAKE(&arena, double, (size_t)p->nrow), *u_few = TB_TAKE(&arena, double, (size_t)p->nrow);
    for (int i = 0; i < p->nrow; i++) whole[i] = test_uniform(&r, -1, 1);
    CHECK_OK(&ctx, tb_part_maps_make(&arena, p, &maps));
    CHECK_OK(&ctx, tb_problem_part(&arena, p, contact, taken, &maps, &part));
    for (int i = 0, at = 0; i < taken; i++)
      for (int row = p->row_adr[contact[i]]; row < p->row_adr[contact[i] + 1]; row++) few[at++] = whole[row];
    tbJudge *one = NULL, *other = NULL;
    tbResidual residual;
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &one));
    CHECK_OK(&ctx, tb_judge_create(&ctx, &part, &other));
    tb_judge_measure(one, whole, TB_MODEL_CONE, 8, &residual, u, NULL);
    tb_judge_measure(other, few, TB_MODEL_CONE, 8, &residual, u_few, NULL);
    int differ = 0;
    for (int i = 0, at = 0; i < taken; i++)
      for (int row = p->row_adr[contact[i]]; row < p->row_adr[contact[i] + 1]; row++)
        differ += u[row] != u_few[at++];
    CHECK(differ == 0 && (taken < CONTACTS || count == 1));
    tb_judge_free(&ctx, one), tb_judge_free(&ctx, other);
    tb_arena_free(&arena);
    tb_problem_free(p);
  }
}

LONG_TEST(islands_are_solved_to_the_same_bits_for_any_number_of_threads)
{
  static const int counts[] = {1, 2, 3, 8};
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_UNSYMMETRIC; metric++) {
    uint64_t reference = 0;
    for (int t = 0; t < 4; t += test_quick() ? 2 : 1) {
      tbContext ctx = tb_default_context();
      CHECK_OK(&ctx, tb_threads_create(&ctx, counts[t], &ctx.threads));
      tbProblem* p = scattered(&ctx, metric);
      double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
      tbSolveOptions o = tb_default_solve_options();
      tbSolveResult r = {0};
      CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
      CHECK(r.outcome == TB_CONVERGED && r.residual.fclib <= o.tolerance && r.iterations > 0);
      uint64_t hash =
          test_hash(lambda, (size_t)p->nrow * sizeof *lambda) ^ test_hash(&r.residual, sizeof r.residual);
      if (t == 0) reference = hash;
      CHECK(hash == reference);
      free(lambda);
      tb_problem_free(p);
      tb_threads_destroy(&ctx, ctx.threads);
    }
  }
}

TEST(an_island_that_is_solved_is_left_alone)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = scattered(&ctx, TB_MAKE_RIGID);
  REQUIRE(p);
  size_t bytes = (size_t)p->nrow * sizeof(double);
  double *lambda = calloc((size_t)p->nrow, sizeof *lambda), *solved = malloc(bytes);
  int island[CONTACTS];
  CHECK(islands_of(&ctx, p, island) > 20);
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {0};
  o.tolerance = 1e-10;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  memcpy(solved, lambda, bytes);
  o.tolerance = 1e-8;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.iterations == 0 && memcmp(lambda, solved, bytes) == 0);

  int hit = -1; // an island with an impulse to lose
  for (int k = CONTACTS - 1; k >= 0; k--)
    if (lambda[p->row_adr[k]] > 1e-3) hit = island[k], lambda[p->row_adr[k]] = 0;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED && r.iterations > 0);
  memcpy(lambda, solved, bytes);
  for (int k = 0; k < CONTACTS; k++)
    if (island[k] == hit) lambda[p->row_adr[k]] *= 2, lambda[p->row_adr[k]] += 1;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED && r.iterations > 0);
  // Batches hold several islands: those of the hit one may move, far ones may not.
  int moved = 0;
  for (int k = 0; k < CONTACTS; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) moved += lambda[i] != solved[i];
  CHECK(moved <= 64 * 3);
  free(lambda), free(solved);
  tb_problem_free(p);
}

static void count_event(void* user, const tbTraceEvent* event)
{
  int* events = user;
  events[0]++;
  events[1] = event->iteration;
}

static bool after_three(void* user) { return ++*(int*)user > 3; }
static bool after_many(void* user) { return ++*(int*)user > 200000; }

TEST(trace_cancel_and_budgets_reach_into_the_islands)
{
  for (int threads = 1; threads <= 3; threads += 2) {
    tbContext ctx = tb_default_context();
    CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
    tbProblem* p = scattered(&ctx, TB_MAKE_RIGID);
    REQUIRE(p);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r = {0};
    int events[2] = {0}, asked = 0;
    o.trace = count_event, o.trace_user = events;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(events[0] >= 2 && events[1] == r.iterations && r.iterations > 3);

    memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
    o.trace = NULL;
    o.cancelled = after_three, o.cancelled_user = &asked;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_CANCELLED && asked == 4);

    o.cancelled = NULL;
    o.max_iterations = 2;
    memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_MAX_ITERATIONS && r.iterations == 2);

    o.max_iterations = 2000000000;
    o.tolerance = 0;
    o.time_budget_s = 0.05;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_TIME && r.time_s + r.setup_s >= 0.05 && r.time_s < 5); // set-up included
    free(lambda);
    tb_problem_free(p);
    tb_threads_destroy(&ctx, ctx.threads);
  }
}

// One body squeezed between two planes, which no impulse can settle, beside `count` that simply lie there.
static tbProblem* one_hopeless(tbContext* ctx, int count)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double v[3] = {0, 0, -0.1}, mu = 0.5, up[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, down[9];
  for (int i = 0; i < 9; i++) down[i] = -up[i];
  tb_builder_create(ctx, "one hopeless", &b);
  for (int i = 0; i <= count; i++) tb_builder_particle(b, 3, 1, v, NULL);
  for (int i = 0; i <= count; i++)
    for (int side = 0; side < (i == 0 ? 2 : 1); side++) {
      double bias[3] = {i == 0 ? -1 : 0, 0, 0};
      tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
      tb_builder_jacobian(b, 3 * i, 3, side ? down : up);
    }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

LONG_TEST(a_hopeless_island_does_not_starve_the_others)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = one_hopeless(&ctx, test_quick() ? 150 : 600);
  REQUIRE(p);
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {0};
  int asked = test_quick() ? 150000 : 0;
  o.max_iterations = 100000000;
  o.cancelled = after_many, o.cancelled_user = &asked;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CANCELLED);
  for (int k = 2; k < p->ncontact; k++) CHECK_NEAR(lambda[3 * k], 0.1, 1e-6);
  free(lambda);
  tb_problem_free(p);
}

typedef struct {
  atomic_int inside, clashes;
  tbFailingAllocator state;
  tbAllocator inner;
} Guarded;

static void* guarded_alloc(void* user, size_t size, size_t alignment)
{
  Guarded* g = user;
  if (atomic_fetch_add(&g->inside, 1) > 0) atomic_fetch_add(&g->clashes, 1);
  void* pointer = g->inner.alloc(g->inner.user, size, alignment);
  atomic_fetch_sub(&g->inside, 1);
  return pointer;
}

static void guarded_free(void* user, void* pointer)
{
  Guarded* g = user;
  if (atomic_fetch_add(&g->inside, 1) > 0) atomic_fetch_add(&g->clashes, 1);
  g->inner.free(g->inner.user, pointer);
  atomic_fetch_sub(&g->inside, 1);
}

TEST(islands_survive_every_failed_allocation_on_an_allocator_that_knows_no_threads)
{
  tbContext plain = tb_default_context();
  tbProblem* p = scattered(&plain, TB_MAKE_RIGID);
  REQUIRE(p);
  CHECK_OK(&plain, tb_threads_create(&plain, 3, &plain.threads));
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  long total = 0;
  for (long k = -1; k < total; k += k < 0 ? 1 : 1 + total / 100) {
    Guarded g = {.state = {.countdown = k, .for_good = k % 2}};
    tbContext ctx = test_failing_context(&g.state);
    g.inner = ctx.allocator;
    ctx.allocator = (tbAllocator){guarded_alloc, guarded_free, &g};
    ctx.threads = plain.threads;
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r = {0};
    memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
    tbStatus status = tb_solve(&ctx, p, &o, lambda, &r);
    if (k < 0) total = g.state.total;
    CHECK(status == (k < 0 ? TB_OK : TB_ERROR_MEMORY) && g.state.alive == 0 && g.clashes == 0);
    CHECK(k < 0 || (ctx.error.status == TB_ERROR_MEMORY && lambda[0] == 0));
  }
  free(lambda);
  tb_threads_destroy(&plain, plain.threads);
  tb_problem_free(p);
}
