// SPDX-License-Identifier: Apache-2.0
// Forward derivatives: with s⁺ = F(s, p), the tangent t = ds/dp of every number goes t⁺ = F_s t + F_p.
//
// That is a central difference of the step at (s ± ε t, p ± ε), in which the contact law is solved to
// rounding from the impulses of the step at (s, p) (answer.c): what is differenced is the smooth map on the
// states that the step has. ε t is about a hundred-thousandth of the bodies' sizes, so that what is cut off
// and what is rounded are both below 1e-9 of the derivative.
//
// Where a contact appears, vanishes, sticks or lets go right at s, the derivatives along t and −t differ. The
// step is reported, and from then on the two are carried by themselves, each by differences to its own side:
// directional derivatives obey the chain rule, and the mean of the two is what central differences of whole
// runs tend to. An ε at which the sides differ is first made smaller: most changes are near s and not at it.
//
// Cost    two steps per number and step, four where the sides differ. Numbers that act beyond the start
// (mass,
//         friction …) need worlds of their own at p ± ε. Memory does not grow with the run.
#include "gradient/objective.h"
#include "gradient/state.h"

#include <math.h>
#include <string.h>

static const double REACH = 1e-5;  // of a body's size
static const double KINK = 1e-3;   // by which two sides of a derivative may differ
static const double SLIGHT = 1e-8; // by which they, or those of two ε, may differ without a further look
static const double SAME = 1e-9;   // by which they no longer do
static const double APART = 1e-6;  // of those of two ε: something changes between them
static const double FAR = 1e2;     // times as far as at the start
static const double FAINT = 1e-2, WIDEST = 1e3; // changes that are less than this share of REACH; and how far
enum { TRIES = 3 };                             // to go for more
static const double NOISE = 1e-12;              // of a state, by rounding
enum { LEVELS = 4, SAMPLES = 2 * LEVELS };      // of ε, each a tenth of the one before

// A world with another value of a number.
typedef struct {
  int number;
  double offset;
  tbScene scene;
} Other;

typedef struct {
  double reach;       // how far to go in it, at first
  double wider;       // times as far, where it says little; ten to a power
  double most;        // of a number that is no more than a start
  bool ahead, behind; // whether the format allows both sides of it
  bool split;         // the two sides of its tangent differ
} Number;

typedef struct {
  const tbObjective* o;
  const double* values;
  tbScene base, near;             // the run, and a world to try states next to it
  tbArray other;                  // Other
  Number* number;                 // (size)
  tbStateAt* before;              // the state that a step starts from
  int n;                          // of the state, with room for as many contacts as there have been
  bool as_solved;                 // contact problems are left to the scene's solver
  tbStepOptions how;              // its tolerance
  double* tangent[2];             // along p and along −p; the second only where split           (size × n)
  double *sample, reach[SAMPLES]; // (F(s + e t) − F(s)) / e, and e                     (SAMPLES × n)
  double *work, *next, *next_back; // t⁺                                               (n)
  double* level[2];                // by two ε, one after the other                         (n)
  tbTape tape;
  tbExact exact;
  bool nearby; // a change of contact within ε of this step
  tbGradientReport* report;
} Forward;

// The world with number i at its value + offset, made when it is first asked for.
static tbStatus other_world(tbContext* ctx, Forward* f, int i, double offset, tbWorld** out)
{
  Other* other = f->other.data;
  for (size_t k = 0; k < f->other.count; k++)
    if (other[k].number == i && other[k].offset == offset) return *out = other[k].scene.world, TB_OK;
  Other made = {.number = i, .offset = offset};
  TB_TRY(tb_objective_beside(ctx, f->o, f->values, i, offset, &made.scene));
  tbStatus status = tb_array_push(ctx, &f->other, &made, 1);
  if (status != TB_OK) tb_scene_free(ctx, &made.scene);
  *out = made.scene.world;
  return status;
}

static double norm_of(const Forward* f, const double* t)
{
  return tb_state_norm(f->base.world, f->o->step.dt, t);
}

