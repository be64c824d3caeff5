// SPDX-License-Identifier: Apache-2.0
// Contacts of soft-step, eight pairs side by side.
//
// A pair's normal impulses are solved together, over their own block of W: a few sweeps of Gauss and Seidel,
//
//   λ_k ← max(0, λ_k − (u_k + bias + give W_kk λ_k)/((1 + give) W_kk))
//
// then friction, point by point, under what they have become:
//
//   λ_T ← the impulse that makes u_T = 0, if it is within the friction disc (ellipse);
//         else a gradient step of length 1/w, back onto the disc: its fixed points dissipate the most
//
// Friction waits for the relaxation, but in the first substep: while overlaps are pushed out it stays as it
// was.
//
// The points of a pair share its bodies: u = U + Ω × r, with r from the centre of a, for all of them. All of
// it is written in the frame of the contact (normal, tangent, normal × tangent), where a point's velocity
// takes eight operations, and how points move each other is known from the start: W over their normals and
// over their tangents, and what normal impulses do to the motion.
//
// Gaps are followed through the substeps by what both bodies have moved and turned since the start, to second
// order in the turn; the normal turns with the body whose face it is. A gap that is open is a bias, gap/h: it
// may close in this substep and no further. An overlap is pushed out as a soft spring does (Catto 2011, "Soft
// constraints"), and not at all while relaxing.
//
// Lanes never meet. Bodies that cannot move are read and not written.
#include "step/soft_step_lanes.h"

// n · (θ × (θ × r))/2 = half · r
static inline V3 second_order(V3 n, V3 turn)
{
  tb8f half = tb8_set1(0.5f);
  return scale3(half, sub3(scale3(dot3(n, turn), turn), scale3(dot3(turn, turn), n)));
}

// How gaps have changed since the start: by `all`, and by slope · arm.
typedef struct {
  tb8f all;
  V3 slope;
} Opening;

static inline __attribute__((always_inline)) Opening opening_of(const Pair* p, const tbSoftStepBody* body,
                                                                const tbSoftStepBatch* own)
{
  Motion a = gather(body, own->a, true), b = gather(body, own->b, true), d = against(p, &a, &b);
  V3 second_a = second_order(p->n, a.angular), second_b = second_order(p->n, b.angular);
  V3 turn = add3(scale3(tb8_load(own->with_a), a.angular), scale3(tb8_load(own->with_b), b.angular));
  V3 n = add3(p->n, cross3(turn, p->n)); // now
  V3 slope = add3(cross3(n, d.angular), sub3(second_b, second_a));
  tb8f all = tb8_add(dot3(n, d.linear), dot3(second_b, p->across));
  if (own->rolls) { // only the centres of what is round turn away
    all = tb8_add(all, tb8_mul(tb8_load(own->round_a), dot3(second_a, p->n)));
    all = tb8_add(all, tb8_mul(tb8_load(own->round_b), dot3(second_b, p->n)));
  }
  return (Opening){all, into_frame(p, slope)};
}

// opening: null where no gap was open when overlaps were pushed out; then none is taken to be while relaxing.
//
// The normal impulses of a pair together: a few sweeps of Gauss and Seidel over its W, then one push.
enum { INNER = 2, FRESH_ROUNDS = 16 };

// The sweeps. error: u + bias of every point, kept up to date as the others change.
static inline void together(const tbSoftStepBatch* own, const int points, const tb8f* soft, const tb8f* step,
                            tb8f* error, tb8f* now, tb8f* change)
{
  tb8f zero = tb8_set1(0);
  tb8f w[TB_SOFT_STEP_POINTS][TB_SOFT_STEP_POINTS];
  for (int k = 0; k < points; k++)
    for (int i = 0; i <= k; i++) w[k][i] = w[i][k] = tb8_load(own->normal_w[k][i]);
  for (int k = 0; k < points; k++) change[k] = zero;
  for (int sweep = 0; sweep < INNER; sweep++)
    for (int k = 0; k < points; k++) {
      tb8f miss = tb8_add(error[k], tb8_mul(soft[k], now[k]));
      tb8f next = tb8_max(tb8_sub(now[k], tb8_mul(step[k], miss)), zero), d = tb8_sub(next, now[k]);
      for (int i = 0; i < points; i++) error[i] = tb8_add(error[i], tb8_mul(w[k][i], d));
      change[k] = tb8_add(change[k], d), now[k] = next;
    }
}

