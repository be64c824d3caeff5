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
#include "gradient/tangent.h"

#include <math.h>
#include <string.h>

static const double SAME = 1e-9; // by which they no longer do
static const double FAR = 1e2;   // times as far as at the start

// The tangent at the start, to one side or, as their mean, to both.
static tbStatus begin_number(tbContext* ctx, tbForward* f, int i)
{
  tbForwardNumber* number = &f->number[i];
  double* t = f->tangent[0] + (size_t)i * (size_t)f->n;
  *number = (tbForwardNumber){.reach = tb_objective_reach(f->o, f->values, i), .wider = 1};
  for (int side = 0; side < 2; side++) {
    tbWorld* w;
    tbStatus status = tb_forward_world(ctx, f, i, side ? -number->reach : number->reach, &w);
    if (status == TB_OK) *(side ? &number->behind : &number->ahead) = true;
    else if (status != TB_ERROR_INPUT && status != TB_ERROR_ARGUMENT) return status;
    else if (side && !number->ahead) return status;
  }
  double share = number->ahead && number->behind ? 0.5 : 1;
  for (int side = 0; side < 2; side++) {
    double e = side ? -number->reach : number->reach;
    tbWorld* w;
    if (!(side ? number->behind : number->ahead)) continue;
    TB_TRY(tb_forward_world(ctx, f, i, e, &w));
    tb_state_difference(w, f->base.world, share / e, t);
  }
  number->most = FAR * TB_TANGENT_REACH / tb_forward_norm(f, t);
  return TB_OK;
}

