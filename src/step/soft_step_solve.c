// SPDX-License-Identifier: Apache-2.0
// Contacts of soft-step, a batch of pairs side by side.
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
// constraints"), and not at all while relaxing. Materials with a spring and a damper of their own have those
// in its place, and no relaxation: their overlap is the spring's.
//
// Lanes never meet. Bodies that cannot move are read and not written.
#include "step/soft_step_lanes.h"

// n · (θ × (θ × r))/2 = half · r
static inline V3 second_order(V3 n, V3 turn)
{
  tbwf half = tbwf_set1(0.5f);
  return scale3(half, sub3(scale3(dot3(n, turn), turn), scale3(dot3(turn, turn), n)));
}

// How gaps have changed since the start: by `all`, and by slope · arm.
typedef struct {
  tbwf all;
  V3 slope;
} Opening;

static inline __attribute__((always_inline)) Opening opening_of(const Pair* p, const tbSoftStepBody* body,
                                                                const tbSoftStepBatch* own, int lane)
{
  Motion a = gather(body, own->a + lane, true), b = gather(body, own->b + lane, true), d = against(p, &a, &b);
  V3 second_a = second_order(p->n, a.angular), second_b = second_order(p->n, b.angular);
  V3 turn = add3(scale3(load(own->with_a, lane), a.angular), scale3(load(own->with_b, lane), b.angular));
  V3 n = add3(p->n, cross3(turn, p->n)); // now
  V3 slope = add3(cross3(n, d.angular), sub3(second_b, second_a));
  tbwf all = tbwf_add(dot3(n, d.linear), dot3(second_b, p->across));
  if (own->rolls) { // only the centres of what is round turn away
    all = tbwf_add(all, tbwf_mul(load(own->round_a, lane), dot3(second_a, p->n)));
    all = tbwf_add(all, tbwf_mul(load(own->round_b, lane), dot3(second_b, p->n)));
  }
  return (Opening){all, into_frame(p, slope)};
}

// opening: null where no gap was open when overlaps were pushed out; then none is taken to be while relaxing.
//
// The normal impulses of a pair together: a few sweeps of Gauss and Seidel over its W, then one push.
enum { INNER = 2, BOUNCE_SWEEPS = 24 };

// The sweeps, over what a point by itself would have to change: with s = step (u + bias) and the rows of W
// scaled by their steps,
//
//   λ_k ← max(0, (1 − step_k soft_k) λ_k − s_k),  s ← s + step ∘ W_k (change of λ_k)
static inline void together(const tbSoftStepBatch* own, int lane, const int points, int sweeps,
                            const tbwf* soft, const tbwf* step, tbwf* error, tbwf* now, tbwf* change)
{
  tbwf zero = tbwf_set1(0), one = tbwf_set1(1);
  tbwf w[TB_SOFT_STEP_POINTS][TB_SOFT_STEP_POINTS], keeps[TB_SOFT_STEP_POINTS], was[TB_SOFT_STEP_POINTS];
  for (int k = 0; k < points; k++) {
    for (int i = 0; i < points; i++)
      w[k][i] = tbwf_mul(step[i], load(own->normal_w[k > i ? k : i][k > i ? i : k], lane));
    keeps[k] = tbwf_sub(one, tbwf_mul(step[k], soft[k]));
    error[k] = tbwf_mul(step[k], error[k]), was[k] = now[k];
  }
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int k = 0; k < points; k++) {
      tbwf next = tbwf_max(tbwf_sub(tbwf_mul(keeps[k], now[k]), error[k]), zero), d = tbwf_sub(next, now[k]);
      for (int i = 0; i < points; i++) error[i] = tbwf_add(error[i], tbwf_mul(w[k][i], d));
      now[k] = next;
    }
  for (int k = 0; k < points; k++) change[k] = tbwf_sub(now[k], was[k]);
}

// What they came to: the sum of their changes, and its moments about t and b.
typedef struct {
  tbwf sum, about_t, about_b;
} Pressed;

static inline Pressed sum_of(const tbSoftStepBatch* own, int lane, const int points, const tbwf* change)
{
  tbwf zero = tbwf_set1(0);
  Pressed out = {zero, zero, zero};
  for (int k = 0; k < points; k++) {
    out.sum = tbwf_add(out.sum, change[k]);
    out.about_t = tbwf_add(out.about_t, tbwf_mul(change[k], load(own->point[k].arm[2], lane)));
    out.about_b = tbwf_sub(out.about_b, tbwf_mul(change[k], load(own->point[k].arm[1], lane)));
  }
  return out;
}

