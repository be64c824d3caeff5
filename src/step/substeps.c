// SPDX-License-Identifier: Apache-2.0
#include "step/substeps.h"

#include "step/count.h"
#include "step/substeps_records.h"

#include <string.h>

// A world as it was before the first substep, and what the substeps add up to.
typedef struct {
  tbArray body, joint, contact; // as they were
  tbArray sum_joint;            // tbJoint, of which impulses and reactions alone
  tbArray sum_contact;          // tbContactRecord
  tbArray pushed;               // bool, of a body: contacts or joints acted on it
  tbArray number, sum_number;   // double: what steps change in kinds of bodies (tbKind.changes); of impulses
  const tbStateKind* state_kind;
  void* state;
  bool lent; // by the step that this one is a part of
  double time, clock_start, clock_dt;
  int64_t steps, clock_steps;
  tbTouching before;
} Kept;

static void free_kept(tbContext* ctx, Kept* k)
{
  tbArray* all[] = {&k->body,        &k->joint,  &k->contact, &k->sum_joint,
                    &k->sum_contact, &k->pushed, &k->number,  &k->sum_number};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tb_array_free(ctx, all[i]);
  tb_free(ctx, k->before.pair);
}

// What a step changes in the kinds of bodies, one array after the other: out of the world, or into it.
typedef enum { SAVE, RESTORE, APPLY, SHARE, ADD, PUT } Way;

static tbStatus each_number(tbContext* ctx, const tbWorld* w, Way way, double share, Kept* k)
{
  size_t at = 0, sum_at = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    double* x;
    int count;
    for (int n = 0; b->kind->changes && (x = b->kind->changes(b, n, &count)); n++, at += (size_t)count) {
      size_t bytes = (size_t)count * sizeof *x;
      double *was = (double*)k->number.data + at, *sum = (double*)k->sum_number.data + sum_at;
      bool impulses = n == TB_CHANGES_IMPULSE;
      if (way == SAVE) TB_TRY(tb_array_push(ctx, &k->number, x, (size_t)count));
      if (way == SAVE && impulses) TB_TRY(tb_array_push(ctx, &k->sum_number, NULL, (size_t)count));
      if (way == RESTORE || (way == APPLY && n == TB_CHANGES_FORCE)) memcpy(x, was, bytes);
      if (!impulses) continue;
      sum_at += (size_t)count;
      for (int e = 0; e < count; e++) {
        if (way == SHARE) x[e] *= share;
        if (way == ADD) sum[e] += x[e];
        if (way == PUT) x[e] = sum[e];
      }
    }
  }
  return TB_OK;
}

static tbStatus touching_before(tbContext* ctx, const tbWorld* w, Kept* k)
{
  k->before.pair = TB_NEW(ctx, tbBodyPair, w->contact.count + 1);
  if (!k->before.pair) return TB_ERROR_MEMORY;
  k->before.count = tb_events_touching(w, k->before.pair);
  return TB_OK;
}

// Impulses of the last step were those of `count` substeps: the first starts from a share of them.
static void share_impulses(tbWorld* w, double share, Kept* k)
{
  tbContactRecord* r = w->contact.data;
  for (size_t i = 0; i < w->contact.count; i++)
    for (int e = 0; e < 6; e++) r[i].impulse[e] *= share;
  for (size_t i = 0; i < w->joint.count; i++)
    for (int e = 0; e < TB_JOINT_IMPULSES; e++) tb_joints(w)[i].impulse[e] *= share;
  each_number(NULL, w, SHARE, share, k);
}

