// SPDX-License-Identifier: Apache-2.0
// No method outlives its budgets: every solver on problems that are large, that have no solution, or whose
// numbers overflow on the way. Time is the thread's own, so that a busy machine changes nothing: a call that
// has worked for longer than its budget and ALLOWED has not listened.
#include "cases.h"
#include "solving.h"

#include "base/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double ALLOWED = 0.5; // s; everything is slower there
#else
static const double ALLOWED = 0.1;
#endif

enum { TRIES = 4 }; // a processor that is shared may slow one down

static double worked(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- problems ----

// `count` particles side by side, each on a plane, driven into it and along it at the given speed.
static tbProblem* driven(tbContext* ctx, int count, double mass, double speed)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double v[3] = {speed, 0, -speed}, mu = 0.5, J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  tb_builder_create(ctx, "driven", &b);
  for (int i = 0; i < count; i++) tb_builder_particle(b, 3, mass, v, NULL);
  for (int i = 0; i < count; i++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 3 * i, 3, J);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static tbProblem* huge(tbContext* ctx) { return driven(ctx, 4, 1, 1e155); }
static tbProblem* overflowing(tbContext* ctx) { return driven(ctx, 4, 1e-160, 1e160); }
static tbProblem* squeezed(tbContext* ctx) { return cases_squeezed(ctx); }

// W with a negative eigenvalue and a skew part, and velocities that ask for more than it can give.
static tbProblem* indefinite(tbContext* ctx)
{
  enum { CONTACTS = 6, N = 3 * CONTACTS };
  int ptr[N + 1], col[N * N];
  double val[N * N], mu = 1.5;
  for (int i = 0; i < N; i++) {
    ptr[i + 1] = (i + 1) * N;
    for (int j = 0; j < N; j++) {
      col[i * N + j] = j;
      val[i * N + j] = i == j ? (i % 3 ? 1 : -0.5) : 0.3 * sin(1 + 3.7 * i - 1.3 * j);
    }
  }
  ptr[0] = 0;
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tb_builder_create(ctx, "indefinite", &b);
  for (int k = 0; k < CONTACTS; k++)
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, (double[3]){-1, 0.5, 0.2}, NULL);
  tb_builder_explicit(b, N, ptr, col, val);
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static tbProblem* redundant(tbContext* ctx) { return cases_box(ctx, 60, 0.7, 1e-4); }
static tbProblem* soft(tbContext* ctx) { return cases_lattice(ctx, 10, 1e4); }

static tbProblem* wall(tbContext* ctx)
{
  tbProblem* p = NULL;
  tbGenerate spec = tb_default_generate(TB_GENERATE_WALL);
  spec.size = 16;
  CHECK_OK(ctx, tb_problem_generate(ctx, &spec, &p));
  return p;
}

typedef tbProblem* MakeFn(tbContext* ctx);
static const struct {
  const char* name;
  MakeFn* make;
  bool large;
} problems[] = {{"huge", huge, false},
                {"overflowing", overflowing, false},
                {"squeezed", squeezed, false},
                {"indefinite", indefinite, false},
                {"redundant", redundant, true},
                {"soft", soft, true},
                {"wall", wall, true}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

// ---- budgets ----

static void say(const char* what, const char* problem, const tbSolveOptions* o, const tbSolveResult* r,
                double took)
{
  test_failed(__FILE__, __LINE__, "%s on \"%s\": %s (%s after %d iterations, %.3f s; budget %d, %g s)",
              o->solver, problem, what, tb_outcome_name(r->outcome), r->iterations, took, o->max_iterations,
              o->time_budget_s);
}

// Solves from zero under the options; nothing of what every answer must be may be missing.
static tbSolveResult solve(tbContext* ctx, const char* name, const tbProblem* p, const tbSolveOptions* o)
{
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveResult r = {0};
  double took = INFINITY, limit = o->time_budget_s > 0 ? o->time_budget_s + ALLOWED : 10;
  for (int try = 0; try < TRIES && took > limit; try++) {
    memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
    double begun = worked();
    CHECK_OK(ctx, tb_solve(ctx, p, o, lambda, &r));
    took = worked() - begun;
    if (o->cancelled) break; // that counts
  }
  if (took > limit) say("outlived its budget", name, o, &r, took);
  if (r.iterations > o->max_iterations) say("went on iterating", name, o, &r, took);
  for (int i = 0; i < p->nrow; i++)
    if (!isfinite(lambda[i])) {
      say("left impulses that are no numbers", name, o, &r, took);
      break;
    }
  free(lambda);
  return r;
}

static void by_iterations(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o)
{
  static const int most[] = {0, 1, 30};
  for (int i = 0; i < 3; i++) {
    o.max_iterations = most[i];
    tbSolveResult r = solve(ctx, name, p, &o);
    bool why = r.outcome == TB_MAX_ITERATIONS ? r.iterations == most[i]
                                              : r.outcome == TB_CONVERGED || r.outcome == TB_FAILED;
    if (!why) say("does not say why it ended", name, &o, &r, 0);
  }
}

static void by_time(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o)
{
  static const double seconds[] = {1e-3, 2e-2};
  for (int i = 0; i < 2; i++) {
    o.time_budget_s = seconds[i];
    tbSolveResult r = solve(ctx, name, p, &o);
    if (r.outcome == TB_CANCELLED || r.outcome == TB_MAX_ITERATIONS)
      say("does not say why it ended", name, &o, &r, 0);
  }
}

static void by_cancelling(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o)
{
  static const int after[] = {0, 10};
  for (int i = 0; i < 2; i++) {
    Countdown c = {.after = after[i]};
    o.cancelled = count_down, o.cancelled_user = &c;
    tbSolveResult r = solve(ctx, name, p, &o);
    bool ended = r.outcome == TB_CONVERGED || (r.outcome == TB_FAILED && isinf(r.residual.fclib));
    if ((r.outcome == TB_CANCELLED) != (c.calls > after[i]) && !ended)
      say("does not say that it was cancelled", name, &o, &r, 0);
    if (c.calls > after[i] + 1) say("asked again", name, &o, &r, 0);
  }
}

// The context's interrupt: no answer at all.
static void by_interrupt(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o)
{
  Countdown c = {.after = 2};
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbContext own = *ctx;
  tbSolveResult r = {0};
  lambda[0] = 0.25;
  own.interrupt = (tbInterrupt){count_down, &c};
  tbStatus status = tb_solve(&own, p, &o, lambda, &r);
  if (status != (c.calls > c.after ? TB_ERROR_CANCELLED : TB_OK))
    say("ignored the interrupt", name, &o, &r, 0);
  if (status != TB_OK) {
    CHECK(lambda[0] == 0.25 && own.error.status == TB_ERROR_CANCELLED);
    for (int i = 1; i < p->nrow; i++) CHECK(lambda[i] == 0);
  }
  free(lambda);
}

// With all the time of the world, a method that gets nowhere gives up: two hundred thousand questions are
// more than any of these problems is worth.
static void by_itself(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o)
{
  Countdown c = {.after = 200000};
  if (strcmp(o.solver, "auto") != 0 || strcmp(name, "overflowing") != 0) return;
  o.cancelled = count_down, o.cancelled_user = &c;
  tbSolveResult r = solve(ctx, name, p, &o);
  if (r.outcome == TB_CANCELLED) say("never gives up", name, &o, &r, 0);
}

// Where the budget ends inside of a factorisation.
static void in_a_factorisation(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o)
{
  const tbSolver* solver = tb_solver_find(o.solver);
  if (strcmp(name, "redundant") != 0 || (solver->max_rows == 0 && !solver->costly)) return;
  o.time_budget_s = 0.03;
  tbSolveResult r = solve(ctx, name, p, &o);
  CHECK(r.outcome == TB_TIME || r.outcome == TB_CONVERGED || r.outcome == TB_FAILED);
}

typedef void BudgetFn(tbContext* ctx, const char* name, const tbProblem* p, tbSolveOptions o);

static void each(bool large, BudgetFn* body)
{
  for (int i = 0; i < PROBLEMS; i++) {
    if (problems[i].large && !large) continue;
    tbContext ctx = tb_default_context();
    tbProblem* p = problems[i].make(&ctx);
    REQUIRE(p);
    for (int s = 0; s < tb_solver_count(); s++) {
      tbSolveOptions o = tb_default_solve_options();
      o.solver = tb_solver_at(s)->name;
      o.max_iterations = 2000000000;
      if (test_pick_model(tb_solver_at(s), p, &o.model)) body(&ctx, problems[i].name, p, o);
    }
    tb_problem_free(p);
  }
}

// ---- what is handed out ----

typedef struct {
  double velocity, error, penetration; // m/s; E, relative to nothing; m/s
} Missed;

static Missed missed_by(tbContext* ctx, const tbProblem* p, tbModel model, const double* lambda)
{
  tbJudge* judge = NULL;
  tbResidual r = {0};
  CHECK_OK(ctx, tb_judge_create(ctx, p, &judge));
  tb_judge_measure(judge, lambda, model, 8, &r, NULL, NULL);
  tb_judge_free(ctx, judge);
  bool cone = model == TB_MODEL_CONE;
  double scale = fmax(r.norm_q, fmax(r.norm_lambda, r.norm_u));
  return (Missed){cone ? r.velocity : r.model_velocity, scale * (cone ? r.fclib : r.model), r.penetration};
}

// Worse by the number that the tolerance is on: in m/s. Where it is on the relative number, which grows
// smaller as impulses grow, an answer is worse that misses by more in m/s and in E.
static bool is_worse(const tbSolveOptions* o, const Missed* a, const Missed* b)
{
  bool faster = !(a->velocity <= b->velocity * (1 + 1e-9));
  return faster && (o->velocity_tolerance > 0 || !(a->error <= b->error * (1 + 1e-9)));
}

// From nothing, from impulses that nearly do, and from some that throw everything about.
static void compare_starts(tbContext* ctx, const tbProblem* p, const double* good, const tbSolveOptions* o)
{
  double *start = malloc((size_t)p->nrow * sizeof *start), *lambda = calloc((size_t)p->nrow, sizeof *lambda);
  Missed nothing = missed_by(ctx, p, o->model, lambda);
  for (int from = 0; from < 3; from++) {
    for (int i = 0; i < p->nrow; i++)
      start[i] = lambda[i] = from == 0 ? 0 : from == 1 ? 0.999 * good[i] : 30 * good[i];
    tbSolveResult r = {0};
    CHECK_OK(ctx, tb_solve(ctx, p, o, lambda, &r));
    Missed had = missed_by(ctx, p, o->model, start), got = missed_by(ctx, p, o->model, lambda);
    // staggered, stopped early, answers with what does not penetrate
    if (strcmp(o->solver, "staggered") == 0 && r.iterations > 0 && got.penetration < 1e-10) continue;
    if (is_worse(o, &got, &had) || is_worse(o, &got, &nothing))
      test_failed(__FILE__, __LINE__, "%s, %d iterations: %g m/s, from %g m/s, and %g m/s without impulses",
                  o->solver, o->max_iterations, got.velocity, had.velocity, nothing.velocity);
  }
  free(start), free(lambda);
}

// A tolerance in m/s, or on the relative number.
static void no_answer_is_worse(tbGenerateKind kind, int size, double ratio, bool speed)
{
  static const int most[] = {0, 1, 3, 12};
  tbContext ctx = tb_default_context();
  tbGenerate spec = tb_default_generate(kind);
  tbProblem* p = NULL;
  spec.size = size, spec.mass_ratio = ratio;
  CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &p));
  REQUIRE(p);
  double* good = calloc((size_t)p->nrow, sizeof *good);
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {0};
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, good, &r));
  CHECK(r.outcome == TB_CONVERGED);
  for (int s = 0; s < tb_solver_count(); s++)
    for (int i = 0; i < 4; i++) {
      o = tb_default_solve_options();
      o.solver = tb_solver_at(s)->name;
      o.tolerance = speed ? 0 : 1e-12, o.velocity_tolerance = speed ? 1e-12 : 0;
      o.max_iterations = most[i];
      if (test_pick_model(tb_solver_at(s), p, &o.model)) compare_starts(&ctx, p, good, &o);
    }
  free(good);
  tb_problem_free(p);
}

