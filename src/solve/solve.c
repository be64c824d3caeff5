// SPDX-License-Identifier: Apache-2.0
// From a problem and options to a judged answer: checks, W, scratch, one run.
#include "base/clock.h"
#include "problem/judge.h"
#include "solve/judged.h"
#include "solve/kept.h"
#include "solve/merit.h"
#include "solve/methods.h"
#include "solve/options.h"
#include "solve/run.h"
#include "solve/units.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const char* const outcomes[] = {
    [TB_CONVERGED] = "converged", [TB_MAX_ITERATIONS] = "max_iterations",
    [TB_TIME] = "time",           [TB_CANCELLED] = "cancelled",
    [TB_FAILED] = "failed",       [TB_UNJUDGED] = "unjudged",
};
static const char* const orders[TB_ORDER_COUNT] = {
    [TB_ORDER_GIVEN] = "given",   [TB_ORDER_RANDOM] = "random",       [TB_ORDER_COLOUR] = "colour",
    [TB_ORDER_GREEDY] = "greedy", [TB_ORDER_SYMMETRIC] = "symmetric", [TB_ORDER_LAYERS] = "layers",
};

static const char* const r_factors[TB_RFACTOR_COUNT] = {
    [TB_RFACTOR_OWN] = "own",
    [TB_RFACTOR_GLOBAL] = "global",
    [TB_RFACTOR_LOCAL] = "local",
    [TB_RFACTOR_BLOCK] = "block",
};

static const char* const preconditioners[TB_PRECONDITIONER_COUNT] = {
    [TB_PRECONDITIONER_FULL] = "full",
    [TB_PRECONDITIONER_DIAG] = "diag",
    [TB_PRECONDITIONER_FACTOR] = "factor",
    [TB_PRECONDITIONER_SCHUR] = "schur",
};

const char* tb_preconditioner_name(tbPreconditioner preconditioner)
{
  return (unsigned)preconditioner < TB_PRECONDITIONER_COUNT ? preconditioners[preconditioner] : "unknown";
}

const char* tb_krylov_name(tbKrylov krylov)
{
  static const char* const names[TB_KRYLOV_COUNT] = {"cr", "minres"};
  return (unsigned)krylov < TB_KRYLOV_COUNT ? names[krylov] : "unknown";
}

const char* tb_state_changes_name(tbStateChanges changes)
{
  static const char* const names[TB_STATES_COUNT] = {"early", "converged"};
  return (unsigned)changes < TB_STATES_COUNT ? names[changes] : "unknown";
}

bool tb_preconditioner_from_name(const char* name, tbPreconditioner* out)
{
  for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++)
    if (strcmp(name, preconditioners[i]) == 0) {
      *out = (tbPreconditioner)i;
      return true;
    }
  return false;
}

const char* tb_outcome_name(tbOutcome outcome)
{
  return (unsigned)outcome <= TB_FAILED ? outcomes[outcome] : "unknown";
}
const char* tb_order_name(tbOrder order)
{
  return (unsigned)order < TB_ORDER_COUNT ? orders[order] : "unknown";
}

bool tb_order_from_name(const char* name, tbOrder* out)
{
  for (int i = 0; i < TB_ORDER_COUNT; i++)
    if (strcmp(name, orders[i]) == 0) {
      *out = (tbOrder)i;
      return true;
    }
  return false;
}

const char* tb_r_factor_name(tbRFactor strategy)
{
  return (unsigned)strategy < TB_RFACTOR_COUNT ? r_factors[strategy] : "unknown";
}

bool tb_r_factor_from_name(const char* name, tbRFactor* out)
{
  for (int i = 0; i < TB_RFACTOR_COUNT; i++)
    if (strcmp(name, r_factors[i]) == 0) {
      *out = (tbRFactor)i;
      return true;
    }
  return false;
}

