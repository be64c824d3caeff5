// SPDX-License-Identifier: Apache-2.0
// soft-step, the real-time lane: substeps with soft contacts that are relaxed (Macklin et al. 2019, "Small
// steps in physics simulation"; Catto 2024, "Solver2D"; the family of Box2D 3).
//
//   contacts are found once, at the start of the step; then, substep by substep, h_s = h/substeps:
//     v ← v + h_s a + what contacts did in the last substep       one sum per body: A and J stay
//     solve    every contact in turn, overlaps pushed out softly
//     x ← x + h_s v
//     relax    every contact in turn, velocities alone: the push goes no further
//   and what came fast bounces.
//
// One sweep each, in colours (soft_step_pack.c), in floats about the start of the step; positions are
// doubles. The velocities at the end are summed anew in doubles from the impulses, so that momentum balances
// to rounding. Nothing is kept from step to step but what every scheme keeps: the contacts' impulses.
//
// Cost      linear in contacts; no memory is made once the arrays have grown to their size.
// Limits    a stack settles to its weight over steps, and chains of heavy on light bodies sag: the
// certificate
//           says by how much. Contacts with torsional or rolling friction are refused.
#include "step/soft_step_work.h"

#include "base/clock.h"
#include "base/stop.h"
#include "step/count.h"

#include <string.h>

enum { BODIES = 256 };

// Contacts as stiff as so many oscillations per substep: stiffer ones shake tall stacks, softer ones let them
// sag. At most FASTEST of them.
static const double HERTZ = 0.177, FASTEST = 0.25;

// A contact whose impulse of a substep is worth so many times what gravity does in it is as soft as that;
// lighter ones are stiffer, down to a quarter.
static const double HEAVY = 5;

static const double HEAVIER = 30; // bodies that touch, or are joined: more substeps

tbSoftness tb_softness(double hertz, double damping_ratio, double h)
{
  double omega = 6.283185307179586 * hertz, a1 = 2 * damping_ratio + h * omega, a2 = h * omega * a1;
  return omega > 0 ? (tbSoftness){(float)(omega / a1), (float)(1 / a2)} : (tbSoftness){0, 0};
}

// Velocities now and what a substep adds, inverse masses where the body is.
static void put_body(const tbBody* b, const tbUnconstrained* f, int substeps, int i, tbSoftStepWork* s)
{
  bool moves = b->motion == TB_BODY_DYNAMIC;
  tbVec3 v = moves ? b->v : f->v, w = moves ? b->w : f->w; // driven bodies have the velocity of the step
  tbVec3 dv = moves ? tb_sub3(f->v, v) : tb_zero3(), dw = moves ? tb_sub3(f->w, w) : tb_zero3();
  const double now[6] = {v.x, v.y, v.z, w.x, w.y, w.z}, more[6] = {dv.x, dv.y, dv.z, dw.x, dw.y, dw.z};
  s->body[i] = (tbSoftStepBody){.v = {0}, .d = {0}};
  s->mass[i] = (tbSoftStepMass){0};
  memset(s->kick[i], 0, sizeof s->kick[i]);
  for (int k = 0; k < 6; k++) {
    s->body[i].v[k] = (float)now[k];
    s->kick[i][k] = (float)(more[k] / substeps);
  }
  if (!moves) return;
  tbMat3 R = tb_quat_mat3(f->at.q), I = tb_mat3_mul(R, tb_mat3_mult(b->inertia_inv, R));
  s->mass[i].mass = (float)(1 / b->mass);
  for (int r = 0, k = 0; r < 3; r++)
    for (int c = r; c < 3; c++) s->mass[i].inertia[k++] = (float)I.m[r][c];
}

typedef struct {
  const tbWorld* world;
  const tbUnconstrained* unconstrained;
  int substeps;
  tbSoftStepWork* work;
} Bodies;

static void put_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Bodies* job = user;
  for (int i = begin; i < end; i++)
    if (job->work->index[i] < job->work->bodies)
      put_body(&tb_bodies(job->world)[i], &job->unconstrained[i], job->substeps, job->work->index[i],
               job->work);
}

