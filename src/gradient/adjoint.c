// SPDX-License-Identifier: Apache-2.0
// Reverse derivatives: with s⁺ = F(s, p), the adjoint a = dloss/ds goes back a = F_sᵀ a⁺, and every number
// gets F_pᵀ a⁺ on the way.
//
// The run is made once with its state kept every √N steps; from the last of these on backwards each piece is
// run again with the states of all of its steps kept: 2 √N states in all, for twice the steps. F_s is made of
// central differences of steps whose contact problems are solved to rounding, as in tangent.c, one for every
// number of the state. Bodies that no contact and no joint connects do not act on each other within a step,
// so that one difference serves all of these islands at once.
//
// Steps of primal, vbd and avbd between rigid bodies are differentiated implicitly at their minimum instead
// (adjoint_local.c).
//
// Cost    two steps per number of the state of the largest island and step, whatever the count of parameters;
//         two more for each that acts beyond the start. Where a contact changes right at the run the adjoint
//         has the mean of both sides in that step, which is less than what tangents carry on: they are
//         reported.
#include "gradient/adjoint.h"

#include <math.h>
#include <string.h>

static const double REACH = 1e-5, KINK = 1e-3, NOISE = 1e-12;
enum { LEVELS = 3 };

typedef tbReverse Reverse;

tbStatus tb_reverse_step(tbContext* ctx, Reverse* r, bool replay, tbWorld* w)
{
  r->report->runs++;
  return tb_objective_step(ctx, &r->o->step, &r->exact, replay, w);
}

static tbStatus make_room(tbContext* ctx, Reverse* r, int n)
{
  if (n <= r->n) return TB_OK;
  double** vectors[] = {&r->adjoint, &r->before,    &r->ahead,  &r->behind,
                        &r->unit,    &r->direction, &r->change, &r->bend};
  for (int k = 0; k < 8; k++) {
    double* wider = TB_NEW(ctx, double, (size_t)n);
    if (!wider) return TB_ERROR_MEMORY;
    if (r->n) memcpy(wider, *vectors[k], (size_t)r->n * sizeof(double));
    tb_free(ctx, *vectors[k]);
    *vectors[k] = wider;
  }
  int** indices[] = {&r->island, &r->column};
  for (int k = 0; k < 2; k++) {
    tb_free(ctx, *indices[k]);
    if (!(*indices[k] = TB_NEW(ctx, int, (size_t)n))) return TB_ERROR_MEMORY;
  }
  r->n = n;
  return TB_OK;
}

// ---- checkpoints ----

static tbStatus keep(tbContext* ctx, tbArray* states, const tbWorld* w)
{
  tbStateAt* state = NULL;
  tbStatus status = tb_state_save(ctx, w, &state);
  if (status == TB_OK) status = tb_array_push(ctx, states, &state, 1);
  if (status != TB_OK) tb_state_free(ctx, state);
  return status;
}

static tbStateAt* state_at(const tbArray* states, size_t i) { return ((tbStateAt**)states->data)[i]; }

static void drop(tbContext* ctx, tbArray* states)
{
  for (size_t i = 0; i < states->count; i++) tb_state_free(ctx, state_at(states, i));
  states->count = 0;
}

static void note_states(Reverse* r)
{
  int now = (int)(r->kept.count + r->piece.count);
  if (now > r->report->checkpoints) r->report->checkpoints = now;
}

// ---- one step back ----

// Numbers of the state by islands: the k-th of every island is part of the k-th difference.
static tbStatus assign_columns(tbContext* ctx, Reverse* r)
{
  int count;
  TB_TRY(tb_state_islands(ctx, r->base.world, r->island, &count));
  int* next = TB_NEW(ctx, int, (size_t)count + 1);
  if (!next) return TB_ERROR_MEMORY;
  r->columns = 0;
  int n = tb_state_fixed(r->base.world);
  for (int i = 0; i < n; i++) {
    r->column[i] = r->island[i] < 0 ? -1 : next[r->island[i]]++;
    if (r->column[i] >= r->columns) r->columns = r->column[i] + 1;
  }
  tb_free(ctx, next);
  return TB_OK;
}