static tbStatus check_options(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o,
                              const double* lambda, const tbSolver** solver)
{
  if (!o->solver || !(*solver = tb_solver_named(ctx, o->solver)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no solver is called \"%s\"", o->solver ? o->solver : "(null)");
  for (int i = 0; i < tb_solve_option_count(); i++) {
    const tbOption* option = tb_solve_option_at(i);
    if (option->type != TB_OPTION_NAME)
      TB_TRY(tb_option_check(ctx, option, o)); // the solver may be the caller's
  }
  if (!(o->relaxation >= 0 && o->relaxation < 2))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "relaxation must be in (0, 2), or 0 for the method's own; is %g",
                   o->relaxation);
  for (int i = 0; i < p->nrow; i++)
    if (!isfinite(lambda[i]))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the warm start holds %g at row %d", lambda[i], i);
  const char* why = tb_solver_refuses(*solver, p, o->model);
  if (why) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "%s cannot solve this: %s", o->solver, why);
  return TB_OK;
}

// Where a block has no factor the judge takes a solve by conjugate gradients, as long as a method's whole
// run.
static bool judging_is_expensive(const tbProblem* p)
{
  for (int i = 0; i < p->nblock; i++)
    if (p->block[i].kind == TB_METRIC_SPARSE && !p->block[i].factor) return true;
  return false;
}

enum { SELDOM = 25, DEAR = 30 }; // iterations of a method that asks, before the judge comes by unasked

tbStatus tb_run_method(tbContext* ctx, const tbSolver* solver, tbRun* run, double* lambda)
{
  run->costly = solver->costly;
  run->seldom = !solver->asks ? 0 : judging_is_expensive(run->p) ? DEAR : SELDOM;
  run->next_check = run->seldom;
  run->last_check = 0;
  run->last_number = run->last_error = run->merit = INFINITY;
  run->rises = 0;
  tbStatus status = tb_run_prepare(ctx, solver, run);
  if (status == TB_OK) {
    run->scratch = (tbScratch){.size = solver->scratch_bytes(run->W, run->o)};
    if (run->scratch.size == TB_SCRATCH_TOO_LARGE)
      status = tb_fail(ctx, TB_ERROR_UNSUPPORTED, "%s cannot solve this: it is too large for a dense method",
                       solver->name);
    else if (!(run->scratch.base = TB_NEW(ctx, char, run->scratch.size))) status = TB_ERROR_MEMORY;
  }
  if (status == TB_OK) {
    tb_run_begin(run);
    run->used = solver->name;
    solver->solve(run, lambda);
  }
  tb_free(ctx, run->scratch.base);
  run->scratch = (tbScratch){0};
  run->w = NULL;
  tb_run_release(ctx, solver, run, status != TB_OK);
  return status;
}

tbStatus tb_run_form(tbContext* ctx, const tbSolver* solver, const tbRun* run, tbForm* out)
{
  *out = solver->needs;
  return solver->form ? solver->form(ctx, run->p, run->o, out) : TB_OK;
}

// The usual way: one form of W, one method.
static tbStatus run_alone(tbContext* ctx, const tbSolver* solver, tbRun* run, double* lambda)
{
  tbDelassus* W = NULL;
  tbForm form;
  TB_TRY(tb_run_form(ctx, solver, run, &form));
  tbInverse inverse = solver->inverse != TB_INVERSE_EXACT ? solver->inverse : run->o->inverse;
  TB_TRY(tb_run_operator(ctx, run, form, inverse, &W));
  run->W = W;
  tbStatus status = tb_run_method(ctx, solver, run, lambda);
  tb_run_operator_done(ctx, run, W);
  return status;
}

// A warm start this many times the tolerances off: bodies are on their way, and the answer will be as far off
// as the start of the next step as the last one is now. Few contacts are polished even so: it costs little.
static const double ASTRAY = 1e4;
enum { FEW_CONTACTS = 100 };

