// SPDX-License-Identifier: Apache-2.0
// Projected Newton's method on the incremental potential (Li et al. 2020, algorithm 1; course, algorithms 18
// and 20).
//
// Each iteration solves H p = −g, where the Hessian of every element and every contact has been made
// positive. The step α p is shortened until continuous collision detection finds nothing on the way that
// comes closer than a tenth of d̂, or than half of what it is apart, and then until the potential falls.
// Bodies start from where they are, so every iterate is free of intersections. Friction that would turn round
// on a direction is bounded from above for the next ones. Newton's method has ended when velocities change by
// no more than the tolerance and forces on whole bodies are balanced.
//
// What is in prescribed motion goes along: an iteration takes it α of the way that is left. While it is on
// its way, what is left of it counts in the potential, as ½ K (1 − s)² with a K that makes every direction
// one of descent.
//
// Friction is taken anew from the contacts that are found (lagged), and the potential minimised again, until
// that changes nothing or has been done as often as the options say.
#include "step/ipc.h"

#include "base/clock.h"
#include "base/stop.h"

#include <string.h>

static const double ARRIVE = 0.06; // s: beyond its time a step may go on to bring what is driven to its place
static const double ENOUGH = 1e-4; // of the fall that the gradient promises
static const double ROUNDING = 1e-14;
static const double BLIND = 1e-13;  // of the potential's terms: what rounding may hide of it
static const double VAGUE = 1e-9;   // of them: where the slope is asked, too, whether a share is too long
static const double FLATTER = 0.9;  // of the slope at the start: what a share may end with
static const double GAIN = 1e-11;   // of the potential: energy that counts as gained
static const double STIFFEST = 128; // times the stiffness that contacts begin with
static const double TIGHT = 1e-3;   // of d̂: contacts closer than this, and closing, become stiffer

static const double MOST_MORE = 16; // times the gain, of what is taken from a start
static const double CLOSE =
    0.01; // of what is driven, its way: the rest of it is gone in any case, once clear
static const double LEAST = 1e-18; // share of a direction, before it is given up
static const double LONGER = 8;    // times the last share of a direction, and its way: looked at of the next
static const double SHORT = 0.1;   // share of a direction of exact Hessians that says they are of no use here
static const double EASE = 0.05;   // of its first change: where minimising for one friction of several ends
static const double CONTRACT = 0.7; // of the last first change: more says that friction may not settle
static const double SAME = 0.9;     // cosine between directions that count as the same
static const double FARTHER = 1e6;  // times the direction, at most, that are gone at once
static const double CROWDED = 0.25; // of a way with too many candidates
static const double BALANCED = 100; // times the tolerance: forces on a whole body, over its mass
static const double LESS = 0.5;     // of what they were: else rounding is all that is left
static const double CUT = 0.5;      // of a clear way: gone no farther, friction is bounded from above
static const double SLOW = 0.2;     // of the last change: a full step that changes more converges slowly

enum {
  BOUND = 2,      // iterations with friction bounded from above
  WAIT = 4,       // iterations with positive parts, after a matrix that was not
  EXPENSIVE = 20, // iterations, of friction that may not settle
  LONG = 150,     // iterations, after which friction is taken anew for the last time
  LEARN = 40,     // rounds for the sake of joints
  TOUCH = 8,      // rounds for the sake of nodes that touch
  MANY = 20000,   // candidates of a way, before it is shortened
  MORE = 100,     // iterations beyond their number to bring what is driven to its place
  SLOWER = 8      // times that bodies start slower, lest energy is gained
};

typedef struct {
  double energy, size; // and what its terms are in size
  double barrier;      // what of it is in barriers
  double nearest;      // of d̂: the closest contact
} State;

// How fast velocities converge.
typedef struct {
  double last;       // change of the last iteration
  bool slow;         // it is more than a share of the one before
  int wait;          // iterations until exact Hessians are tried again
  double share;      // of the last direction that was gone: the next one is looked at little farther
  double moved;      // m: how far that was; infinite: not known
  bool onward;       // it goes where the one before did
  double most;       // m: no farther at once, as too many features come close on a longer way
  int bounded;       // iterations that friction is still bounded from above for
  double unbalanced; // m/s: of whole bodies, after the last iteration; infinite: not known
  bool blind;        // rounding has kept the potential from telling whether the last full step was too long
} Pace;