// Bodies that move come first, then those that are driven; one that rests stands for all the others.
static tbStatus begin_bodies(tbContext* ctx, tbArena* arena, const tbWorld* w,
                             const tbUnconstrained* unconstrained, tbSoftStepWork* s)
{
  size_t n = w->body.count;
  s->index = TB_TAKE(arena, int, n);
  if (!s->index) return TB_ERROR_MEMORY;
  for (int driven = 0; driven < 2; driven++) {
    for (size_t i = 0; i < n; i++)
      if (tb_bodies(w)[i].motion == (driven ? TB_BODY_KINEMATIC : TB_BODY_DYNAMIC)) s->index[i] = s->bodies++;
    if (!driven) s->moving = s->bodies;
  }
  for (size_t i = 0; i < n; i++)
    if (tb_bodies(w)[i].motion == TB_BODY_FIXED) s->index[i] = s->bodies;
  s->body = TB_TAKE(arena, tbSoftStepBody, (size_t)s->bodies + 1);
  s->mass = TB_TAKE(arena, tbSoftStepMass, (size_t)s->bodies + 1);
  s->kick = tb_arena_take(arena, (size_t)s->bodies, sizeof *s->kick);
  s->before = tb_arena_take(arena, (size_t)s->bodies, sizeof *s->before);
  s->push = tb_arena_take(arena, (size_t)s->moving, sizeof *s->push);
  if (!s->body || !s->mass || !s->kick || !s->before || !s->push) return TB_ERROR_MEMORY;
  Bodies job = {w, unconstrained, s->substeps, s};
  tb_parallel_for(ctx->threads, (int)n, BODIES, put_bodies, &job);
  return TB_OK;
}

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tbSoftStepWork* s = work->own = TB_TAKE(work->arena, tbSoftStepWork, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->centre = work->centre;
  TB_TRY(tb_soft_step_cache(ctx, work->cache, &s->cache));
  TB_TRY(tb_soft_step_find(ctx, w, o, work, s));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  report->contacts = s->npoint;
  for (int i = 0; i < s->ncontact; i++)
    for (int k = 0; k < s->contact[i].count; k++)
      report->penetration = fmax(report->penetration, -s->contact[i].point[k].gap);
  return TB_OK;
}

static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  (void)report;
  return tb_soft_step_publish(ctx, w, o, work, work->own, false);
}

typedef enum { WARM, SOLVE, BOUNCE } What;

typedef struct {
  tbSoftStepWork* work;
  What what;
  const tbSoftStepPass* pass;
  int first; // batch of the colour
} Sweep;

static void sweep_piece(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sweep* j = user;
  tbSoftStepWork* s = j->work;
  int from = j->first + begin, to = j->first + end;
  if (j->what == WARM) tb_soft_step_warm(s->batch, from, to, s->body, s->moving);
  if (j->what == SOLVE) tb_soft_step_solve(s->batch, from, to, s->body, s->moving, j->pass);
  if (j->what == BOUNCE) tb_soft_step_bounce(s->batch, from, to, s->body, s->moving, j->pass);
}

// All contacts, colour after colour; those beyond the last one after the other.
static void sweep(tbContext* ctx, tbSoftStepWork* s, What what, const tbSoftStepPass* pass)
{
  Sweep job = {s, what, pass, 0};
  for (int k = 0; k <= TB_SOFT_STEP_COLOURS; k++) {
    int count = s->colour[k + 1] - s->colour[k];
    job.first = s->colour[k];
    if (count > 0)
      tb_parallel_for(ctx->threads, count, k < TB_SOFT_STEP_COLOURS ? TB_SOFT_STEP_GRAIN : count, sweep_piece,
                      &job);
  }
}

// v ← v + kick, where the kick has what contacts did in the last substep.
static void start_substep(tbSoftStepWork* s, bool first)
{
  for (int i = 0; i < s->moving; i++)
    for (int k = 0; k < 8; k++) {
      float gained = first ? 0 : s->body[i].v[k] - s->before[i][k];
      s->before[i][k] = s->body[i].v[k];
      s->body[i].v[k] += first ? s->kick[i][k] : gained;
    }
}

static void move(tbSoftStepWork* s, float h)
{
  for (int i = 0; i < s->bodies; i++)
    for (int k = 0; k < 8; k++) s->body[i].d[k] += h * s->body[i].v[k];
}

