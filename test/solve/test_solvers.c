// SPDX-License-Identifier: Apache-2.0
// Every solver of the table, on problems whose answer is known. A new row in the table is tested from here
// on.
#include "solve/cases.h"
#include "solving.h"

#include <math.h>
#include <stdlib.h>

static tbManufacture spec_for(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 3 + seed % 20;
  s.bodies = s.contacts;
  s.mu_max = 0.5;
  s.metric = seed % 5;
  s.dimension = seed % 4 == 0 ? 2 : 3;
  s.all_laws = seed % 2;
  return s;
}

TEST(every_solver_converges_or_says_so)
{
  for (int i = 0; i < tb_solver_count(); i++) cases_converge(tb_solver_at(i), spec_for, false, 0.8);
}

TEST(a_solution_as_warm_start_needs_no_iteration)
{
  for (int i = 0; i < tb_solver_count(); i++) {
    Case w;
    tbManufacture spec = spec_for(7);
    spec.dimension = 2, spec.all_laws = false; // planar friction is a box, a polygon and a cone alike
    REQUIRE(cases_make(&w, &spec));
    tbSolveOptions o = tb_default_solve_options();
    o.solver = tb_solver_at(i)->name;
    REQUIRE(test_pick_model(tb_solver_at(i), w.p, &o.model));
    tbSolveResult r;
    CHECK_OK(&w.ctx, tb_solve(&w.ctx, w.p, &o, w.exact, &r));
    CHECK(r.iterations == 0 && r.outcome == TB_CONVERGED);
    cases_drop(&w);
  }
}

LONG_TEST(every_order_of_sweeps_finds_the_same_velocity)
{
  for (int order = 0; order < TB_ORDER_COUNT; order++)
    for (int seed = 0; seed < 10; seed++) {
      Case w;
      tbManufacture spec = spec_for(5 * seed); // rigid bodies, two and three dimensions
      REQUIRE(cases_make(&w, &spec));
      tbSolveOptions o = cases_options("bgs", TB_MODEL_CONE, 10000);
      o.order = (tbOrder)order;
      o.tolerance = 1e-11;
      double u[80], exact[80];
      REQUIRE(w.p->nrow <= 80);
      CHECK(cases_solve_from(w.p, &o, w.lambda, u).outcome == TB_CONVERGED);
      CHECK(cases_solve_from(w.p, &o, w.exact, exact).iterations == 0);
      for (int i = 0; i < w.p->nrow; i++) CHECK_NEAR(u[i], exact[i], 1e-7);
      cases_drop(&w);
    }
}

TEST(solvers_reach_their_own_model)
{
  static const tbModel models[] = {TB_MODEL_BOX, TB_MODEL_POLYHEDRAL, TB_MODEL_CCP, TB_MODEL_FRICTIONLESS};
  int count = test_quick() ? 5 : 20;
  for (int i = 0; i < tb_solver_count(); i++)
    for (int m = 0; m < 4; m++) {
      if (!(tb_solver_at(i)->models & 1u << models[m])) continue;
      int converged = 0;
      for (int seed = 0; seed < count; seed++) {
        Case w;
        tbManufacture spec = spec_for(seed);
        spec.metric = TB_MAKE_RIGID;
        spec.all_laws = false;
        REQUIRE(cases_make(&w, &spec));
        tbSolveOptions o = cases_options(tb_solver_at(i)->name, models[m], 20000);
        o.directions = 4 + seed % 9;
        converged += cases_solve_from(w.p, &o, w.lambda, NULL).outcome == TB_CONVERGED;
        cases_drop(&w);
      }
      if (converged < count - 3)
        test_failed(__FILE__, __LINE__, "%s, model %s: %d of %d", tb_solver_at(i)->name,
                    tb_model_name(models[m]), converged, count);
    }
}

typedef struct {
  int events, last;
  double last_time;
  bool in_order;
} Watch;

static void watch(void* user, const tbTraceEvent* e)
{
  Watch* w = user;
  w->in_order = w->in_order && e->iteration == w->last + 1 && e->time_s >= w->last_time;
  w->events++;
  w->last = e->iteration;
  w->last_time = e->time_s;
}

static bool after_ten(void* user) { return ++*(int*)user > 10; }

