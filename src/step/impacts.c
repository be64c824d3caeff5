// Impacts with Newton's restitution, resolved as they pass from body to body.
//
// The moment of impact t of a contact within the step solves φ + u t + a t²/2 = 0 with the approach velocity
// u at its start and the free acceleration a along the normal, so that bodies meet at the speed they really
// have. A body is struck at the earliest of its contacts' moments. Then, until nothing approaches any more:
//
//   every contact that closes within the step and approaches asks for u⁺ ≥ −e u; one of e = 0 for u⁺ ≥ −φ/(h
//   − t); the contact problem of these, and of the joints, is solved for the velocities after.
//
// Contacts that merely touch are not part of a round, so an impact travels through a row of balls one by one,
// as in Newton's cradle, while the four corners of a box that lands flat rebound together (the generalised
// reflections of Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012, with Coulomb friction and any e). What is
// left after the last round, and approaches slower than restitution_speed, is stopped by the step's own
// problem. That speed is |g| h by default, what gravity adds in a step: bounces below it are shorter than a
// step.
//
// Cost    a small contact problem per round; one round for a body that bounces by itself.
#include "step/impacts.h"

#include <string.h>

enum { ROUNDS = 32 };

typedef struct {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbFree* free; // of the step
  tbFree* now;        // velocities as the impacts leave them; `a` and `q` of the start
  double* when;       // moment at which a body is struck; dt: not
  bool* aged;         // whether `now` has the velocity of that moment, not of the start
  double slowest;
  tbArray active; // tbTouch
  tbArray index;  // int: which touch it is
} Impacts;

// When φ + u t + a t²/2 first reaches zero, for u < 0; h when not within the step.
static double closing_time(double gap, double u, double a, double h)
{
  if (gap <= 0) return 0;
  double d = u * u - 2 * a * gap;
  if (d < 0) return h;
  double t = 2 * gap / (-u + sqrt(d)); // the smaller root without cancellation
  return t < h ? t : h;
}

static double normal_velocity(const Impacts* p, const tbTouch* t)
{
  const tbFree *a = &p->now[t->body_a], *b = &p->now[t->body_b];
  return tb_touch_velocity(p->world, t, a->v, a->w, b->v, b->w).x;
}

static bool bounces(const tbTouch* t, double u, double slowest)
{
  return t->surface.restitution > 0 && u < -slowest;
}

// The first impacts of the step: when each body is struck, and its velocity then. False: there are none.
static bool first_impacts(Impacts* p, const tbTouch* touch, int count)
{
  const tbWorld* w = p->world;
  double h = p->options->dt;
  bool any = false;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    p->now[i] = p->free[i];
    p->now[i].q = b->q;
    p->when[i] = h;
    if (b->kind == TB_BODY_DYNAMIC) p->now[i].v = b->v, p->now[i].w = b->w;
  }
  for (int i = 0; i < count; i++) {
    const tbTouch* t = &touch[i];
    double u = normal_velocity(p, t);
    if (!bounces(t, u, p->slowest)) continue;
    double a = tb_dot3(t->point.normal, tb_sub3(p->free[t->body_b].a, p->free[t->body_a].a));
    double when = closing_time(t->point.gap, u, a, h);
    if (when >= h) continue;
    p->when[t->body_a] = fmin(p->when[t->body_a], when);
    p->when[t->body_b] = fmin(p->when[t->body_b], when);
    any = true;
  }
  for (size_t i = 0; i < w->body.count; i++)
    if (tb_bodies(w)[i].kind == TB_BODY_DYNAMIC && p->when[i] < h)
      p->now[i].v = tb_madd3(p->now[i].v, p->when[i], p->free[i].a), p->aged[i] = true;
  return any;
}

// The gap at a moment of the step, had nothing been struck before.
static double gap_at(const Impacts* p, const tbTouch* t, double when)
{
  const tbBody *A = &tb_bodies(p->world)[t->body_a], *B = &tb_bodies(p->world)[t->body_b];
  double u = tb_touch_velocity(p->world, t, A->v, A->w, B->v, B->w).x;
  double a = tb_dot3(t->point.normal, tb_sub3(p->free[t->body_b].a, p->free[t->body_a].a));
  double gap = t->point.gap + u * when + 0.5 * a * when * when;
  return t->point.gap < 0 ? t->point.gap : fmax(gap, 0);
}

