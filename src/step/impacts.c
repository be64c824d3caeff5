// SPDX-License-Identifier: Apache-2.0
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
// problem; rounds that do not end make the step one that has not converged. That speed is |g| h by default,
// what gravity adds in a step: bounces below it are shorter than a step.
//
// Cost    a small contact problem per round; one round for a body that bounces by itself. Contacts are looked
//         for once more afterwards, and again as long as that finds new ones.
#include "step/impacts.h"

#include "geometry/convex.h"
#include "step/impact_energy.h"

#include <string.h>

enum { ROUNDS = 32 };

typedef struct {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbUnconstrained* unconstrained; // of the step
  bool* flies; // whether a body falls freely; what rests on others or hangs in joints does not
  tbUnconstrained*
      now;      // where bodies are when they are struck, and their velocities as the impacts leave them
  double* when; // the moment a body is struck; dt: not
  bool* aged;   // whether forces had acted on it until then, as they do on bodies in flight
  tbTransform* centre; // now[].at, for the assembly
  double slowest;
  tbArray active; // tbContactConstraint
  tbArray index;  // int: which constraint it is
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

// The radius by which a shape is round about its core: the whole of a sphere, the caps of a capsule.
static double round_radius(const tbWorld* w, int shape)
{
  const tbShape* s = shape >= 0 ? &tb_shapes(w)[shape] : NULL;
  return s && s->type <= TB_SHAPE_CONVEX ? tb_core_radius(s) : 0;
}

// Where a body's point of the start of the step is now; what is round about the point's core touches along
// `out`, its normal outwards, however it has turned since.
static tbVec3 moved(const Impacts* p, int body, tbVec3 point, double radius, tbVec3 out)
{
  const tbBody* b = &tb_bodies(p->world)[body];
  tbVec3 local = tb_quat_unrotate(b->q, tb_sub3(tb_madd3(point, -radius, out), b->x));
  tbVec3 core = tb_add3(p->now[body].at.x, tb_quat_rotate(p->now[body].at.q, local));
  return tb_madd3(core, radius, out);
}

// The contact where its bodies are now: its impulse acts on both at one point, so that none of it turns them.
static tbContactConstraint touch_now(const Impacts* p, const tbContactConstraint* constraint)
{
  tbContactConstraint t = *constraint;
  bool now = t.swept > 0; // its points are those of the moment of impact already
  double ra = now ? 0 : round_radius(p->world, t.shape_a), rb = now ? 0 : round_radius(p->world, t.shape_b);
  tbVec3 n = t.point.normal;
  tbVec3 on_a = moved(p, t.body_a, t.point.a, ra, n), on_b = moved(p, t.body_b, t.point.b, rb, tb_neg3(n));
  bool moves_a = tb_bodies(p->world)[t.body_a].motion == TB_BODY_DYNAMIC;
  bool moves_b = tb_bodies(p->world)[t.body_b].motion == TB_BODY_DYNAMIC;
  t.position = !moves_a ? on_b : !moves_b ? on_a : tb_scale3(0.5, tb_add3(on_a, on_b)); // as find.c has it
  return t;
}

static tbVec3 velocity(const Impacts* p, const tbContactConstraint* t)
{
  const tbUnconstrained *a = &p->now[t->body_a], *b = &p->now[t->body_b];
  return tb_constraint_velocity(t, a->at.x, a->v, a->w, b->at.x, b->v, b->w);
}

// The velocity, at the start of the step, of the point at which a body will be struck. Bodies that a sweep
// found at a later moment are far apart now, so each has the lever arm of its own point at that moment.
static tbVec3 velocity_at_start(const Impacts* p, const tbContactConstraint* t, int body, tbVec3 point)
{
  const tbBody* b = &tb_bodies(p->world)[body];
  bool flies = b->motion == TB_BODY_DYNAMIC; // others have this step's velocity
  tbVec3 v = flies ? b->v : p->now[body].v, w = flies ? b->w : p->now[body].w;
  tbVec3 arm = tb_sub3(t->position, b->x);
  if (t->swept > 0) arm = tb_quat_rotate(tb_quat_exp(tb_scale3(t->swept, w)), tb_sub3(point, b->x));
  return tb_add3(v, tb_cross3(w, arm));
}

static double start_velocity(const Impacts* p, const tbContactConstraint* t)
{
  tbVec3 u =
      tb_sub3(velocity_at_start(p, t, t->body_b, t->point.b), velocity_at_start(p, t, t->body_a, t->point.a));
  return tb_dot3(tb_mat3_row(t->frame, 0), u);
}

static double free_acceleration(const Impacts* p, const tbContactConstraint* t)
{
  return tb_dot3(t->point.normal, tb_sub3(p->now[t->body_b].a, p->now[t->body_a].a));
}

static bool bounces(const tbContactConstraint* t, double u, double slowest)
{
  return t->contact_material.restitution > 0 && u < -slowest;
}

// Bodies without a joint that nothing touched in the last step.
static void find_flying(Impacts* p)
{
  const tbContactRecord* record = p->world->contact.data;
  for (size_t i = 0; i < p->world->body.count; i++) p->flies[i] = !p->unconstrained[i].held;
  for (size_t k = 0; k < p->world->contact.count; k++)
    if (record[k].impulse[0] > 0) p->flies[record[k].body_a] = p->flies[record[k].body_b] = false;
}

// Moves a body to the moment it is struck. Bodies that rest on others have felt no force until then: what
// holds them up is part of the step's problem.
static void date(Impacts* p, int i, double t, bool aged)
{
  const tbBody* b = &tb_bodies(p->world)[i];
  tbUnconstrained* f = &p->now[i];
  if (b->motion != TB_BODY_DYNAMIC || p->when[i] < p->options->dt) return;
  p->when[i] = t, p->aged[i] = aged;
  f->at = tb_transform(b->q, tb_madd3(b->x, t, b->v));
  f->v = b->v, f->w = b->w;
  if (aged) f->at.x = tb_madd3(f->at.x, 0.5 * t * t, f->a), f->v = tb_madd3(f->v, t, f->a);
  tb_turn_freely(b, t, &f->at.q, &f->w);
  p->centre[i] = f->at;
}

static void earlier(double* when, double t)
{
  if (t < *when) *when = t;
}

// The first impacts of the step: when each body is struck, and its velocity then. False: there are none.
static bool first_impacts(Impacts* p, const tbContactConstraint* constraint, int count, double* first)
{
  const tbWorld* w = p->world;
  double h = p->options->dt;
  double fastest = 0;
  bool any = false;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    p->now[i] = p->unconstrained[i];
    if (!p->flies[i]) p->now[i].a = tb_zero3();
    p->centre[i] = p->unconstrained[i].at;
    p->when[i] = first[i] = h;
    if (b->motion == TB_BODY_DYNAMIC) p->now[i].v = b->v, p->now[i].w = b->w;
  }
  for (int i = 0; i < count; i++) {
    const tbContactConstraint* t = &constraint[i];
    double u = start_velocity(p, t);
    if (!bounces(t, u, p->slowest)) continue;
    double when = closing_time(t->point.gap, u, free_acceleration(p, t), h);
    if (when >= h) continue;
    earlier(&first[t->body_a], when);
    earlier(&first[t->body_b], when);
    fastest = fmax(fastest, -u);
    any = true;
  }
  p->slowest = fmax(p->slowest, 1e-7 * fastest); // what rounding and the solver leave is no impact
  for (size_t i = 0; i < w->body.count; i++)
    if (first[i] < h) date(p, (int)i, first[i], p->flies[i]);
  return any;
}