TEST(trace_budgets_and_cancellation_hold_for_every_solver)
{
  for (int i = 0; i < tb_solver_count(); i++) {
    Case w;
    tbManufacture spec = spec_for(35);
    spec.contacts = 60, spec.bodies = 20, spec.all_laws = false;
    REQUIRE(cases_make(&w, &spec));
    tbSolveOptions o = tb_default_solve_options();
    o.solver = tb_solver_at(i)->name;
    if (!test_pick_model(tb_solver_at(i), w.p, &o.model)) {
      cases_drop(&w);
      continue;
    }
    o.tolerance = 0;
    o.max_iterations = 25;
    Watch seen = {.last = -1, .in_order = true};
    o.trace = watch;
    o.trace_user = &seen;
    tbSolveResult r;
    CHECK_OK(&w.ctx, tb_solve(&w.ctx, w.p, &o, w.lambda, &r));
    // a finite method may come to its end before the budget does, and has then failed to reach 0
    bool ended = r.outcome == TB_FAILED && tb_solver_at(i)->max_rows > 0;
    CHECK(ended || (r.outcome == TB_MAX_ITERATIONS && r.iterations == 25));
    CHECK(seen.events == r.iterations + 1 && seen.in_order);

    int asked = 0;
    o.trace = NULL;
    o.cancelled = after_ten;
    o.cancelled_user = &asked;
    CHECK_OK(&w.ctx, tb_solve(&w.ctx, w.p, &o, w.lambda, &r));
    CHECK((ended && r.iterations < 10) || (r.outcome == TB_CANCELLED && r.iterations <= 10));

    o.cancelled = NULL;
    o.max_iterations = 2000000000;
    o.time_budget_s = 0.02;
    CHECK_OK(&w.ctx, tb_solve(&w.ctx, w.p, &o, w.lambda, &r));
    ended = r.outcome == TB_FAILED && tb_solver_at(i)->max_rows > 0;
    CHECK(ended || (r.outcome == TB_TIME && r.setup_s + r.time_s >= 0.02));
    CHECK(r.time_s < 10);
    cases_drop(&w);
  }
}

TEST(bad_options_are_refused_and_lambda_is_left_alone)
{
  Case w;
  tbManufacture spec = spec_for(3);
  REQUIRE(cases_make(&w, &spec));
  tbSolveOptions good = tb_default_solve_options(), o;
  tbSolveResult r;
  w.lambda[0] = 0.25;
#define REFUSED(change, expected) \
  (o = good, change, tb_solve(&w.ctx, w.p, &o, w.lambda, &r) == expected && w.lambda[0] == 0.25)
  CHECK(REFUSED(o.solver = "magic", TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.tolerance = NAN, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.max_iterations = -1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.directions = 2, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.relaxation = 2, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.time_budget_s = -1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.solver = NULL, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.model = TB_MODEL_COUNT, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.order = TB_ORDER_COUNT, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.r_factor = TB_RFACTOR_COUNT, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.preconditioner = TB_PRECONDITIONER_COUNT, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.inverse = TB_INVERSE_COUNT, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.directions = TB_MAX_DIRECTIONS + 1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.tolerance_q = -1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.velocity_tolerance = -1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.factor_bytes = -1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.relaxation = -0.1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.aim = -0.1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED(o.aim = 1.1, TB_ERROR_ARGUMENT));
  CHECK(REFUSED((o.solver = "pgs", o.model = TB_MODEL_CCP), TB_ERROR_UNSUPPORTED));
  w.lambda[1] = NAN;
  CHECK(REFUSED((void)0, TB_ERROR_ARGUMENT));
#undef REFUSED
  cases_drop(&w);
}

TEST(options_at_the_edge_of_what_is_allowed_are_taken)
{
  Case w;
  tbManufacture spec = spec_for(3);
  REQUIRE(cases_make(&w, &spec));
  tbSolveOptions good = tb_default_solve_options(), o;
  tbSolveResult r;
#define TAKEN(change) (o = good, change, tb_solve(&w.ctx, w.p, &o, w.lambda, &r) == TB_OK)
  CHECK(TAKEN(o.directions = 3) && TAKEN(o.directions = TB_MAX_DIRECTIONS));
  CHECK(TAKEN(o.aim = 0) && TAKEN(o.aim = 1));
  CHECK(TAKEN(o.max_iterations = 0) && r.iterations == 0);
  CHECK(TAKEN((o.tolerance = 0, o.max_iterations = 5)) && TAKEN(o.velocity_tolerance = 0));
  CHECK(TAKEN(o.order = TB_ORDER_COUNT - 1) && TAKEN(o.preconditioner = TB_PRECONDITIONER_COUNT - 1));
  CHECK(TAKEN(o.r_factor = TB_RFACTOR_COUNT - 1) && TAKEN(o.inverse = TB_INVERSE_COUNT - 1));
#undef TAKEN
  cases_drop(&w);
}

// Solves from `share` of the exact answer.
static tbSolveResult solve_from(Case* w, const double* exact, double share, double aim, double* lambda)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {0};
  o.solver = "bgs", o.tolerance = 0, o.velocity_tolerance = 1e-5, o.aim = aim;
  for (int i = 0; i < w->p->nrow; i++) lambda[i] = share * exact[i];
  CHECK_OK(&w->ctx, tb_solve(&w->ctx, w->p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED);
  return r;
}

// What is gained beyond the tolerances is for the next warm start. Where this one was far off, so will the
// next one be; few contacts are polished even so.
LONG_TEST(many_contacts_whose_warm_start_is_far_off_are_not_polished)
{
  for (int many = 0; many < 2; many++) {
    Case w;
    tbManufacture spec = spec_for(3);
    spec.contacts = many ? 150 : 60, spec.bodies = many ? 60 : 25;
    REQUIRE(cases_make(&w, &spec));
    double *exact = calloc((size_t)w.p->nrow, sizeof *exact),
           *lambda = calloc((size_t)w.p->nrow, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    o.tolerance = 1e-13;
    CHECK_OK(&w.ctx, tb_solve(&w.ctx, w.p, &o, exact, &r));
    tbSolveResult plain = solve_from(&w, exact, 20, 0, lambda),
                  aims = solve_from(&w, exact, 20, 1e-2, lambda);
    if (many) CHECK(aims.iterations == plain.iterations && aims.residual.velocity == plain.residual.velocity);
    else CHECK(aims.iterations > plain.iterations && aims.residual.velocity < plain.residual.velocity);
    plain = solve_from(&w, exact, 1.001, 0, lambda), aims = solve_from(&w, exact, 1.001, 1e-2, lambda);
    CHECK(aims.iterations > plain.iterations && aims.residual.velocity < plain.residual.velocity);
    free(exact), free(lambda);
    cases_drop(&w);
  }
}

TEST(a_problem_without_contacts_is_solved)
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_solver_count(); i++) {
    tbBuilder* b = NULL;
    tbProblem* p = NULL;
    REQUIRE(tb_builder_create(&ctx, "nothing", &b) == TB_OK);
    CHECK_OK(&ctx, tb_builder_finish(b, &p));
    tbSolveOptions o = tb_default_solve_options();
    o.solver = tb_solver_at(i)->name;
    o.order = TB_ORDER_COLOUR;
    double none[1] = {0};
    tbSolveResult r;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, none, &r));
    CHECK(r.outcome == TB_CONVERGED);
    tb_problem_free(p);
  }
}

