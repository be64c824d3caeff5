// SPDX-License-Identifier: Apache-2.0
// Projective dynamics with dry friction (Ly, Jouve, Boissieux and Bertails-Descoubes 2020).
//
//   P v = b(p) + Jᵀr,   law(u, r) with u = J v + bias,   x⁺ = x + h v        P = M + h² Σ w SᵀS, constant
//
// Contacts are found once, where surfaces are close at the start and where they would meet if nodes went on
// as they go. Then, in every iteration,
//
//   elements    project their shapes at x + h v: p, and from these b             (src/pd/project.c)
//   contacts    update r from velocities that masses alone predict, P = M + C    (pd_contacts.c)
//   all nodes   v = P⁻¹(b + Jᵀr), with the factor that every step shares         (src/pd/matrix.c)
//
// What is published and judged is the contact problem of the last iteration: P and b with p as they are. The
// impulses are whatever the iterations have come to; where they miss the tolerance the report says so. A
// world with rigid bodies that move freely has their contacts and joints in the same problem, and a solver
// finishes it from there.
//
// Cost: per iteration two passes over the factor of an n × n matrix, for three right-hand sides at once.
// Limits: first order; contacts that come up in the middle of the iterations are found in the next step,
// unless the step is to be certified: then whatever meets on the way becomes a contact and the iterations are
// run again, as in implicit.c, and bodies that would still pass through each other go a share of the step.
#include "step/count.h"
#include "step/impacts.h"
#include "step/pd_contacts.h"
#include "step/pd_obstacles.h"
#include "step/scheme.h"
#include "step/soft_contact.h"
#include "step/trim.h"

#include "collide/surfaces_balls.h"

#include "base/clock.h"
#include "base/stop.h"
#include "pd/body.h"
#include "problem/judge.h"

#include <string.h>

static const double AHEAD = 2;     // vertices are looked for so many times as far as they are expected
static const double STILL = 1e-3;  // of the tolerance: velocities that change by less have come to rest
static const double GROWTH = 2;    // steps that grow by more, squared, have momentum taken
static const double SHARP = 1e-10; // of Jᵀr, that may be left when velocities are judged

typedef struct {
  tbSurfaces surfaces;
  tbSurfaceCandidates candidates;
  tbBodyStep* step;      // (bodies)
  tbPdStep* projected;   // (bodies)
  tbArray soft_contacts; // tbSoftContact
  tbArray met;           // tbSurfaceContact
  tbArray smooth;        // tbContactConstraint: with planes and round shapes
  double clearance;
  // Of bodies that are projected, one after the other: where their nodes begin, and vectors over all.
  int* first; // (bodies)
  int nnode;
  tbVec3* v;    // velocities of the iteration
  tbVec3* rhs;  // b
  tbVec3* last; // b of the last iteration
  tbVec3* sum;  // b + Jᵀr
  // Over the problem's degrees of freedom.
  double* local; // velocities as masses predict them; of rigid bodies as they are        (ndof)
  double* lump;  // (ndof)
  double* push;  // Jᵀr                                                                    (ndof)
  double* free;  // v_free of the last iteration                                          (ndof)
  tbPdContacts contacts;
  // What the last iteration came to, for momentum.
  double momentum;
  tbVec3 *v_before, *last_before;
  double *r_before, *local_before;
  uint8_t** touched; // nodes that impulses act on, of bodies that the air holds; else null  (bodies)
} Pd;

typedef struct {
  double most;  // of a velocity                                                       m/s
  double along; // with masses, the step made times the one from the last iterate      J
  double size;  // with masses, the step made squared                                  J
} Change;

static bool is_projected(const Pd* r, int body) { return r->step[body].size > 0; }

// ---- what the step begins with ----