// Vectors of n numbers in place of fewer.
static tbStatus make_room(tbContext* ctx, tbForward* f, int n)
{
  size_t size = (size_t)f->o->size, was = (size_t)f->n, now = (size_t)n;
  double** single[] = {&f->work, &f->next, &f->next_back, &f->level[0], &f->level[1]};
  for (int k = 0; k < 5; k++) {
    tb_free(ctx, *single[k]);
    if (!(*single[k] = TB_NEW(ctx, double, now))) return TB_ERROR_MEMORY;
  }
  tb_free(ctx, f->sample);
  if (!(f->sample = TB_NEW(ctx, double, TB_TANGENT_SAMPLES* now))) return TB_ERROR_MEMORY;
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

static tbStatus begin(tbContext* ctx, tbForward* f)
{
  TB_TRY(tb_objective_scene(ctx, f->o, f->values, &f->base));
  TB_TRY(tb_objective_scene(ctx, f->o, f->values, &f->near));
  TB_TRY(tb_state_check_kinds(ctx, f->base.world));
  if (!(f->number = TB_NEW(ctx, tbForwardNumber, (size_t)f->o->size))) return TB_ERROR_MEMORY;
  TB_TRY(make_room(ctx, f, tb_state_size(f->base.world)));
  for (int i = 0; i < f->o->size; i++) TB_TRY(begin_number(ctx, f, i));
  return TB_OK;
}

static void end(tbContext* ctx, tbForward* f)
{
  for (size_t i = 0; i < f->other.count; i++) tb_scene_free(ctx, &((tbForwardOther*)f->other.data)[i].scene);
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

static bool has_both_sides(const tbForwardNumber* number) { return number->ahead && number->behind; }

// Both sides of a tangent that was one until now.
static tbStatus carry_both(tbContext* ctx, tbForward* f, int i, bool* stable)
{
  size_t n = (size_t)f->n, bytes = n * sizeof(double);
  bool smooth;
  TB_TRY(tb_forward_differ(ctx, f, i, 1, false, &smooth));
  memcpy(f->tangent[0] + (size_t)i * n, f->next, bytes);
  memcpy(f->tangent[1] + (size_t)i * n, f->next_back, bytes);
  f->number[i].split = !smooth;
  *stable &= smooth;
  return TB_OK;
}

// The sides that there are, each by itself; one again where they do not differ any more.
static tbStatus carry_sides(tbContext* ctx, tbForward* f, int i, bool* stable)
{
  size_t n = (size_t)f->n;
  tbForwardNumber* number = &f->number[i];
  double *t = f->tangent[0] + (size_t)i * n, *back = f->tangent[1] + (size_t)i * n;
  for (int side = 0; side < 2; side++) {
    bool smooth;
    if (!(side ? number->behind : number->ahead)) continue;
    TB_TRY(tb_forward_differ(ctx, f, i, side ? -1 : 1, true, &smooth));
    memcpy(side ? back : t, f->next, n * sizeof(double));
    *stable &= smooth;
  }
  if (!has_both_sides(number)) return TB_OK;
  for (size_t k = 0; k < n; k++) f->work[k] = t[k] + back[k];
  if (tb_forward_norm(f, f->work) <= SAME * tb_forward_norm(f, t)) number->split = false;
  return TB_OK;
}

static tbStatus carry(tbContext* ctx, tbForward* f, int i, bool* stable)
{
  const tbForwardNumber* number = &f->number[i];
  return number->split || !has_both_sides(number) ? carry_sides(ctx, f, i, stable)
                                                  : carry_both(ctx, f, i, stable);
}

static tbStatus advance(tbContext* ctx, tbForward* f, int64_t number)
{
  bool stable = true;
  f->nearby = false;
  TB_TRY(tb_state_save(ctx, f->base.world, &f->before));
  TB_TRY(tb_forward_step(ctx, f, false, f->base.world));
  int n = tb_state_size(f->base.world);
  if (n > f->n) TB_TRY(make_room(ctx, f, n + n / 2));
  for (int i = 0; i < f->o->size; i++) TB_TRY(carry(ctx, f, i, &stable));
  f->report->nearby += stable && f->nearby;
  if (stable) return TB_OK;
  if (f->report->unstable < TB_GRADIENT_UNSTABLE) f->report->unstable_step[f->report->unstable] = number;
  f->report->unstable++;
  return TB_OK;
}

// The derivative of the body's position along a direction of state.
static tbStatus position_along(tbContext* ctx, tbForward* f, const double* t, tbVec3* out)
{
  double norm = tb_forward_norm(f, t), e = norm > 0 ? TB_TANGENT_REACH / norm : 1;
  TB_TRY(tb_state_put(ctx, f->before, e, t, true, f->near.world));
  tbVec3 ahead = tb_objective_position(f->o, f->near.world);
  TB_TRY(tb_state_put(ctx, f->before, -e, t, true, f->near.world));
  *out = tb_scale3(0.5 / e, tb_sub3(ahead, tb_objective_position(f->o, f->near.world)));
  return TB_OK;
}

// How the position depends on number i where the state does not: the origin of a frame stands by the centre
// of mass as its shapes have it, and obstacles are where their own motion has them.
static tbStatus position_by_itself(tbContext* ctx, tbForward* f, int i, tbVec3* out)
{
  const tbForwardNumber* number = &f->number[i];
  tbVec3 at[2] = {tb_objective_position(f->o, f->base.world), tb_objective_position(f->o, f->base.world)};
  double width = number->reach * (number->ahead + number->behind);
  *out = tb_zero3();
  if (tb_objective_is_initial(f->o, i)) return TB_OK;
  for (int side = 0; side < 2; side++) {
    tbWorld* w;
    if (!(side ? number->behind : number->ahead)) continue;
    TB_TRY(tb_forward_world(ctx, f, i, side ? -number->reach : number->reach, &w));
    TB_TRY(tb_state_put(ctx, f->before, 0, NULL, false, w));
    at[side] = tb_objective_position(f->o, w);
  }
  *out = tb_scale3(1 / width, tb_sub3(at[0], at[1]));
  return TB_OK;
}

// dloss = 2 (x − target) · dx.
static tbStatus finish(tbContext* ctx, tbForward* f, double* loss, double* gradient)
{
  TB_TRY(tb_state_save(ctx, f->base.world, &f->before));
  tbVec3 off = tb_sub3(tb_objective_position(f->o, f->base.world), f->o->target), d, back, own;
  for (int i = 0; i < f->o->size; i++) {
    size_t at = (size_t)i * (size_t)f->n;
    const tbForwardNumber* number = &f->number[i];
    TB_TRY(position_along(ctx, f, f->tangent[0] + at, &d));
    TB_TRY(position_along(ctx, f, f->tangent[1] + at, &back));
    if (!number->ahead) d = tb_neg3(back);
    else if (number->split) d = tb_scale3(0.5, tb_sub3(d, back));
    TB_TRY(position_by_itself(ctx, f, i, &own));
    gradient[i] = 2 * tb_dot3(off, tb_add3(d, own));
  }
  *loss = tb_dot3(off, off);
  return TB_OK;
}

// open: the run beside was found to depend on impulses that are not unique, and the tangents end there.
static tbStatus run(tbContext* ctx, const tbObjective* o, const double* values, tbWay way, double* loss,
                    double* gradient, tbGradientReport* report, bool* open)
{
  tbForward f = {.o = o,
                 .values = values,
                 .as_solved = !tb_way_is_exact(o, way),
                 .how = tb_way_options(o, way),
                 .report = report,
                 .other = TB_ARRAY(tbForwardOther)};
  tb_tape_init(ctx, &f.tape);
  tb_exact_init(ctx, &f.exact, &f.tape);
  f.exact.by_solver = way == TB_WAY_TIGHT;
  report->unstable = report->nearby = 0;
  tbStatus status = begin(ctx, &f);
  int64_t steps = tb_objective_steps(o);
  for (int64_t i = 0; i < steps && status == TB_OK && f.exact.open == 0; i++) status = advance(ctx, &f, i);
  *open = f.exact.open > 0;
  if (status == TB_OK && !*open) status = finish(ctx, &f, loss, gradient);
  report->steps = steps;
  report->problems += f.exact.count, report->rough += f.exact.rough, report->ambiguous += f.exact.ambiguous;
  end(ctx, &f);
  return status;
}

tbStatus tb_gradient_tangent(tbContext* ctx, const tbObjective* o, const double* values, double* loss,
                             double* gradient, tbGradientReport* report)
{
  tbWay way;
  bool open;
  TB_TRY(tb_objective_way(ctx, o, values, &way, loss, report));
  TB_TRY(run(ctx, o, values, way, loss, gradient, report, &open));
  if (!open) return TB_OK;
  report->ambiguous++;
  return run(ctx, o, values, TB_WAY_TIGHT, loss, gradient, report, &open);
}
