// SPDX-License-Identifier: Apache-2.0
// The end of a step of soft-step: bodies move, and contacts are written down.
#include "step/soft_step_work.h"

#include "base/prefetch.h"

enum { AHEAD = 4 };

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

static const double SLOW = 1e-6; // m/s: does not slip

static tbContactState state_of(const tbSoftStepContact* c, const double impulse[6], const double u[6])
{
  if (!(impulse[0] > 0)) return TB_CONTACT_OPEN;
  if (u[1] * u[1] + u[2] * u[2] <= SLOW * SLOW) return TB_CONTACT_STICK;
  double x = impulse[1], y = c->mu_b > 0 ? impulse[2] * (c->mu_t / c->mu_b) : 0;
  double most = (1 - 1e-4) * c->mu_t * impulse[0];
  return x * x + y * y >= most * most ? TB_CONTACT_SLIP : TB_CONTACT_STICK;
}

// The velocity after the step of a body's points: at its centre of a, and how it turns.
typedef struct {
  tbVec3 v, w, x;
} Moves;

static Moves moves_of(const tbWorld* w, const tbSoftStepWork* s, int body)
{
  const tbBody* b = &tb_bodies(w)[body];
  if (b->motion == TB_BODY_FIXED) return (Moves){.x = s->centre[body].x};
  return (Moves){b->v, b->w, s->centre[body].x};
}

// Whether any of its points carries an impulse.
static bool record_contact(const tbWorld* w, const tbSoftStepWork* s, const tbSoftStepEntry* e,
                           tbContactRecord* out)
{
  const tbSoftStepContact* c = e->contact;
  bool touches = false;
  int rows = tb_soft_step_rows(c);
  tbVec3 binormal = tb_cross3(c->normal, c->tangent);
  tbTransform centre = s->centre[c->body_a];
  tbMat3 R = tb_quat_mat3(centre.q);
  Moves a = moves_of(w, s, c->body_a), b = moves_of(w, s, c->body_b);
  for (int k = 0; k < c->count; k++, out++) {
    tbVec3 at = c->point[k].position, arm = tb_sub3(at, a.x);
    tbVec3 ub = tb_add3(b.v, tb_cross3(b.w, tb_sub3(at, b.x))), ua = tb_add3(a.v, tb_cross3(a.w, arm));
    tbVec3 u = tb_sub3(ub, ua);
    out->shape_a = c->shape_a, out->shape_b = c->shape_b, out->body_a = c->body_a, out->body_b = c->body_b;
    out->feature = c->point[k].feature, out->gap = c->point[k].gap, out->rows = rows, out->residual = 0;
    out->position = at, out->normal = c->normal, out->tangent = c->tangent,
    out->local = tb_mat3_tmulv(R, arm);
    out->velocity[0] = tb_dot3(c->normal, u);
    out->velocity[1] = tb_dot3(c->tangent, u), out->velocity[2] = tb_dot3(binormal, u);
    for (int row = 3; row < TB_MAX_ROWS; row++) out->velocity[row] = out->impulse[row] = 0;
    tb_soft_step_impulses(s, e, k, out->impulse);
    out->state = state_of(c, out->impulse, out->velocity);
    touches |= out->impulse[0] > 0;
  }
  return touches;
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
  for (int i = begin; i < end; i++) {
    tbSoftStepEntry* e = &r->soft->entry[i];
    if (i + AHEAD < end) tb_prefetch(e[AHEAD].contact, sizeof(tbSoftStepContact));
    e->touches = record_contact(r->world, r->soft, e, r->record + e->first);
  }
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