static tbStatus begin_bodies(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             Pd* r)
{
  size_t n = w->body.count;
  int more = (int)n - (int)work->cache->factor.count;
  if (more > 0) TB_TRY(tb_array_push(ctx, &work->cache->factor, NULL, (size_t)more));
  r->step = TB_TAKE(work->arena, tbBodyStep, n);
  r->projected = TB_TAKE(work->arena, tbPdStep, n);
  r->first = TB_TAKE(work->arena, int, n);
  r->touched = TB_TAKE(work->arena, uint8_t*, n);
  if (!r->step || !r->projected || !r->first || !r->touched) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    r->first[i] = r->nnode;
    if (!b->kind->project) continue;
    tbBodyFactor* kept = (tbBodyFactor*)work->cache->factor.data + i;
    TB_TRY(b->kind->project(ctx, work->arena, kept, w, b, o->dt, &r->step[i], &r->projected[i]));
    r->nnode += r->projected[i].body->nnode;
    if (!r->projected[i].body->fem->drag) continue;
    r->projected[i].touched = r->touched[i] =
        TB_TAKE(work->arena, uint8_t, (size_t)r->projected[i].body->nnode);
    if (!r->touched[i]) return TB_ERROR_MEMORY;
  }
  size_t nodes = (size_t)r->nnode;
  r->v = TB_TAKE(work->arena, tbVec3, nodes), r->rhs = TB_TAKE(work->arena, tbVec3, nodes);
  r->last = TB_TAKE(work->arena, tbVec3, nodes), r->sum = TB_TAKE(work->arena, tbVec3, nodes);
  r->v_before = TB_TAKE(work->arena, tbVec3, nodes), r->last_before = TB_TAKE(work->arena, tbVec3, nodes);
  if (!r->v || !r->rhs || !r->last || !r->sum || !r->v_before || !r->last_before) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++)
    if (is_projected(r, (int)i))
      memcpy(r->v + r->first[i], r->step[i].v_free, (size_t)r->step[i].size * sizeof(double));
  return TB_OK;
}

// Whether all that is to be looked at are sheets with a thickness: vertices and faces will do for them.
static bool are_thick(const tbSurfaces* s)
{
  for (int i = 0; i < s->scene.nsurface; i++)
    if (s->shape[i] >= 0 || !(s->surface[i].radius > 0)) return false;
  return true;
}

// Features of one sheet keep less from each other than its thickness where they are close at rest: those that
// will not come so close say nothing.
static void leave_out_neighbours(const tbSurfaces* s, double clearance, double reach, tbArray* near)
{
  tbSurfaceContact* c = near->data;
  size_t count = 0;
  for (size_t i = 0; i < near->count; i++) {
    const tbMovingSurface *a = &s->surface[c[i].of.surface_a], *b = &s->surface[c[i].of.surface_b];
    if (a == b) {
      int vertex = c[i].vertex_b[0];
      tbVec3 way = tb_sub3(b->end[vertex], b->start[vertex]);
      for (int k = 0; k < 3; k++)
        way = tb_madd3(way, -c[i].weight_a[k], tb_sub3(a->end[c[i].vertex_a[k]], a->start[c[i].vertex_a[k]]));
      double comes = fmax(-tb_dot3(c[i].normal, way), 0);
      if (c[i].gap - AHEAD * comes > tb_soft_contact_distance(s, &c[i], clearance).radius + reach) continue;
    }
    c[count++] = c[i];
  }
  near->count = count;
}

// Features of surfaces that are close, and those that meet on the way.
static tbStatus find_features(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                              double fall, Pd* r)
{
  bool changed;
  if (are_thick(&r->surfaces) && !o->certified) {
    double reach = 3 * r->clearance + fall;
    TB_TRY(tb_surface_balls_near(ctx, work->arena, &r->surfaces.scene, reach, AHEAD, &r->met));
    leave_out_neighbours(&r->surfaces, r->clearance, reach, &r->met);
    return tb_soft_contact_begin_near(ctx, w, o, &r->surfaces, work->pose, &r->met, r->clearance, INFINITY,
                                      &r->soft_contacts);
  }
  TB_TRY(
      tb_surface_find(ctx, &r->surfaces.scene, 6 * r->clearance + fall, TB_SURFACES_AHEAD, &r->candidates));
  TB_TRY(tb_soft_contact_begin(ctx, w, o, &r->surfaces, work->pose, &r->candidates, r->clearance,
                               &r->soft_contacts));
  TB_TRY(tb_surface_meet(ctx, &r->surfaces.scene, &r->candidates, r->clearance, &r->met));
  return tb_soft_contact_absorb(ctx, w, &r->surfaces, work->pose, false, &r->met, &r->soft_contacts,
                                &changed);
}