static tbStatus keep(tbContext* ctx, tbWorld* w, double share, Kept* k)
{
  *k = (Kept){.body = TB_ARRAY(tbBody),
              .joint = TB_ARRAY(tbJoint),
              .contact = TB_ARRAY(tbContactRecord),
              .sum_joint = TB_ARRAY(tbJoint),
              .sum_contact = TB_ARRAY(tbContactRecord),
              .pushed = TB_ARRAY(bool),
              .number = TB_ARRAY(double),
              .sum_number = TB_ARRAY(double),
              .time = w->time,
              .clock_start = w->clock_start,
              .clock_dt = w->clock_dt,
              .steps = w->steps,
              .clock_steps = w->clock_steps};
  TB_TRY(tb_array_push(ctx, &k->body, w->body.data, w->body.count));
  TB_TRY(tb_array_push(ctx, &k->joint, w->joint.data, w->joint.count));
  TB_TRY(tb_array_push(ctx, &k->contact, w->contact.data, w->contact.count));
  TB_TRY(tb_array_push(ctx, &k->sum_joint, NULL, w->joint.count));
  TB_TRY(tb_array_push(ctx, &k->pushed, NULL, w->body.count));
  TB_TRY(each_number(ctx, w, SAVE, 0, k));
  TB_TRY(touching_before(ctx, w, k));
  tbArray own = w->contact; // the world's, which a failure brings back; the substeps have the copy
  w->contact = k->contact, k->contact = own;
  k->state_kind = w->state_kind, k->state = w->state, k->lent = w->cache->state_lent;
  w->cache->state_lent = true;
  share_impulses(w, share, k);
  return TB_OK;
}

static void restore_clock(const Kept* k, tbWorld* w)
{
  w->time = k->time, w->clock_start = k->clock_start, w->clock_dt = k->clock_dt;
  w->steps = k->steps, w->clock_steps = k->clock_steps;
}

static void restore(tbContext* ctx, Kept* k, tbWorld* w)
{
  if (w->body.count) memcpy(w->body.data, k->body.data, w->body.count * sizeof(tbBody));
  if (w->joint.count) memcpy(w->joint.data, k->joint.data, w->joint.count * sizeof(tbJoint));
  each_number(NULL, w, RESTORE, 0, k);
  tbArray copy = w->contact;
  w->contact = k->contact, k->contact = copy;
  if (!w->cache->state_lent && w->state_kind) w->state_kind->free(ctx, w->state); // of a substep
  w->state_kind = k->state_kind, w->state = k->state, w->cache->state_lent = k->lent;
  w->event.count = 0;
  restore_clock(k, w);
}

// Forces act in every substep, not in the first alone.
static void apply_again(Kept* k, tbWorld* w)
{
  const tbBody* before = k->body.data;
  for (size_t i = 0; i < w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    b->force = before[i].force, b->torque = before[i].torque;
  }
  each_number(NULL, w, APPLY, 0, k);
}

static tbStatus add_up(tbContext* ctx, const tbWorld* w, double share, Kept* k)
{
  for (size_t i = 0; i < w->joint.count; i++) {
    tbJoint* sum = (tbJoint*)k->sum_joint.data + i;
    const tbJoint* j = &tb_joints(w)[i];
    for (int e = 0; e < TB_JOINT_IMPULSES; e++) sum->impulse[e] += j->impulse[e];
    sum->force = tb_madd3(sum->force, share, j->force);
    sum->torque = tb_madd3(sum->torque, share, j->torque);
    sum->effort += share * j->effort;
  }
  each_number(NULL, w, ADD, 0, k);
  return tb_records_add(ctx, w->contact.data, w->contact.count, &k->sum_contact);
}

static void publish(Kept* k, const tbStepOptions* o, tbWorld* w)
{
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* sum = (const tbJoint*)k->sum_joint.data + i;
    tbJoint* j = &tb_joints(w)[i];
    memcpy(j->impulse, sum->impulse, sizeof j->impulse);
    j->force = sum->force, j->torque = sum->torque, j->effort = sum->effort;
  }
  each_number(NULL, w, PUT, 0, k);
  tbArray last = w->contact;
  w->contact = k->sum_contact, k->sum_contact = last;
  restore_clock(k, w);
  tb_advance_clock(w, o->dt);
}