// Minimising with friction as it last was.
typedef struct {
  double first; // m/s: what the first iteration changed; infinite: not known
  bool settles; // it is well less than the one of the round before
  bool rough;   // it has ended before the tolerance of the step
} Lag;

static double largest(const tbIpc* ipc, const tbVec3* p)
{
  double most = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    double speed = tb_norm3(p[f->block]) + f->reach * tb_norm3(p[f->block + 1]);
    most = speed <= most ? most : speed; // a NaN stays
  }
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    for (int k = 0; k < n->of.fem->nnode; k++) {
      double speed = tb_maxabs3(p[n->block + k]);
      most = speed <= most ? most : speed;
    }
  }
  return most;
}

// The potential at velocities as placed last.
static tbStatus measure(tbContext* ctx, tbIpc* ipc, const tbVec3* v, State* out)
{
  double barrier;
  out->energy = tb_ipc_bodies_energy(ctx, ipc, v, &out->size);
  double volume = tb_ipc_volume_energy(ipc);
  TB_TRY(tb_ipc_find(ctx, ipc, &barrier));
  out->barrier = barrier += volume;
  double friction = tb_ipc_friction_energy(ipc), joints = tb_ipc_joints_energy(ipc, v);
  out->energy += barrier + friction + joints, out->size += barrier + friction + fabs(joints);
  out->nearest = INFINITY;
  const tbIpcContact* c = ipc->contact.data;
  for (size_t i = 0; i < ipc->contact.count; i++) out->nearest = fmin(out->nearest, c[i].at.gap / c[i].dhat);
  return TB_OK;
}

static tbStatus solve_for_direction(tbContext* ctx, tbIpc* ipc)
{
  tbArray pairs = TB_ARRAY(uint64_t);
  tbStatus status = tb_ipc_couplings(ctx, ipc, &pairs);
  if (status == TB_OK) status = tb_ipc_joints_couple(ctx, ipc, &pairs);
  if (status == TB_OK) status = tb_ipc_matrix_prepare(ctx, ipc, &pairs);
  tb_array_free(ctx, &pairs);
  TB_TRY(status);
  tb_ipc_bodies_gradient(ctx, ipc, ipc->v, &ipc->matrix);
  tb_ipc_volume_gradient(ipc, &ipc->matrix);
  tb_ipc_joints_gradient(ipc, ipc->v, &ipc->matrix);
  TB_TRY(tb_ipc_contacts_gradient(ctx, ipc, &ipc->matrix));
  for (int i = 0; i < ipc->nblock; i++)
    ipc->direction[i] = ipc->held[i] ? tb_zero3() : tb_neg3(tb_add3(ipc->gradient[i], ipc->lead[i]));
  return tb_ipc_matrix_solve(ctx, ipc, ipc->direction, ipc->direction);
}

// H p = −g, with Hessians as they are where Newton's method has become slow and that matrix is positive: made
// positive part by part it is too large, and close to the minimum converges only linearly (Longva et al.
// 2023).
static tbStatus find_direction(tbContext* ctx, tbIpc* ipc, Pace* pace)
{
  ipc->exact = pace->slow && pace->wait == 0;
  tbStatus status = solve_for_direction(ctx, ipc);
  if (pace->wait > 0) pace->wait--;
  if (!ipc->exact || status != TB_ERROR_NUMERIC) return status;
  ipc->exact = false, pace->wait = WAIT;
  return solve_for_direction(ctx, ipc);
}

static void keep_pace(const tbIpc* ipc, double share, Pace* pace)
{
  pace->slow = ipc->exact || (share == 1 && ipc->change > SLOW * pace->last);
  if (ipc->exact && share < SHORT) pace->slow = false, pace->wait = WAIT;
  pace->last = ipc->change;
}