// What they came to: the sum of their changes, and its moments about t and b.
typedef struct {
  tb8f sum, about_t, about_b;
} Pressed;

static inline Pressed press(tbSoftStepBatch* own, const int points, const bool push_out,
                            const tbSoftStepPass* pass, const Opening* opening, const Motion* u)
{
  tb8f zero = tb8_set1(0), inverse_h = tb8_set1(pass->inverse_h), most = tb8_set1(-pass->push_speed);
  tb8f rate = tb8_set1(push_out ? pass->softness.rate : 0), one = tb8_set1(1);
  tb8f give = tb8_set1(push_out ? pass->softness.give : 0);
  tb8f heavy = tb8_set1(pass->heavy), least = tb8_set1(0.25f);
  if (pass->first && own->fresh) give = zero; // too small an impulse would hold too little by friction
  tb8f error[TB_SOFT_STEP_POINTS], soft[TB_SOFT_STEP_POINTS], now[TB_SOFT_STEP_POINTS],
      change[TB_SOFT_STEP_POINTS], step[TB_SOFT_STEP_POINTS];
  bool open = false;
  for (int k = 0; k < points; k++) {
    const tbSoftStepPoint* point = &own->point[k];
    V3 arm = load3(point->arm);
    tb8f gap = zero, bias = zero;
    if (opening) {
      gap = tb8_add(tb8_add(tb8_load(point->gap), opening->all), dot3(opening->slope, arm));
      bias = tb8_choose(gap, zero, tb8_mul(gap, inverse_h), tb8_max(tb8_mul(gap, rate), most));
      open |= tb8_any_above(gap, zero);
    }
    now[k] = tb8_load(point->lambda[0]);
    tb8f un = tb8_sub(tb8_mul(u->angular.y, arm.z), tb8_mul(u->angular.z, arm.y));
    error[k] = tb8_add(tb8_add(u->linear.x, un), bias);
    step[k] = tb8_load(point->mass), soft[k] = zero;
    if (!push_out) continue;
    tb8f w = tb8_load(own->normal_w[k][k]), worth = tb8_mul(tb8_mul(w, now[k]), heavy);
    tb8f yields = tb8_mul(give, tb8_min(tb8_max(worth, least), one));
    yields = tb8_choose(gap, zero, zero, yields);
    step[k] = tb8_div(step[k], tb8_add(one, yields));
    soft[k] = tb8_mul(yields, w);
  }
  together(own, points, soft, step, error, now, change);
  if (push_out) own->open = open;
  Pressed out = {zero, zero, zero};
  for (int k = 0; k < points; k++) {
    tb8_store(own->point[k].lambda[0], now[k]);
    out.sum = tb8_add(out.sum, change[k]);
    out.about_t = tb8_add(out.about_t, tb8_mul(change[k], tb8_load(own->point[k].arm[2])));
    out.about_b = tb8_sub(out.about_b, tb8_mul(change[k], tb8_load(own->point[k].arm[1])));
  }
  return out;
}

// The motion after normal impulses, but for that along the normal, which friction does not ask for.
static inline void yield_to(const tbSoftStepBatch* own, const Pressed* pressed, Motion* u)
{
  tb8f* of[5] = {&u->linear.y, &u->linear.z, &u->angular.x, &u->angular.y, &u->angular.z};
  const tb8f by[3] = {pressed->sum, pressed->about_t, pressed->about_b};
  for (int r = 0; r < 5; r++)
    for (int k = 0; k < 3; k++) *of[r] = tb8_add(*of[r], tb8_mul(tb8_load(own->yield[k][r]), by[k]));
}

// What friction does: in t and b, the impulse after.
typedef struct {
  tb8f mu_t, mu_b, product; // product: μ_t μ_b
  tb8f step_t, step_b;      // of the gradient: (μ/largest μ)²
} Friction;