// Asks the judge about λ before there is anything else; true when that ends the run. A sweep costs no more
// than the judge, so that methods which sweep go straight ahead from λ = 0; and so do all where judging is
// expensive.
static bool start_is_enough(tbRun* run, const tbSolver* solver, const double* lambda)
{
  const tbSolveOptions* o = run->o;
  bool cold = true;
  for (int i = 0; cold && i < run->p->nrow; i++) cold = lambda[i] == 0;
  bool go = cold && solver->needs == TB_FORM_SWEEP && o->max_iterations > 0 && !o->trace;
  go = go || (o->max_iterations > 0 && !o->trace && judging_is_expensive(run->p));
  run->used = solver->name;
  run->last_number = INFINITY;
  if (!go) {
    run->started = tb_seconds();
    if (tb_run_done(run, 0, lambda)) return true;
    run->astray = !cold && run->p->ncontact > FEW_CONTACTS && run->best_number > ASTRAY;
    run->judging_start = tb_seconds() - run->started;
    run->started = 0;
  }
  run->start_known = true;
  return false;
}

// What the judge may leave of Jᵀλ on the way, as a share of the tolerance: with it the number is known well
// enough to compare it with a little less than the tolerance.
static const double LEFT = 1e-2, NEARLY = 0.97;

// A set-up that was stopped has failed; a run that was has not: its answer is the best so far. A caller that
// interrupts the whole call wants none.
static tbStatus take_stop(tbContext* ctx, const tbContext* own, tbRun* run, tbStatus status)
{
  if (run->started == 0) run->started = run->finished = tb_seconds();
  if (atomic_load(&run->stop->reason) == TB_STOP_INTERRUPT)
    return tb_fail(ctx, TB_ERROR_CANCELLED, "cancelled");
  if (status == TB_ERROR_CANCELLED) {
    tb_run_spent(run);
    return TB_OK;
  }
  if (status != TB_OK) ctx->error = own->error;
  return status;
}

// Whatever the budget, what is handed out is no worse than the start, which need not have been judged, nor
// than no impulses at all.
static void fall_back(tbRun* run, const double* start, double* iterate)
{
  if (run->good) return;
  tb_judge_start_from(run->judge, run->w_guess);
  tb_run_consider(run, start);
  memset(iterate, 0, (size_t)run->p->nrow * sizeof *iterate);
  tb_judge_start_from(run->judge, NULL);
  tb_run_consider(run, iterate);
}