static tbStatus take_substeps(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbSoftStepWork* s)
{
  double h = o->dt / s->substeps, hertz = o->hertz > 0 ? fmin(o->hertz, FASTEST / h) : HERTZ / h;
  tbSoftStepPass solve = {.push = true,
                          .inverse_h = (float)(1 / h),
                          .push_speed = (float)o->push_speed,
                          .bounce_speed = (float)tb_bounce_speed(w, o),
                          .softness = tb_softness(hertz, o->damping_ratio, h)};
  double g = tb_norm3(w->gravity);
  solve.heavy = g > 0 ? (float)(1 / (HEAVY * g * h)) : 1e30f;
  tbSoftStepPass relax = solve;
  relax.push = false;
  for (int i = 0; i < s->substeps; i++) {
    start_substep(s, i == 0);
    if (i == 0) {
      tb_soft_step_joints_warm(s);
      tb_soft_step_spins_warm(s);
      sweep(ctx, s, WARM, NULL);
    }
    solve.first = relax.first = i == 0;
    tb_soft_step_joints_solve(s, &solve);
    sweep(ctx, s, SOLVE, &solve);
    tb_soft_step_spins_solve(s, &solve);
    move(s, (float)h);
    tb_soft_step_joints_solve(s, &relax);
    sweep(ctx, s, SOLVE, &relax);
    tb_soft_step_spins_solve(s, &relax);
    TB_TRY(tb_check_interrupt(ctx));
  }
  sweep(ctx, s, BOUNCE, &relax);
  return TB_OK;
}

static void add_push(double* out, double sign, tbVec3 force, tbVec3 torque)
{
  out[0] += sign * force.x, out[1] += sign * force.y, out[2] += sign * force.z;
  out[3] += sign * torque.x, out[4] += sign * torque.y, out[5] += sign * torque.z;
}

// Impulses of all contacts on the bodies, in doubles.
static void add_up(tbSoftStepWork* s)
{
  for (int i = 0; i < s->ncontact; i++) {
    const tbSoftStepContact* c = &s->contact[i];
    const tbSoftStepBatch* batch = &s->batch[c->place / TB_SOFT_STEP_LANES];
    int lane = c->place % TB_SOFT_STEP_LANES, a = s->index[c->body_a], b = s->index[c->body_b];
    tbVec3 n = c->normal, t = c->tangent, across = tb_cross3(n, t), sum = tb_zero3(), moment = tb_zero3();
    tbVec3 xa = s->centre[c->body_a].x, xb = s->centre[c->body_b].x;
    for (int k = 0; k < c->count; k++) {
      const tbSoftStepPoint* p = &batch->point[k];
      tbVec3 f = tb_add3(tb_scale3(p->total[0][lane], n),
                         tb_add3(tb_scale3(p->total[1][lane], t), tb_scale3(p->total[2][lane], across)));
      sum = tb_add3(sum, f);
      moment = tb_add3(moment, tb_cross3(tb_sub3(c->point[k].position, xa), f)); // about the centre of a
    }
    if (a < s->moving) add_push(s->push[a], -1, sum, moment);
    if (b < s->moving) add_push(s->push[b], 1, sum, tb_add3(moment, tb_cross3(tb_sub3(xa, xb), sum)));
  }
  tb_soft_step_joints_add(s, s->push);
  tb_soft_step_spins_add(s, s->push);
}