static tbStatus find(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work, Pd* r)
{
  double fall = tb_norm3(w->gravity) * o->dt * o->dt;
  TB_TRY(tb_surfaces_begin(ctx, work->arena, work->cache, w, work->pose, &r->surfaces));
  r->clearance = tb_surfaces_clearance(&r->surfaces, o->clearance);
  tb_surfaces_expect(&(tbStepView){.world = w,
                                   .h = o->dt,
                                   .unconstrained = work->unconstrained,
                                   .centre = work->centre,
                                   .step = r->step},
                     &r->surfaces);
  tbSurfaceScene all = r->surfaces.scene;
  if (tb_pd_obstacles_are_smooth(w,
                                 &r->surfaces)) { // leaves features of bodies' own surfaces to be looked at
    tbStepView view = {.world = w, .h = o->dt, .unconstrained = work->unconstrained, .centre = work->centre};
    TB_TRY(tb_pd_obstacles_find(ctx, work->arena, w, &view, work->pose, &r->surfaces, r->clearance, AHEAD,
                                fall, o->warm_start, &r->smooth));
    while (r->surfaces.scene.nsurface > 0 && r->surfaces.shape[r->surfaces.scene.nsurface - 1] >= 0)
      r->surfaces.scene.nsurface--;
    r->surfaces.scene.nplane = 0;
  }
  tbStatus status = find_features(ctx, w, o, work, fall, r);
  r->surfaces.scene = all;
  return status;
}

static tbStatus assemble(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work, Pd* r)
{
  TB_TRY(tb_soft_contact_constraints(ctx, w, o, &r->surfaces, r->clearance, &r->soft_contacts,
                                     &work->constraints));
  TB_TRY(tb_array_push(ctx, &work->constraints, r->smooth.data, r->smooth.count));
  return tb_assemble(ctx, work->arena, w, o, false, work->unconstrained, work->centre, r->step,
                     work->constraints.data, (int)work->constraints.count, &work->assembly);
}

// ---- the iterations ----

// Vectors over the problem, and velocities of rigid bodies with the impulses that there are.
static tbStatus begin_contacts(const tbWorld* w, const tbStepOptions* o, tbStepWork* work, Pd* r)
{
  tbAssembly* a = &work->assembly;
  size_t n = (size_t)a->problem->ndof;
  r->local = TB_TAKE(work->arena, double, n), r->lump = TB_TAKE(work->arena, double, n);
  r->push = TB_TAKE(work->arena, double, n), r->free = TB_TAKE(work->arena, double, n);
  r->r_before = TB_TAKE(work->arena, double, (size_t)a->problem->nrow);
  r->local_before = TB_TAKE(work->arena, double, n);
  if (!r->local || !r->lump || !r->push || !r->free || !r->r_before || !r->local_before)
    return TB_ERROR_MEMORY;
  r->momentum = 1;
  memcpy(r->free, a->problem->v_free, n * sizeof *r->free);
  memcpy(r->local, a->problem->v_free, n * sizeof *r->local);
  for (int i = 0; i < (int)w->body.count; i++) {
    const tbPdBody* b = r->projected[i].body;
    int dof = a->place[i].dof;
    for (int k = 0; b && dof >= 0 && k < 3 * b->nnode; k++)
      r->lump[dof + k] = b->pinned[k / 3] ? TB_FEM_PIN * b->lump[k / 3] : b->lump[k / 3];
  }
  TB_TRY(tb_pd_contacts_begin(work->arena, a->problem, &o->solver, r->lump, &r->contacts));
  tb_pd_contacts_move(&r->contacts, a->lambda, r->local);
  return TB_OK;
}

static void gather_push(tbStepWork* work, Pd* r)
{
  memset(r->push, 0, (size_t)work->assembly.problem->ndof * sizeof *r->push);
  tb_pd_contacts_push(work->assembly.problem, work->assembly.lambda, r->push);
}

// P v = last + Jᵀr for the velocities that the iterations start from.
static void begin_iterations(tbContext* ctx, const tbWorld* w, tbStepWork* work, Pd* r)
{
  gather_push(work, r);
  for (int i = 0; i < (int)w->body.count; i++) {
    if (!is_projected(r, i)) continue;
    tbVec3* last = r->last + r->first[i];
    int dof = work->assembly.place[i].dof;
    tb_pd_multiply(ctx->threads, &r->projected[i], r->v + r->first[i], last);
    for (int k = 0; dof >= 0 && k < r->projected[i].body->nnode; k++)
      last[k] = tb_sub3(last[k], tb_load3(r->push + dof + 3 * k));
  }
}