// Where the potential asks for less than the way that is clear, some contacts may have slid past their end:
// friction turns round within ε_v there, of which Hessians where it slides say nothing, and directions go to
// and fro. Friction that does is bounded from above for the next ones, until so many of them have been gone.
static void bound_friction(tbIpc* ipc, double clear, double share, Pace* pace)
{
  if (share < CUT * clear && ipc->friction.count > 0) {
    pace->bounded = BOUND;
    tb_ipc_bound_friction(ipc, share, clear - share);
  } else if (pace->bounded > 0 && --pace->bounded == 0) {
    tb_ipc_release_friction(ipc);
  }
}

static double slope_of(const tbIpc* ipc)
{
  double slope = 0;
  for (int i = 0; i < ipc->nblock; i++)
    if (!ipc->held[i]) slope += tb_dot3(ipc->gradient[i], ipc->direction[i]);
  return slope;
}

// The slope of the potential where the trial is, along the direction, less than where it started.
static tbStatus is_flatter(tbContext* ctx, tbIpc* ipc, double slope, bool* flatter)
{
  tb_ipc_bodies_gradient(ctx, ipc, ipc->trial, NULL);
  tb_ipc_volume_gradient(ipc, NULL);
  tb_ipc_joints_gradient(ipc, ipc->trial, NULL);
  TB_TRY(tb_ipc_contacts_gradient(ctx, ipc, NULL));
  *flatter = fabs(slope_of(ipc)) <= FLATTER * fabs(slope);
  return TB_OK;
}

// The slope of the potential and of ½ K (1 − progress)² along the direction. K is raised until it is
// negative.
static double drive_on(tbIpc* ipc, const State* state)
{
  double slope = ipc->lead_slope + slope_of(ipc), missing = 1 - ipc->progress, square = missing * missing;
  if (!(square > 0)) return slope;
  ipc->drive = fmax(fmax(ipc->drive, state->size), 2 * slope / square);
  return slope - ipc->drive * square;
}

// Takes a share of the direction, as far as its way is clear, with a potential that is lower as far as
// rounding can tell. The trial is there. *share: 0: there is none.
static tbStatus search(tbContext* ctx, tbIpc* ipc, double slope, State* state, double* share)
{
  while (*share > 0) {
    State next;
    double before = ipc->progress, missing = 1 - before;
    ipc->progress = *share < 1 ? before + *share * (1 - before) : 1;
    TB_TRY(measure(ctx, ipc, ipc->trial, &next));
    double noise = ROUNDING * (state->size + next.size), left = 1 - ipc->progress;
    double gain = 0.5 * ipc->drive * (left * left - missing * missing), rise = next.energy - state->energy;
    bool lower = isfinite(next.energy) && (rise + gain <= ENOUGH * *share * slope + noise ||
                                           (left == 0 && missing > 0 && missing <= CLOSE));
    if (!lower && before == 1 && isfinite(next.energy) &&
        fabs(rise) <= VAGUE * next.size) // stiff bodies round much more
      TB_TRY(is_flatter(ctx, ipc, slope, &lower));
    if (lower) {
      *state = next;
      memcpy(ipc->v, ipc->trial, (size_t)ipc->nblock * sizeof *ipc->v);
      tb_ipc_settle(ipc);
      return TB_OK;
    }
    ipc->progress = before;
    *share = *share > LEAST ? 0.5 * *share : 0;
    if (ipc->nframe > 0) TB_TRY(tb_ipc_clear_way(ctx, ipc, share));
    else tb_ipc_go(ipc, *share);
  }
  return measure(ctx, ipc, ipc->v, state);
}

// Goes on along the direction, by 1, 2, 4 … of it, as long as the way is clear and the potential falls: out
// of a saddle, where matrices made positive are too large, and directions the same again and again.
static tbStatus go_farther(tbContext* ctx, tbIpc* ipc, State* state)
{
  for (double more = 1; more <= FARTHER; more *= 2) {
    State next;
    double share = more;
    tb_ipc_go(ipc, share);
    TB_TRY(tb_surface_find(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, &ipc->candidates));
    TB_TRY(tb_ipc_clear_way(ctx, ipc, &share));
    if (share < more) break;
    TB_TRY(measure(ctx, ipc, ipc->trial, &next));
    if (!(next.energy < state->energy - ROUNDING * (state->size + next.size))) break;
    *state = next;
    memcpy(ipc->v, ipc->trial, (size_t)ipc->nblock * sizeof *ipc->v);
    tb_ipc_settle(ipc);
  }
  tb_ipc_go(ipc, 0);
  return measure(ctx, ipc, ipc->v, state);
}

