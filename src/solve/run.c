// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "problem/judge.h"
#include "solve/merit.h"
#include "tribo/math.h"

#include <limits.h>
#include <string.h>

// Judging costs as much as one to four iterations of a cheap method, so it is asked for when it may matter:
// most of the way to where the last two numbers, on a straight line in the logarithm, reach the tolerance; no
// further ahead than half of what has been done, and every eighth where the numbers do not fall. The schedule
// knows nothing of clocks: results repeat.
static const double MOST_OF_THE_WAY = 0.8;

static int next_check_after(const tbRun* run, int iteration, double number, double tolerance)
{
  double fallen = tb_ln(run->last_number / number), to_go = tb_ln(number / tolerance);
  double ahead = MOST_OF_THE_WAY * to_go / fallen * (iteration - run->last_check);
  if (run->costly) return iteration + 1;
  if (run->seldom) return iteration < INT_MAX / 4 ? 2 * iteration + run->seldom : INT_MAX;
  if (!(fallen > 0) || !(to_go > 0)) ahead = iteration / 8.0;
  return iteration + 1 + (int)fmin(ahead, iteration / 2.0);
}

static double scale_of(const tbResidual* r)
{
  double largest = fmax(r->norm_q, fmax(r->norm_lambda, r->norm_u));
  return largest > 0 ? largest : 1;
}

// E/max(‖q‖, ‖λ‖, ‖u‖) compares impulses with velocities. Where one outweighs the other by more than any unit
// of mass in use explains, it says nothing of the lesser one, and the number in m/s speaks for it.
static const double ODD_UNITS = 1e12;

static double relative_number(const tbResidual* r, const tbSolveOptions* o)
{
  bool cone = o->model == TB_MODEL_CONE;
  double number = cone ? r->fclib : r->model, speed = fmax(r->norm_q, r->norm_u);
  bool odd = r->norm_lambda > ODD_UNITS * speed || ODD_UNITS * r->norm_lambda < speed;
  return odd && speed > 0 ? fmax(number, (cone ? r->velocity : r->model_velocity) / speed) : number;
}

// `enough`, where it is positive: E that will do whatever the tolerances relative to norms say.
static double excess_of(const tbResidual* r, const tbSolveOptions* o, double enough)
{
  double number = relative_number(r, o), excess = 0;
  double velocity = o->model == TB_MODEL_CONE ? r->velocity : r->model_velocity;
  if (!isfinite(number)) return INFINITY;
  if (!(o->tolerance > 0 || o->tolerance_q > 0 || o->velocity_tolerance > 0))
    return number > 0 ? INFINITY : 0;
  if (o->tolerance > 0) excess = number / o->tolerance;
  if (o->tolerance_q > 0) excess = fmax(excess, r->natural_map / o->tolerance_q);
  if (enough > 0) excess = fmin(excess, number * scale_of(r) / enough);
  if (o->velocity_tolerance > 0) excess = fmax(excess, velocity / o->velocity_tolerance);
  return excess;
}

double tb_residual_excess(const tbResidual* r, const tbSolveOptions* o) { return excess_of(r, o, 0); }

static double excess(const tbRun* run, const tbResidual* r) { return excess_of(r, run->o, run->enough); }

static double model_number(const tbRun* run, const tbResidual* r)
{
  return run->o->model == TB_MODEL_CONE ? r->fclib : r->model;
}

// What steers a run: the excess; where nothing is asked, the number that tolerances would apply to.
static double number_of(const tbRun* run, const tbResidual* r)
{
  double over = excess(run, r);
  return isinf(over) ? model_number(run, r) : over;
}

// E of the model asked for.
static double error_of(const tbRun* run, const tbResidual* r) { return model_number(run, r) * scale_of(r); }

// On a problem without a solution λ may grow for ever, and E/max(‖q‖, ‖λ‖, ‖u‖) shrinks as it does. Where the
// velocities that λ causes by itself, W_ii λ_i, dwarf all others, that number says nothing, and E/‖q‖ must
// speak for it.
static bool ran_away(const tbRun* run, const tbResidual* r, const double* lambda)
{
  const tbDelassus* W = run->W;
  if (!(error_of(run, r) > sqrt(run->o->tolerance) * r->norm_q)) return false;
  if (!W) return true; // not known before W is built
  double own = 0;
  for (int k = 0; k < run->p->ncontact; k++)
    for (int i = 0, rows = tb_rows(run->p, k); i < rows; i++)
      own = fmax(own,
                 fabs(W->diag[W->diag_adr[k] + (size_t)(i * (rows + 1))] * lambda[run->p->row_adr[k] + i]));
  return own > 1e4 * fmax(r->norm_q, r->norm_u);
}

bool tb_run_is_good(const tbRun* run, const tbResidual* r) { return excess(run, r) <= run->within; }