// D⁻¹(b − C v + Jᵀr) = v + D⁻¹(b − b_last), as P v = b_last + Jᵀr.
static void predict(const tbPdBody* b, const tbVec3* v, const tbVec3* rhs, const tbVec3* last, double* local)
{
  for (int k = 0; k < b->nnode; k++) {
    tbVec3 to = v[k];
    if (!b->pinned[k]) to = tb_madd3(to, 1 / b->lump[k], tb_sub3(rhs[k], last[k]));
    tb_store3(local + 3 * k, to);
  }
}

static void mark_touched(const tbPdBody* b, const double* push, uint8_t* touched)
{
  for (int k = 0; k < b->nnode; k++) touched[k] = tb_maxabs3(tb_load3(push + 3 * k)) > 0;
}

// v = P⁻¹(b + Jᵀr), from a start v that the last iteration's velocities were extrapolated to.
static Change solve_body(const tbPdStep* s, const tbVec3* rhs, const double* push, const tbVec3* before,
                         tbVec3* sum, tbVec3* v)
{
  Change c = {0};
  for (int k = 0; k < s->body->nnode; k++) sum[k] = push ? tb_add3(rhs[k], tb_load3(push + 3 * k)) : rhs[k];
  tb_pd_solve(s, sum, sum);
  for (int k = 0; k < s->body->nnode; k++) {
    tbVec3 step = tb_sub3(sum[k], v[k]);
    double size = tb_maxabs3(step);
    c.most = size <= c.most ? c.most : size; // a NaN stays
    c.size += s->body->lump[k] * tb_dot3(step, step);
    c.along += s->body->lump[k] * tb_dot3(step, tb_sub3(sum[k], before[k]));
    v[k] = sum[k];
  }
  return c;
}

// ---- acceleration ----

// Nesterov's momentum on all that an iteration changes, v, b and r: P v = b + Jᵀr holds for what is
// extrapolated, too. Given up, to be built anew, where the step just made points against the one before
// (O'Donoghue and Candès 2015): iterates that would overshoot begin again from the last.
static void swap_in(size_t n, double beta, double* now, double* before)
{
  for (size_t i = 0; i < n; i++) {
    double x = now[i];
    now[i] = x + beta * (x - before[i]);
    before[i] = x;
  }
}

static void extrapolate(const tbProblem* p, double* lambda, Pd* r)
{
  double next = 0.5 * (1 + sqrt(1 + 4 * r->momentum * r->momentum)), beta = (r->momentum - 1) / next;
  size_t n = 3 * (size_t)r->nnode;
  r->momentum = next;
  swap_in(n, beta, &r->v->x, &r->v_before->x);
  swap_in(n, beta, &r->last->x, &r->last_before->x);
  swap_in((size_t)p->nrow, beta, lambda, r->r_before);
  swap_in((size_t)p->ndof, beta, r->local, r->local_before);
}

// Runs from now until the call: pd_s[part] += time since *clock; *clock = now.
static void count_part(tbStepReport* report, tbPdPart part, double* clock)
{
  double now = tb_seconds();
  report->pd_s[part] += now - *clock;
  *clock = now;
}

static Change iterate(tbContext* ctx, const tbWorld* w, tbStepWork* work, Pd* r, tbStepReport* report)
{
  double clock = tb_seconds();
  tbAssembly* a = &work->assembly;
  int n = (int)w->body.count;
  for (int i = 0; i < n; i++) {
    if (!is_projected(r, i)) continue;
    int at = r->first[i], dof = a->place[i].dof;
    tb_pd_project(ctx->threads, &r->projected[i], r->v + at, r->rhs + at);
    if (dof >= 0) predict(r->projected[i].body, r->v + at, r->rhs + at, r->last + at, r->local + dof);
  }
  count_part(report, TB_PD_PROJECT, &clock);
  tb_pd_contacts_sweep(&r->contacts, r->local, a->lambda);
  gather_push(work, r);
  count_part(report, TB_PD_CONTACTS, &clock);
  memcpy(r->last, r->rhs, (size_t)r->nnode * sizeof *r->last);
  Change all = {0};
  for (int i = 0; i < n; i++) {
    if (!is_projected(r, i)) continue;
    int at = r->first[i], dof = a->place[i].dof;
    const double* push = dof >= 0 ? r->push + dof : NULL;
    Change own = solve_body(&r->projected[i], r->rhs + at, push, r->v_before + at, r->sum + at, r->v + at);
    all.most = own.most <= all.most ? all.most : own.most;
    all.along += own.along, all.size += own.size;
    if (r->touched[i] && push) mark_touched(r->projected[i].body, push, r->touched[i]);
  }
  count_part(report, TB_PD_GLOBAL, &clock);
  return all;
}

