// SPDX-License-Identifier: Apache-2.0
// What the impulses of the substeps come to: their sums on the bodies, and the contact records. In doubles, a
// vector to a register: lanes x, y, z, or normal, tangent, normal × tangent. Compiled once per vector width.
#include "step/soft_step_work.h"

#include "base/prefetch.h"
#include "base/simd.h"

#include <string.h>

enum { AHEAD = 4 };

// Three numbers, and in the fourth lane the one behind them: a double as well, for what is none may be read
// as a denormal, which takes a hundred times as long.
static inline tb4d load3(const tbVec3* p) { return tb4_load(&p->x); }

// x a + y b + z c
static inline tb4d combine(const double x[3], tb4d a, tb4d b, tb4d c)
{
  return tb4_add(tb4_add(tb4_mul(tb4_set1(x[0]), a), tb4_mul(tb4_set1(x[1]), b)), tb4_mul(tb4_set1(x[2]), c));
}

static inline tb4d cross(tb4d a, tb4d b)
{
  return tb4_turn(tb4_sub(tb4_mul(a, tb4_turn(b)), tb4_mul(tb4_turn(a), b)));
}

static inline void add_push(double* out, double sign, tb4d force, tb4d torque)
{
  double f[4], t[4];
  tb4_store(f, force);
  tb4_store(t, torque);
  for (int k = 0; k < 3; k++) out[k] += sign * f[k], out[3 + k] += sign * t[k];
}

// And keeps them with the contact: what comes after the step takes contacts in their order, where each would
// be looked for in a batch of its own.
static inline void add_contact(tbSoftStepWork* s, const tbSoftStepEntry* e)
{
  tbSoftStepContact* c = e->contact;
  const tbSoftStepBatch* batch = &s->batch[c->place / TB_SOFT_STEP_LANES];
  int lane = c->place % TB_SOFT_STEP_LANES, a = s->index[c->body_a], b = s->index[c->body_b];
  tb4d n = load3(&c->normal), t = load3(&c->tangent), across = cross(n, t);
  tb4d xa = load3(&s->centre[c->body_a].x), xb = load3(&s->centre[c->body_b].x);
  tb4d sum = tb4_set1(0), moment = sum;
  for (int k = 0; k < c->count; k++) {
    const tbSoftStepLane* total = batch->point[k].total;
    double impulse[3] = {total[0][lane], total[1][lane], total[2][lane]};
    for (int r = 0; r < 3; r++) c->point[k].impulse[r] = total[r][lane];
    if (s->polished) memcpy(impulse, s->polished[e->first + k], sizeof impulse);
    tb4d f = combine(impulse, n, t, across), arm = tb4_sub(load3(&c->point[k].position), xa);
    sum = tb4_add(sum, f), moment = tb4_add(moment, cross(arm, f)); // about the centre of a
  }
  if (a < s->moving) add_push(s->push[a], -1, sum, moment);
  if (b < s->moving) add_push(s->push[b], 1, sum, tb4_add(moment, cross(tb4_sub(xa, xb), sum)));
}

void tb_soft_step_add(tbSoftStepWork* s, int begin, int end)
{
  int last = end * TB_SOFT_STEP_LANES;
  for (int i = begin * TB_SOFT_STEP_LANES; i < last; i++) {
    if (i + AHEAD < last && s->order[i + AHEAD] >= 0)
      tb_prefetch(s->entry[s->order[i + AHEAD]].contact, sizeof(tbSoftStepContact));
    if (s->order[i] >= 0) add_contact(s, &s->entry[s->order[i]]);
  }
}

static const double SLOW = 1e-6; // m/s: does not slip

static inline tbContactState state_of(const tbSoftStepContact* c, double dt, const double impulse[3],
                                      const double u[3])
{
  if (!(impulse[0] > 0)) return TB_CONTACT_OPEN;
  if (u[1] * u[1] + u[2] * u[2] <= SLOW * SLOW) return TB_CONTACT_STICK;
  double x = impulse[1], y = c->mu_b > 0 ? impulse[2] * (c->mu_t / c->mu_b) : 0;
  double most = (1 - 1e-4) * (c->tresca > 0 ? c->tresca * dt : c->mu_t * impulse[0]);
  return x * x + y * y >= most * most ? TB_CONTACT_SLIP : TB_CONTACT_STICK;
}

// The velocity of B's points against A's after the step: linear + angular × (arm from the centre of a).
typedef struct {
  tb4d linear, angular;
} Moves;

static inline Moves moves_of(const tbSoftStepWork* s, const tbSoftStepContact* c, tb4d across)
{
  const double *a = s->velocity[c->body_a], *b = s->velocity[c->body_b];
  tb4d turn = tb4_load(b + 4), at_a = tb4_add(tb4_load(b), cross(turn, across));
  return (Moves){tb4_sub(at_a, tb4_load(a)), tb4_sub(turn, tb4_load(a + 4))};
}

// Whether any of its points carries an impulse.
static inline bool record_contact(const tbSoftStepWork* s, const tbSoftStepEntry* e, tbContactRecord* out)
{
  const tbSoftStepContact* c = e->contact;
  bool touches = false;
  int rows = tb_soft_step_rows(c);
  tbVec3 n = c->normal, t = c->tangent, b = tb_cross3(n, t);
  tb4d xa = load3(&s->centre[c->body_a].x), xb = load3(&s->centre[c->body_b].x);
  tbMat3 R = tb_quat_mat3(s->centre[c->body_a].q);
  Moves moves = moves_of(s, c, tb4_sub(xa, xb));
  for (int k = 0; k < c->count; k++, out++) {
    double at_arm[4], velocity[4];
    tb4d arm = tb4_sub(load3(&c->point[k].position), xa);
    tb4_store(at_arm, arm);
    tb4_store(velocity, tb4_add(moves.linear, cross(moves.angular, arm)));
    tbVec3 u = tb_load3(velocity);
    out->shape_a = c->shape_a, out->shape_b = c->shape_b, out->body_a = c->body_a, out->body_b = c->body_b;
    out->feature = c->point[k].feature, out->rows = rows;
    tb_soft_step_impulses(s, e, k, out->impulse);
    out->normal = n, out->tangent = t, out->local = tb_mat3_tmulv(R, tb_load3(at_arm));
    out->position = c->point[k].position, out->gap = c->point[k].gap, out->residual = 0;
    out->velocity[0] = tb_dot3(n, u), out->velocity[1] = tb_dot3(t, u), out->velocity[2] = tb_dot3(b, u);
    for (int row = 3; row < TB_MAX_ROWS; row++) out->velocity[row] = 0;
    out->state = state_of(c, s->h * s->substeps, out->impulse, out->velocity);
    touches |= out->impulse[0] > 0;
  }
  return touches;
}

void tb_soft_step_record(const tbSoftStepWork* s, int begin, int end, tbContactRecord* out)
{
  for (int i = begin; i < end; i++) {
    tbSoftStepEntry* e = &s->entry[i];
    if (i + AHEAD < end) tb_prefetch(e[AHEAD].contact, sizeof(tbSoftStepContact));
    e->touches = record_contact(s, e, out + e->record);
  }
}
