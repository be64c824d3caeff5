// SPDX-License-Identifier: Apache-2.0
// Central differences of whole runs: slow and blunt, and with no code in common with the other two. Theirs is
// checked against it.
#include "gradient/objective.h"

#include "gradient/state.h"

// How runs are made: exact null: as the scene's solver answers.
enum { EXACTLY, TIGHTLY, AS_RUN, WAYS };
typedef struct {
  tbStepOptions step;
  tbExact* exact;
  bool rounded; // like the solver's tolerance
} How;

static tbStatus run(tbContext* ctx, const tbObjective* o, const How* how, tbWorld* w, double* loss)
{
  int64_t steps = tb_objective_steps(o);
  for (int64_t i = 0; i < steps; i++) TB_TRY(tb_objective_step(ctx, &how->step, how->exact, false, w));
  *loss = tb_objective_measure(o, w);
  return TB_OK;
}

// (loss(x + e) − loss(x)) / e; false: the format does not allow x + e.
static tbStatus quotient(tbContext* ctx, const tbObjective* o, const How* how, const double* values,
                         double at, int i, double e, double* out, bool* allowed)
{
  tbScene scene;
  double loss = at;
  tbStatus status = tb_objective_beside(ctx, o, values, i, e, &scene);
  *allowed = status == TB_OK;
  if (status == TB_ERROR_INPUT || status == TB_ERROR_ARGUMENT) return TB_OK;
  TB_TRY(status);
  status = run(ctx, o, how, scene.world, &loss);
  tb_scene_free(ctx, &scene);
  *out = (loss - at) / e;
  return status;
}

// Central, or where only one side is allowed to that one, by two quotients.
static tbStatus differ(tbContext* ctx, const tbObjective* o, const How* how, const double* values, double at,
                       int i, double* out)
{
  double e = (how->rounded ? 1 : 0.1) * tb_objective_reach(o, values, i), ahead = 0, behind = 0;
  bool can_ahead, can_behind;
  TB_TRY(quotient(ctx, o, how, values, at, i, e, &ahead, &can_ahead));
  TB_TRY(quotient(ctx, o, how, values, at, i, -e, &behind, &can_behind));
  *out = 0.5 * (ahead + behind);
  if (can_ahead && can_behind) return TB_OK;
  if (!can_ahead && !can_behind)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "number %d cannot be varied: the scene is refused with a larger and with a smaller value",
                   i);
  double near = can_ahead ? ahead : behind, far = 0;
  TB_TRY(quotient(ctx, o, how, values, at, i, can_ahead ? 2 * e : -2 * e, &far, &can_ahead));
  *out = 2 * near - far;
  return TB_OK;
}

static tbStatus run_base(tbContext* ctx, const tbObjective* o, const How* how, const double* values,
                         double* loss)
{
  tbScene scene;
  TB_TRY(tb_objective_scene(ctx, o, values, &scene));
  tbStatus status = run(ctx, o, how, scene.world, loss);
  tb_scene_free(ctx, &scene);
  return status;
}

// Runs are the scene's solver's where those of the tangent are (tangent.c).
tbStatus tb_gradient_differences(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                                 double* gradient, tbGradientReport* report)
{
  tbTape tape;
  tbExact own;
  double as_run = 0;
  tb_tape_init(&tape);
  tb_exact_init(ctx, &own, &tape);
  bool relaxed = tb_objective_is_relaxed(o), iterated = tb_objective_is_iterated(o);
  const How ways[WAYS] = {{tb_objective_tight(o), &own, false},
                          {tb_objective_tight(o), NULL, iterated},
                          {o->step, NULL, !relaxed}};
  const How* how = &ways[relaxed ? AS_RUN : iterated ? TIGHTLY : EXACTLY];
  tbStatus status = run_base(ctx, o, &ways[AS_RUN], values, &as_run);
  *loss = as_run;
  for (; status == TB_OK && how < &ways[AS_RUN]; how++) {
    status = run_base(ctx, o, how, values, loss);
    if (own.ambiguous == 0 && tb_objective_is_run(o, *loss, as_run)) break;
    *loss = as_run;
  }
  for (int i = 0; i < o->size && status == TB_OK; i++)
    status = differ(ctx, o, how, values, *loss, i, &gradient[i]);
  report->steps = tb_objective_steps(o), report->runs = report->steps * (1 + 2 * o->size);
  report->problems = own.count, report->rough = own.rough, report->ambiguous = own.ambiguous;
  tb_tape_free(ctx, &tape);
  return status;
}