// Whether the direction is that of the last iteration again.
static bool is_onward(tbIpc* ipc)
{
  double along = 0, now = 0, last = 0;
  for (int i = 0; i < ipc->nblock; i++) {
    along += tb_dot3(ipc->direction[i], ipc->last[i]);
    now += tb_dot3(ipc->direction[i], ipc->direction[i]), last += tb_dot3(ipc->last[i], ipc->last[i]);
    ipc->last[i] = ipc->direction[i];
  }
  return along > SAME * sqrt(now * last);
}

// Candidates of the way. Surfaces that go as far in a step as they are large have all of their features among
// them: they go shorter ways then, of which there are few each.
static tbStatus look_ahead(tbContext* ctx, tbIpc* ipc, double way, Pace* pace, double* share)
{
  for (;;) {
    if (*share * way > pace->most) *share = pace->most / way;
    tb_ipc_go(ipc, *share);
    bool few, all = ipc->progress < 1 || *share * way <= ipc->edge;
    TB_TRY(tb_surface_find_few(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, all ? 0 : MANY,
                               &ipc->candidates, &few));
    if (few) return TB_OK;
    pace->most = CROWDED * *share * way;
  }
}

// v ← v + α p with a potential that is lower. *share: α; 0: there is none. Where rounding hides the
// potential, a change that is r times the last, full one says that Newton's steps are 1 + r times too long.
static tbStatus take_step(tbContext* ctx, tbIpc* ipc, State* state, Pace* pace, double* share)
{
  double slope = drive_on(ipc, state), way = ipc->h * ipc->change;
  *share = fmin(1, LONGER * pace->share);
  if (ipc->progress == 1 && *share * way > fmax(LONGER * pace->moved, ipc->edge))
    *share = fmax(LONGER * pace->moved, ipc->edge) / way;
  if (pace->blind && !pace->onward && ipc->change > pace->last)
    *share = fmin(*share, pace->last / (pace->last + ipc->change));
  double before = state->energy;
  TB_TRY(look_ahead(ctx, ipc, way, pace, share));
  TB_TRY(tb_ipc_clear_way(ctx, ipc, share));
  double clear = *share;
  TB_TRY(search(ctx, ipc, slope, state, share));
  bound_friction(ipc, clear, *share, pace);
  if (*share > 0) pace->share = *share, pace->moved = *share * way;
  pace->blind = *share == 1 && fabs(before - state->energy) <= BLIND * state->size;
  if (*share == 1 && pace->onward && pace->wait > 0) TB_TRY(go_farther(ctx, ipc, state));
  return TB_OK;
}

// Whether forces are balanced, or as well as numbers allow.
static tbStatus is_balanced(tbContext* ctx, tbIpc* ipc, Pace* pace, bool* balanced)
{
  double most, last = pace->unbalanced;
  TB_TRY(tb_ipc_unbalanced(ctx, ipc, &most));
  pace->unbalanced = most;
  *balanced = !(most > BALANCED * ipc->options->newton_tolerance) || most > LESS * last;
  return TB_OK;
}

// Contacts that close in on each other, however hard they push, push harder.
static tbStatus stiffen(tbContext* ctx, tbIpc* ipc, double before, State* state)
{
  if (!(state->nearest < TIGHT) || !(state->nearest < before) || ipc->stiffer >= STIFFEST ||
      ipc->options->barrier_stiffness > 0)
    return TB_OK;
  ipc->stiffer *= 2;
  return measure(ctx, ipc, ipc->v, state);
}

