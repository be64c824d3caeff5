// SPDX-License-Identifier: Apache-2.0
// Central differences of whole runs, with no code in common with tangents and adjoints: by every number, and
// along one direction, by which a gradient is verified in a few runs.
#include "gradient/objective.h"

#include "base/random.h"
#include "gradient/state.h"

#include <math.h>
#include <string.h>

static const double FIRST = 1e-3;    // the reach along a direction at first, in sizes of the numbers
static const double AGREES = 1e-8;   // and no smaller one is needed
static const double FAINTEST = 0.03; // the least share of the most influential number's that counts in full
enum { REACHES = 3 };

// How runs are made: exact null: as the scene's solver answers.
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

typedef tbStatus Work(tbContext* ctx, const tbObjective* o, const How* how, const double* values, double at,
                      void* user);

static tbStatus with_way(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                         tbGradientReport* report, Work* work, void* user)
{
  tbTape tape;
  tbExact own;
  tbWay way;
  TB_TRY(tb_objective_way(ctx, o, values, &way, loss, report));
  tb_tape_init(ctx, &tape);
  tb_exact_init(ctx, &own, &tape);
  bool rounded = way == TB_WAY_AS_RUN ? !tb_objective_is_relaxed(o) : tb_objective_is_iterated(o);
  How how = {tb_way_options(o, way), tb_way_is_exact(o, way) ? &own : NULL, rounded};
  own.by_solver = own.thorough = true;
  tbStatus status = run_base(ctx, o, &how, values, loss);
  if (status == TB_OK) status = work(ctx, o, &how, values, *loss, user);
  report->problems += own.count, report->rough += own.rough, report->ambiguous += own.ambiguous;
  tb_tape_free(ctx, &tape);
  return status;
}

static tbStatus by_every_number(tbContext* ctx, const tbObjective* o, const How* how, const double* values,
                                double at, void* gradient)
{
  for (int i = 0; i < o->size; i++) TB_TRY(differ(ctx, o, how, values, at, i, (double*)gradient + i));
  return TB_OK;
}

tbStatus tb_gradient_differences(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                                 double* gradient, tbGradientReport* report)
{
  report->steps = tb_objective_steps(o), report->runs = report->steps * (1 + 2 * o->size);
  return with_way(ctx, o, values, loss, report, by_every_number, gradient);
}

// ---- along a direction ----

typedef struct {
  const double* gradient;
  double *direction, *x; // (size)
  double slope, weight;  // gᵀd, Σ |g_i d_i|
  double apart;
} Along;

// Whether the format allows a number to go both ways.
static tbStatus is_inner(tbContext* ctx, const tbObjective* o, const double* values, int i, bool* inner)
{
  *inner = true;
  for (int side = -1; side <= 1 && *inner; side += 2) {
    tbScene scene;
    double e = side * tb_objective_reach(o, values, i);
    tbStatus status = tb_objective_beside(ctx, o, values, i, e, &scene);
    *inner = status == TB_OK;
    if (status == TB_OK) tb_scene_free(ctx, &scene);
    else if (status != TB_ERROR_INPUT && status != TB_ERROR_ARGUMENT) return status;
  }
  return TB_OK;
}

// Signs and lengths without a pattern. Numbers count equally, as far as their influence allows: an error in
// one is not to be lost beside the others.
static tbStatus choose_direction(tbContext* ctx, const tbObjective* o, const double* values, Along* a)
{
  uint64_t bits = 1;
  double most = 0, least = INFINITY;
  for (int i = 0; i < o->size; i++) {
    bool inner;
    TB_TRY(is_inner(ctx, o, values, i, &inner));
    a->direction[i] = inner ? 1e5 * tb_objective_reach(o, values, i) : 0;
    double influence = fabs(a->gradient[i]) * a->direction[i];
    most = fmax(most, influence);
    if (influence > 0) least = fmin(least, influence);
  }
  least = fmax(least, FAINTEST * most);
  for (int i = 0; i < o->size; i++) {
    double influence = fabs(a->gradient[i]) * a->direction[i];
    double size = tb_random_uniform(&bits, 0.5, 1) * (influence > least ? least / influence : 1);
    a->direction[i] *= tb_random_uniform(&bits, -1, 1) < 0 ? -size : size;
    a->slope += a->gradient[i] * a->direction[i];
    a->weight += fabs(a->gradient[i] * a->direction[i]);
  }
  return TB_OK;
}

// (loss(x + e d) − loss(x − e d)) / 2e; refused: the format does not allow one of them.
static tbStatus slope(tbContext* ctx, const tbObjective* o, const How* how, const double* values, Along* a,
                      double e, double* out, bool* refused)
{
  double loss[2] = {0};
  for (int side = 0; side < 2 && !*refused; side++) {
    tbScene scene;
    for (int i = 0; i < o->size; i++) a->x[i] = values[i] + (side ? -e : e) * a->direction[i];
    tbStatus status = tb_objective_scene(ctx, o, a->x, &scene);
    *refused = status == TB_ERROR_INPUT || status == TB_ERROR_ARGUMENT;
    if (*refused) break;
    TB_TRY(status);
    status = run(ctx, o, how, scene.world, &loss[side]);
    tb_scene_free(ctx, &scene);
    TB_TRY(status);
  }
  *out = (loss[0] - loss[1]) / (2 * e);
  return TB_OK;
}

// By two reaches, extrapolated, and again by smaller ones, where a change of contact may no longer be between
// the runs.
static tbStatus along_direction(tbContext* ctx, const tbObjective* o, const How* how, const double* values,
                                double at, void* user)
{
  (void)at;
  Along* a = user;
  double e = FIRST;
  bool refused = false;
  TB_TRY(choose_direction(ctx, o, values, a));
  for (int k = 0; k < REACHES && !(a->apart <= AGREES); k++, e *= 0.1) {
    double wide, narrow;
    TB_TRY(slope(ctx, o, how, values, a, e, &wide, &refused));
    TB_TRY(slope(ctx, o, how, values, a, 0.25 * e, &narrow, &refused));
    if (refused) break;
    double off = fabs((16 * narrow - wide) / 15 - a->slope), share = off > 0 ? off / a->weight : 0;
    if (!(a->apart <= share)) a->apart = share;
  }
  return TB_OK;
}

tbStatus tb_objective_verify(tbContext* ctx, const tbObjective* o, const double* values,
                             const double* gradient, double* apart)
{
  double loss, *room = TB_NEW(ctx, double, 2 * (size_t)o->size);
  if (!room) return TB_ERROR_MEMORY;
  Along a = {.gradient = gradient, .direction = room, .x = room + o->size, .apart = NAN};
  tbGradientReport report = {0};
  tbStatus status = tb_objective_takes_scheme(ctx, o);
  if (status == TB_OK) status = with_way(ctx, o, values, &loss, &report, along_direction, &a);
  if (status == TB_OK) *apart = a.apart;
  tb_free(ctx, room);
  return status;
}