// Without impulses the last b would give v_free; what they add is v − v_free.
static tbStatus end_iterations(const tbWorld* w, tbStepWork* work, Pd* r)
{
  tbAssembly* a = &work->assembly;
  if (!a->w) a->w = TB_TAKE(work->arena, double, (size_t)a->problem->ndof);
  if (!a->w) return TB_ERROR_MEMORY;
  for (int k = 0; k < a->problem->ndof; k++) a->w[k] = r->local[k] - r->free[k];
  for (int i = 0; i < (int)w->body.count; i++) {
    if (!is_projected(r, i)) continue;
    tbVec3* v_free = (tbVec3*)r->step[i].v_free;
    int dof = a->place[i].dof, size = r->step[i].size;
    r->step[i].v = &r->v[r->first[i]].x;
    if (dof >= 0) tb_pd_solve(&r->projected[i], r->last + r->first[i], v_free);
    else memcpy(v_free, r->v + r->first[i], (size_t)size * sizeof(double));
    for (int k = 0; dof >= 0 && k < size; k++) {
      r->free[dof + k] = r->step[i].v_free[k];
      a->w[dof + k] = r->step[i].v[k] - r->step[i].v_free[k];
    }
  }
  a->problem->v_free = r->free;
  return TB_OK;
}

static tbStatus run_iterations(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                               Pd* r, tbStepReport* report)
{
  double still =
      STILL * (o->solver.velocity_tolerance > 0 ? o->solver.velocity_tolerance : o->solver.tolerance);
  double clock = tb_seconds();
  double before = INFINITY;
  TB_TRY(begin_contacts(w, o, work, r));
  count_part(report, TB_PD_LAYERS, &clock);
  begin_iterations(ctx, w, work, r);
  for (int k = 0; k < o->iterations && r->nnode > 0; k++) {
    TB_TRY(tb_check_interrupt(ctx));
    if (o->accelerated) extrapolate(work->assembly.problem, work->assembly.lambda, r);
    Change change = iterate(ctx, w, work, r, report);
    report->iterations++;
    if (change.most <= still) break;
    if (change.along < 0 || change.size > GROWTH * before) r->momentum = 1;
    before = change.size;
  }
  return end_iterations(w, work, r);
}

// ---- phases ----

// Contacts between rigid bodies, and their impacts.
static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  Pd* r = work->own = TB_TAKE(work->arena, Pd, 1);
  if (!r) return TB_ERROR_MEMORY;
  *r = (Pd){.soft_contacts = TB_ARRAY(tbSoftContact),
            .met = TB_ARRAY(tbSurfaceContact),
            .smooth = TB_ARRAY(tbContactConstraint)};
  tb_surface_candidates_init(&r->candidates);
  r->candidates.scratch = work->arena;
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tb_hold_attached(w, work->unconstrained);
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tb_constraint_laws(w, o, work->constraints.data, (int)work->constraints.count);
  TB_TRY(tb_resolve_impacts(ctx, w, o, work, report));
  tb_constraint_biases(w, o, work->constraints.data, (int)work->constraints.count);
  return TB_OK;
}

static bool has_frames(const tbProblem* p)
{
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind != TB_METRIC_SPARSE) return true;
  return false;
}

