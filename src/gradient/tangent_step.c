// SPDX-License-Identifier: Apache-2.0
// The derivative of one step along a tangent, by quotients at smaller and smaller ε (tangent.c).
#include "gradient/tangent.h"

#include <math.h>
#include <string.h>

static const double KINK = 1e-3;   // by which two sides of a derivative may differ
static const double SLIGHT = 1e-8; // by which they, or those of two ε, may differ without a further look
static const double APART = 1e-6;  // of those of two ε: something changes between them
static const double FAINT = 1e-2, WIDEST = 1e3; // changes that are less than this share of REACH; and how far
enum { TRIES = 6 };                             // to go for more, or for less
static const double NOISE = 1e-12;              // of a state, by rounding

// The world with number i at its value + offset, made when it is first asked for.
tbStatus tb_forward_world(tbContext* ctx, tbForward* f, int i, double offset, tbWorld** out)
{
  tbForwardOther* other = f->other.data;
  for (size_t k = 0; k < f->other.count; k++)
    if (other[k].number == i && other[k].offset == offset) return *out = other[k].scene.world, TB_OK;
  tbForwardOther made = {.number = i, .offset = offset};
  TB_TRY(tb_objective_beside(ctx, f->o, f->values, i, offset, &made.scene));
  tbStatus status = tb_array_push(ctx, &f->other, &made, 1);
  if (status != TB_OK) tb_scene_free(ctx, &made.scene);
  *out = made.scene.world;
  return status;
}

tbStatus tb_forward_step(tbContext* ctx, tbForward* f, bool replay, tbWorld* w)
{
  f->report->runs++;
  return tb_objective_step(ctx, &f->how, f->as_solved ? NULL : &f->exact, replay, w);
}

static double* sample_at(const tbForward* f, int k) { return f->sample + (size_t)k * (size_t)f->n; }

// One more quotient (F(s + e t, p + e) − F(s, p)) / e; sign −1: of the tangent along −p.
static tbStatus sample(tbContext* ctx, tbForward* f, int i, double sign, double e, const double* t,
                       int* count)
{
  double* out = sample_at(f, *count);
  tbWorld* w = f->near.world;
  bool own = tb_objective_is_initial(f->o, i);
  if (!own) TB_TRY(tb_forward_world(ctx, f, i, sign * e, &w));
  memset(out, 0, (size_t)f->n * sizeof(double));
  TB_TRY(tb_state_put(ctx, f->before, e, t, own, w));
  TB_TRY(tb_forward_step(ctx, f, true, w));
  tb_state_difference(w, f->base.world, 1 / e, out);
  f->reach[(*count)++] = e;
  return TB_OK;
}

// By how much two quotients differ, as a share of them; what rounding makes of nothing is no difference.
static double apart(const tbForward* f, double norm, int a, int b)
{
  const double *x = sample_at(f, a), *y = sample_at(f, b);
  for (int i = 0; i < f->n; i++) f->work[i] = x[i] - y[i];
  double size = fmin(tb_forward_norm(f, x), tb_forward_norm(f, y));
  double rounding = NOISE / (KINK * fmin(fabs(f->reach[a]), fabs(f->reach[b])));
  return tb_forward_norm(f, f->work) / fmax(fmax(size, norm), rounding);
}

static double difference(const tbForward* f, double norm, const double* x, const double* y)
{
  for (int i = 0; i < f->n; i++) f->work[i] = x[i] - y[i];
  return tb_forward_norm(f, f->work) / fmax(tb_forward_norm(f, y), norm);
}

typedef enum { AHEAD = 1, BEHIND = 2, ACROSS = 4 } Side;

static bool is_pair(const tbForward* f, int a, int b, Side side)
{
  bool x = f->reach[a] > 0, y = f->reach[b] > 0;
  return x != y ? side == ACROSS : side == (x ? AHEAD : BEHIND);
}