// The tangent at the start, to one side or, as their mean, to both.
static tbStatus begin_number(tbContext* ctx, Forward* f, int i)
{
  Number* number = &f->number[i];
  double* t = f->tangent[0] + (size_t)i * (size_t)f->n;
  *number = (Number){.reach = tb_objective_reach(f->o, f->values, i), .wider = 1};
  for (int side = 0; side < 2; side++) {
    tbWorld* w;
    tbStatus status = other_world(ctx, f, i, side ? -number->reach : number->reach, &w);
    if (status == TB_OK) *(side ? &number->behind : &number->ahead) = true;
    else if (status != TB_ERROR_INPUT && status != TB_ERROR_ARGUMENT) return status;
    else if (side && !number->ahead) return status;
  }
  double share = number->ahead && number->behind ? 0.5 : 1;
  for (int side = 0; side < 2; side++) {
    double e = side ? -number->reach : number->reach;
    tbWorld* w;
    if (!(side ? number->behind : number->ahead)) continue;
    TB_TRY(other_world(ctx, f, i, e, &w));
    tb_state_difference(w, f->base.world, share / e, t);
  }
  number->most = FAR * REACH / norm_of(f, t);
  return TB_OK;
}

// Vectors of n numbers in place of fewer.
static tbStatus make_room(tbContext* ctx, Forward* f, int n)
{
  size_t size = (size_t)f->o->size, was = (size_t)f->n, now = (size_t)n;
  double** single[] = {&f->work, &f->next, &f->next_back, &f->level[0], &f->level[1]};
  for (int k = 0; k < 5; k++) {
    tb_free(ctx, *single[k]);
    if (!(*single[k] = TB_NEW(ctx, double, now))) return TB_ERROR_MEMORY;
  }
  tb_free(ctx, f->sample);
  if (!(f->sample = TB_NEW(ctx, double, SAMPLES* now))) return TB_ERROR_MEMORY;
  for (int k = 0; k < 2; k++) {
    double* wider = TB_NEW(ctx, double, size* now);
    if (!wider) return TB_ERROR_MEMORY;
    for (size_t i = 0; i < size && was; i++)
      memcpy(wider + i * now, f->tangent[k] + i * was, was * sizeof(double));
    tb_free(ctx, f->tangent[k]);
    f->tangent[k] = wider;
  }
  f->n = n;
  return TB_OK;
}

static tbStatus begin(tbContext* ctx, Forward* f)
{
  TB_TRY(tb_objective_scene(ctx, f->o, f->values, &f->base));
  TB_TRY(tb_objective_scene(ctx, f->o, f->values, &f->near));
  TB_TRY(tb_state_check_kinds(ctx, f->base.world));
  if (!(f->number = TB_NEW(ctx, Number, (size_t)f->o->size))) return TB_ERROR_MEMORY;
  TB_TRY(make_room(ctx, f, tb_state_size(f->base.world)));
  for (int i = 0; i < f->o->size; i++) TB_TRY(begin_number(ctx, f, i));
  return TB_OK;
}

static void end(tbContext* ctx, Forward* f)
{
  for (size_t i = 0; i < f->other.count; i++) tb_scene_free(ctx, &((Other*)f->other.data)[i].scene);
  tb_array_free(ctx, &f->other);
  tb_free(ctx, f->number);
  for (int k = 0; k < 2; k++) tb_free(ctx, f->tangent[k]);
  tb_free(ctx, f->sample);
  tb_free(ctx, f->work);
  tb_free(ctx, f->next);
  tb_free(ctx, f->next_back);
  for (int k = 0; k < 2; k++) tb_free(ctx, f->level[k]);
  tb_state_free(ctx, f->before);
  tb_tape_free(ctx, &f->tape);
  tb_scene_free(ctx, &f->base);
  tb_scene_free(ctx, &f->near);
}

static tbStatus step(tbContext* ctx, Forward* f, bool replay, tbWorld* w)
{
  f->report->runs++;
  return tb_objective_step(ctx, &f->how, f->as_solved ? NULL : &f->exact, replay, w);
}

static double* sample_at(const Forward* f, int k) { return f->sample + (size_t)k * (size_t)f->n; }

// One more quotient (F(s + e t, p + e) − F(s, p)) / e; sign −1: of the tangent along −p.
static tbStatus sample(tbContext* ctx, Forward* f, int i, double sign, double e, const double* t, int* count)
{
  double* out = sample_at(f, *count);
  tbWorld* w = f->near.world;
  bool own = tb_objective_is_initial(f->o, i);
  if (!own) TB_TRY(other_world(ctx, f, i, sign * e, &w));
  memset(out, 0, (size_t)f->n * sizeof(double));
  TB_TRY(tb_state_put(ctx, f->before, e, t, own, w));
  TB_TRY(step(ctx, f, true, w));
  tb_state_difference(w, f->base.world, 1 / e, out);
  f->reach[(*count)++] = e;
  return TB_OK;
}

