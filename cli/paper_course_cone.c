// SPDX-License-Identifier: Apache-2.0
// Table 2, the rows whose methods work on the friction cone itself: staggering, nonsmooth Newton, the
// proximal methods.
#include "cli/paper_course.h"

#include <math.h>

enum { STRUCTURES = 4, LAW_CONTACTS = 18 };
static const Structure structures[STRUCTURES] = {{"stack", TB_GENERATE_STACK, 10, 5, 1},
                                                 {"wall", TB_GENERATE_WALL, 6, 3, 1},
                                                 {"arch", TB_GENERATE_ARCH, 15, 7, 1},
                                                 {"cards", TB_GENERATE_CARDS, 4, 2, 1}};
static const double goal = 1e-6;

// Runs a method on all structures. curves (may be null) takes its traces; the caller frees them.
static tbStatus run_all(Paper* p, Trial trial, tbSolveResult result[STRUCTURES], Trace* curves)
{
  for (int i = 0; i < STRUCTURES; i++) {
    tbProblem* problem = NULL;
    tbStatus status = structure_make(p, structures[i], &problem);
    if (status == TB_OK && curves) {
      status = trace_run(p, problem, trial, &curves[i]);
      result[i] = curves[i].result;
    } else if (status == TB_OK) status = trial_run(p, problem, trial, 1, &result[i]);
    tb_problem_free(problem);
    TB_TRY(status);
  }
  return TB_OK;
}

static int count_solved(const tbSolveResult result[STRUCTURES])
{
  int solved = 0;
  for (int i = 0; i < STRUCTURES; i++) solved += result[i].outcome == TB_CONVERGED;
  return solved;
}

// Every law in turn, with a known answer.
// *borrowed: contacts for which the method took another's equations.
static tbStatus solve_all_laws(Paper* p, const char* solver, double tolerance, tbSolveResult* out,
                               int* borrowed)
{
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = LAW_CONTACTS;
  spec.all_laws = true;
  spec.seed = 3;
  tbProblem* problem = NULL;
  double* lambda = NULL;
  TB_TRY(tb_problem_manufacture(p->ctx, &spec, &problem, &lambda));
  Trial trial = {solver, TB_MODEL_CONE, TB_ORDER_GIVEN, tolerance, 100000, 0};
  tbStatus status = trial_run(p, problem, trial, 1, out);
  *borrowed = tb_solver_borrowed(tb_solver_find(solver), problem, TB_MODEL_CONE);
  tb_manufacture_free(p->ctx, lambda);
  tb_problem_free(problem);
  return status;
}

static tbStatus judge_staggering(Paper* p)
{
  static const char practice[] =
      "staggering: two simpler coupled QPs (for which no convergence proof exists)";
  tbSolveResult result[STRUCTURES];
  if (!tb_solver_find("staggered")) {
    paper_skip(p, practice, "this build has no staggered");
    return TB_OK;
  }
  TB_TRY(run_all(p, (Trial){"staggered", TB_MODEL_CONE, TB_ORDER_GIVEN, goal, 500, 0}, result, NULL));
  paper_claim(p, count_solved(result) >= STRUCTURES - 1, practice,
              "it reaches %g on %d of %d structures within 500 rounds", goal, count_solved(result),
              STRUCTURES);
  return TB_OK;
}

// The largest q with r_{k+1} ≤ r_k^q for a step that begins below 1e-2: 2 where the constant is one.
static double order_of(const Trace* t)
{
  const CurvePoint* p = t->points.data;
  double order = 0;
  for (size_t i = 0; i + 1 < t->points.count; i++)
    if (p[i].residual < 1e-2 && p[i].residual > 0 && p[i + 1].residual > 0)
      order = fmax(order, log(p[i + 1].residual) / log(p[i].residual));
  return order;
}

static tbStatus judge_newton(Paper* p)
{
  tbSolveResult result[STRUCTURES], laws;
  Trace curves[STRUCTURES] = {0};
  double order = INFINITY;
  int most = 0, borrowed = 0;
  tbStatus status =
      run_all(p, (Trial){"newton-fb", TB_MODEL_CONE, TB_ORDER_GIVEN, 1e-9, 200, 0}, result, curves);
  for (int i = 0; i < STRUCTURES && status == TB_OK; i++) {
    order = fmin(order, order_of(&curves[i]));
    most = result[i].iterations > most ? result[i].iterations : most;
  }
  for (int i = 0; i < STRUCTURES; i++) trace_free(p, &curves[i]);
  if (status == TB_OK) status = solve_all_laws(p, "newton-fb", 1e-8, &laws, &borrowed);
  if (status != TB_OK) return status;
  paper_claim(
      p, order >= 1.7 && count_solved(result) == STRUCTURES, "nonsmooth Newton: quadratic convergence rate",
      "the best step of each run has order %.2f or more; %d of %d reach 1e-9 in at most %d iterations", order,
      count_solved(result), STRUCTURES, most);
  paper_claim(
      p, laws.outcome == TB_CONVERGED, "nonsmooth Newton: support for nonlinear friction models",
      "cones, ellipses, ellipsoids, rolling and directional friction in one problem of %d contacts: residual "
      "%.1e; %d of them, whose sets have no width, by another method's equations",
      LAW_CONTACTS, laws.residual.fclib, borrowed);
  return TB_OK;
}

static const char guarantee[] = "proximal methods: strong convergence guarantee";

static void judge_guarantee(Paper* p, const char* solver, const tbSolveResult result[STRUCTURES])
{
  int worst = 0;
  for (int i = 0; i < STRUCTURES; i++)
    if (result[i].residual.fclib > result[worst].residual.fclib) worst = i;
  paper_claim(p, count_solved(result) == STRUCTURES, guarantee,
              "%s reaches %g on %d of %d structures within 20000 iterations; worst residual %.1e (%s)",
              solver, goal, count_solved(result), STRUCTURES, result[worst].residual.fclib,
              structures[worst].name);
}