// Until the velocities change by no more than the tolerance, or time or iterations are up; what is driven
// goes its whole way first, as it would pass through what has not made way for it. The tolerance is `ease` of
// the first change at least, unless friction does not settle: *lag.
static tbStatus run_newton(tbContext* ctx, tbIpc* ipc, State* state, double ease, Lag* lag)
{
  double tolerance = ipc->options->newton_tolerance;
  Pace pace = {.last = INFINITY, .share = 1, .moved = INFINITY, .most = INFINITY, .unbalanced = INFINITY};
  double before = lag->first;
  lag->first = INFINITY, lag->rough = false;
  ipc->converged = false;
  tb_ipc_release_friction(ipc);
  for (int k = 0, most = ipc->options->newton_iterations;
       ipc->iterations < most || (ipc->progress < 1 && ipc->iterations < most + MORE); k++) {
    TB_TRY(tb_check_interrupt(ctx));
    double over = tb_seconds() - ipc->deadline;
    ipc->late = ipc->late || over > 0;
    if (ipc->late && (ipc->progress == 1 || over > ARRIVE)) return TB_OK;
    double share, nearest = state->nearest;
    bool arrived = ipc->progress == 1;
    tbStatus status = find_direction(ctx, ipc, &pace);
    if (status == TB_ERROR_NUMERIC) return TB_OK; // no longer positive, in numbers: the last iterate stands
    TB_TRY(status);
    ipc->change = largest(ipc, ipc->direction);
    pace.onward = is_onward(ipc);
    if (k == 0 && arrived) {
      lag->first = ipc->change;
      lag->settles = lag->first <= CONTRACT * before;
      if (lag->settles) tolerance = fmax(tolerance, ease * lag->first);
    }
    ipc->iterations++;
    bool bounded = pace.bounded > 0;
    TB_TRY(take_step(ctx, ipc, state, &pace, &share));
    keep_pace(ipc, share, &pace);
    if (arrived && ipc->change <= tolerance && bounded) { // its steps are too short to tell
      pace.bounded = 0;
      tb_ipc_release_friction(ipc);
    } else if (arrived && ipc->change <= tolerance) {
      lag->rough = ipc->change > ipc->options->newton_tolerance, ipc->converged = true;
      if (!lag->rough) TB_TRY(is_balanced(ctx, ipc, &pace, &ipc->converged));
      if (ipc->converged || share == 0) {
        ipc->converged = true;
        return TB_OK;
      }
    }
    if (share == 0) return TB_OK;
    TB_TRY(stiffen(ctx, ipc, nearest, state));
  }
  return TB_OK;
}

// Whether anything is driven on its way.
static bool is_driven(const tbIpc* ipc)
{
  const tbSurfaces* s = &ipc->surfaces;
  for (int i = 0; i < s->scene.nsurface; i++)
    for (int k = 0; ipc->surface[i].source == TB_IPC_KNOWN && k < s->surface[i].surface->nvertex; k++)
      if (tb_maxabs3(tb_sub3(ipc->surface[i].last[k], ipc->surface[i].begin[k])) > 0) return true;
  for (int i = 0; i < s->scene.nplane; i++)
    if (ipc->plane[i].offset[0] != ipc->plane[i].offset[1] ||
        tb_maxabs3(tb_sub3(ipc->plane[i].normal[0], ipc->plane[i].normal[1])) > 0)
      return true;
  for (int i = 0; i < ipc->nnodes; i++)
    for (int k = 0; k < ipc->nodes[i].of.fem->nnode; k++)
      if (ipc->nodes[i].of.fem->pinned[k] && tb_maxabs3(ipc->nodes[i].of.pin[k]) > 0) return true;
  return false;
}

// Newton's method, and again with friction as it then is, until that changes nothing; or no less than before,
// where it takes long.
static tbStatus minimise_lagged(tbContext* ctx, tbIpc* ipc, State* state)
{
  int most = ipc->options->friction_iterations, begun = ipc->iterations;
  Lag lag = {.first = INFINITY};
  bool last = false; // what joints still learn then, they learn with one friction: else neither ends
  for (int round = 0;; round++) {
    if (!last) TB_TRY(tb_ipc_lag(ctx, ipc));
    size_t before = ipc->friction.count;
    TB_TRY(measure(ctx, ipc, ipc->v, state));
    int used = ipc->iterations;
    last = last || round >= most || (round > 0 && used - begun > LONG);
    TB_TRY(run_newton(ctx, ipc, state, last ? 0 : EASE, &lag));
    bool gives_up = !lag.settles && ipc->iterations - used > EXPENSIVE;
    bool learned = tb_ipc_joints_learn(ipc);
    if (!ipc->converged) break;
    if ((learned || lag.rough) && round < LEARN) continue;
    if (round > 0 && (lag.first <= ipc->options->newton_tolerance || gives_up)) break;
    if (last || (before == 0 && ipc->contact.count == 0)) break;
  }
  return TB_OK;
}