static void add_report(const tbStepReport* part, tbStepReport* sum)
{
  tbStepReport was = *sum;
  *sum = *part;
  if (was.outcome != TB_CONVERGED) sum->outcome = was.outcome;
  sum->iterations += was.iterations, sum->rounds += was.rounds;
  sum->residual = tb_worse_residual(&was.residual, &part->residual);
  sum->penetration = fmax(was.penetration, part->penetration);
  sum->linear_error = fmax(was.linear_error, part->linear_error);
  sum->newton_change = fmax(was.newton_change, part->newton_change);
  sum->intersections += was.intersections, sum->touching += was.touching, sum->parts += was.parts;
  sum->newton_missed = was.newton_missed || part->newton_missed;
  for (int i = 0; i < TB_PHASE_COUNT; i++) sum->phase_s[i] += was.phase_s[i];
  tbStepChanges *c = &sum->changes, *w = &was.changes;
  c->damped += w->damped, c->stopped += w->stopped;
  c->damping = fmax(c->damping, w->damping), c->short_of = fmax(c->short_of, w->short_of);
  c->projected = fmax(c->projected, w->projected), c->turned = fmax(c->turned, w->turned);
  c->slowed = fmax(c->slowed, w->slowed), c->unbalanced = fmax(c->unbalanced, w->unbalanced);
}

static void mark_pushed(const tbWorld* w, bool* pushed)
{
  const tbContactRecord* r = w->contact.data;
  for (size_t i = 0; i < w->contact.count; i++) pushed[r[i].body_a] = pushed[r[i].body_b] = true;
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    if (j->a >= 0) pushed[j->a] = true;
    if (j->b >= 0) pushed[j->b] = true;
  }
}

// How far bodies are from where the velocities that are published take them in one step: each part went by
// its own. In flight a path is the parabola of its ends' mean velocity.
static void note_ways(const Kept* k, const tbWorld* w, double h, tbStepChanges* c)
{
  const tbBody* before = k->body.data;
  bool* pushed = k->pushed.data;
  mark_pushed(w, pushed);
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody *was = &before[i], *b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    double way = tb_distance3(b->x, tb_madd3(was->x, h, b->v));
    bool flew = tb_distance3(b->x, tb_madd3(was->x, 0.5 * h, tb_add3(was->v, b->v))) <
                1e-12 * (tb_norm3(b->x) + h * tb_norm3(b->v));
    if (b->kind->framed && !pushed[i] && flew) continue;
    c->projected = fmax(c->projected, way);
    if (!b->kind->framed || !pushed[i]) continue;
    tbQuat q = tb_quat_mul(tb_quat_exp(tb_scale3(h, b->w)), was->q);
    c->turned = fmax(c->turned, tb_norm3(tb_quat_log(tb_quat_mul(b->q, tb_quat_conj(q)))));
  }
}

static tbStatus take_all(tbContext* ctx, tbWorld* w, const tbStepOptions* o, int count,
                         const tbTouching* before, tbTakeStep* take, int level, Kept* k, tbStepReport* report)
{
  tbStepOptions part = *o;
  part.dt = o->dt / count, part.solver.time_budget_s = o->solver.time_budget_s / count;
  for (int i = 0; i < count; i++) {
    tbStepReport own = {.outcome = TB_CONVERGED, .used = report->used};
    if (i > 0) apply_again(k, w);
    TB_TRY(take(ctx, w, &part, i == count - 1 ? before ? before : &k->before : NULL, level, &own));
    TB_TRY(add_up(ctx, w, 1.0 / count, k));
    add_report(&own, report);
  }
  return TB_OK;
}

tbStatus tb_substeps_take(tbContext* ctx, tbWorld* w, const tbStepOptions* o, int count,
                          const tbTouching* before, tbTakeStep* take, int level, tbStepReport* report)
{
  Kept k;
  tbStatus status = keep(ctx, w, 1.0 / count, &k);
  if (status == TB_OK) {
    status = take_all(ctx, w, o, count, before, take, level, &k, report);
    if (status == TB_OK) publish(&k, o, w), note_ways(&k, w, o->dt, &report->changes);
    else restore(ctx, &k, w);
    if (status == TB_OK && k.state_kind && !k.lent) k.state_kind->free(ctx, k.state);
  }
  free_kept(ctx, &k);
  return status;
}