// The gap at a moment of the step, had nothing been struck before.
static double gap_at(const Impacts* p, const tbContactConstraint* t, double when)
{
  double gap = t->point.gap + start_velocity(p, t) * when + 0.5 * free_acceleration(p, t) * when * when;
  return t->point.gap < 0 ? t->point.gap : fmax(gap, 0);
}

// Whether a contact takes part in a round; if so its bodies are struck.
static bool takes_part(Impacts* p, const tbContactConstraint* constraint, double* gap, double* rest)
{
  double h = p->options->dt, when = fmin(p->when[constraint->body_a], p->when[constraint->body_b]);
  if (when >= h) return false; // none of its bodies is struck
  tbContactConstraint t = touch_now(p, constraint);
  double u = velocity(p, &t).x;
  *gap = t.impact >= 0 ? 0 : gap_at(p, constraint, when);
  *rest = h - when;
  if (t.contact_material.restitution == 0) return true; // it may come to be pressed
  return bounces(&t, u, p->slowest) && *gap + u * *rest <= 1e-9 * fabs(u) * h;
}

// Collects the contacts of a round; false: nothing approaches any more.
static tbStatus gather(tbContext* ctx, Impacts* p, const tbContactConstraint* constraint, int count,
                       bool* any)
{
  p->active.count = p->index.count = 0;
  for (int i = 0; i < count; i++) {
    double gap, rest;
    if (!takes_part(p, &constraint[i], &gap, &rest)) continue;
    tbContactConstraint t = constraint[i];
    memset(t.compliance, 0, sizeof t.compliance);
    memset(t.guess, 0, sizeof t.guess);
    memset(t.bias, 0, sizeof t.bias);
    t.bias[0] = fmax(gap, 0) / rest;
    TB_TRY(tb_array_push(ctx, &p->active, &t, 1));
    TB_TRY(tb_array_push(ctx, &p->index, &i, 1));
  }
  tbContactConstraint* active = p->active.data;
  for (size_t k = 0; k < p->active.count; k++) {
    double when = fmin(p->when[active[k].body_a], p->when[active[k].body_b]);
    date(p, active[k].body_a, when, false);
    date(p, active[k].body_b, when, false);
  }
  *any = false;
  for (size_t k = 0; k < p->active.count; k++) {
    active[k] = touch_now(p, &active[k]);
    tbVec3 u = velocity(p, &active[k]);
    if (!bounces(&active[k], u.x, p->slowest)) continue;
    active[k].bias[0] = active[k].contact_material.restitution * u.x;
    tb_constraint_bounce_tangents(&active[k], u);
    *any = true;
  }
  return TB_OK;
}