static tbStatus judge(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  double clock = tb_seconds();
  TB_TRY(tb_soft_step_publish(ctx, w, o, work, work->own, true));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(tb_assembly_judge(ctx, o, NULL, &work->assembly));
  report->residual = work->assembly.residual;
  tb_step_confirm(o, work, report);
  if (report->outcome != TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

static tbResidual nothing_known(void)
{
  return (tbResidual){.fclib = NAN, .natural_map = NAN, .model = NAN, .velocity = NAN, .model_velocity = NAN};
}

static bool are_uneven(const tbWorld* w, int a, int b)
{
  if (a < 0 || b < 0) return false;
  double x = tb_bodies(w)[a].mass, y = tb_bodies(w)[b].mass;
  return x > 0 && y > 0 && (x > HEAVIER * y || y > HEAVIER * x);
}

// Heavy bodies on light ones need smaller steps.
static int count_substeps(const tbWorld* w, const tbStepOptions* o, const tbSoftStepWork* s)
{
  bool uneven = false;
  for (int i = 0; i < s->ncontact && !uneven; i++)
    uneven = are_uneven(w, s->contact[i].body_a, s->contact[i].body_b);
  for (size_t i = 0; i < w->joint.count && !uneven; i++)
    uneven = are_uneven(w, tb_joints(w)[i].a, tb_joints(w)[i].b);
  return uneven ? 2 * o->substeps : o->substeps;
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  double clock = tb_seconds();
  tbSoftStepWork* s = work->own;
  s->substeps = count_substeps(w, o, s);
  TB_TRY(begin_bodies(ctx, work->arena, w, work->unconstrained, s));
  TB_TRY(tb_soft_step_joints_begin(work->arena, w, o, s));
  TB_TRY(tb_soft_step_pack(ctx, work->arena, s));
  TB_TRY(tb_soft_step_spins_begin(work->arena, s));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(take_substeps(ctx, w, o, s));
  add_up(s);
  report->used = "soft-step", report->iterations = 2 * s->substeps;
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  bool asked = o->certify > 0 && (w->steps + 1) % o->certify == 0;
  if (asked) TB_TRY(judge(ctx, w, o, work, report));
  else if (s->npoint + s->njoint > 0) report->outcome = TB_UNJUDGED, report->residual = nothing_known();
  if (!tb_soft_step_room(ctx, &work->records, sizeof(tbContactRecord), (size_t)s->npoint))
    return TB_ERROR_MEMORY;
  work->records.count = (size_t)s->npoint;
  return TB_OK;
}

static bool is_pushed(const double push[6])
{
  for (int k = 0; k < 6; k++)
    if (push[k] != 0) return true;
  return false;
}

// A body that something pushed: where its substeps took it, with the velocities of the impulses. It turns as
// a free body does, and by what its substeps turned it more or less.
static void move_body(const tbSoftStepWork* s, int i, const tbUnconstrained* f, double h, tbBody* b,
                      tbStepReport* report)
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
  report->changes.projected = fmax(report->changes.projected, tb_norm3(more) + parabola);
  report->changes.turned = fmax(report->changes.turned, tb_norm3(turn_more));
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

static tbContactState state_of(const tbSoftStepContact* c, const double impulse[6], const double u[6])
{
  if (!(impulse[0] > 0)) return TB_CONTACT_OPEN;
  double x = c->mu_t > 0 ? impulse[1] / (c->mu_t * impulse[0]) : 1;
  double y = c->mu_b > 0 ? impulse[2] / (c->mu_b * impulse[0]) : 0;
  return sqrt(x * x + y * y) >= 1 - 1e-4 && sqrt(u[1] * u[1] + u[2] * u[2]) > 1e-6 ? TB_CONTACT_SLIP
                                                                                   : TB_CONTACT_STICK;
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

static void record_contact(const tbWorld* w, const tbSoftStepWork* s, const tbSoftStepContact* c,
                           tbContactRecord* out)
{
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
    tb_soft_step_impulses(s, c, k, out->impulse);
    out->state = state_of(c, out->impulse, out->velocity);
  }
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
  for (int i = begin; i < end; i++)
    record_contact(r->world, r->soft, &r->soft->contact[i], r->record + r->soft->contact[i].first);
}

static void record(tbContext* ctx, const tbSoftStepWork* s, const tbStepWork* work, tbWorld* w)
{
  Records job = {w, s, work->records.data};
  tb_parallel_for(ctx->threads, s->ncontact, BODIES, record_contacts, &job);
  for (int i = 0; work->assembly.problem && i < s->npoint; i++)
    job.record[i].residual = work->assembly.part[i];
}

static void advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                    tbStepReport* report)
{
  const tbSoftStepWork* s = work->own;
  for (size_t i = 0; i < w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    const tbUnconstrained* f = &work->unconstrained[i];
    b->force = b->torque = tb_zero3();
    if (b->motion == TB_BODY_KINEMATIC) tb_follow(w, b, f, o->dt);
    if (b->motion != TB_BODY_DYNAMIC) continue;
    if (is_pushed(s->push[s->index[i]])) move_body(s, (int)i, f, o->dt, b, report);
    else fly(f, o->dt, b);
  }
  record(ctx, s, work, w);
  if (w->joint.count > 0) tb_soft_step_joints_keep(s, o, w);
  tbArray old = w->contact;
  w->contact = work->records, work->records = old;
  tb_advance_clock(w, o->dt);
  tb_soft_step_remember(w, work->own);
}

const tbSchemeMethod tb_soft_step = {
    .prepare = prepare, .solve = solve, .advance = advance, .publish = publish, .parts = true};