// Where two quotients tend to as e does to 0.
static void tend(const tbForward* f, int a, int b, double* out)
{
  double u = f->reach[a], v = f->reach[b], weight = v / (v - u);
  const double *x = sample_at(f, a), *y = sample_at(f, b);
  for (int i = 0; i < f->n; i++) out[i] = weight * x[i] + (1 - weight) * y[i];
}

// The two quotients on a side, or one on either, that agree best; out: where they tend to.
static double best_pair(const tbForward* f, double norm, int count, Side side, double* out)
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

// Behind a jump right at s quotients grow as 1/ε and have no limit. What is smooth beyond it is the slope
// from one sample of a side to the next, of which the least has no jump in it.
static void slope_beyond(const tbForward* f, int count, Side side, double* out)
{
  double least = INFINITY;
  for (int a = 0; a < count; a++)
    for (int b = a + 1; b < count; b++) {
      if (!is_pair(f, a, b, side)) continue;
      double u = f->reach[a], v = f->reach[b], weight = u / (u - v);
      const double *x = sample_at(f, a), *y = sample_at(f, b);
      for (int i = 0; i < f->n; i++) f->work[i] = weight * x[i] + (1 - weight) * y[i];
      double norm = tb_forward_norm(f, f->work);
      if (!(norm < least)) continue;
      least = norm;
      memcpy(out, f->work, (size_t)f->n * sizeof(double));
    }
}

// The largest ε to begin with: that of the number, or less where the tangent has grown. Numbers that are no
// more than a start have none of their own; where nothing is left of one, as of a velocity that a joint
// forbids, the impulses that it left are not to be blown up.
static double first_reach(const tbForward* f, int i, double norm)
{
  double e = f->number[i].wider * f->number[i].reach;
  if (tb_objective_is_initial(f->o, i))
    return norm > 0 ? fmin(TB_TANGENT_REACH / norm, f->number[i].most) : e;
  while (e * norm > 10 * TB_TANGENT_REACH) e *= 0.1;
  return e;
}

// Goes farther in a number whose quotient was of a change too small to be more than rounding, and less far
// again where it no longer is. Whether the reach is another now.
static bool adjust_reach(tbForward* f, int i, double norm, int last)
{
  tbForwardNumber* number = &f->number[i];
  double change = fabs(f->reach[last]) * fmax(tb_forward_norm(f, sample_at(f, last)), norm);
  if (tb_objective_is_initial(f->o, i)) return false;
  if (change < FAINT * TB_TANGENT_REACH && number->wider < WIDEST && !number->limited)
    return number->wider *= 10, true;
  if (change > 10 * TB_TANGENT_REACH && number->wider > 1) return number->wider *= 0.1, true;
  return false;
}

// Whether two sides differ because F is curved: by a tenth as much at a tenth of ε, and their mean by far
// less.
static bool is_curved(double last, double sides, double differ)
{
  return last < 1 && sides > 0.08 * last && sides < 0.12 * last && differ < 0.1 * last;
}

// The limit of means whose error is of second order in ε, from one ε and a tenth of it.
static void extrapolate(const tbForward* f, const double* coarse, const double* fine, double* out)
{
  for (int i = 0; i < f->n; i++) out[i] = fine[i] + (fine[i] - coarse[i]) / 99;
}

// Notes a change of contact within ε: that two derivatives, whose difference is in `work`, are apart by more
// than rounding. Farther away F may be no more than curved.
static void note_nearby(tbForward* f, int i, double e)
{
  bool near = tb_objective_is_initial(f->o, i) || e < 1.5 * f->number[i].reach;
  f->nearby = f->nearby || (near && e * tb_forward_norm(f, f->work) > APART * TB_TANGENT_REACH);
}