TEST(no_answer_is_worse_than_its_start_or_than_nothing)
{
  no_answer_is_worse(TB_GENERATE_STACK, 6, 1000, true);
  no_answer_is_worse(TB_GENERATE_STACK, 6, 1000, false);
  no_answer_is_worse(TB_GENERATE_PILE, 25, 1, false);
}

TEST(no_method_outlives_its_iterations) { each(false, by_iterations); }
TEST(no_method_outlives_its_time) { each(!test_quick(), by_time); }
TEST(every_method_can_be_cancelled) { each(!test_quick(), by_cancelling); }
TEST(every_method_can_be_interrupted) { each(!test_quick(), by_interrupt); }
TEST(auto_gives_up_where_there_are_no_numbers) { each(false, by_itself); }
TEST(factorisations_do_not_outlive_the_time) { each(true, in_a_factorisation); }

TEST(calls_may_share_a_budget)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = squeezed(&ctx);
  REQUIRE(p);
  double lambda[6] = {0}, left = 0.02;
  tbSolveResult r = {0};
  tbSolveOptions o = tb_default_solve_options();
  o.solver = "bgs", o.tolerance = 0, o.max_iterations = 2000000000, o.time_left_s = &left;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_TIME && left <= 0 && r.iterations > 0);
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_TIME && r.iterations == 0);
  tb_problem_free(p);
}