// The same, and again where nodes turn out to touch that have not gone by the rule of those that do.
static tbStatus minimise_touching(tbContext* ctx, tbIpc* ipc, State* state)
{
  tb_ipc_touch(ipc);
  for (int round = 0; round < TOUCH; round++) {
    TB_TRY(minimise_lagged(ctx, ipc, state));
    if (!ipc->converged || !tb_ipc_touch(ipc)) break;
  }
  return TB_OK;
}

// What barriers hold where the step starts: what the last one left in them, but no less than with the
// stiffness that slow bodies have, and no more than with that of their present speeds (ipc_scale.c), as they
// may have been moved since.
static tbStatus barriers_before(tbContext* ctx, tbIpc* ipc, double* held)
{
  State slow, fast;
  ipc->slowly = true;
  TB_TRY(measure(ctx, ipc, ipc->v, &slow));
  ipc->slowly = false;
  TB_TRY(measure(ctx, ipc, ipc->v, &fast));
  *held = fmax(slow.barrier, fmin(ipc->held_before, fast.barrier));
  return TB_OK;
}

// From a slower start, and the minimum again, as long as more energy has come out than went in. What
// barriers give falls by less than what is taken from the start: what the last try fell short by is asked
// for, too.
static tbStatus lose_gains(tbContext* ctx, tbIpc* ipc, State* state)
{
  double asked = 0, last = 0;
  for (int k = 0; k < SLOWER && !ipc->driven && ipc->converged; k++) {
    double gain = tb_ipc_energy_after(ctx, ipc) + state->barrier - ipc->begun_with;
    if (!(gain > GAIN * state->size)) break;
    double more = k > 0 && last > gain ? fmin(fmax(asked / (last - gain), 1), MOST_MORE) : 1;
    asked = more * gain, last = gain;
    if (!tb_ipc_slow_down(ipc, asked)) break;
    TB_TRY(minimise_touching(ctx, ipc, state));
  }
  ipc->stored = state->barrier;
  return TB_OK;
}

tbStatus tb_ipc_minimise_slower(tbContext* ctx, tbIpc* ipc, double gain, bool* again)
{
  State state;
  *again = ipc->slower++ < SLOWER && tb_ipc_slow_down(ipc, gain);
  if (!*again) {
    TB_TRY(measure(ctx, ipc, ipc->v, &state));
    ipc->stored = state.barrier;
    return TB_OK;
  }
  tb_ipc_settle(ipc);
  TB_TRY(tb_surface_find(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, &ipc->candidates));
  TB_TRY(minimise_touching(ctx, ipc, &state));
  return lose_gains(ctx, ipc, &state);
}

tbStatus tb_ipc_minimise(tbContext* ctx, tbIpc* ipc)
{
  State state;
  bool driven = !ipc->still && is_driven(ipc);
  ipc->driven = driven || ipc->still;
  ipc->progress = driven ? 0 : 1;
  tb_ipc_volume_begin(ipc);
  tb_ipc_place(ipc, ipc->v, ipc->progress);
  tb_ipc_settle(ipc);
  TB_TRY(tb_ipc_share_loads(ctx, ipc));
  TB_TRY(tb_surface_find(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, &ipc->candidates));
  double held;
  TB_TRY(barriers_before(ctx, ipc, &held));
  ipc->begun_with = tb_ipc_energy_before(ctx, ipc) + held;
  TB_TRY(minimise_touching(ctx, ipc, &state));
  return lose_gains(ctx, ipc, &state);
}