// out = (F(s + e d) − F(s)) / e
static tbStatus quotient(tbContext* ctx, Reverse* r, const tbStateAt* s, double e, double* out)
{
  memset(out, 0, (size_t)r->n * sizeof(double));
  TB_TRY(tb_state_put(ctx, s, e, r->direction, true, r->near.world));
  TB_TRY(tb_reverse_step(ctx, r, true, r->near.world));
  tb_state_difference(r->near.world, r->base.world, 1 / e, out);
  return TB_OK;
}

// change = F_s d, by the first ε at which both sides agree, or the one at which they differ least; bend: by
// how much the two do.
static tbStatus differ(tbContext* ctx, Reverse* r, const tbStateAt* s)
{
  double e = REACH, least = INFINITY, dt = r->o->step.dt;
  for (int k = 0; k < LEVELS && least > KINK; k++, e *= 0.1) {
    TB_TRY(quotient(ctx, r, s, e, r->ahead));
    TB_TRY(quotient(ctx, r, s, -e, r->behind));
    double size = fmax(tb_state_norm(r->base.world, dt, r->ahead), fmax(1, NOISE / (KINK * e)));
    for (int i = 0; i < r->n; i++) r->behind[i] -= r->ahead[i];
    double differ = tb_state_norm(r->base.world, dt, r->behind) / size;
    if (!(differ < least)) continue;
    least = differ;
    for (int i = 0; i < r->n; i++) r->change[i] = r->ahead[i] + 0.5 * r->behind[i];
    memcpy(r->bend, r->behind, (size_t)r->n * sizeof(double));
  }
  return TB_OK;
}

static double of_island(const Reverse* r, int i, int n, const double* row)
{
  double sum = 0;
  for (int k = 0; k < n; k++)
    if (r->island[k] == r->island[i]) sum += row[k] * r->adjoint[k];
  return sum;
}

// before = F_sᵀ a⁺: every number of the state asks the rows of its own island. Sides that differ matter as
// far as the adjoint sees them.
static tbStatus transpose(tbContext* ctx, Reverse* r, const tbStateAt* s, bool* stable)
{
  int n = tb_state_fixed(r->base.world);
  double most = 0, bent = 0;
  memset(r->before, 0, (size_t)r->n * sizeof(double));
  tb_state_units(r->base.world, r->o->step.dt, r->unit);
  for (int c = 0; c < r->columns; c++) {
    memset(r->direction, 0, (size_t)r->n * sizeof(double));
    for (int i = 0; i < n; i++)
      if (r->column[i] == c) r->direction[i] = r->unit[i];
    TB_TRY(differ(ctx, r, s));
    for (int i = 0; i < n; i++) {
      if (r->column[i] != c || !(r->unit[i] > 0)) continue;
      double change = of_island(r, i, n, r->change);
      most = fmax(most, fabs(change)), bent = fmax(bent, fabs(of_island(r, i, n, r->bend)));
      r->before[i] = change / r->unit[i];
    }
  }
  *stable = bent <= KINK * most;
  return TB_OK;
}

// gradient += factor (w − base)ᵀ a
static void weigh(Reverse* r, int i, const tbWorld* w, const tbWorld* base, double factor)
{
  int n = tb_state_fixed(base);
  memset(r->ahead, 0, (size_t)r->n * sizeof(double));
  tb_state_difference(w, base, factor, r->ahead);
  for (int k = 0; k < n; k++) r->gradient[i] += r->ahead[k] * r->adjoint[k];
}

// Half of a side's quotient, or all of it where the format does not allow the other side.
static double share(const Reverse* r, int i, int side)
{
  double e = tb_objective_reach(r->o, r->values, i), all = r->beside[2 * i + 1 - side].world ? 0.5 : 1;
  return all / (side ? -e : e);
}

// gradient += F_pᵀ a⁺
static tbStatus ask_numbers(tbContext* ctx, Reverse* r, const tbStateAt* s)
{
  for (int i = 0; i < r->o->size; i++)
    for (int side = 0; side < 2; side++) {
      tbWorld* w = r->beside[2 * i + side].world;
      if (tb_objective_is_initial(r->o, i) || !w) continue;
      TB_TRY(tb_state_put(ctx, s, 0, NULL, false, w));
      TB_TRY(tb_reverse_step(ctx, r, true, w));
      weigh(r, i, w, r->base.world, share(r, i, side));
    }
  return TB_OK;
}