// Two contacts push each other for ever: λ → ∞ makes the scaled residual small, and solves nothing.
TEST(no_solver_is_fooled_by_impulses_that_run_away)
{
  tbContext ctx = tb_default_context();
  int ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
  double W[] = {1, -1, -1, 1}, q[] = {-1, -1};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tb_builder_create(&ctx, "squeezed", &b);
  tb_builder_explicit(b, 2, ptr, col, W);
  for (int k = 0; k < 2; k++) tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, q + k, NULL);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  for (int i = 0; i < tb_solver_count(); i++) {
    tbSolveOptions o = tb_default_solve_options();
    o.solver = tb_solver_at(i)->name;
    o.tolerance = 1e-6;
    o.time_budget_s = 0.05;
    o.max_iterations = 1000000;
    double lambda[2] = {0};
    tbSolveResult r;
    if (!test_pick_model(tb_solver_at(i), p, &o.model)) continue;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    if (r.outcome == TB_CONVERGED)
      test_failed(__FILE__, __LINE__, "%s: converged, E/‖q‖ %g", o.solver, r.residual.natural_map);
    CHECK(isfinite(lambda[0]) && isfinite(lambda[1]) && r.residual.fclib > o.tolerance);
  }
  tb_problem_free(p);
}

// Two joints that turn each other round: I − W/‖W‖ has eigenvalues outside the unit circle, so that Jacobi
// spirals away, and Gauss–Seidel multiplies its error by nine. λ stays finite for thousands of iterations.
TEST(methods_that_diverge_say_so_and_keep_the_best)
{
  static const char* const diverging[] = {"jacobi", "pgs", "psor", "spgs", "bgs", "nncg"};
  tbContext ctx = tb_default_context();
  int ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
  double W[] = {1, 3, -3, 1}, q[] = {-1, 0.5};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  REQUIRE(tb_builder_create(&ctx, "spiral", &b) == TB_OK);
  tb_builder_explicit(b, 2, ptr, col, W);
  for (int k = 0; k < 2; k++) tb_builder_contact(b, TB_LAW_BILATERAL, 1, NULL, q + k, NULL);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (size_t i = 0; i < sizeof diverging / sizeof *diverging; i++) {
    tbSolveOptions o = tb_default_solve_options();
    o.solver = diverging[i];
    o.max_iterations = 1000000;
    double lambda[2] = {0.5, -0.1};
    tbSolveResult r;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_FAILED && r.iterations < 400);
    CHECK(fabs(lambda[0]) < 1 && fabs(lambda[1]) < 1 && r.residual.absolute < 3);
  }
  // where it is a contraction, an error that is huge at first is none
  tbSolveOptions o = tb_default_solve_options();
  o.solver = "prox-jacobi";
  double lambda[2] = {1e12, -1e12};
  tbSolveResult r;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED);
  CHECK_NEAR(lambda[0], 0.25, 1e-6); // W λ = −q
  CHECK_NEAR(lambda[1], 0.25, 1e-6);
  tb_problem_free(p);
}