static inline Pressed press(tbSoftStepBatch* own, int lane, const int points, const bool push_out,
                            const tbSoftStepPass* pass, const Opening* opening, const Motion* u)
{
  tbwf zero = tbwf_set1(0), inverse_h = tbwf_set1(pass->inverse_h), most = tbwf_set1(-pass->push_speed);
  tbwf rate = tbwf_set1(push_out ? pass->softness.rate : 0), one = tbwf_set1(1);
  tbwf give = tbwf_set1(push_out ? pass->softness.give : 0);
  tbwf heavy = tbwf_set1(pass->heavy), least = tbwf_set1(0.25f);
  tbwf spring = own->springs ? load(own->spring_give, lane) : zero;
  if (pass->first && own->fresh) give = zero; // too small an impulse would hold too little by friction
  tbwf error[TB_SOFT_STEP_POINTS], soft[TB_SOFT_STEP_POINTS], now[TB_SOFT_STEP_POINTS],
      change[TB_SOFT_STEP_POINTS], step[TB_SOFT_STEP_POINTS];
  bool open = false;
  for (int k = 0; k < points; k++) {
    const tbSoftStepPoint* point = &own->point[k];
    V3 arm = load3(point->arm, lane);
    tbwf gap = zero, bias = zero;
    if (opening) {
      gap = tbwf_add(tbwf_add(load(point->gap, lane), opening->all), dot3(opening->slope, arm));
      tbwf out = tbwf_max(tbwf_mul(gap, rate), most);
      if (own->springs) out = tbwf_choose(spring, zero, tbwf_mul(gap, load(own->spring_rate, lane)), out);
      bias = tbwf_choose(gap, zero, tbwf_mul(gap, inverse_h), out);
      open |= tbwf_any_above(gap, zero);
    }
    now[k] = load(point->lambda[0], lane);
    tbwf un = tbwf_sub(tbwf_mul(u->angular.y, arm.z), tbwf_mul(u->angular.z, arm.y));
    error[k] = tbwf_add(tbwf_add(u->linear.x, un), bias);
    step[k] = load(point->mass, lane), soft[k] = zero;
    if (own->springs && !push_out) step[k] = tbwf_choose(spring, zero, zero, step[k]);
    if (!push_out) continue;
    tbwf w = load(own->normal_w[k][k], lane), worth = tbwf_mul(tbwf_mul(w, now[k]), heavy);
    tbwf yields = tbwf_mul(give, tbwf_min(tbwf_max(worth, least), one));
    yields = tbwf_choose(gap, zero, zero, yields);
    if (own->springs) yields = tbwf_choose(spring, zero, tbwf_mul(spring, step[k]), yields);
    step[k] = tbwf_div(step[k], tbwf_add(one, yields));
    soft[k] = tbwf_mul(yields, w);
  }
  together(own, lane, points, INNER, soft, step, error, now, change);
  if (push_out) own->open |= open;
  for (int k = 0; k < points; k++) store(own->point[k].lambda[0], lane, now[k]);
  return sum_of(own, lane, points, change);
}

// The motion after normal impulses, but for that along the normal, which friction does not ask for.
static inline void yield_to(const tbSoftStepBatch* own, int lane, const Pressed* pressed, Motion* u)
{
  tbwf* of[5] = {&u->linear.y, &u->linear.z, &u->angular.x, &u->angular.y, &u->angular.z};
  const tbwf by[3] = {pressed->sum, pressed->about_t, pressed->about_b};
  for (int r = 0; r < 5; r++)
    for (int k = 0; k < 3; k++) *of[r] = tbwf_add(*of[r], tbwf_mul(load(own->yield[k][r], lane), by[k]));
}

// What friction does: in t and b, the impulse after.
typedef struct {
  tbwf mu_t, mu_b, product; // product: μ_t μ_b
  tbwf step_t, step_b;      // of the gradient: (μ/largest μ)²
  tbwf tresca;              // where `bounded`
  bool bounded;
} Friction;

static inline Friction friction_of(const tbSoftStepBatch* own, int lane)
{
  Friction f = {.mu_t = load(own->mu_t, lane), .mu_b = load(own->mu_b, lane), .bounded = own->bounded};
  if (own->bounded) f.tresca = load(own->tresca, lane);
  f.product = tbwf_mul(f.mu_t, f.mu_b);
  tbwf inverse = inverse_or_zero(tbwf_max(f.mu_t, f.mu_b));
  tbwf t = tbwf_mul(f.mu_t, inverse), b = tbwf_mul(f.mu_b, inverse);
  f.step_t = tbwf_mul(t, t), f.step_b = tbwf_mul(b, b);
  return f;
}

