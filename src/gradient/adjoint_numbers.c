// SPDX-License-Identifier: Apache-2.0
// What numbers of the scene do beside the state, gone back over: F_pᵀ a⁺ of every step, and of the start and
// the end. By central differences, or to one side where the format has no other, at smaller and smaller ε
// until two agree, as of numbers of the state (adjoint.h).
//
// Cost    two to four steps for every number and step.
#include "gradient/adjoint.h"

#include <math.h>
#include <string.h>

static const double NOISE = 1e-13; // of a state, by rounding

static bool is_refused(tbStatus status) { return status == TB_ERROR_INPUT || status == TB_ERROR_ARGUMENT; }

static bool has_both(const tbReverseNumber* n) { return n->allowed[0] && n->allowed[1]; }

// To either side, or so far and twice as far to the only one.
static double offset_of(const tbReverseNumber* n, int level, int which)
{
  double e = n->reach;
  while (level-- > 0) e *= 0.1;
  if (has_both(n)) return which ? -e : e;
  return (n->allowed[0] ? 1 : -1) * (which ? 2 * e : e);
}

// What two quotients tend to as ε does to 0.
static double mean_of(const tbReverseNumber* n, const double q[2])
{
  return has_both(n) ? 0.5 * (q[0] + q[1]) : 2 * q[0] - q[1];
}

tbStatus tb_reverse_numbers_begin(tbContext* ctx, tbReverse* r)
{
  if (!(r->number = TB_NEW(ctx, tbReverseNumber, (size_t)r->o->size))) return TB_ERROR_MEMORY;
  for (int i = 0; i < r->o->size; i++) {
    tbReverseNumber* n = &r->number[i];
    tbStatus status[2];
    n->reach = tb_objective_reach(r->o, r->values, i);
    for (int side = 0; side < 2; side++) {
      double e = side ? -n->reach : n->reach;
      status[side] = tb_objective_beside(ctx, r->o, r->values, i, e, &n->beside[0][side]);
      n->allowed[side] = status[side] == TB_OK;
      if (status[side] != TB_OK && !is_refused(status[side])) return status[side];
    }
    if (!n->allowed[0] && !n->allowed[1]) return status[0];
    if (has_both(n)) continue;
    if (!n->allowed[0]) n->beside[0][0] = n->beside[0][1], n->beside[0][1] = (tbScene){0};
    TB_TRY(tb_objective_beside(ctx, r->o, r->values, i, offset_of(n, 0, 1), &n->beside[0][1]));
  }
  return TB_OK;
}

void tb_reverse_numbers_end(tbContext* ctx, tbReverse* r)
{
  for (int i = 0; r->number && i < r->o->size; i++)
    for (int k = 0; k < TB_REVERSE_LEVELS; k++)
      for (int which = 0; which < 2; which++) tb_scene_free(ctx, &r->number[i].beside[k][which]);
  tb_free(ctx, r->number);
}

// aᵀ (w − base) / e
static double weigh(tbReverse* r, const tbWorld* w, const tbWorld* base, double e)
{
  int n = tb_state_fixed(base);
  double sum = 0;
  memset(r->ahead, 0, (size_t)r->n * sizeof(double));
  tb_state_difference(w, base, 1 / e, r->ahead);
  for (int k = 0; k < n; k++) sum += r->ahead[k] * r->adjoint[k];
  return sum;
}

// The quotients of the step from s in number i at an ε.
static tbStatus ask(tbContext* ctx, tbReverse* r, const tbStateAt* s, int i, int level, double q[2])
{
  for (int which = 0; which < 2; which++) {
    tbReverseNumber* n = &r->number[i];
    tbScene* beside = &n->beside[level][which];
    double e = offset_of(n, level, which);
    if (!beside->world) TB_TRY(tb_objective_beside(ctx, r->o, r->values, i, e, beside));
    TB_TRY(tb_state_put(ctx, s, 0, NULL, false, beside->world));
    TB_TRY(tb_reverse_step(ctx, r, true, beside->world));
    q[which] = weigh(r, beside->world, r->base.world, e);
  }
  return TB_OK;
}

// How much of a derivative by a change of 1 is rounding: of the state that the adjoint sees.
static double rounding_of(tbReverse* r)
{
  int n = tb_state_fixed(r->base.world);
  double most = 0;
  tb_state_units(r->base.world, r->o->step.dt, r->unit);
  for (int k = 0; k < n; k++) most = fmax(most, r->unit[k] * fabs(r->adjoint[k]));
  return NOISE * most;
}

static tbStatus ask_number(tbContext* ctx, tbReverse* r, const tbStateAt* s, int i, double rounding,
                           bool* same)
{
  tbReverseNumber* n = &r->number[i];
  double value = 0, sides = INFINITY;
  bool settled = false;
  for (int level = 0; level < TB_REVERSE_LEVELS && !settled; level++) {
    double q[2], faint = rounding / fabs(offset_of(n, level, 0));
    TB_TRY(ask(ctx, r, s, i, level, q));
    double most = fmax(n->most, fabs(mean_of(n, q)));
    settled = tb_settle(most, mean_of(n, q), fabs(q[0] - q[1]), &value, &sides) || sides <= faint;
  }
  r->gradient[i] += value;
  n->most = fmax(n->most, fabs(value));
  *same = *same && (settled || sides <= TB_REVERSE_KINK * n->most);
  return TB_OK;
}

tbStatus tb_reverse_ask_numbers(tbContext* ctx, tbReverse* r, const tbStateAt* s, bool* same)
{
  double rounding = rounding_of(r);
  for (int i = 0; i < r->o->size; i++)
    if (!tb_objective_is_initial(r->o, i)) TB_TRY(ask_number(ctx, r, s, i, rounding, same));
  return TB_OK;
}

// The origin of a frame stands by the centre of mass as its shapes have it, and obstacles are where their own
// motion has them.
tbStatus tb_reverse_ask_end(tbContext* ctx, tbReverse* r, const tbStateAt* end)
{
  tbVec3 here = tb_objective_position(r->o, r->base.world), off = tb_sub3(here, r->o->target);
  for (int i = 0; i < r->o->size; i++) {
    const tbReverseNumber* n = &r->number[i];
    double q[2];
    if (tb_objective_is_initial(r->o, i)) continue;
    for (int which = 0; which < 2; which++) {
      tbWorld* w = n->beside[0][which].world;
      TB_TRY(tb_state_put(ctx, end, 0, NULL, false, w));
      tbVec3 moved = tb_sub3(tb_objective_position(r->o, w), here);
      q[which] = 2 * tb_dot3(off, moved) / offset_of(n, 0, which);
    }
    r->gradient[i] += mean_of(n, q);
  }
  return TB_OK;
}

// Worlds next to the run have been stepped, and are made anew.
tbStatus tb_reverse_ask_start(tbContext* ctx, tbReverse* r)
{
  tbScene start;
  TB_TRY(tb_objective_scene(ctx, r->o, r->values, &start));
  tbStatus status = TB_OK;
  for (int i = 0; i < r->o->size && status == TB_OK; i++) {
    const tbReverseNumber* n = &r->number[i];
    double q[2] = {0};
    for (int which = 0; which < 2 && status == TB_OK; which++) {
      tbScene scene;
      double e = offset_of(n, 0, which);
      status = tb_objective_beside(ctx, r->o, r->values, i, e, &scene);
      if (status != TB_OK) break;
      q[which] = weigh(r, scene.world, start.world, e);
      tb_scene_free(ctx, &scene);
    }
    r->gradient[i] += mean_of(n, q);
  }
  tb_scene_free(ctx, &start);
  return status;
}