// The run's own step once more, kept in parts where it can be.
static tbStatus record_step(tbContext* ctx, Reverse* r)
{
  tbWorld* w = r->base.world;
  r->held.solves = 0;
  if (r->local) w->cache->held = &r->held;
  tbStatus status = tb_reverse_step(ctx, r, false, w);
  w->cache->held = NULL;
  return status;
}

static tbStatus step_back(tbContext* ctx, Reverse* r, int64_t number, const tbStateAt* s)
{
  bool stable = true, done;
  TB_TRY(tb_state_put(ctx, s, 0, NULL, true, r->base.world));
  TB_TRY(make_room(ctx, r, tb_state_size(r->base.world)));
  TB_TRY(record_step(ctx, r));
  TB_TRY(make_room(ctx, r, tb_state_size(r->base.world)));
  TB_TRY(assign_columns(ctx, r));
  TB_TRY(ask_numbers(ctx, r, s));
  TB_TRY(tb_reverse_transpose(ctx, r, s, &done, &stable));
  if (!done) TB_TRY(transpose(ctx, r, s, &stable));
  memcpy(r->adjoint, r->before, (size_t)r->n * sizeof(double));
  if (stable) return TB_OK;
  if (r->report->unstable < TB_GRADIENT_UNSTABLE) r->report->unstable_step[r->report->unstable] = number;
  r->report->unstable++;
  return TB_OK;
}

// ---- the whole ----

// a = dloss/ds at the end of the run.
static tbStatus begin_adjoint(tbContext* ctx, Reverse* r, double* loss)
{
  tbStateAt* end = NULL;
  tbVec3 off = tb_sub3(tb_objective_position(r->o, r->base.world), r->o->target);
  *loss = tb_dot3(off, off);
  TB_TRY(make_room(ctx, r, tb_state_size(r->base.world)));
  tb_state_units(r->base.world, r->o->step.dt, r->unit);
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  tbStatus status = tb_state_save(ctx, r->base.world, &end);
  int n = tb_state_fixed(r->base.world);
  for (int i = 0; i < n && status == TB_OK; i++) {
    double e = REACH * r->unit[i];
    if (!(e > 0)) continue;
    r->direction[i] = 1;
    status = tb_state_put(ctx, end, e, r->direction, true, r->near.world);
    tbVec3 ahead = tb_objective_position(r->o, r->near.world);
    if (status == TB_OK) status = tb_state_put(ctx, end, -e, r->direction, true, r->near.world);
    tbVec3 d = tb_sub3(ahead, tb_objective_position(r->o, r->near.world));
    r->adjoint[i] = tb_dot3(off, d) / e;
    r->direction[i] = 0;
  }
  tb_state_free(ctx, end);
  return status;
}

static tbStatus make_beside(tbContext* ctx, Reverse* r)
{
  if (!(r->beside = TB_NEW(ctx, tbScene, 2 * (size_t)r->o->size))) return TB_ERROR_MEMORY;
  for (int i = 0; i < r->o->size; i++) {
    double e = tb_objective_reach(r->o, r->values, i);
    tbStatus ahead = tb_objective_beside(ctx, r->o, r->values, i, e, &r->beside[2 * i]);
    tbStatus behind = tb_objective_beside(ctx, r->o, r->values, i, -e, &r->beside[2 * i + 1]);
    bool refused = behind == TB_ERROR_INPUT || behind == TB_ERROR_ARGUMENT || behind == TB_OK;
    if (!refused) return behind;
    if (ahead != TB_OK && behind != TB_OK) return ahead;
    if (ahead != TB_OK && ahead != TB_ERROR_INPUT && ahead != TB_ERROR_ARGUMENT) return ahead;
  }
  return TB_OK;
}