// By how much two quotients differ, as a share of them; what rounding makes of nothing is no difference.
static double apart(const Forward* f, double norm, int a, int b)
{
  const double *x = sample_at(f, a), *y = sample_at(f, b);
  for (int i = 0; i < f->n; i++) f->work[i] = x[i] - y[i];
  double size = fmin(norm_of(f, x), norm_of(f, y));
  double rounding = NOISE / (KINK * fmin(fabs(f->reach[a]), fabs(f->reach[b])));
  return norm_of(f, f->work) / fmax(fmax(size, norm), rounding);
}

static double difference(const Forward* f, double norm, const double* x, const double* y)
{
  for (int i = 0; i < f->n; i++) f->work[i] = x[i] - y[i];
  return norm_of(f, f->work) / fmax(norm_of(f, y), norm);
}

typedef enum { AHEAD = 1, BEHIND = 2, ACROSS = 4 } Side;

static bool is_pair(const Forward* f, int a, int b, Side side)
{
  bool x = f->reach[a] > 0, y = f->reach[b] > 0;
  return x != y ? side == ACROSS : side == (x ? AHEAD : BEHIND);
}

// Where two quotients tend to as e does to 0.
static void tend(const Forward* f, int a, int b, double* out)
{
  double u = f->reach[a], v = f->reach[b], weight = v / (v - u);
  const double *x = sample_at(f, a), *y = sample_at(f, b);
  for (int i = 0; i < f->n; i++) out[i] = weight * x[i] + (1 - weight) * y[i];
}

// The two quotients on a side, or one on either, that agree best; out: where they tend to.
static double best_pair(const Forward* f, double norm, int count, Side side, double* out)
{
  double least = INFINITY;
  for (int a = 0; a < count; a++)
    for (int b = a + 1; b < count; b++) {
      double differ = is_pair(f, a, b, side) ? apart(f, norm, a, b) : INFINITY;
      if (!(differ < least)) continue;
      least = differ;
      tend(f, a, b, out);
    }
  return least;
}

// The largest ε to begin with: that of the number, or less where the tangent has grown. Numbers that are no
// more than a start have none of their own; where nothing is left of one, as of a velocity that a joint
// forbids, the impulses that it left are not to be blown up.
static double first_reach(const Forward* f, int i, double norm)
{
  double e = f->number[i].wider * f->number[i].reach;
  if (tb_objective_is_initial(f->o, i)) return norm > 0 ? fmin(REACH / norm, f->number[i].most) : e;
  while (e * norm > 10 * REACH) e *= 0.1;
  return e;
}

// Goes farther in a number whose quotient was of a change too small to be more than rounding, and less far
// again where it no longer is. Whether the reach is another now.
static bool adjust_reach(Forward* f, int i, double norm, int last)
{
  Number* number = &f->number[i];
  double change = fabs(f->reach[last]) * fmax(norm_of(f, sample_at(f, last)), norm);
  if (tb_objective_is_initial(f->o, i)) return false;
  if (change < FAINT * REACH && number->wider < WIDEST) return number->wider *= 10, true;
  if (change > 10 * REACH && number->wider > 1) return number->wider *= 0.1, true;
  return false;
}

// Notes a change of contact within ε: that two derivatives, whose difference is in `work`, are apart by more
// than rounding. Farther away F may be no more than curved.
static void note_nearby(Forward* f, int i, double e)
{
  bool near = tb_objective_is_initial(f->o, i) || e < 1.5 * f->number[i].reach;
  f->nearby = f->nearby || (near && e * norm_of(f, f->work) > APART * REACH);
}

// The first two quotients, at a reach that says something.
static tbStatus sample_first(tbContext* ctx, Forward* f, int i, double sign, bool to_one_side,
                             const double* t, double norm, double* e)
{
  bool again = true;
  for (int k = 0; again; k++) {
    int count = 0;
    *e = first_reach(f, i, norm);
    TB_TRY(sample(ctx, f, i, sign, *e, t, &count));
    again = k < TRIES && adjust_reach(f, i, norm, 0);
    if (!again) TB_TRY(sample(ctx, f, i, sign, to_one_side ? 2 * *e : -*e, t, &count));
  }
  return TB_OK;
}

