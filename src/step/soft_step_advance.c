// SPDX-License-Identifier: Apache-2.0
// The end of a step of soft-step: bodies move, and contacts are written down.
#include "step/soft_step_work.h"

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
  if (tb_turns_evenly(b)) {
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
  const tbWorld* world;
  const tbSoftStepWork* soft;
  tbContactRecord* record;
} Records;

static void record_contacts(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Records* r = user;
  tb_soft_step_record(r->world, r->soft, begin, end, r->record);
}

static void record(tbContext* ctx, const tbSoftStepWork* s, const tbStepWork* work, tbWorld* w)
{
  Records job = {w, s, work->records.data};
  tb_parallel_for(ctx->threads, s->ncontact, TB_SOFT_STEP_BODIES, record_contacts, &job);
  for (int i = 0; work->assembly.problem && i < s->npoint; i++)
    job.record[i].residual = work->assembly.part[i];
}

typedef struct {
  tbWorld* world;
  const tbSoftStepWork* soft;
  const tbUnconstrained* unconstrained;
  double h;
  tbSoftStepAstray* astray; // of a piece
} Bodies;

static void move_bodies(void* user, int begin, int end, int piece)
{
  const Bodies* job = user;
  for (int i = begin; i < end; i++) {
    tbBody* b = &tb_bodies(job->world)[i];
    const tbUnconstrained* f = &job->unconstrained[i];
    b->force = b->torque = tb_zero3();
    if (b->motion == TB_BODY_KINEMATIC) tb_follow(job->world, b, f, job->h);
    if (b->motion != TB_BODY_DYNAMIC) continue;
    if (is_pushed(job->soft->push[job->soft->index[i]]))
      move_body(job->soft, i, f, job->h, b, &job->astray[piece]);
    else fly(f, job->h, b);
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
  }
  record(ctx, s, work, w);
  if (w->joint.count > 0) tb_soft_step_joints_keep(s, o, w);
  tbArray old = w->contact;
  w->contact = work->records, work->records = old;
  tb_advance_clock(w, o->dt);
  tb_soft_step_remember(w, work, s);
}
