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
// Steps of primal, vbd and avbd are differentiated implicitly at their minimum instead (adjoint_local.c).
//
// Cost    two to four steps per number of the state of the largest island and step, whatever the count of
// parameters;
//         two to four more for each that acts beyond the start (adjoint_numbers.c). Where a contact changes
//         right at the run the adjoint has the mean of both sides in that step, which is less than what
//         tangents carry on: they are reported.
#include "gradient/adjoint.h"

#include <math.h>
#include <string.h>

static const double SLIGHT = 1e-8; // by which they may differ without a further look
static const double NEAR = 1e-5;   // and the means of two ε, one a tenth of the other
static const double ALIKE = 1e-7;  // means that say the same
static const double ROUGH = 1e-3;  // sides that differ by more do so by no rounding

typedef tbReverse Reverse;

tbStatus tb_reverse_step(tbContext* ctx, Reverse* r, bool replay, tbWorld* w)
{
  r->report->runs++;
  return tb_objective_step(ctx, &r->how, &r->exact, replay, w);
}

static tbStatus make_room(tbContext* ctx, Reverse* r, int n)
{
  if (n < 1) n = 1; // a world without a state: the vectors exist all the same
  if (n <= r->n) return TB_OK;
  double** vectors[] = {&r->adjoint, &r->before, &r->ahead, &r->behind, &r->unit, &r->direction, &r->sides};
  for (int k = 0; k < 7; k++) {
    double* wider = TB_NEW(ctx, double, (size_t)n);
    if (!wider) return TB_ERROR_MEMORY;
    if (r->n) memcpy(wider, *vectors[k], (size_t)r->n * sizeof(double));
    tb_free(ctx, *vectors[k]);
    *vectors[k] = wider;
  }
  tb_free(ctx, r->settled);
  if (!(r->settled = TB_NEW(ctx, bool, (size_t)n))) return TB_ERROR_MEMORY;
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

static double of_island(const Reverse* r, int i, int n, const double* row)
{
  double sum = 0;
  for (int k = 0; k < n; k++)
    if (r->island[k] == r->island[i]) sum += row[k] * r->adjoint[k];
  return sum;
}

void tb_reverse_seek(Reverse* r, int i) { r->sides[i] = INFINITY, r->settled[i] = false; }

bool tb_settle(double most, double central, double differ, double* value, double* sides)
{
  double last = *sides, before = *value;
  bool near = fabs(central - before) <= NEAR * most && !isinf(last);
  bool same = near && fabs(central - before) <= ALIKE * most && fmax(differ, last) <= TB_REVERSE_KINK * most;
  bool curved = near && differ <= 0.5 * last;
  bool rounded = near && differ >= 2 * last && last <= ROUGH * most;
  bool settled = differ <= SLIGHT * most || same || curved || rounded;
  if (!rounded && (settled || differ < last)) *value = central, *sides = differ;
  return settled;
}

bool tb_reverse_settle(Reverse* r, int i, double ahead, double behind)
{
  double central = 0.5 * (ahead + behind), differ = fabs(ahead - behind);
  r->settled[i] = tb_settle(r->most, central, differ, &r->before[i], &r->sides[i]);
  if (r->settled[i]) r->most = fmax(r->most, fabs(r->before[i]));
  return r->settled[i];
}

double tb_reverse_bent(const Reverse* r, int i) { return r->settled[i] ? 0 : r->sides[i]; }

bool tb_reverse_is_settled(const Reverse* r, int i) { return r->settled[i]; }

// What derivatives are measured by, at first.
void tb_reverse_begin_step(Reverse* r)
{
  int n = tb_state_fixed(r->base.world);
  memset(r->before, 0, (size_t)r->n * sizeof(double));
  tb_state_units(r->base.world, r->o->step.dt, r->unit);
  r->most = 0;
  for (int i = 0; i < n; i++) r->most = fmax(r->most, r->unit[i] * fabs(r->adjoint[i]));
}

// From derivatives by units to derivatives by numbers. bent: by how much sides differ where no ε was small
// enough; whether that is nothing.
bool tb_reverse_end_step(Reverse* r, double bent)
{
  int n = tb_state_fixed(r->base.world);
  for (int i = 0; i < n; i++) r->before[i] = r->unit[i] > 0 ? r->before[i] / r->unit[i] : 0;
  return bent <= TB_REVERSE_KINK * r->most;
}

// Column c of F_sᵀ a⁺. *bent: by how much sides differ where no ε was small enough.
static tbStatus pull_column(tbContext* ctx, Reverse* r, const tbStateAt* s, int c, double* bent)
{
  int n = tb_state_fixed(r->base.world);
  bool left = true;
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  for (int i = 0; i < n; i++) {
    if (r->column[i] != c) continue;
    r->direction[i] = r->unit[i];
    tb_reverse_seek(r, i);
  }
  double e = TB_REVERSE_REACH;
  for (int k = 0; k < TB_REVERSE_LEVELS && left; k++, e *= 0.1) {
    TB_TRY(quotient(ctx, r, s, e, r->ahead));
    TB_TRY(quotient(ctx, r, s, -e, r->behind));
    left = false;
    for (int i = 0; i < n; i++) {
      if (r->column[i] != c || !(r->unit[i] > 0) || tb_reverse_is_settled(r, i)) continue;
      left |= !tb_reverse_settle(r, i, of_island(r, i, n, r->ahead), of_island(r, i, n, r->behind));
    }
  }
  for (int i = 0; i < n; i++)
    if (r->column[i] == c && r->unit[i] > 0) *bent = fmax(*bent, tb_reverse_bent(r, i));
  return TB_OK;
}

// before = F_sᵀ a⁺: every number of the state asks the rows of its own island. Sides that differ matter as
// far as the adjoint sees them.
static tbStatus transpose(tbContext* ctx, Reverse* r, const tbStateAt* s, bool* stable)
{
  double bent = 0;
  tb_reverse_begin_step(r);
  for (int c = 0; c < r->columns; c++) TB_TRY(pull_column(ctx, r, s, c, &bent));
  *stable = tb_reverse_end_step(r, bent);
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
  bool stable = true, same = true, done;
  TB_TRY(tb_state_put(ctx, s, 0, NULL, true, r->base.world));
  TB_TRY(make_room(ctx, r, tb_state_size(r->base.world)));
  TB_TRY(record_step(ctx, r));
  TB_TRY(make_room(ctx, r, tb_state_size(r->base.world)));
  TB_TRY(assign_columns(ctx, r));
  TB_TRY(tb_reverse_ask_numbers(ctx, r, s, &same));
  TB_TRY(tb_reverse_transpose(ctx, r, s, &done, &stable));
  if (!done) TB_TRY(transpose(ctx, r, s, &stable));
  memcpy(r->adjoint, r->before, (size_t)r->n * sizeof(double));
  if (stable && same) return TB_OK;
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
    double e = TB_REVERSE_REACH * r->unit[i];
    if (!(e > 0)) continue;
    r->direction[i] = 1;
    status = tb_state_put(ctx, end, e, r->direction, true, r->near.world);
    tbVec3 ahead = tb_objective_position(r->o, r->near.world);
    if (status == TB_OK) status = tb_state_put(ctx, end, -e, r->direction, true, r->near.world);
    tbVec3 d = tb_sub3(ahead, tb_objective_position(r->o, r->near.world));
    r->adjoint[i] = tb_dot3(off, d) / e;
    r->direction[i] = 0;
  }
  if (status == TB_OK) status = tb_reverse_ask_end(ctx, r, end);
  tb_state_free(ctx, end);
  return status;
}

