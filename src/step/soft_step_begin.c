// SPDX-License-Identifier: Apache-2.0
// The start of a step for batches of soft-step: arms in the frames of the contacts, W over the points of each
// pair, what normal impulses do to its motion, how fast points come; and the impulses of the last step.
#include "step/soft_step_lanes.h"

// W over t and b of one point: what makes it stick, and how far it may step while it slips.
static inline void begin_friction(V3 ut, V3 ub, tbwf used, tbSoftStepPoint* point, int lane)
{
  tbwf tt = ut.y, tb = ut.z, bb = ub.z;
  tbwf d = tbwf_mul(used, inverse_or_zero(tbwf_sub(tbwf_mul(tt, bb), tbwf_mul(tb, tb))));
  store(point->stick[0], lane, tbwf_mul(d, bb));
  store(point->stick[1], lane, tbwf_mul(d, tbwf_sub(tbwf_set1(0), tb)));
  store(point->stick[2], lane, tbwf_mul(d, tt));
  tbwf half = tbwf_mul(tbwf_set1(0.5f), tbwf_sub(tt, bb)), mean = tbwf_mul(tbwf_set1(0.5f), tbwf_add(tt, bb));
  tbwf largest = tbwf_add(mean, tbwf_sqrt(tbwf_add(tbwf_mul(half, half), tbwf_mul(tb, tb))));
  store(point->slip, lane, tbwf_mul(used, inverse_or_zero(largest)));
}

// W between point k and those before it. Points that a lane does not have never push.
static void begin_point(const Pair* p, const Motion* u, tbSoftStepBatch* own, int k, int lane)
{
  tbSoftStepPoint* point = &own->point[k];
  tbwf zero = tbwf_set1(0), one = tbwf_set1(1);
  V3 arm = into_frame(p, load3(point->arm, lane)), n = {one, zero, zero}, t = {zero, one, zero},
     b = {zero, zero, one};
  store3(point->arm, lane, arm);
  tbwf used = load(point->mass, lane); // 1, or 0 where there is no point
  Motion wn = response(p, n, cross3(arm, n)), wt = response(p, t, cross3(arm, t));
  Motion wb = response(p, b, cross3(arm, b));
  for (int i = 0; i <= k; i++) {
    V3 to = load3(own->point[i].arm, lane), by_t = at_arm(&wt, to), by_b = at_arm(&wb, to);
    store(own->normal_w[k][i], lane, at_arm(&wn, to).x);
    if (i == k) {
      begin_friction(by_t, by_b, used, point, lane);
      continue;
    }
    tbSoftStepLane* w = own->tangent_w[tb_soft_step_couple(k, i)];
    store(w[0], lane, by_t.y), store(w[1], lane, by_t.z), store(w[2], lane, by_b.y),
        store(w[3], lane, by_b.z);
  }
  store(point->mass, lane, tbwf_mul(used, inverse_or_zero(load(own->normal_w[k][k], lane))));
  store(point->approach, lane, at_arm(u, arm).x);
}

// What normal impulses do to the motion: by their sum, and by their moments about t and b.
static void begin_yield(const Pair* p, tbSoftStepBatch* own, int lane)
{
  tbwf zero = tbwf_set1(0), one = tbwf_set1(1);
  V3 none = {zero, zero, zero}, n = {one, zero, zero}, t = {zero, one, zero}, b = {zero, zero, one};
  const Motion by[3] = {response(p, n, none), response(p, none, t), response(p, none, b)};
  for (int k = 0; k < 3; k++) {
    store(own->yield[k][0], lane, by[k].linear.y), store(own->yield[k][1], lane, by[k].linear.z);
    store3(own->yield[k] + 2, lane, by[k].angular);
  }
}

static void take_masses(const tbSoftStepMass* body, const int* at, int lane, tbSoftStepLane mass,
                        tbSoftStepLane inertia[6])
{
  const float* row[TB_WIDE_FLOATS];
  tbwf x[8];
  for (int i = 0; i < TB_WIDE_FLOATS; i++) row[i] = (const float*)&body[at[lane + i]];
  tbwf_columns(row, x);
  store(mass, lane, x[0]);
  for (int k = 0; k < 6; k++) store(inertia[k], lane, x[1 + k]);
}

void tb_soft_step_begin(tbSoftStepBatch* batch, int begin, int end, const tbSoftStepBody* body,
                        const tbSoftStepMass* mass)
{
  for (int i = begin; i < end; i++) {
    tbSoftStepBatch* own = &batch[i];
    for (int lane = 0; lane < own->lanes; lane += TB_WIDE_FLOATS) {
      take_masses(mass, own->a, lane, own->mass_a, own->inertia_a);
      take_masses(mass, own->b, lane, own->mass_b, own->inertia_b);
      Pair p = pair_of(own, lane);
      Motion a = gather(body, own->a + lane, false), b = gather(body, own->b + lane, false);
      Motion u = in_frame(&p, &a, &b);
      for (int k = 0; k < own->points; k++) begin_point(&p, &u, own, k, lane);
      begin_yield(&p, own, lane);
    }
  }
}

static void warm(tbSoftStepBatch* own, int lane, tbSoftStepBody* body, int moving)
{
  Pair p = pair_of(own, lane);
  Motion a = gather(body, own->a + lane, false), b = gather(body, own->b + lane, false);
  tbwf zero = tbwf_set1(0);
  V3 impulse = {zero, zero, zero}, moment = impulse;
  for (int k = 0; k < own->points; k++) {
    V3 l = load3(own->point[k].lambda, lane);
    impulse = add3(impulse, l), moment = add3(moment, cross3(load3(own->point[k].arm, lane), l));
  }
  push(&p, from_frame(&p, impulse), from_frame(&p, moment), &a, &b);
  scatter(body, own->a + lane, moving, a);
  scatter(body, own->b + lane, moving, b);
}

void tb_soft_step_warm(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving)
{
  for (int i = begin; i < end; i++)
    for (int lane = 0; lane < batch[i].lanes; lane += TB_WIDE_FLOATS) warm(&batch[i], lane, body, moving);
}

void tb_soft_step_kick(tbSoftStepBody* body, int begin, int end, float (*kick)[8], float share,
                       float (*before)[8])
{
  tb8f part = tb8_set1(share);
  for (int i = begin; i < end; i++) {
    tb8f now = tb8_load(body[i].v);
    tb8f gained = kick ? tb8_mul(part, tb8_load(kick[i])) : tb8_sub(now, tb8_load(before[i]));
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
