// SPDX-License-Identifier: Apache-2.0
// Running a race. Times come from runs without a trace, so that stopping tests are the solver's own. Runs too
// short to time are repeated; the median counts, which neither a cold cache nor a busy moment moves.
#include "cli/race.h"
#include "tribo/tools/sort.h"
#include "cli/scene_problem.h"

#include <stdio.h>
#include <string.h>

static bool is_zero(const double* x, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (x[i] != 0) return false;
  return true;
}

tbStatus race_load(tbContext* ctx, const char* path, int step, RaceStart start, Race* out)
{
  bool scene = false;
  *out = (Race){.path = path};
  TB_TRY(load_problem_or_scene(ctx, path, step, &out->problem, &out->start, &scene));
  size_t rows = (size_t)out->problem->nrow;
  bool cold = start == START_COLD || (start == START_DEFAULT && scene);
  if (out->start && cold) memset(out->start, 0, rows * sizeof *out->start);
  if (!out->start) out->start = TB_NEW(ctx, double, rows);
  if (!out->start) return TB_ERROR_MEMORY;
  out->warm = !is_zero(out->start, rows);
  return TB_OK;
}

const Entry* race_entry(const Race* race, int lane)
{
  for (int i = 0; i < race->ran; i++)
    if (race->entry[i].lane == lane) return &race->entry[i];
  return NULL;
}

void race_free(tbContext* ctx, Race* race)
{
  for (int i = 0; i < race->entries; i++) tb_free(ctx, race->entry[i].curve);
  tb_free(ctx, race->entry);
  tb_free(ctx, race->start);
  tb_problem_free(race->problem);
  *race = (Race){0};
}

