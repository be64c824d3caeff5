// Table 2, the rows whose methods work on the friction cone itself: staggering, nonsmooth Newton, the
// proximal methods.
#include "cli/paper_course.h"

#include <math.h>

enum { STRUCTURES = 4 };
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
static tbStatus solve_all_laws(Paper* p, const char* solver, double tolerance, tbSolveResult* out)
{
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 18;
  spec.all_laws = true;
  spec.seed = 3;
  tbProblem* problem = NULL;
  double* lambda = NULL;
  TB_TRY(tb_problem_manufacture(p->ctx, &spec, &problem, &lambda));
  Trial trial = {solver, TB_MODEL_CONE, TB_ORDER_GIVEN, tolerance, 100000, 0};
  tbStatus status = trial_run(p, problem, trial, 1, out);
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
  int most = 0;
  tbStatus status =
      run_all(p, (Trial){"newton-fb", TB_MODEL_CONE, TB_ORDER_GIVEN, 1e-9, 200, 0}, result, curves);
  for (int i = 0; i < STRUCTURES && status == TB_OK; i++) {
    order = fmin(order, order_of(&curves[i]));
    most = result[i].iterations > most ? result[i].iterations : most;
  }
  for (int i = 0; i < STRUCTURES; i++) trace_free(p, &curves[i]);
  if (status == TB_OK) status = solve_all_laws(p, "newton-fb", 1e-8, &laws);
  if (status != TB_OK) return status;
  paper_claim(
      p, order >= 1.7 && count_solved(result) == STRUCTURES, "nonsmooth Newton: quadratic convergence rate",
      "the best step of each run has order %.2f or more; %d of %d reach 1e-9 in at most %d iterations", order,
      count_solved(result), STRUCTURES, most);
  paper_claim(p, laws.outcome == TB_CONVERGED, "nonsmooth Newton: support for nonlinear friction models",
              "cones, ellipses, ellipsoids, rolling and directional friction in one problem: residual %.1e",
              laws.residual.fclib);
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

static tbStatus judge_prox(Paper* p)
{
  static const char nonlinear[] = "proximal methods: support nonlinear friction models";
  static const char difficult[] = "proximal methods: difficult to select regularisation parameter values";
  static const char superlinear[] = "proximal methods: can achieve super-linear convergence rate";
  if (!tb_solver_find("prox-gs") || !tb_solver_find("prox-jacobi")) {
    const char* const claims[] = {guarantee, nonlinear, difficult, superlinear};
    for (int i = 0; i < 4; i++) paper_skip(p, claims[i], "this build has no prox-gs or no prox-jacobi");
    return TB_OK;
  }
  tbSolveResult gs[STRUCTURES], jacobi[STRUCTURES], global[STRUCTURES], laws;
  Trace curves[STRUCTURES] = {0};
  Trial trial = {"prox-gs", TB_MODEL_CONE, TB_ORDER_GIVEN, goal, 20000, 0};
  TB_TRY(run_all(p, trial, gs, NULL));
  trial.solver = "prox-jacobi";
  tbStatus status = run_all(p, trial, jacobi, curves);
  trial.r_factor = TB_RFACTOR_GLOBAL;
  if (status == TB_OK) status = run_all(p, trial, global, NULL);
  double bend = 0, spread = 1;
  for (int i = 0; i < STRUCTURES && status == TB_OK; i++) {
    bend = fmax(bend, order_of(&curves[i]));
    double factor = (double)global[i].iterations / jacobi[i].iterations;
    spread = fmax(spread, fmax(factor, 1 / factor));
  }
  for (int i = 0; i < STRUCTURES; i++) trace_free(p, &curves[i]);
  if (status == TB_OK) status = solve_all_laws(p, "prox-gs", goal, &laws);
  if (status != TB_OK) return status;
  judge_guarantee(p, "prox-gs", gs);
  judge_guarantee(p, "prox-jacobi", jacobi);
  paper_claim(p, laws.outcome == TB_CONVERGED, nonlinear, "every law in one problem: residual %.1e",
              laws.residual.fclib);
  paper_claim(p, spread > 2, difficult,
              "one r-factor for all costs up to %.1f times the iterations of one per row", spread);
  if (bend > 1.5) paper_claim(p, true, superlinear, "a step of order %.2f", bend);
  else paper_skip(p, superlinear, "not seen on these structures, where no step has an order above 1.5");
  return TB_OK;
}

tbStatus course_table_2_cone(Paper* p)
{
  TB_TRY(judge_staggering(p));
  TB_TRY(judge_newton(p));
  return judge_prox(p);
}