// (λ_t/μ_t, λ_b/μ_b) has the length √(its square)/(μ_t μ_b).
static inline tbwf square_of(const Friction* f, tbwf t, tbwf b)
{
  tbwf x = tbwf_mul(t, f->mu_b), y = tbwf_mul(b, f->mu_t);
  return tbwf_add(tbwf_mul(x, x), tbwf_mul(y, y));
}

static inline void rub(const Friction* f, const tbSoftStepPoint* point, int lane, tbwf normal, tbwf ut,
                       tbwf ub, tbwf* t, tbwf* b)
{
  tbwf tt = load(point->stick[0], lane), tb = load(point->stick[1], lane), bb = load(point->stick[2], lane);
  tbwf stick_t = tbwf_sub(*t, tbwf_add(tbwf_mul(tt, ut), tbwf_mul(tb, ub)));
  tbwf stick_b = tbwf_sub(*b, tbwf_add(tbwf_mul(tb, ut), tbwf_mul(bb, ub)));
  tbwf limit = tbwf_mul(f->product, normal), none = tbwf_set1(0);
  if (f->bounded) limit = tbwf_choose(f->tresca, none, tbwf_choose(normal, none, f->tresca, none), limit);
  tbwf most = tbwf_mul(limit, limit), square = square_of(f, stick_t, stick_b);
  if (tbwf_any_above(square, most)) {
    tbwf slip = load(point->slip, lane);
    tbwf slip_t = tbwf_sub(*t, tbwf_mul(tbwf_mul(slip, f->step_t), ut));
    tbwf slip_b = tbwf_sub(*b, tbwf_mul(tbwf_mul(slip, f->step_b), ub));
    tbwf reached = tbwf_max(tbwf_sqrt(square_of(f, slip_t, slip_b)), tbwf_set1(1e-30f));
    tbwf share = tbwf_min(tbwf_div(limit, reached), tbwf_set1(1));
    stick_t = tbwf_choose(square, most, tbwf_mul(share, slip_t), stick_t);
    stick_b = tbwf_choose(square, most, tbwf_mul(share, slip_b), stick_b);
  }
  *t = tbwf_choose(f->product, none, stick_t, none), *b = tbwf_choose(f->product, none, stick_b, none);
}

// Friction of the points, one after the other, under the normal impulses as they are now. count: add what
// the impulses are then to those of the step.
static inline void rub_all(tbSoftStepBatch* own, int lane, const int points, const Motion* u, bool count,
                           V3* impulse, V3* moment)
{
  Friction f = friction_of(own, lane);
  tbwf change_t[TB_SOFT_STEP_POINTS], change_b[TB_SOFT_STEP_POINTS];
  for (int k = 0; k < points; k++) {
    tbSoftStepPoint* point = &own->point[k];
    V3 arm = load3(point->arm, lane), l = load3(point->lambda, lane), now = l, v = at_arm(u, arm);
    for (int i = 0; i < k; i++) {
      const tbSoftStepLane* w = own->tangent_w[tb_soft_step_couple(k, i)];
      v.y = tbwf_add(
          v.y, tbwf_add(tbwf_mul(load(w[0], lane), change_t[i]), tbwf_mul(load(w[1], lane), change_b[i])));
      v.z = tbwf_add(
          v.z, tbwf_add(tbwf_mul(load(w[2], lane), change_t[i]), tbwf_mul(load(w[3], lane), change_b[i])));
    }
    rub(&f, point, lane, l.x, v.y, v.z, &now.y, &now.z);
    tbwf t = change_t[k] = tbwf_sub(now.y, l.y), b = change_b[k] = tbwf_sub(now.z, l.z);
    impulse->y = tbwf_add(impulse->y, t), impulse->z = tbwf_add(impulse->z, b);
    moment->x = tbwf_add(moment->x, tbwf_sub(tbwf_mul(arm.y, b), tbwf_mul(arm.z, t)));
    moment->y = tbwf_sub(moment->y, tbwf_mul(arm.x, b));
    moment->z = tbwf_add(moment->z, tbwf_mul(arm.x, t));
    store(point->lambda[1], lane, now.y);
    store(point->lambda[2], lane, now.z);
    if (count) store3(point->total, lane, add3(load3(point->total, lane), now));
  }
}