double tb_run_relative(const tbRun* run)
{
  const tbSolveOptions* o = run->o;
  double least = INFINITY, speed = 0;
  if (o->tolerance > 0) least = o->tolerance;
  if (o->tolerance_q > 0) least = fmin(least, o->tolerance_q);
  if (o->velocity_tolerance > 0) {
    for (int i = 0; i < run->p->ndof; i++) speed = fmax(speed, fabs(run->p->v_free[i]));
    for (int i = 0; i < run->p->nrow; i++) speed = fmax(speed, fabs(run->p->bias[i]));
    if (speed > 0) least = fmin(least, o->velocity_tolerance / speed);
  }
  return isinf(least) ? 0 : fmin(least, 1e-3);
}

static void take(tbRun* run, const tbResidual* residual, const double* lambda)
{
  run->best_residual = *residual, run->best_number = number_of(run, residual);
  memcpy(run->best, lambda, (size_t)run->p->nrow * sizeof *lambda);
}

// True when λ is as good as asked for.
static bool keep_the_best(tbRun* run, const tbResidual* residual, const double* lambda)
{
  double number = number_of(run, residual);
  bool good = tb_run_is_good(run, residual);
  bool small = run->o->tolerance > 0 && model_number(run, residual) <= run->o->tolerance;
  if (small && relative_number(residual, run->o) > run->o->tolerance) return false; // it says nothing here
  if (small && ran_away(run, residual, lambda)) return false;
  if (number < run->best_number) take(run, residual, lambda);
  return good;
}

static double speed_of(const tbRun* run, const tbResidual* r)
{
  return run->o->model == TB_MODEL_CONE ? r->velocity : r->model_velocity;
}

// The best so far misses the law by more than another answer, in E and in m/s. A tolerance on
// E/max(‖q‖, ‖λ‖, ‖u‖) alone would prefer it where impulses that throw everything about made the norms large.
static bool best_misses_more(const tbRun* run, const tbResidual* other)
{
  const tbResidual* best = &run->best_residual;
  return isfinite(run->best_number) && error_of(run, best) > error_of(run, other) &&
         speed_of(run, best) > speed_of(run, other);
}

void tb_run_consider(tbRun* run, const double* lambda)
{
  tbResidual residual;
  tb_judge_measure(run->judge, lambda, run->o->model, run->o->directions, &residual, NULL, NULL);
  if (run->settled && residual.penetration > run->best_residual.penetration &&
      !tb_run_is_good(run, &residual))
    return;
  if (keep_the_best(run, &residual, lambda)) run->good = true;
  else if (!run->good && best_misses_more(run, &residual)) take(run, &residual, lambda);
}

// A method that is no contraction on this problem (an unsymmetric W, a step too long) multiplies its error
// for ever, and the scaled number does not show it: λ grows as fast. So E itself is watched, the natural map
// as a merit function (course §3.2.1, algorithm 7, which takes ‖λ‖_∞; but that must grow when λ starts at
// zero). Diverged: a million times ‖q‖ and the first E, and more at each of the last eight looks than at the
// one before. Methods that overshoot and return do the one or the other.
static bool diverged(tbRun* run, const tbResidual* r)
{
  double E = error_of(run, r);
  if (isinf(run->last_error)) run->first_error = E;
  run->rises = E > run->last_error ? run->rises + 1 : 0;
  run->last_error = E;
  return run->rises >= 8 && E > 1e6 * fmax(run->first_error, r->norm_q);
}

double tb_run_aim(const tbRun* run)
{
  double aim = run->o->aim;
  return aim > 0 && aim < 1 && !run->astray ? aim : 1;
}

// Whether a run that is good enough ends: it is as good as it is meant to be, or has had its time to become
// so, which is longer where an iteration costs little.
static bool polished(const tbRun* run, const tbResidual* r)
{
  enum { CONTACTS = 10000, LONGEST = 300, FEW = 4 }; // contacts of all more iterations together; iterations
  if (number_of(run, r) <= tb_run_aim(run)) return true;
  int longer = CONTACTS / (run->p->ncontact + 1), since = run->iterations - run->good_at;
  if (run->costly && since >= FEW + longer) return true;
  return since >= 2 + run->good_at / 4 + (longer < LONGEST ? longer : LONGEST);
}

static bool end(tbRun* run, tbOutcome outcome)
{
  run->outcome = outcome;
  run->finished = tb_seconds();
  return true;
}

void tb_run_stop(tbRun* run, tbOutcome outcome) { (void)end(run, outcome); }

void tb_run_settle(tbRun* run, const double* lambda)
{
  tbResidual residual;
  if (run->stage_cap != INT_MAX || run->part != TB_PART_WHOLE)
    return; // one of several: the best of all counts
  tb_run_consider(run, lambda);
  if (run->good) return; // within the tolerances, which is all that is asked for
  tb_judge_measure(run->judge, lambda, run->o->model, run->o->directions, &residual, NULL, NULL);
  if (isinf(number_of(run, &residual))) return;
  if (run->o->tolerance > 0 && model_number(run, &residual) <= run->o->tolerance) return; // it has run away
  take(run, &residual, lambda);
  run->settled = true;
}

