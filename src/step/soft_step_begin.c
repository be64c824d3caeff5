// SPDX-License-Identifier: Apache-2.0
// The start of a step for batches of soft-step: arms in the frames of the contacts, W over the points of each
// pair, what normal impulses do to its motion, how fast points come; and the impulses of the last step.
#include "step/soft_step_lanes.h"

// W over t and b of one point: what makes it stick, and how far it may step while it slips.
static inline void begin_friction(V3 ut, V3 ub, tb8f used, tbSoftStepPoint* point)
{
  tb8f tt = ut.y, tb = ut.z, bb = ub.z;
  tb8f d = tb8_mul(used, inverse_or_zero(tb8_sub(tb8_mul(tt, bb), tb8_mul(tb, tb))));
  tb8_store(point->stick[0], tb8_mul(d, bb));
  tb8_store(point->stick[1], tb8_mul(d, tb8_sub(tb8_set1(0), tb)));
  tb8_store(point->stick[2], tb8_mul(d, tt));
  tb8f half = tb8_mul(tb8_set1(0.5f), tb8_sub(tt, bb)), mean = tb8_mul(tb8_set1(0.5f), tb8_add(tt, bb));
  tb8f largest = tb8_add(mean, tb8_sqrt(tb8_add(tb8_mul(half, half), tb8_mul(tb, tb))));
  tb8_store(point->slip, tb8_mul(used, inverse_or_zero(largest)));
}

// W between point k and those before it. Points that a lane does not have never push.
static void begin_point(const Pair* p, const Motion* u, tbSoftStepBatch* own, int k)
{
  tbSoftStepPoint* point = &own->point[k];
  tb8f zero = tb8_set1(0), one = tb8_set1(1);
  V3 arm = into_frame(p, load3(point->arm)), n = {one, zero, zero}, t = {zero, one, zero},
     b = {zero, zero, one};
  store3(point->arm, arm);
  tb8f used = tb8_load(point->mass); // 1, or 0 where there is no point
  Motion wn = response(p, n, cross3(arm, n)), wt = response(p, t, cross3(arm, t));
  Motion wb = response(p, b, cross3(arm, b));
  for (int i = 0; i <= k; i++) {
    V3 at = load3(own->point[i].arm), by_t = at_arm(&wt, at), by_b = at_arm(&wb, at);
    tb8_store(own->normal_w[k][i], at_arm(&wn, at).x);
    if (i == k) {
      begin_friction(by_t, by_b, used, point);
      continue;
    }
    tbSoftStepLane* w = own->tangent_w[tb_soft_step_couple(k, i)];
    tb8_store(w[0], by_t.y), tb8_store(w[1], by_t.z), tb8_store(w[2], by_b.y), tb8_store(w[3], by_b.z);
  }
  tb8_store(point->mass, tb8_mul(used, inverse_or_zero(tb8_load(own->normal_w[k][k]))));
  tb8_store(point->approach, at_arm(u, arm).x);
}

// What normal impulses do to the motion: by their sum, and by their moments about t and b.
static void begin_yield(const Pair* p, tbSoftStepBatch* own)
{
  tb8f zero = tb8_set1(0), one = tb8_set1(1);
  V3 none = {zero, zero, zero}, n = {one, zero, zero}, t = {zero, one, zero}, b = {zero, zero, one};
  const Motion by[3] = {response(p, n, none), response(p, none, t), response(p, none, b)};
  for (int k = 0; k < 3; k++) {
    tb8_store(own->yield[k][0], by[k].linear.y), tb8_store(own->yield[k][1], by[k].linear.z);
    store3(own->yield[k] + 2, by[k].angular);
  }
}

// Rows of eight bodies become columns of the batch.
static void take_masses(const tbSoftStepMass* body, const int at[TB_SOFT_STEP_LANES], tbSoftStepLane mass,
                        tbSoftStepLane inertia[6])
{
  tb8f x[8];
  for (int i = 0; i < 8; i++) x[i] = tb8_load((const float*)&body[at[i]]);
  tb8_transpose(x);
  tb8_store(mass, x[0]);
  for (int k = 0; k < 6; k++) tb8_store(inertia[k], x[1 + k]);
}

void tb_soft_step_begin(tbSoftStepBatch* batch, int begin, int end, const tbSoftStepBody* body,
                        const tbSoftStepMass* mass)
{
  for (int i = begin; i < end; i++) {
    tbSoftStepBatch* own = &batch[i];
    take_masses(mass, own->a, own->mass_a, own->inertia_a);
    take_masses(mass, own->b, own->mass_b, own->inertia_b);
    Pair p = pair_of(own);
    Motion a = gather(body, own->a, false), b = gather(body, own->b, false), u = in_frame(&p, &a, &b);
    for (int k = 0; k < own->points; k++) begin_point(&p, &u, own, k);
    begin_yield(&p, own);
  }
}

void tb_soft_step_warm(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving)
{
  for (int i = begin; i < end; i++) {
    tbSoftStepBatch* own = &batch[i];
    Pair p = pair_of(own);
    Motion a = gather(body, own->a, false), b = gather(body, own->b, false);
    tb8f zero = tb8_set1(0);
    V3 impulse = {zero, zero, zero}, moment = impulse;
    for (int k = 0; k < own->points; k++) {
      V3 l = load3(own->point[k].lambda);
      impulse = add3(impulse, l), moment = add3(moment, cross3(load3(own->point[k].arm), l));
    }
    push(&p, from_frame(&p, impulse), from_frame(&p, moment), &a, &b);
    scatter(body, own->a, moving, a);
    scatter(body, own->b, moving, b);
  }
}

void tb_soft_step_kick(tbSoftStepBody* body, int begin, int end, float (*kick)[8], float (*before)[8])
{
  for (int i = begin; i < end; i++) {
    tb8f now = tb8_load(body[i].v), gained = kick ? tb8_load(kick[i]) : tb8_sub(now, tb8_load(before[i]));
    tb8_store(before[i], now);
    tb8_store(body[i].v, tb8_add(now, gained));
  }
}

void tb_soft_step_move(tbSoftStepBody* body, int begin, int end, float h)
{
  tb8f time = tb8_set1(h);
  for (int i = begin; i < end; i++)
    tb8_store(body[i].d, tb8_add(tb8_load(body[i].d), tb8_mul(time, tb8_load(body[i].v))));
}
