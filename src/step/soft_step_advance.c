// SPDX-License-Identifier: Apache-2.0
// The end of a step of soft-step: bodies move, and contacts are written down.
#include "step/soft_step_work.h"

#include "base/prefetch.h"

#include <string.h>

enum { AHEAD = 3 };

static bool is_pushed(const double push[6])
{
  for (int k = 0; k < 6; k++)
    if (push[k] != 0) return true;
  return false;
}

// A body that something pushed: where its substeps took it, with the velocities of the impulses. It turns as
// a free body does, and by what its substeps turned it more or less.
static void move_body(const tbSoftStepWork* s, int i, const tbUnconstrained* f, double h, tbBody* b,
                      tbSoftStepAstray* astray)
{
  int at = s->index[i];
  const float* d = s->body[at].d;
  const double* p = s->push[at];
  tbQuat q = f->at.q;
  b->v = tb_madd3(f->v, 1 / b->mass, tb_load3(p));
  tbVec3 spin = tb_quat_unrotate(q, tb_load3(p + 3));
  b->w = tb_add3(f->w, tb_quat_rotate(q, tb_mat3_mulv(b->inertia_inv, spin)));
  tbVec3 way = tb_vec3(d[0], d[1], d[2]), turn = tb_vec3(d[3], d[4], d[5]);
  tbVec3 more = tb_sub3(way, tb_scale3(h, b->v)), turn_more = tb_sub3(turn, tb_scale3(h, b->w));
  double parabola = 0.5 * h * h * tb_norm3(f->a); // one that nothing but a joint holds up may have been on
  astray->way = fmax(astray->way, tb_norm3(more) + parabola);
  astray->turn = fmax(astray->turn, tb_norm3(turn_more));
  b->x = tb_add3(f->at.x, way), b->q = q;
  if (s->traveller[i].even) {
    b->q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(turn), q));
    return;
  }
  tb_turn_freely(b, h, &b->q, &b->w);
  tbVec3 momentum = tb_mat3_mulv(b->inertia, tb_quat_unrotate(b->q, b->w)); // angular, body axes
  tbQuat moved = tb_quat_normalize(tb_quat_mul(tb_quat_exp(turn_more), b->q));
  momentum = tb_quat_unrotate(moved, tb_quat_rotate(b->q, momentum));
  b->q = moved, b->w = tb_quat_rotate(moved, tb_mat3_mulv(b->inertia_inv, momentum));
}

static void fly(const tbUnconstrained* f, double h, tbBody* b)
{
  b->v = f->v, b->w = f->w, b->q = f->at.q;
  b->x = tb_madd3(tb_madd3(f->at.x, h, f->v), -0.5 * h * h, f->a);
  tb_turn_freely(b, h, &b->q, &b->w);
}

typedef struct {
  const tbSoftStepWork* soft;
  tbContactRecord* record;
} Records;

static void record_contacts(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Records* r = user;
  tb_soft_step_record(r->soft, begin, end, r->record);
}

// Records of pairs at rest stay as they are.
static void record(tbContext* ctx, const tbSoftStepWork* s, const tbStepWork* work,
                   const tbContactRecord* before, tbContactRecord* out)
{
  Records job = {s, out};
  tb_parallel_for(ctx->threads, s->ncontact, TB_SOFT_STEP_BODIES, record_contacts, &job);
  for (int i = 0; i < s->nkept && before != out; i++)
    memcpy(out + s->kept[i].record, before + s->kept[i].from, (size_t)s->kept[i].count * sizeof *out);
  for (int i = 0; work->assembly.problem && i < s->ncontact; i++)
    for (int k = 0; k < s->entry[i].count; k++)
      out[s->entry[i].record + k].residual = work->assembly.part[s->entry[i].first + k];
}

// They do not where there is room, and where all of them are of pairs at rest.
bool tb_soft_step_records_move(const tbWorld* w, const tbSoftStepWork* s)
{
  if (s->nkept > 0) return s->npoint > 0 || (size_t)s->nkept_record != w->contact.count;
  return w->contact.capacity < (size_t)s->npoint || !w->contact.data;
}

typedef struct {
  tbWorld* world;
  const tbSoftStepWork* soft;
  const tbUnconstrained* unconstrained;
  double h;
  tbSoftStepAstray* astray; // of a piece
} Bodies;

static void fall_asleep(tbBody* b, tbSoftStepAstray* astray)
{
  astray->slowed = fmax(astray->slowed, b->mass * tb_norm3(b->v));
  b->v = b->w = tb_zero3();
}

static void move(const Bodies* job, int i, const tbUnconstrained* f, tbBody* b, tbSoftStepAstray* astray)
{
  b->force = b->torque = tb_zero3();
  if (b->motion == TB_BODY_KINEMATIC) tb_follow(job->world, b, f, job->h);
  if (b->motion != TB_BODY_DYNAMIC) return;
  if (tb_soft_step_is_still(job->soft, i)) fall_asleep(b, astray);
  else if (is_pushed(job->soft->push[job->soft->index[i]])) move_body(job->soft, i, f, job->h, b, astray);
  else fly(f, job->h, b);
}

static void move_bodies(void* user, int begin, int end, int piece)
{
  const Bodies* job = user;
  for (int i = begin; i < end; i++) {
    tbBody* b = &tb_bodies(job->world)[i];
    if (i + AHEAD < end) tb_prefetch(b + AHEAD, sizeof *b);
    move(job, i, &job->unconstrained[i], b, &job->astray[piece]);
    double* u = job->soft->velocity[i];
    memset(u, 0, sizeof job->soft->velocity[i]);
    if (b->motion != TB_BODY_FIXED) tb_store3(u, b->v), tb_store3(u + 4, b->w);
  }
}

void tb_soft_step_advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                          tbStepReport* report)
{
  tbSoftStepWork* s = work->own;
  Bodies job = {w, s, work->unconstrained, o->dt, s->astray};
  tb_parallel_for(ctx->threads, (int)w->body.count, TB_SOFT_STEP_BODIES, move_bodies, &job);
  for (int i = 0; i < tb_piece_count((int)w->body.count, TB_SOFT_STEP_BODIES); i++) {
    report->changes.projected = fmax(report->changes.projected, s->astray[i].way);
    report->changes.turned = fmax(report->changes.turned, s->astray[i].turn);
    report->changes.slowed = fmax(report->changes.slowed, s->astray[i].slowed);
  }
  const tbContactRecord* before = w->contact.data;
  if (tb_soft_step_records_move(w, s)) {
    tbArray old = w->contact;
    w->contact = work->records, work->records = old;
  }
  w->contact.count = (size_t)s->npoint + (size_t)s->nkept_record;
  record(ctx, s, work, before, w->contact.data);
  if (w->joint.count > 0) tb_soft_step_joints_keep(s, o, w);
  tb_advance_clock(w, o->dt);
  tb_soft_step_remember(w, work, s);
  report->asleep = tb_soft_step_sleep_end(w, o, work, s);
}