// How often a batch is solved in a row: more than once where impulses are not known from the last step. What
// friction lacks while it is found is a way that the pair slips, so that it is looked for at once, and again
// while the pair comes to rest.
enum { FIRST_ROUNDS = 16, ROUNDS = 4 };

static inline int rounds_of(const tbSoftStepBatch* own, const bool push_out, bool first)
{
  if (!own->fresh) return 1;
  return first ? FIRST_ROUNDS : push_out ? 1 : ROUNDS;
}

// A batch or half of one, compiled for each number of points and either pass.
static inline void solve_part(tbSoftStepBatch* own, int lane, const int points, const bool push_out,
                              tbSoftStepBody* body, int moving, const tbSoftStepPass* pass)
{
  Pair p = pair_of(own, lane);
  bool open = push_out || own->open;
  Opening opening;
  if (open) opening = opening_of(&p, body, own, lane);
  Motion a = gather(body, own->a + lane, false), b = gather(body, own->b + lane, false);
  for (int round = rounds_of(own, push_out, pass->first); round > 0; round--) {
    Motion u = in_frame(&p, &a, &b);
    Pressed pressed = press(own, lane, points, push_out, pass, open ? &opening : NULL, &u);
    tbwf zero = tbwf_set1(0);
    V3 impulse = {pressed.sum, zero, zero}, moment = {zero, pressed.about_t, pressed.about_b};
    if (!push_out || pass->first) {
      yield_to(own, lane, &pressed, &u);
      rub_all(own, lane, points, &u, !push_out && round == 1, &impulse, &moment);
    }
    push(&p, from_frame(&p, impulse), from_frame(&p, moment), &a, &b);
  }
  scatter(body, own->a + lane, moving, a);
  scatter(body, own->b + lane, moving, b);
}

static inline void solve_batch(tbSoftStepBatch* own, const int points, const bool push_out,
                               tbSoftStepBody* body, int moving, const tbSoftStepPass* pass)
{
  if (push_out) own->open = false;
  for (int lane = 0; lane < own->lanes; lane += TB_WIDE_FLOATS)
    solve_part(own, lane, points, push_out, body, moving, pass);
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

// Points that came fast and were pushed leave with their restitution, those of a pair together: one after the
// other they would turn what came down flat.
static void bounce(tbSoftStepBatch* own, int lane, tbSoftStepBody* body, int moving, float bounce_speed)
{
  const int points = own->points;
  tbwf zero = tbwf_set1(0), slowest = tbwf_set1(-bounce_speed), e = load(own->restitution, lane);
  tbwf error[TB_SOFT_STEP_POINTS], soft[TB_SOFT_STEP_POINTS], step[TB_SOFT_STEP_POINTS],
      total[TB_SOFT_STEP_POINTS], change[TB_SOFT_STEP_POINTS];
  Pair p = pair_of(own, lane);
  Motion a = gather(body, own->a + lane, false), b = gather(body, own->b + lane, false);
  Motion u = in_frame(&p, &a, &b);
  for (int k = 0; k < points; k++) {
    const tbSoftStepPoint* point = &own->point[k];
    tbwf before = load(point->approach, lane);
    total[k] = load(point->total[0], lane), soft[k] = zero;
    error[k] = tbwf_add(at_arm(&u, load3(point->arm, lane)).x, tbwf_mul(e, before));
    step[k] = tbwf_choose(slowest, before, load(point->mass, lane), zero); // fast enough
    step[k] = tbwf_choose(total[k], zero, step[k], zero);                  // and it touched
  }
  together(own, lane, points, BOUNCE_SWEEPS, soft, step, error, total, change);
  for (int k = 0; k < points; k++) store(own->point[k].total[0], lane, total[k]);
  Pressed pressed = sum_of(own, lane, points, change);
  V3 impulse = {pressed.sum, zero, zero}, moment = {zero, pressed.about_t, pressed.about_b};
  push(&p, from_frame(&p, impulse), from_frame(&p, moment), &a, &b);
  scatter(body, own->a + lane, moving, a);
  scatter(body, own->b + lane, moving, b);
}

void tb_soft_step_bounce(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving,
                         const tbSoftStepPass* pass)
{
  for (int i = begin; i < end; i++)
    for (int lane = 0; batch[i].bounces && lane < batch[i].lanes; lane += TB_WIDE_FLOATS)
      bounce(&batch[i], lane, body, moving, pass->bounce_speed);
}