// The judge of what the iterations have come to.
static tbStatus judge(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbStepReport* report)
{
  double clock = tb_seconds();
  tbAssembly* a = &work->assembly;
  report->used = "pd";
  if (a->problem->ncontact > 0) {
    TB_TRY(tb_judge_create(ctx, a->problem, &work->judge));
    tb_judge_accuracy(work->judge, SHARP);
    tb_judge_start_from(work->judge, a->w);
  }
  TB_TRY(tb_assembly_judge(ctx, o, work->judge, a));
  if (!(tb_residual_excess(&a->residual, &o->solver) <= 1)) report->outcome = TB_MAX_ITERATIONS;
  report->residual = tb_worse_residual(&report->residual, &a->residual);
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return tb_array_push(ctx, &work->records, NULL, (size_t)a->nconstraint);
}

// Iterates and judges with the contacts known so far, of which the first `rigid` are between rigid bodies.
static tbStatus solve_once(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid,
                           tbStepWork* work, Pd* r, tbStepReport* report)
{
  double clock = tb_seconds();
  tb_step_forget(ctx, work);
  work->constraints.count = (size_t)rigid, work->records.count = 0;
  TB_TRY(assemble(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(run_iterations(ctx, w, o, work, r, report));
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  if (!has_frames(work->assembly.problem)) return judge(ctx, o, work, report);
  return tb_step_solve(ctx, o, NULL, true, work, report);
}

// Again with what meets on the way, until nothing does; should it not come to that, bodies go a share of the
// step.
static tbStatus certify(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid, tbStepWork* work,
                        Pd* r, const tbStepReport* before, tbStepReport* report)
{
  for (int round = 1;; round++) {
    bool changed = false;
    double clock = tb_seconds();
    report->rounds = round;
    tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
    TB_TRY(tb_surfaces_look(ctx, &r->surfaces, r->clearance, &r->candidates, &r->met));
    if (r->met.count > 0 && round < o->rounds) {
      tb_soft_contact_learn(&work->assembly, rigid, &r->soft_contacts);
      TB_TRY(tb_soft_contact_absorb(ctx, w, &r->surfaces, work->pose, false, &r->met, &r->soft_contacts,
                                    &changed));
    }
    tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
    if (!changed) break;
    report->outcome = before->outcome, report->residual = before->residual;
    TB_TRY(solve_once(ctx, w, o, rigid, work, r, report));
  }
  if (r->met.count == 0) return TB_OK;
  return tb_surfaces_trim(ctx, w, o, work, r->clearance, &r->surfaces, &r->candidates, &r->met, report);
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  Pd* r = work->own;
  double clock = tb_seconds();
  int rigid = (int)work->constraints.count;
  TB_TRY(begin_bodies(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  if (r->nnode > 0) TB_TRY(find(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  const tbStepReport before = *report;
  TB_TRY(solve_once(ctx, w, o, rigid, work, r, report));
  return o->certified && r->nnode > 0 ? certify(ctx, w, o, rigid, work, r, &before, report) : TB_OK;
}

static tbStatus solve_step(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           tbStepReport* report)
{
  TB_TRY(solve(ctx, w, o, work, report));
  Pd* r = work->own;
  double clock = tb_seconds();
  tbIntersections met;
  tb_step_note(work, report);
  if (!o->certified) tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
  TB_TRY(tb_surfaces_count(ctx, &r->surfaces, &met));
  report->intersections = met.crossing, report->touching = met.touching;
  if (met.crossing + met.overlapping > 0 && report->outcome == TB_CONVERGED) report->outcome = TB_FAILED;
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

static void advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                    tbStepReport* report)
{
  tb_integrate(ctx, o, work->unconstrained, &work->assembly, w, report);
  tb_step_keep(work, w);
}

// The problem of the last iteration, with memory of its own.
static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  TB_TRY(solve(ctx, w, o, work, report));
  Pd* r = work->own;
  tb_step_forget(ctx, work);
  for (size_t i = 0; i < w->body.count; i++) r->step[i].lent = false;
  return tb_assemble(ctx, work->arena, w, o, false, work->unconstrained, work->centre, r->step,
                     work->constraints.data, (int)work->constraints.count, &work->assembly);
}

static void end(tbContext* ctx, tbStepWork* work)
{
  Pd* r = work->own;
  if (!r) return;
  tb_surface_candidates_free(ctx, &r->candidates);
  tb_array_free(ctx, &r->soft_contacts);
  tb_array_free(ctx, &r->met);
  tb_array_free(ctx, &r->smooth);
}

const tbSchemeMethod tb_pd = {
    .prepare = prepare, .solve = solve_step, .advance = advance, .publish = publish, .end = end};