static inline Friction friction_of(const tbSoftStepBatch* own)
{
  Friction f = {.mu_t = tb8_load(own->mu_t), .mu_b = tb8_load(own->mu_b)};
  f.product = tb8_mul(f.mu_t, f.mu_b);
  tb8f inverse = inverse_or_zero(tb8_max(f.mu_t, f.mu_b));
  tb8f t = tb8_mul(f.mu_t, inverse), b = tb8_mul(f.mu_b, inverse);
  f.step_t = tb8_mul(t, t), f.step_b = tb8_mul(b, b);
  return f;
}

// (λ_t/μ_t, λ_b/μ_b) has the length size/(μ_t μ_b).
static inline tb8f size_of(const Friction* f, tb8f t, tb8f b)
{
  tb8f x = tb8_mul(t, f->mu_b), y = tb8_mul(b, f->mu_t);
  return tb8_sqrt(tb8_add(tb8_mul(x, x), tb8_mul(y, y)));
}

static inline void rub(const Friction* f, const tbSoftStepPoint* point, tb8f normal, tb8f ut, tb8f ub,
                       tb8f* t, tb8f* b)
{
  tb8f tt = tb8_load(point->stick[0]), tb = tb8_load(point->stick[1]), bb = tb8_load(point->stick[2]);
  tb8f stick_t = tb8_sub(*t, tb8_add(tb8_mul(tt, ut), tb8_mul(tb, ub)));
  tb8f stick_b = tb8_sub(*b, tb8_add(tb8_mul(tb, ut), tb8_mul(bb, ub)));
  tb8f limit = tb8_mul(f->product, normal), size = size_of(f, stick_t, stick_b);
  if (tb8_any_above(size, limit)) {
    tb8f slip = tb8_load(point->slip);
    tb8f slip_t = tb8_sub(*t, tb8_mul(tb8_mul(slip, f->step_t), ut));
    tb8f slip_b = tb8_sub(*b, tb8_mul(tb8_mul(slip, f->step_b), ub));
    tb8f reached = tb8_max(size_of(f, slip_t, slip_b), tb8_set1(1e-30f));
    tb8f share = tb8_min(tb8_div(limit, reached), tb8_set1(1));
    stick_t = tb8_choose(size, limit, tb8_mul(share, slip_t), stick_t);
    stick_b = tb8_choose(size, limit, tb8_mul(share, slip_b), stick_b);
  }
  tb8f zero = tb8_set1(0);
  *t = tb8_choose(f->product, zero, stick_t, zero), *b = tb8_choose(f->product, zero, stick_b, zero);
}

// Friction of the points, one after the other, under the normal impulses as they are now. count: add what
// the impulses are then to those of the step.
static inline void rub_all(tbSoftStepBatch* own, const int points, const Motion* u, bool count, V3* impulse,
                           V3* moment)
{
  Friction f = friction_of(own);
  tb8f change_t[TB_SOFT_STEP_POINTS], change_b[TB_SOFT_STEP_POINTS];
  for (int k = 0; k < points; k++) {
    tbSoftStepPoint* point = &own->point[k];
    V3 arm = load3(point->arm), l = load3(point->lambda), now = l, v = at_arm(u, arm);
    for (int i = 0; i < k; i++) {
      const tbSoftStepLane* w = own->tangent_w[tb_soft_step_couple(k, i)];
      v.y = tb8_add(v.y, tb8_add(tb8_mul(tb8_load(w[0]), change_t[i]), tb8_mul(tb8_load(w[1]), change_b[i])));
      v.z = tb8_add(v.z, tb8_add(tb8_mul(tb8_load(w[2]), change_t[i]), tb8_mul(tb8_load(w[3]), change_b[i])));
    }
    rub(&f, point, l.x, v.y, v.z, &now.y, &now.z);
    tb8f t = change_t[k] = tb8_sub(now.y, l.y), b = change_b[k] = tb8_sub(now.z, l.z);
    impulse->y = tb8_add(impulse->y, t), impulse->z = tb8_add(impulse->z, b);
    moment->x = tb8_add(moment->x, tb8_sub(tb8_mul(arm.y, b), tb8_mul(arm.z, t)));
    moment->y = tb8_sub(moment->y, tb8_mul(arm.x, b));
    moment->z = tb8_add(moment->z, tb8_mul(arm.x, t));
    tb8_store(point->lambda[1], now.y);
    tb8_store(point->lambda[2], now.z);
    if (count) store3(point->total, add3(load3(point->total), now));
  }
}