static tbStatus run_forward(tbContext* ctx, Reverse* r, int64_t steps, int64_t every)
{
  for (int64_t i = 0; i < steps; i++) {
    if (i % every == 0) TB_TRY(keep(ctx, &r->kept, r->base.world));
    TB_TRY(tb_reverse_step(ctx, r, false, r->base.world));
  }
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
  TB_TRY(tb_reverse_numbers_begin(ctx, r));
  r->local = tb_reverse_is_local(r);
  int64_t steps = tb_objective_steps(r->o), every = (int64_t)ceil(sqrt((double)steps));
  TB_TRY(run_forward(ctx, r, steps, every > 0 ? every : 1));
  TB_TRY(begin_adjoint(ctx, r, loss));
  TB_TRY(run_back(ctx, r, steps, every > 0 ? every : 1));
  return tb_reverse_ask_start(ctx, r);
}

static tbStatus run(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                    double* gradient, tbGradientReport* report)
{
  Reverse r = {.o = o,
               .values = values,
               .how = tb_objective_is_relaxed(o) ? o->step : tb_objective_tight(o),
               .kept = TB_ARRAY(tbStateAt*),
               .piece = TB_ARRAY(tbStateAt*),
               .gradient = gradient,
               .report = report};
  tb_tape_init(ctx, &r.tape);
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
  double* vectors[] = {r.adjoint, r.before, r.ahead, r.behind, r.unit, r.direction, r.sides};
  for (int k = 0; k < 7; k++) tb_free(ctx, vectors[k]);
  tb_free(ctx, r.settled);
  tb_free(ctx, r.island);
  tb_free(ctx, r.column);
  tb_tape_free(ctx, &r.tape);
  tb_relaxed_held_free(ctx, &r.held);
  tb_scene_free(ctx, &r.base);
  tb_scene_free(ctx, &r.near);
  tb_reverse_numbers_end(ctx, &r);
  return status;
}

// Whether a step is a function of poses, velocities and impulses of joints alone: the contact law's is, and a
// minimum; what is iterated from the impulses of the last step, or keeps a state of its own, is not.
static bool forgets(const tbObjective* o)
{
  static const char* const iterates[] = {"xpbd", "penalty", "pd"};
  for (size_t i = 0; i < sizeof iterates / sizeof *iterates; i++)
    if (strcmp(o->step.scheme, iterates[i]) == 0) return false;
  if (tb_objective_is_iterated(o)) return false;
  return !tb_objective_is_relaxed(o) || o->step.descent.balanced;
}

// Where the step remembers more, or the scene's solver has found another answer than the law alone tells,
// tangents are carried instead; and where sides differ, if that takes no more steps: of a tangent both are
// carried on.
tbStatus tb_gradient_adjoint(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                             double* gradient, tbGradientReport* report)
{
  tbWay way = TB_WAY_AS_RUN;
  if (forgets(o)) TB_TRY(tb_objective_way(ctx, o, values, &way, loss, report));
  if (forgets(o) && (way == TB_WAY_EXACT || tb_objective_is_relaxed(o))) {
    TB_TRY(run(ctx, o, values, loss, gradient, report));
    bool cheaper = 2 * o->size * report->steps <= report->runs;
    if (report->unstable == 0 || !cheaper) return TB_OK;
  }
  *report = (tbGradientReport){.method = TB_GRADIENT_TANGENT};
  return tb_gradient_tangent(ctx, o, values, loss, gradient, report);
}