// Takes the velocities and impulses of a round over.
static void take_over(Impacts* p, const tbAssembly* a, tbContactConstraint* constraint)
{
  for (size_t i = 0; i < p->world->body.count; i++) {
    if (a->place[i].dof >= 0) tb_assembly_velocity(a, p->now, (int)i, &p->now[i].v, &p->now[i].w);
  }
  for (int k = 0; k < a->nconstraint; k++) {
    tbContactConstraint* t = &constraint[((const int*)p->index.data)[k]];
    const double* lambda = a->lambda + a->problem->row_adr[k];
    for (int r = 0; r < t->rows; r++) t->struck[r] += tb_constraint_stretch(t, r) * lambda[r];
    if (lambda[0] > 0) t->impact = fmin(p->when[t->body_a], p->when[t->body_b]);
  }
}

static const double IMPACT_TOLERANCE = 1e-8; // where the options ask for none

static tbStatus strike(tbContext* ctx, Impacts* p, tbStepWork* work, tbContactConstraint* constraint,
                       tbStepReport* report)
{
  tbStepOptions o = *p->options;
  o.stabilization = TB_STABILIZE_NONE;
  o.warm_start = false;
  // Bounces keep energy to rounding where they can: relative to their own speeds, not to what creeps.
  if (!(o.solver.tolerance > 0)) o.solver.tolerance = IMPACT_TOLERANCE;
  if (!(o.solver.tolerance_q > 0))
    o.solver.tolerance_q = o.solver.tolerance; // heavy bodies bounce as straight
  tbAssembly a;
  TB_TRY(tb_solve_impacts(ctx, work->arena, p->world, &o, work->begun, p->now, p->centre, p->active.data,
                          (int)p->active.count, &a, report));
  take_over(p, &a, constraint);
  tb_assembly_free(&a);
  return TB_OK;
}

static int by_shapes(const tbContactConstraint* x, const tbContactConstraint* y)
{
  if (x->shape_a != y->shape_a) return x->shape_a < y->shape_a ? -1 : 1;
  return (x->shape_b > y->shape_b) - (x->shape_b < y->shape_b);
}

// Merges constraints of pairs that are not among the old ones; both are in order of shapes.
static tbStatus merge(tbContext* ctx, const tbArray* old, const tbArray* found, tbArray* out)
{
  const tbContactConstraint *x = old->data, *y = found->data;
  size_t i = 0, k = 0;
  while (i < old->count || k < found->count) {
    int order = i == old->count ? 1 : k == found->count ? -1 : by_shapes(&x[i], &y[k]);
    if (order == 0) {
      const tbContactConstraint* pair = &x[i];
      while (k < found->count && by_shapes(pair, &y[k]) == 0) k++;
    } else {
      TB_TRY(tb_array_push(ctx, out, order < 0 ? &x[i++] : &y[k++], 1));
    }
  }
  return TB_OK;
}