// The first two quotients, at a reach that says something, and no farther than the format allows.
static tbStatus sample_first(tbContext* ctx, tbForward* f, int i, double sign, bool to_one_side,
                             const double* t, double norm, double* e)
{
  tbForwardNumber* number = &f->number[i];
  for (int k = 0; k < TRIES; k++) {
    int count = 0;
    *e = first_reach(f, i, norm);
    tbStatus status = sample(ctx, f, i, sign, *e, t, &count);
    if (status == TB_OK && k + 1 < TRIES && adjust_reach(f, i, norm, 0)) continue;
    if (status == TB_OK) status = sample(ctx, f, i, sign, to_one_side ? 2 * *e : -*e, t, &count);
    bool refused = status == TB_ERROR_INPUT || status == TB_ERROR_ARGUMENT;
    if (!refused || k + 1 == TRIES) return status;
    number->wider *= 0.1, number->limited = true;
  }
  return TB_OK;
}

// next = F_s t + F_p, and next_back along −t, by quotients to both sides, or to one alone. Smaller ε follow
// until two agree. Sides that differ slightly may do so because F is curved, and then the next ε gives the
// same derivative, or because something changes within ε, and then it does not. Besides what changes within ε
// there are jumps, where contacts between parallel faces are found on the one or on the other: quotients
// across one agree with none. What is curved is extrapolated. false: the two sides differ.
tbStatus tb_forward_differ(tbContext* ctx, tbForward* f, int i, double sign, bool to_one_side, bool* smooth)
{
  const double* t = f->tangent[sign < 0] + (size_t)i * (size_t)f->n;
  double norm = tb_forward_norm(f, t), e;
  size_t bytes = (size_t)f->n * sizeof(double);
  int count = 0;
  *smooth = true;
  memset(f->next, 0, bytes);
  memset(f->next_back, 0, bytes);
  if (!(norm > 0) && tb_objective_is_initial(f->o, i)) return TB_OK;
  double *coarse = f->level[0], *fine = f->level[1], least = INFINITY, sides = INFINITY;
  TB_TRY(sample_first(ctx, f, i, sign, to_one_side, t, norm, &e));
  for (int k = 0; k < TB_TANGENT_LEVELS && least > SLIGHT; k++, e *= 0.1) {
    if (k > 0) TB_TRY(sample(ctx, f, i, sign, e, t, &count));
    if (k > 0) TB_TRY(sample(ctx, f, i, sign, to_one_side ? 2 * e : -e, t, &count));
    else count = 2;
    double last = sides;
    sides = apart(f, norm, count - 2, count - 1);
    if (sides > KINK) note_nearby(f, i, e);
    tend(f, count - 2, count - 1, fine);
    if (sides <= SLIGHT) return memcpy(f->next, fine, bytes), TB_OK;
    double differ = isfinite(last) ? difference(f, norm, coarse, fine) : 1;
    bool curved = is_curved(last, sides, differ), both = curved || last <= KINK;
    if (last <= KINK) note_nearby(f, i, 10 * e);
    if (sides <= KINK || curved) {
      if (!both) differ = 1;
      if (differ > least) break; // rounding begins
      if (curved && differ < last * last) extrapolate(f, coarse, fine, f->next);
      else if (differ < least) memcpy(f->next, both ? coarse : fine, bytes);
      least = differ;
    }
    double* swap = coarse;
    coarse = fine, fine = swap;
  }
  if (least < INFINITY) return TB_OK;
  double best = best_pair(f, norm, count, to_one_side ? AHEAD : ACROSS, f->next);
  *smooth = best <= KINK;
  if (!*smooth && to_one_side) slope_beyond(f, count, AHEAD, f->next);
  if (*smooth || to_one_side) return TB_OK;
  double ahead = best_pair(f, norm, count, AHEAD, f->next);
  double behind = best_pair(f, norm, count, BEHIND, f->next_back);
  if (ahead > KINK) slope_beyond(f, count, AHEAD, f->next);
  if (behind > KINK) slope_beyond(f, count, BEHIND, f->next_back);
  if (behind > KINK && ahead <= KINK) memcpy(f->next_back, f->next, bytes);
  if (ahead > KINK && behind <= KINK) memcpy(f->next, f->next_back, bytes);
  for (int k = 0; k < f->n; k++) f->next_back[k] = -f->next_back[k];
  return TB_OK;
}