// next = F_s t + F_p, and next_back along −t, by quotients to both sides, or to one alone. Smaller ε follow
// until two agree. Sides that differ slightly may do so because F is curved, and then the next ε gives the
// same derivative, or because something changes within ε, and then it does not. Besides what changes within ε
// there are jumps, where contacts between parallel faces are found on the one or on the other: quotients
// across one agree with none. false: the two sides differ.
static tbStatus differ(tbContext* ctx, Forward* f, int i, double sign, bool to_one_side, bool* smooth)
{
  const double* t = f->tangent[sign < 0] + (size_t)i * (size_t)f->n;
  double norm = norm_of(f, t), e;
  size_t bytes = (size_t)f->n * sizeof(double);
  int count = 0;
  *smooth = true;
  memset(f->next, 0, bytes);
  memset(f->next_back, 0, bytes);
  if (!(norm > 0) && tb_objective_is_initial(f->o, i)) return TB_OK;
  double *coarse = f->level[0], *fine = f->level[1], least = INFINITY, sides = INFINITY;
  TB_TRY(sample_first(ctx, f, i, sign, to_one_side, t, norm, &e));
  for (int k = 0; k < LEVELS && least > SLIGHT; k++, e *= 0.1) {
    if (k > 0) TB_TRY(sample(ctx, f, i, sign, e, t, &count));
    if (k > 0) TB_TRY(sample(ctx, f, i, sign, to_one_side ? 2 * e : -e, t, &count));
    else count = 2;
    double last = sides;
    sides = apart(f, norm, count - 2, count - 1);
    if (sides > KINK) {
      note_nearby(f, i, e);
      continue;
    }
    tend(f, count - 2, count - 1, fine);
    if (sides <= SLIGHT) return memcpy(f->next, fine, bytes), TB_OK;
    double differ = last <= KINK ? difference(f, norm, coarse, fine) : 1;
    if (last <= KINK) note_nearby(f, i, 10 * e);
    if (differ > least) break; // rounding begins
    if (differ < least) memcpy(f->next, differ < 1 ? coarse : fine, bytes);
    least = differ;
    double* swap = coarse;
    coarse = fine, fine = swap;
  }
  if (least < INFINITY) return TB_OK;
  double best = best_pair(f, norm, count, to_one_side ? AHEAD : ACROSS, f->next);
  *smooth = best <= KINK;
  if (*smooth || to_one_side) return TB_OK;
  double ahead = best_pair(f, norm, count, AHEAD, f->next);
  double behind = best_pair(f, norm, count, BEHIND, f->next_back);
  if (behind > KINK && ahead <= KINK) memcpy(f->next_back, f->next, (size_t)f->n * sizeof(double));
  if (ahead > KINK && behind <= KINK) memcpy(f->next, f->next_back, (size_t)f->n * sizeof(double));
  for (int k = 0; k < f->n; k++) f->next_back[k] = -f->next_back[k];
  return TB_OK;
}

static bool has_both_sides(const Number* number) { return number->ahead && number->behind; }

// Both sides of a tangent that was one until now.
static tbStatus carry_both(tbContext* ctx, Forward* f, int i, bool* stable)
{
  size_t n = (size_t)f->n, bytes = n * sizeof(double);
  bool smooth;
  TB_TRY(differ(ctx, f, i, 1, false, &smooth));
  memcpy(f->tangent[0] + (size_t)i * n, f->next, bytes);
  memcpy(f->tangent[1] + (size_t)i * n, f->next_back, bytes);
  f->number[i].split = !smooth;
  *stable &= smooth;
  return TB_OK;
}

// The sides that there are, each by itself; one again where they do not differ any more.
static tbStatus carry_sides(tbContext* ctx, Forward* f, int i, bool* stable)
{
  size_t n = (size_t)f->n;
  Number* number = &f->number[i];
  double *t = f->tangent[0] + (size_t)i * n, *back = f->tangent[1] + (size_t)i * n;
  for (int side = 0; side < 2; side++) {
    bool smooth;
    if (!(side ? number->behind : number->ahead)) continue;
    TB_TRY(differ(ctx, f, i, side ? -1 : 1, true, &smooth));
    memcpy(side ? back : t, f->next, n * sizeof(double));
    *stable &= smooth;
  }
  if (!has_both_sides(number)) return TB_OK;
  for (size_t k = 0; k < n; k++) f->work[k] = t[k] + back[k];
  if (norm_of(f, f->work) <= SAME * norm_of(f, t)) number->split = false;
  return TB_OK;
}

static tbStatus carry(tbContext* ctx, Forward* f, int i, bool* stable)
{
  const Number* number = &f->number[i];
  return number->split || !has_both_sides(number) ? carry_sides(ctx, f, i, stable)
                                                  : carry_both(ctx, f, i, stable);
}