// What was struck may now meet bodies that were out of its reach: looks for contacts again.
static tbStatus look_again(tbContext* ctx, Impacts* p, tbStepWork* work, bool* more)
{
  tbArray found = TB_ARRAY(tbContactConstraint), all = TB_ARRAY(tbContactConstraint);
  size_t before = work->constraints.count;
  tbStatus status =
      tb_find_contacts(ctx, work->arena, work->cache, p->world, p->options, p->now, work->pose, &found);
  if (status == TB_OK) {
    tb_constraint_laws(p->world, p->options, found.data, (int)found.count);
    status = merge(ctx, &work->constraints, &found, &all);
  }
  *more = status == TB_OK && all.count > before;
  if (*more) {
    tbArray old = work->constraints;
    work->constraints = all, all = old;
  }
  tb_array_free(ctx, &found);
  tb_array_free(ctx, &all);
  return status;
}

// What the impacts leave becomes the free motion of the rest of the step, from where the bodies are by then.
// What a joint holds stays where it was for the step's problem, lest the joint seem torn.
static void release(const Impacts* p, tbStepWork* work)
{
  double h = p->options->dt;
  for (size_t i = 0; i < p->world->body.count; i++) {
    const tbBody* b = &tb_bodies(p->world)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    tbUnconstrained* f = &work->unconstrained[i];
    f->jumped = tb_sub3(p->now[i].v, b->v), f->spun = tb_sub3(p->now[i].w, b->w);
    if (p->when[i] >= h) { // nothing struck it, but joints pass on what struck others
      f->v = tb_add3(f->v, f->jumped), f->w = tb_add3(f->w, f->spun);
      continue;
    }
    f->v = tb_add3(tb_madd3(p->now[i].v, p->aged[i] ? h - p->when[i] : h, f->a), f->pushed);
    f->w = tb_add3(tb_add3(p->now[i].w, tb_spin_up(b, p->now[i].at.q, h)), f->turned);
    f->at = p->now[i].at;
    f->struck = p->when[i];
    if (!f->held) work->centre[i] = f->at;
  }
  tbContactConstraint* constraint = work->constraints.data;
  for (size_t k = 0; k < work->constraints.count; k++) {
    double when = fmin(p->when[constraint[k].body_a], p->when[constraint[k].body_b]);
    if (when >= h) continue;
    constraint[k].gap_left = gap_at(p, &constraint[k], when);
    constraint[k].left = h - when;
    constraint[k] = touch_now(p, &constraint[k]);
  }
}

tbStatus tb_resolve_impacts(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbStepReport* report)
{
  tbContactConstraint* constraint = work->constraints.data;
  int count = (int)work->constraints.count;
  bool elastic = false;
  for (int i = 0; i < count; i++) elastic |= constraint[i].contact_material.restitution > 0;
  if (!elastic) return TB_OK;
  double* first = TB_TAKE(work->arena, double, w->body.count);
  Impacts p = {.world = w,
               .options = o,
               .unconstrained = work->unconstrained,
               .now = TB_TAKE(work->arena, tbUnconstrained, w->body.count),
               .when = TB_TAKE(work->arena, double, w->body.count),
               .aged = TB_TAKE(work->arena, bool, w->body.count),
               .flies = TB_TAKE(work->arena, bool, w->body.count),
               .centre = TB_TAKE(work->arena, tbTransform, w->body.count),
               .slowest = tb_bounce_speed(w, o),
               .active = TB_ARRAY(tbContactConstraint),
               .index = TB_ARRAY(int)};
  if (!first || !p.now || !p.when || !p.aged || !p.flies || !p.centre) return TB_ERROR_MEMORY;
  find_flying(&p);
  if (!first_impacts(&p, constraint, count, first)) return TB_OK;
  tbStatus status = TB_OK;
  bool more = true;
  for (int round = 0; round < ROUNDS && more && status == TB_OK; round++) {
    bool any;
    status = gather(ctx, &p, work->constraints.data, (int)work->constraints.count, &any);
    if (status != TB_OK) break;
    if (any) status = strike(ctx, &p, work, work->constraints.data, report);
    else status = look_again(ctx, &p, work, &more);
  }
  if (status == TB_OK && more && report->outcome == TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
  work->impacts = report->residual;
  if (status == TB_OK) release(&p, work);
  tb_array_free(ctx, &p.active);
  tb_array_free(ctx, &p.index);
  return status;
}