// Collects the contacts of a round; false: nothing approaches any more.
static tbStatus gather(tbContext* ctx, Impacts* p, const tbTouch* touch, int count, bool* any)
{
  double h = p->options->dt;
  *any = false;
  p->active.count = p->index.count = 0;
  for (int i = 0; i < count; i++) {
    tbTouch t = touch[i];
    double when = fmin(p->when[t.body_a], p->when[t.body_b]), u = normal_velocity(p, &t);
    if (when >= h) continue; // none of its bodies is struck
    double gap = t.impact >= 0 ? 0 : gap_at(p, &t, when);
    if (gap + u * (h - when) > 1e-9 * fabs(u) * h) continue; // stays apart
    bool bounce = bounces(&t, u, p->slowest);
    if (!bounce && t.surface.restitution > 0) continue;
    memset(t.bias, 0, sizeof t.bias);
    memset(t.compliance, 0, sizeof t.compliance);
    t.bias[0] = bounce ? t.surface.restitution * u : fmax(gap, 0) / (h - when);
    memset(t.guess, 0, sizeof t.guess);
    *any |= bounce;
    TB_TRY(tb_array_push(ctx, &p->active, &t, 1));
    TB_TRY(tb_array_push(ctx, &p->index, &i, 1));
  }
  return TB_OK;
}

// Solves a round and takes its velocities over.
static tbStatus strike(tbContext* ctx, Impacts* p, tbStepWork* work, tbTouch* touch, tbStepReport* report)
{
  tbStepOptions o = *p->options;
  o.stabilization = TB_STABILIZE_NONE;
  o.warm_start = false;
  tbAssembly a;
  tbSolveResult result;
  int count = (int)p->active.count;
  TB_TRY(tb_assemble(ctx, work->arena, p->world, &o, true, p->now, work->centre, p->active.data, count, &a));
  tbStatus status = tb_solve(ctx, a.problem, &o.solver, a.lambda, &result);
  if (status == TB_OK) status = tb_assembly_judge(ctx, &o, &a);
  if (status == TB_OK) {
    for (size_t i = 0; i < p->world->body.count; i++) {
      if (a.dof[i] < 0) continue;
      p->now[i].v = tb_load3(a.v + a.dof[i]);
      p->now[i].w = tb_load3(a.v + a.dof[i] + 3);
    }
    for (int k = 0; k < count; k++) {
      tbTouch* t = &touch[((const int*)p->index.data)[k]];
      const double* lambda = a.lambda + a.problem->row_adr[k];
      if (!(lambda[0] > 0)) continue;
      double when = fmin(p->when[t->body_a], p->when[t->body_b]);
      p->when[t->body_a] = fmin(p->when[t->body_a], when);
      p->when[t->body_b] = fmin(p->when[t->body_b], when);
      t->impact = when;
      for (int r = 0; r < t->rows; r++) t->struck[r] += lambda[r];
    }
    if (result.outcome != TB_CONVERGED) report->outcome = result.outcome;
    if (a.residual.fclib > report->residual.fclib) report->residual = a.residual;
    report->iterations += result.iterations;
  }
  tb_assembly_free(&a);
  return status;
}

// What the impacts leave becomes the free motion of the rest of the step.
static void release(Impacts* p, tbFree* free)
{
  double h = p->options->dt;
  for (size_t i = 0; i < p->world->body.count; i++) {
    if (tb_bodies(p->world)[i].kind != TB_BODY_DYNAMIC || p->when[i] >= h) continue;
    free[i].v = tb_madd3(p->now[i].v, p->aged[i] ? h - p->when[i] : h, free[i].a);
    free[i].w = p->now[i].w;
    free[i].struck = p->when[i];
  }
}

tbStatus tb_resolve_impacts(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbStepReport* report)
{
  tbTouch* touch = work->touches.data;
  int count = (int)work->touches.count;
  bool elastic = false;
  for (int i = 0; i < count; i++) elastic |= touch[i].surface.restitution > 0;
  if (!elastic) return TB_OK;
  Impacts p = {.world = w,
               .options = o,
               .free = work->free,
               .now = TB_TAKE(work->arena, tbFree, w->body.count),
               .when = TB_TAKE(work->arena, double, w->body.count),
               .aged = TB_TAKE(work->arena, bool, w->body.count),
               .slowest = o->restitution_speed >= 0 ? o->restitution_speed : tb_norm3(w->gravity) * o->dt,
               .active = TB_ARRAY(tbTouch),
               .index = TB_ARRAY(int)};
  if (!p.now || !p.when || !p.aged) return TB_ERROR_MEMORY;
  if (!first_impacts(&p, touch, count)) return TB_OK;
  tbStatus status = TB_OK;
  bool any = true;
  for (int round = 0; round < ROUNDS && any && status == TB_OK; round++) {
    status = gather(ctx, &p, touch, count, &any);
    if (status == TB_OK && any) status = strike(ctx, &p, work, touch, report);
  }
  if (status == TB_OK) release(&p, work->free);
  tb_array_free(ctx, &p.active);
  tb_array_free(ctx, &p.index);
  return status;
}