static tbStatus solve(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, tbPartOf part,
                      double enough, tbSolveKept* kept, double* lambda, const double* w,
                      tbSolveResult* result, tbJudge** judge)
{
  const tbSolver* solver = NULL;
  TB_TRY(check_options(ctx, problem, options, lambda, &solver));
  double start = tb_seconds();
  size_t rows = (size_t)problem->nrow;
  tbStop stop;
  tb_stop_begin(&stop, ctx, options->cancelled, options->cancelled_user, options->time_budget_s);
  if (options->time_left_s) stop.deadline = fmin(stop.deadline, start + fmax(0, *options->time_left_s));
  tbContext own = *ctx;
  own.interrupt = tb_stop_interrupt(&stop);
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbRun run = {.p = problem,
               .o = options,
               .part = part,
               .enough = enough,
               .kept = kept,
               .within = judging_is_expensive(problem) ? NEARLY : 1,
               .threads = ctx->threads,
               .stop = &stop,
               .w_guess = w,
               .best_number = INFINITY,
               .outcome = TB_FAILED,
               .stage_cap = INT_MAX};
  double* iterate = TB_TAKE(&arena, double, rows);
  run.best = TB_TAKE(&arena, double, rows);
  bool asked = tb_merit_is_asked(options);
  if (asked) run.merit_u = TB_TAKE(&arena, double, rows);
  tbStatus status =
      iterate && run.best && (!asked || run.merit_u) ? tb_run_judge_get(ctx, &run) : TB_ERROR_MEMORY;
  bool over = false;
  if (status == TB_OK) {
    memcpy(iterate, lambda, rows * sizeof *lambda);
    memcpy(run.best, lambda, rows * sizeof *lambda);
    tb_judge_accuracy(run.judge, LEFT * tb_run_relative(&run));
    tb_judge_start_from(run.judge, w);
    over = start_is_enough(&run, solver, iterate);
  }
  if (status == TB_OK && !over && (options->order == TB_ORDER_COLOUR || options->order == TB_ORDER_LAYERS))
    status = tb_run_group(ctx, &arena, &run);
  if (status == TB_OK) {
    if (!over)
      status = solver->drive ? solver->drive(&own, &run, iterate) : run_alone(&own, solver, &run, iterate);
    status = take_stop(ctx, &own, &run, status);
  }
  if (status == TB_OK) fall_back(&run, lambda, iterate);
  bool unknown = isinf(run.best_number); // nothing was judged, or nothing was finite: say it of the start
  if (status == TB_OK && (unknown || (!judge && judging_is_expensive(problem)))) { // what is said is exact
    run.within = 1;
    tb_judge_accuracy(run.judge, 0);
    tb_judge_start_from(run.judge, NULL);
    tb_judge_measure(run.judge, run.best, options->model, options->directions, &run.best_residual, NULL,
                     NULL);
    run.good = run.good && tb_run_is_good(&run, &run.best_residual);
  }
  if (status == TB_OK) {
    memcpy(lambda, run.best, rows * sizeof *lambda);
    *result = (tbSolveResult){
        // whatever ended what came after; good no longer, once it is measured exactly: not converged
        .outcome = run.good                      ? TB_CONVERGED
                   : run.outcome == TB_CONVERGED ? TB_FAILED
                                                 : run.outcome,
        .iterations = run.iterations,
        .time_s = run.finished - run.started - run.excluded,
        .setup_s = run.started - start,
        .merit = asked && isfinite(run.merit) ? run.merit : 0,
        .operations = solver->counts ? run.operations : 0,
        .residual = run.best_residual,
        .used = run.used,
    };
  }
  if (options->time_left_s) *options->time_left_s -= tb_seconds() - start - run.excluded;
  if (status == TB_OK && judge) *judge = run.judge;
  else tb_run_judge_done(ctx, &run);
  tb_arena_free(&arena);
  return status;
}

static tbStatus solve_alone(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                            double* lambda, tbSolveResult* result)
{
  return solve(ctx, problem, options, TB_PART_WHOLE, 0, NULL, lambda, NULL, result, NULL);
}

tbStatus tb_solve_kept(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                       tbSolveKept* kept, double* lambda, tbSolveResult* result)
{
  if (!tb_units_are_odd(problem))
    return solve(ctx, problem, options, TB_PART_WHOLE, 0, kept, lambda, NULL, result, NULL);
  const tbSolver* solver = NULL;
  TB_TRY(check_options(ctx, problem, options, lambda, &solver));
  return tb_units_solve(ctx, problem, options, solve_alone, lambda, result, NULL);
}

tbStatus tb_solve(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, double* lambda,
                  tbSolveResult* result)
{
  return tb_solve_kept(ctx, problem, options, NULL, lambda, result);
}

tbStatus tb_solve_part(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, tbPartOf part,
                       double enough, tbSolveKept* kept, double* lambda, tbSolveResult* result)
{
  return solve(ctx, problem, options, part, enough, kept, lambda, NULL, result, NULL);
}

tbStatus tb_solve_judged(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                         double* lambda, const double* w, tbSolveResult* result, tbJudge** judge)
{
  *judge = NULL;
  if (!tb_units_are_odd(problem))
    return solve(ctx, problem, options, TB_PART_WHOLE, 0, NULL, lambda, w, result, judge);
  const tbSolver* solver = NULL;
  TB_TRY(check_options(ctx, problem, options, lambda, &solver));
  return tb_units_solve(ctx, problem, options, solve_alone, lambda, result, judge);
}