enum { STRATEGIES = 3, SPHERES = 10 };
static const tbRFactor strategies[STRATEGIES] = {TB_RFACTOR_LOCAL, TB_RFACTOR_GLOBAL, TB_RFACTOR_BLOCK};

// Every strategy with one method, on all structures: how much it matters, and how often each is the best.
typedef struct {
  double spread; // the most iterations over the fewest, on the worst structure
  const char* where;
  int wins[STRATEGIES];
} Choice;

static tbStatus compare_strategies(Paper* p, const char* solver, tbSolveResult local[STRUCTURES],
                                   Choice* choice)
{
  tbSolveResult result[STRATEGIES][STRUCTURES];
  for (int s = 0; s < STRATEGIES; s++)
    TB_TRY(run_all(p, (Trial){solver, TB_MODEL_CONE, TB_ORDER_GIVEN, goal, 20000, strategies[s]}, result[s],
                   NULL));
  for (int i = 0; i < STRUCTURES; i++) {
    int best = 0, worst = 0;
    for (int s = 1; s < STRATEGIES; s++) {
      if (result[s][i].iterations < result[best][i].iterations) best = s;
      if (result[s][i].iterations > result[worst][i].iterations) worst = s;
    }
    double spread = (double)result[worst][i].iterations / fmax(result[best][i].iterations, 1);
    if (spread > choice->spread) choice->spread = spread, choice->where = structures[i].name;
    choice->wins[best]++;
    local[i] = result[0][i];
  }
  return TB_OK;
}

// What the last step before rounding leaves of the residual.
static double last_factor(const Trace* t)
{
  const CurvePoint* p = t->points.data;
  size_t last = 1;
  if (t->points.count < 2) return 1;
  while (last + 1 < t->points.count && p[last].residual > 1e-13) last++;
  return fmax(p[last].residual, 1e-17) / p[last - 1].residual;
}

// Spheres of 1 to 10 kg thrown onto a plane, apart from each other: some will stick and some slide. W is
// diagonal.
static tbStatus make_spheres(Paper* p, tbProblem** out)
{
  tbBuilder* b = NULL;
  TB_TRY(tb_builder_create(p->ctx, "spheres", &b));
  double mass = 1, radius = 0.1, mu = 0.4;
  for (int i = 0; i < SPHERES; i++, mass *= 1.3) {
    double I = 0.4 * mass * radius * radius, inertia[9] = {I, 0, 0, 0, I, 0, 0, 0, I};
    tb_builder_rigid(b, mass, inertia, (double[]){0.3 * i, 0.1 * i * i, -2, 0, 0, 0}, NULL);
  }
  for (int i = 0; i < SPHERES; i++) {
    double J[18] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -radius, 0, 0, 1, 0, radius, 0, 0};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 6 * i, 6, J);
  }
  return tb_builder_finish(b, out);
}

// Where the r-factors are W's inverse, a step is one of Newton's; where they are not, the rate is linear.
static tbStatus judge_superlinear(Paper* p)
{
  double last[2] = {1, 1};
  int steps[2] = {0};
  tbProblem* problem = NULL;
  TB_TRY(make_spheres(p, &problem));
  tbStatus status = TB_OK;
  for (int i = 0; i < 2 && status == TB_OK; i++) {
    Trace t;
    Trial trial = {"prox-jacobi", TB_MODEL_CONE, TB_ORDER_GIVEN, 1e-13, 20000, strategies[i]};
    status = trace_run(p, problem, trial, &t);
    if (status != TB_OK) break;
    last[i] = last_factor(&t);
    steps[i] = t.result.iterations;
    trace_free(p, &t);
  }
  tb_problem_free(problem);
  TB_TRY(status);
  paper_claim(p, last[0] < 1e-6 && last[1] > 1e-2,
              "proximal methods: can achieve super-linear convergence rate",
              "spheres on a plane, where local r-factors invert W: the last of %d steps leaves %.0e of the "
              "residual; of %d with one r-factor for all, %.2f",
              steps[0], last[0], steps[1], last[1]);
  return TB_OK;
}

static tbStatus judge_prox(Paper* p)
{
  tbSolveResult gs[STRUCTURES], jacobi[STRUCTURES], laws;
  Choice choice = {.spread = 1, .where = ""};
  int borrowed;
  TB_TRY(compare_strategies(p, "prox-gs", gs, &choice));
  TB_TRY(compare_strategies(p, "prox-jacobi", jacobi, &choice));
  TB_TRY(solve_all_laws(p, "prox-gs", goal, &laws, &borrowed));
  judge_guarantee(p, "prox-gs", gs);
  judge_guarantee(p, "prox-jacobi", jacobi);
  paper_claim(p, laws.outcome == TB_CONVERGED, "proximal methods: support nonlinear friction models",
              "every law in one problem: residual %.1e", laws.residual.fclib);
  int most = 0;
  for (int s = 0; s < STRATEGIES; s++) most = choice.wins[s] > most ? choice.wins[s] : most;
  paper_claim(p, choice.spread > 1.5 && most < 2 * STRUCTURES,
              "proximal methods: difficult to select regularisation parameter values",
              "the strategy for r costs up to %.1f times the iterations (%s), and none is always the best: "
              "local %d, global %d, block %d of %d",
              choice.spread, choice.where, choice.wins[0], choice.wins[1], choice.wins[2], 2 * STRUCTURES);
  return judge_superlinear(p);
}

tbStatus course_table_2_cone(Paper* p)
{
  TB_TRY(judge_staggering(p));
  TB_TRY(judge_newton(p));
  return judge_prox(p);
}