tbStatus race_manufacture(tbContext* ctx, int seed, int index, tbModel model, Race* out)
{
  static const double ratios[] = {1, 1e2, 1e4, 1e6}, frictions[] = {0, 0.3, 1, 5};
  tbManufacture spec = tb_default_manufacture();
  spec.seed = 1000 * (uint64_t)seed + (uint64_t)index;
  spec.contacts = 2 + index % 40;
  spec.dimension = index % 6 == 0 ? 2 : 3;
  spec.mass_ratio = ratios[index % 4];
  spec.mu_max = frictions[index / 4 % 4];
  spec.metric = index % 5;
  spec.redundant = index % 3 == 0;
  spec.all_laws = model == TB_MODEL_CONE && index % 2 == 0;
  *out = (Race){0};
  snprintf(out->name, sizeof out->name, "manufactured-%d", index);
  out->path = out->name;
  double* answer = NULL;
  TB_TRY(tb_problem_manufacture(ctx, &spec, &out->problem, &answer));
  tb_manufacture_free(ctx, answer);
  out->start = TB_NEW(ctx, double, (size_t)out->problem->nrow);
  return out->start ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus run_once(tbContext* ctx, const Race* race, const tbSolveOptions* o, double* lambda,
                         tbSolveResult* result)
{
  memcpy(lambda, race->start, (size_t)race->problem->nrow * sizeof *lambda);
  return tb_solve(ctx, race->problem, o, lambda, result);
}

// Judged once more, from outside.
static bool is_untrue(tbJudge* judge, const tbSolveOptions* o, const double* lambda, const tbSolveResult* r)
{
  tbResidual again;
  tb_judge_measure(judge, lambda, o->model, o->directions, &again, NULL, NULL);
  return memcmp(&again, &r->residual, sizeof again) != 0 || (r->outcome == TB_CONVERGED && !meets(o, &again));
}

static int sign(double x) { return (x > 0) - (x < 0); }

static int compare_times(const void* a, const void* b)
{
  return sign(((const tbSolveResult*)a)->time_s - ((const tbSolveResult*)b)->time_s);
}

static bool another_run(const RaceRules* rules, const tbSolveResult* run, int runs)
{
  const tbSolveResult* last = &run[runs - 1];
  if (last->outcome == TB_TIME || last->outcome == TB_CANCELLED) return false;
  if (rules->repeat) return runs < rules->repeat;
  return runs < RACE_SHORT_RUNS && last->time_s <= race_short_s;
}

// run: room for the results of RACE_MOST_RUNS.
static tbStatus run_timed(tbContext* ctx, const RaceRules* rules, const Race* race, const tbSolveOptions* o,
                          tbJudge* judge, double* lambda, tbSolveResult* run, Entry* entry)
{
  int runs = 0;
  do {
    run[runs] = (tbSolveResult){0};
    TB_TRY(run_once(ctx, race, o, lambda, &run[runs]));
    entry->untrue |= is_untrue(judge, o, lambda, &run[runs]);
    runs++;
  } while (another_run(rules, run, runs));
  tbSolveResult last = run[runs - 1];
  tb_sort(run, (size_t)runs, sizeof *run, compare_times);
  bool unfinished = last.outcome == TB_TIME || last.outcome == TB_CANCELLED;
  entry->result = unfinished ? last : run[(runs - 1) / 2];
  entry->runs = runs;
  entry->fastest_s = run[0].time_s;
  entry->slowest_s = run[runs - 1].time_s;
  return TB_OK;
}

static tbStatus run_traced(tbContext* ctx, const Race* race, const tbSolveOptions* o, double* lambda,
                           Entry* entry)
{
  tbArray curve = TB_ARRAY(CurvePoint);
  tbSolveResult result = {0};
  memcpy(lambda, race->start, (size_t)race->problem->nrow * sizeof *lambda);
  tbStatus status = curve_run(ctx, race->problem, o, lambda, &result, &curve);
  if (status == TB_OK) {
    int points = curve_thin(curve.data, (int)curve.count);
    entry->curve = TB_NEW(ctx, CurvePoint, (size_t)points);
    if (!entry->curve) status = TB_ERROR_MEMORY;
    else if (points) memcpy(entry->curve, curve.data, (size_t)points * sizeof *entry->curve);
    if (entry->curve) entry->points = points;
  }
  tb_array_free(ctx, &curve);
  return status;
}

// Ranking.

static int compare_entries(const void* a, const void* b)
{
  const Entry *x = a, *y = b;
  bool x_out = x->why_not[0], y_out = y->why_not[0];
  bool x_done = !x_out && x->result.outcome == TB_CONVERGED,
       y_done = !y_out && y->result.outcome == TB_CONVERGED;
  int order = x_out - y_out;
  if (!order) order = y_done - x_done;
  if (!order && x_done) order = sign(x->result.time_s - y->result.time_s);
  if (!order && !x_done && !x_out) order = (x->residual > y->residual) - (x->residual < y->residual);
  return order ? order : x->lane - y->lane;
}

// A method that does not apply, or that asks for more memory than there is, is left out with the reason; what
// is wrong with the options is wrong for all of them and ends the race.
static tbStatus run_entry(tbContext* ctx, const RaceRules* rules, const Race* race, tbJudge* judge,
                          double* lambda, tbSolveResult* run, Entry* entry)
{
  const char* why = tb_solver_refuses(entry->solver, race->problem, rules->options.model);
  if (why) {
    entry->refused = true;
    snprintf(entry->why_not, sizeof entry->why_not, "%s", why);
    return TB_OK;
  }
  tbSolveOptions o = rules->options;
  o.solver = entry->solver->name;
  tbStatus status = run_timed(ctx, rules, race, &o, judge, lambda, run, entry);
  if (status == TB_ERROR_ARGUMENT) return status;
  if (status != TB_OK) {
    snprintf(entry->why_not, sizeof entry->why_not, "%.200s", ctx->error.message);
    return TB_OK;
  }
  entry->residual = judged(&o, &entry->result.residual);
  entry->borrowed = tb_solver_borrowed(entry->solver, race->problem, o.model);
  return rules->curves && entry->result.outcome != TB_CANCELLED ? run_traced(ctx, race, &o, lambda, entry)
                                                                : TB_OK;
}

static void judge_start(const RaceRules* rules, tbJudge* judge, Race* race)
{
  const tbSolveOptions* o = &rules->options;
  tb_judge_measure(judge, race->start, o->model, o->directions, &race->start_residual, NULL, NULL);
  race->start_suffices = meets(o, &race->start_residual);
}

static tbStatus run_entries(tbContext* ctx, const RaceRules* rules, Race* race, tbJudge* judge,
                            double* lambda, tbSolveResult* run)
{
  const tbSolveOptions* o = &rules->options;
  tbStatus status = TB_OK;
  for (int i = 0; i < rules->solvers && status == TB_OK; i++) {
    Entry* entry = &race->entry[race->entries++];
    *entry = (Entry){.solver = rules->solver[i], .lane = i};
    if (rules->progress) rules->progress(race, entry->solver, i);
    status = run_entry(ctx, rules, race, judge, lambda, run, entry);
    race->ran += !entry->why_not[0];
    if (o->cancelled && o->cancelled(o->cancelled_user)) break;
  }
  return status;
}

tbStatus race_run(tbContext* ctx, const RaceRules* rules, Race* race)
{
  double* lambda = TB_NEW(ctx, double, (size_t)race->problem->nrow);
  tbSolveResult* run = TB_NEW(ctx, tbSolveResult, RACE_MOST_RUNS);
  race->entry = TB_NEW(ctx, Entry, (size_t)rules->solvers);
  tbJudge* judge = NULL;
  tbStatus status =
      lambda && run && race->entry ? tb_judge_create(ctx, race->problem, &judge) : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    judge_start(rules, judge, race);
    status = run_entries(ctx, rules, race, judge, lambda, run);
  }
  if (status == TB_OK) tb_sort(race->entry, (size_t)race->entries, sizeof *race->entry, compare_entries);
  tb_judge_free(ctx, judge);
  tb_free(ctx, run);
  tb_free(ctx, lambda);
  return status;
}
