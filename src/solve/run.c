#include "base/clock.h"
#include "solve/run.h"

#include <math.h>
#include <string.h>

// Judging costs about as much as an iteration, so it is done after 1, 2, … 8 iterations and then after every
// eighth more: late by an eighth at most. The schedule knows nothing of clocks: results repeat.
static int next_check_after(int iteration) { return iteration + 1 + iteration / 8; }

static double judge(tbRun* run, const double* lambda, tbResidual* residual)
{
  tb_judge_measure(run->judge, lambda, run->o->model, run->o->directions, residual, NULL, NULL);
  double number = run->o->model == TB_MODEL_CONE ? residual->fclib : residual->model;
  if (number < run->best_number) {
    run->best_number = number;
    run->best_residual = *residual;
    memcpy(run->best, lambda, (size_t)run->p->nrow * sizeof *lambda);
  }
  return number;
}

static bool end(tbRun* run, tbOutcome outcome)
{
  run->outcome = outcome;
  run->finished = tb_seconds();
  return true;
}

void tb_run_give_up(tbRun* run) { end(run, TB_FAILED); }

bool tb_run_done(tbRun* run, int iteration, const double* lambda)
{
  const tbSolveOptions* o = run->o;
  run->iterations = iteration;
  double elapsed = tb_seconds() - run->started - run->excluded;
  bool spent = iteration >= o->max_iterations, late = o->time_budget_s > 0 && elapsed >= o->time_budget_s;
  bool cancelled = o->cancelled && o->cancelled(o->cancelled_user);
  bool due = iteration >= run->next_check || spent || late || cancelled;

  double number = INFINITY;
  if (due || o->trace) {
    tbResidual residual;
    double before = tb_seconds();
    number = judge(run, lambda, &residual);
    if (o->trace) o->trace(o->trace_user, &(tbTraceEvent){iteration, elapsed, &residual, lambda});
    if (!due) run->excluded += tb_seconds() - before;
  }
  if (due) run->next_check = next_check_after(iteration);

  if (number <= o->tolerance) return end(run, TB_CONVERGED);
  if (cancelled) return end(run, TB_CANCELLED);
  if (due && isinf(number) && iteration > 0) return end(run, TB_FAILED); // λ is no longer finite
  if (spent) return end(run, TB_MAX_ITERATIONS);
  if (late) return end(run, TB_TIME);
  return false;
}