static tbStatus advance(tbContext* ctx, Forward* f, int64_t number)
{
  bool stable = true;
  f->nearby = false;
  TB_TRY(tb_state_save(ctx, f->base.world, &f->before));
  TB_TRY(step(ctx, f, false, f->base.world));
  int n = tb_state_size(f->base.world);
  if (n > f->n) TB_TRY(make_room(ctx, f, n + n / 2));
  if (f->base.world->state_kind)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "no derivatives: the scheme %s keeps a state of its own from step to step",
                   f->o->step.scheme);
  for (int i = 0; i < f->o->size; i++) TB_TRY(carry(ctx, f, i, &stable));
  f->report->nearby += stable && f->nearby;
  if (stable) return TB_OK;
  if (f->report->unstable < TB_GRADIENT_UNSTABLE) f->report->unstable_step[f->report->unstable] = number;
  f->report->unstable++;
  return TB_OK;
}

// The derivative of the body's position along a direction of state.
static tbStatus position_along(tbContext* ctx, Forward* f, const double* t, tbVec3* out)
{
  double norm = norm_of(f, t), e = norm > 0 ? REACH / norm : 1;
  TB_TRY(tb_state_put(ctx, f->before, e, t, true, f->near.world));
  tbVec3 ahead = tb_objective_position(f->o, f->near.world);
  TB_TRY(tb_state_put(ctx, f->before, -e, t, true, f->near.world));
  *out = tb_scale3(0.5 / e, tb_sub3(ahead, tb_objective_position(f->o, f->near.world)));
  return TB_OK;
}

// dloss = 2 (x − target) · dx.
static tbStatus finish(tbContext* ctx, Forward* f, double* loss, double* gradient)
{
  TB_TRY(tb_state_save(ctx, f->base.world, &f->before));
  tbVec3 off = tb_sub3(tb_objective_position(f->o, f->base.world), f->o->target), d, back;
  for (int i = 0; i < f->o->size; i++) {
    size_t at = (size_t)i * (size_t)f->n;
    const Number* number = &f->number[i];
    TB_TRY(position_along(ctx, f, f->tangent[0] + at, &d));
    TB_TRY(position_along(ctx, f, f->tangent[1] + at, &back));
    if (!number->ahead) d = tb_neg3(back);
    else if (number->split) d = tb_scale3(0.5, tb_sub3(d, back));
    gradient[i] = 2 * tb_dot3(off, d);
  }
  *loss = tb_dot3(off, off);
  return TB_OK;
}

typedef enum { EXACTLY, TIGHTLY, AS_RUN } Way; // how contact problems are solved

static tbStatus run(tbContext* ctx, const tbObjective* o, const double* values, Way way, double* loss,
                    double* gradient, tbGradientReport* report)
{
  Forward f = {.o = o,
               .values = values,
               .as_solved = way != EXACTLY,
               .how = way == AS_RUN ? o->step : tb_objective_tight(o),
               .report = report,
               .other = TB_ARRAY(Other)};
  tb_tape_init(&f.tape);
  tb_exact_init(ctx, &f.exact, &f.tape);
  report->unstable = report->nearby = 0;
  tbStatus status = begin(ctx, &f);
  int64_t steps = tb_objective_steps(o);
  for (int64_t i = 0; i < steps && status == TB_OK; i++) status = advance(ctx, &f, i);
  if (status == TB_OK) status = finish(ctx, &f, loss, gradient);
  report->steps = steps;
  report->problems += f.exact.count, report->rough += f.exact.rough, report->ambiguous += f.exact.ambiguous;
  end(ctx, &f);
  return status;
}

// Where velocities are not unique, or the contact law has several solutions, a derivative exists of those
// that a solver finds, from the impulses it starts with: then it is the scene's own solver whose steps are
// differenced, to a tight tolerance unless that leads elsewhere. So are those of schemes that relax the law.
tbStatus tb_gradient_tangent(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                             double* gradient, tbGradientReport* report)
{
  double as_run;
  if (tb_objective_is_relaxed(o)) return run(ctx, o, values, AS_RUN, loss, gradient, report);
  TB_TRY(run(ctx, o, values, EXACTLY, loss, gradient, report));
  TB_TRY(tb_objective_loss(ctx, o, values, &as_run));
  if (report->ambiguous == 0 && tb_objective_is_run(o, *loss, as_run)) return TB_OK;
  TB_TRY(run(ctx, o, values, TIGHTLY, loss, gradient, report));
  if (tb_objective_is_run(o, *loss, as_run)) return TB_OK;
  return run(ctx, o, values, AS_RUN, loss, gradient, report);
}