// gradient += (ds₀/dp)ᵀ a; worlds next to the run have been stepped, and are made anew.
static tbStatus ask_start(tbContext* ctx, Reverse* r)
{
  tbScene start;
  TB_TRY(tb_objective_scene(ctx, r->o, r->values, &start));
  tbStatus status = TB_OK;
  for (int i = 0; i < r->o->size; i++)
    for (int side = 0; side < 2 && status == TB_OK; side++) {
      tbScene scene;
      double e = tb_objective_reach(r->o, r->values, i);
      if (!r->beside[2 * i + side].world) continue;
      status = tb_objective_beside(ctx, r->o, r->values, i, side ? -e : e, &scene);
      if (status != TB_OK) break;
      weigh(r, i, scene.world, start.world, share(r, i, side));
      tb_scene_free(ctx, &scene);
    }
  tb_scene_free(ctx, &start);
  return status;
}

static tbStatus run_forward(tbContext* ctx, Reverse* r, int64_t steps, int64_t every)
{
  for (int64_t i = 0; i < steps; i++) {
    if (i % every == 0) TB_TRY(keep(ctx, &r->kept, r->base.world));
    TB_TRY(tb_reverse_step(ctx, r, false, r->base.world));
  }
  if (r->base.world->state_kind)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "no derivatives: the scheme %s keeps a state of its own from step to step",
                   r->o->step.scheme);
  return TB_OK;
}

static tbStatus run_back(tbContext* ctx, Reverse* r, int64_t steps, int64_t every)
{
  for (size_t c = r->kept.count; c-- > 0;) {
    int64_t first = (int64_t)c * every, end = first + every < steps ? first + every : steps;
    TB_TRY(tb_state_put(ctx, state_at(&r->kept, c), 0, NULL, true, r->base.world));
    for (int64_t i = first; i < end; i++) {
      TB_TRY(keep(ctx, &r->piece, r->base.world));
      if (i + 1 < end) TB_TRY(tb_reverse_step(ctx, r, false, r->base.world));
    }
    note_states(r);
    for (int64_t i = end; i-- > first;)
      TB_TRY(step_back(ctx, r, i, state_at(&r->piece, (size_t)(i - first))));
    drop(ctx, &r->piece);
  }
  return TB_OK;
}

static tbStatus work(tbContext* ctx, Reverse* r, double* loss)
{
  TB_TRY(tb_objective_scene(ctx, r->o, r->values, &r->base));
  TB_TRY(tb_objective_scene(ctx, r->o, r->values, &r->near));
  TB_TRY(tb_state_check_kinds(ctx, r->base.world));
  TB_TRY(make_beside(ctx, r));
  r->local = tb_reverse_is_local(r);
  int64_t steps = tb_objective_steps(r->o), every = (int64_t)ceil(sqrt((double)steps));
  TB_TRY(run_forward(ctx, r, steps, every > 0 ? every : 1));
  TB_TRY(begin_adjoint(ctx, r, loss));
  TB_TRY(run_back(ctx, r, steps, every > 0 ? every : 1));
  return ask_start(ctx, r);
}

tbStatus tb_gradient_adjoint(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                             double* gradient, tbGradientReport* report)
{
  Reverse r = {.o = o,
               .values = values,
               .kept = TB_ARRAY(tbStateAt*),
               .piece = TB_ARRAY(tbStateAt*),
               .gradient = gradient,
               .report = report};
  tb_tape_init(&r.tape);
  tb_exact_init(ctx, &r.exact, &r.tape);
  tb_relaxed_held_init(&r.held);
  memset(gradient, 0, (size_t)o->size * sizeof(double));
  tbStatus status = work(ctx, &r, loss);
  report->steps = tb_objective_steps(o);
  report->problems = r.exact.count, report->rough = r.exact.rough, report->ambiguous = r.exact.ambiguous;
  drop(ctx, &r.kept);
  drop(ctx, &r.piece);
  tb_array_free(ctx, &r.kept);
  tb_array_free(ctx, &r.piece);
  double* vectors[] = {r.adjoint, r.before, r.ahead, r.behind, r.unit, r.direction, r.change, r.bend};
  for (int k = 0; k < 8; k++) tb_free(ctx, vectors[k]);
  tb_free(ctx, r.island);
  tb_free(ctx, r.column);
  tb_tape_free(ctx, &r.tape);
  tb_relaxed_held_free(ctx, &r.held);
  tb_scene_free(ctx, &r.base);
  tb_scene_free(ctx, &r.near);
  for (int i = 0; r.beside && i < 2 * o->size; i++) tb_scene_free(ctx, &r.beside[i]);
  tb_free(ctx, r.beside);
  return status;
}