void tb_run_begin(tbRun* run)
{
  if (run->started == 0) run->started = tb_seconds() - run->judging_start;
}

static bool end_if(tbRun* run, tbStopReason reason)
{
  return reason != TB_STOP_NOT && end(run, reason == TB_STOP_TIME ? TB_TIME : TB_CANCELLED);
}

static bool end_if_stopped(tbRun* run) { return end_if(run, tb_stop_reason(run->stop)); }

void tb_run_give_up(tbRun* run)
{
  if (!end_if_stopped(run)) end(run, TB_FAILED);
}

bool tb_run_spent(tbRun* run)
{
  if (end_if_stopped(run)) return true;
  return run->iterations >= run->o->max_iterations && end(run, TB_MAX_ITERATIONS);
}

// The rules of the merit function; the first look knows no change.
static tbMeritRule ask_merit(tbRun* run, const double* lambda)
{
  if (!run->merit_u || !run->W) return TB_MERIT_GO_ON;
  double last = run->merit;
  if (run->w) tb_judge_start_from(run->judge, run->w);
  run->merit = tb_merit(run, lambda, run->merit_u);
  return tb_merit_rule(run->o, last, run->merit);
}

bool tb_run_done(tbRun* run, int iteration, const double* lambda)
{
  const tbSolveOptions* o = run->o;
  run->unasked += run->p->nrow + run->p->ndof;
  tbStopReason reason = tb_stop_reason_after(run->stop, &run->unasked);
  if (reason == TB_STOP_INTERRUPT) return end(run, TB_CANCELLED); // the caller wants no answer
  if (iteration == 0 && run->start_known) return end_if(run, reason);
  run->iterations = run->before + iteration;
  bool spent = run->iterations >= o->max_iterations || iteration >= run->stage_cap,
       late = reason == TB_STOP_TIME, cancelled = reason == TB_STOP_CANCELLED;
  bool due = iteration >= run->next_check || spent || late || cancelled || o->trace || run->merit_u;
  if (!due) return false;
  if (run->publish) run->publish(run->publisher);
  tbMeritRule rule = ask_merit(run, lambda);
  due = iteration >= run->next_check || spent || late || cancelled || rule != TB_MERIT_GO_ON;
  if (!due && !o->trace) return false;

  tbResidual residual;
  double before = o->trace || o->watch ? tb_seconds() : 0;
  if (run->w) tb_judge_start_from(run->judge, run->w);
  tb_judge_measure(run->judge, lambda, o->model, o->directions, &residual, NULL, NULL);
  double elapsed = o->trace || o->watch ? before - run->started - run->excluded : 0;
  tbTraceEvent event = {run->iterations, elapsed, &residual, lambda, run->p};
  if (o->trace) o->trace(o->trace_user, &event);
  if (!due) { // looked at for the trace alone, which changes nothing
    double judging = tb_seconds() - before;
    run->excluded += judging;
    run->stop->deadline += judging;
    return false;
  }
  if (o->watch) o->watch(o->watch_user, &event);
  bool good = keep_the_best(run, &residual, lambda);
  if (good && !run->good) run->good_at = run->iterations, run->good = true;
  if (run->good && (rule != TB_MERIT_GO_ON || polished(run, &residual))) return end(run, TB_CONVERGED);
  double number = number_of(run, &residual);
  run->next_check = next_check_after(run, iteration, number, good ? tb_run_aim(run) : 1);
  if (run->good) run->next_check = iteration + 1 + (run->next_check - iteration - 1) / 8;
  run->last_check = iteration;
  run->last_number = number;
  if (cancelled) return end(run, TB_CANCELLED);
  // infinite: λ is no longer finite
  run->lost = isinf(number) ? iteration > 0 : diverged(run, &residual);
  if (run->lost || rule == TB_MERIT_DIVERGES) return end(run, TB_FAILED);
  if (rule == TB_MERIT_ENDS) return end(run, TB_MAX_ITERATIONS);
  if (late) return end(run, TB_TIME);
  if (spent) return end(run, run->iterations >= o->max_iterations ? TB_MAX_ITERATIONS : TB_FAILED);
  if (run->too_slow && run->too_slow(run->too_slow_user, iteration, number)) return end(run, TB_FAILED);
  return false;
}

const tbProblem* tb_run_problem(const tbRun* run) { return run->p; }
const tbDelassus* tb_run_delassus(const tbRun* run) { return run->W; }
const tbSolveOptions* tb_run_options(const tbRun* run) { return run->o; }
tbThreads* tb_run_threads(const tbRun* run) { return run->threads; }

void* tb_run_take(tbRun* run, size_t bytes)
{
  size_t left = run->scratch.size - run->scratch.used,
         rounded = (bytes + TB_ALIGNMENT - 1) / TB_ALIGNMENT * TB_ALIGNMENT;
  return rounded < bytes || rounded > left ? NULL : tb_scratch_take(&run->scratch, 1, bytes);
}