// A batch, compiled for each number of points and either pass.
static inline void solve_batch(tbSoftStepBatch* own, const int points, const bool push_out,
                               tbSoftStepBody* body, int moving, const tbSoftStepPass* pass)
{
  Pair p = pair_of(own);
  bool open = push_out || own->open;
  Opening opening;
  if (open) opening = opening_of(&p, body, own);
  Motion a = gather(body, own->a, false), b = gather(body, own->b, false);
  for (int round = pass->first && own->fresh ? FRESH_ROUNDS : 1; round > 0; round--) {
    Motion u = in_frame(&p, &a, &b);
    Pressed pressed = press(own, points, push_out, pass, open ? &opening : NULL, &u);
    tb8f zero = tb8_set1(0);
    V3 impulse = {pressed.sum, zero, zero}, moment = {zero, pressed.about_t, pressed.about_b};
    if (!push_out || pass->first) {
      yield_to(own, &pressed, &u);
      rub_all(own, points, &u, !push_out && round == 1, &impulse, &moment);
    }
    push(&p, from_frame(&p, impulse), from_frame(&p, moment), &a, &b);
  }
  scatter(body, own->a, moving, a);
  scatter(body, own->b, moving, b);
}

static inline void solve_points(tbSoftStepBatch* own, const bool push_out, tbSoftStepBody* body, int moving,
                                const tbSoftStepPass* pass)
{
  switch (own->points) {
  case 1: solve_batch(own, 1, push_out, body, moving, pass); break;
  case 2: solve_batch(own, 2, push_out, body, moving, pass); break;
  case 3: solve_batch(own, 3, push_out, body, moving, pass); break;
  default: solve_batch(own, TB_SOFT_STEP_POINTS, push_out, body, moving, pass); break;
  }
}

void tb_soft_step_solve(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving,
                        const tbSoftStepPass* pass)
{
  for (int i = begin; i < end; i++)
    if (pass->push) solve_points(&batch[i], true, body, moving, pass);
    else solve_points(&batch[i], false, body, moving, pass);
}

// Points that came fast and were pushed leave with their restitution.
void tb_soft_step_bounce(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving,
                         const tbSoftStepPass* pass)
{
  tb8f zero = tb8_set1(0), slowest = tb8_set1(-pass->bounce_speed);
  for (int i = begin; i < end; i++) {
    tbSoftStepBatch* own = &batch[i];
    if (!own->bounces) continue;
    Pair p = pair_of(own);
    tb8f e = tb8_load(own->restitution);
    Motion a = gather(body, own->a, false), b = gather(body, own->b, false);
    for (int k = 0; k < own->points; k++) {
      tbSoftStepPoint* point = &own->point[k];
      V3 arm = load3(point->arm);
      Motion u = in_frame(&p, &a, &b);
      tb8f before = tb8_load(point->approach), total = tb8_load(point->total[0]);
      tb8f error = tb8_mul(tb8_load(point->mass), tb8_add(at_arm(&u, arm).x, tb8_mul(e, before)));
      error = tb8_choose(slowest, before, error, zero); // fast enough
      error = tb8_choose(total, zero, error, zero);     // and it touched
      tb8f after = tb8_max(tb8_sub(total, error), zero), change = tb8_sub(after, total);
      V3 force = {change, zero, zero};
      push(&p, from_frame(&p, force), from_frame(&p, cross3(arm, force)), &a, &b);
      tb8_store(point->total[0], after);
    }
    scatter(body, own->a, moving, a);
    scatter(body, own->b, moving, b);
  }
}
