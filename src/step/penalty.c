// SPDX-License-Identifier: Apache-2.0
// Penalty contact: springs and dampers (Cundall and Strack 1979; course, section on penalty methods).
//
// Forces by depth and velocity are in penalty_force.c: springs and dampers along the normal, friction by
// anchors that follow when it gives way, or as damping. Deformable bodies have them in a layer around their
// surfaces (penalty_soft.c).
//
// Explicit in the positions, or implicit: then a step is the minimum of masses, elasticity and the potential
// of the springs where it ends (src/descent/relaxed.h), by Newton's method, with friction relaxed; springs
// may be as stiff as one likes. The impulses h f are put to the same judge as every solver's: its number says
// how far springs are from the contact law. Joints stay rigid: their rows are solved with the contact forces
// known; of implicit steps they are springs, too.
#include "step/penalty.h"

#include "step/count.h"
#include "step/impacts.h"

#include "base/clock.h"
#include "base/codec.h"
#include "problem/metric.h"

#include <string.h>

// The stretch of a contact's anchor, by shapes and feature, in the order of the contacts: of shapes first,
// then of deformable surfaces, which have −1 less the body's place for a shape.
typedef struct Anchor {
  int shape_a, shape_b;
  uint64_t feature;
  tbVec3 stretch; // world axes   m
} Anchor;

typedef struct Anchors {
  int count;
  Anchor* at;
} Anchors;

static bool is_soft(const Anchor* a) { return a->shape_a < 0 || a->shape_b < 0; }

static int count_rigid(const Anchors* a)
{
  int n = 0;
  while (a && n < a->count && !is_soft(&a->at[n])) n++;
  return n;
}

// The anchor's stretch so far: that of the last step at the same features. count: of anchors between shapes.
static tbVec3 stretch_before(const Anchors* before, int count, const tbContactConstraint* t)
{
  int lo = 0, hi = count;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    const Anchor* a = &before->at[mid];
    if (a->shape_a < t->shape_a || (a->shape_a == t->shape_a && a->shape_b < t->shape_b)) lo = mid + 1;
    else hi = mid;
  }
  for (; lo < count && before->at[lo].shape_a == t->shape_a && before->at[lo].shape_b == t->shape_b; lo++)
    if (before->at[lo].feature == t->point.feature) return before->at[lo].stretch;
  return tb_zero3();
}

static Anchor anchor_of(const tbContactConstraint* t)
{
  return (Anchor){t->shape_a < 0 ? -1 - t->body_a : t->shape_a, t->shape_b < 0 ? -1 - t->body_b : t->shape_b,
                  t->point.feature, tb_zero3()};
}

// The same of deformable surfaces: features hardly change their order, so looking goes on where the last was.
static tbVec3 soft_stretch_before(const Anchors* before, int first, const Anchor* of, int* at)
{
  int count = before ? before->count - first : 0;
  for (int k = 0; k < count; k++) {
    int i = first + (*at + k) % count;
    const Anchor* a = &before->at[i];
    if (a->shape_a != of->shape_a || a->shape_b != of->shape_b || a->feature != of->feature) continue;
    *at = i - first + 1;
    return a->stretch;
  }
  return tb_zero3();
}

static int points_of_pair(const tbContactConstraint* t, int count, int i)
{
  int n = 0;
  for (int k = i; k >= 0 && t[k].shape_a == t[i].shape_a && t[k].shape_b == t[i].shape_b; k--)
    n += t[k].point.gap < 0;
  for (int k = i + 1; k < count && t[k].shape_a == t[i].shape_a && t[k].shape_b == t[i].shape_b; k++)
    n += t[k].point.gap < 0;
  return n > 1 ? n : 1;
}

// v_free + A⁻¹Jᵀλ of the contacts, of the bodies that joints hold.
static tbStatus push_bodies(const tbWorld* w, const tbAssembly* all, tbArena* arena, tbAssembly* joints)
{
  const tbProblem* p = all->problem;
  size_t room = 0;
  for (int b = 0; b < p->nblock; b++)
    room = room > tb_metric_workspace(&p->block[b]) ? room : tb_metric_workspace(&p->block[b]);
  double* x = TB_TAKE(arena, double, (size_t)p->ndof);
  double* space = TB_TAKE(arena, double, room);
  double* v = TB_TAKE(arena, double, (size_t)joints->problem->ndof);
  if (!x || !space || !v) return TB_ERROR_MEMORY;
  for (int k = 0; k < all->nconstraint; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
        for (int j = 0; j < p->jac_width[c]; j++)
          x[p->jac_dof[c] + j] +=
              p->jac[p->jac_val_adr[c] + (size_t)((i - p->row_adr[k]) * p->jac_width[c] + j)] *
              all->lambda[i];
  for (int b = 0; b < p->nblock; b++) tb_metric_solve(&p->block[b], NULL, x + p->block[b].dof, space);
  for (size_t i = 0; i < w->body.count; i++) {
    int to = joints->place[i].dof, from = all->place[i].dof;
    if (to < 0) continue;
    const tbMetricBlock* m = &joints->problem->block[joints->place[i].block];
    for (int k = 0; k < m->size; k++) v[to + k] = p->v_free[from + k] + x[from + k];
  }
  joints->problem->v_free = v;
  return TB_OK;
}

// Impulses of the joints, and of what is attached, the contacts' being known.
static tbStatus solve_joints(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             tbStepReport* report)
{
  const tbRelaxedSoft* soft = work->own;
  tbAssembly* all = &work->assembly;
  if (all->problem->ncontact == all->nconstraint) return TB_OK;
  tbAssembly joints;
  TB_TRY(tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre,
                     soft ? soft->step : NULL, NULL, 0, &joints));
  tbSolveResult result;
  tbSolveOptions solver = o->solver;
  tb_step_budget(o, work->begun, &solver);
  tbStatus status = push_bodies(w, all, work->arena, &joints);
  if (status == TB_OK) status = tb_solve(ctx, joints.problem, &solver, joints.lambda, &result);
  if (status == TB_OK)
    memcpy(all->lambda + all->problem->row_adr[all->nconstraint], joints.lambda,
           (size_t)joints.problem->nrow * sizeof(double));
  if (status == TB_OK && result.outcome != TB_CONVERGED) report->outcome = result.outcome;
  if (status == TB_OK) report->iterations += result.iterations;
  tb_assembly_free(&joints);
  return status;
}

static void free_anchors(tbContext* ctx, void* state)
{
  Anchors* a = state;
  if (a) tb_free(ctx, a->at);
  tb_free(ctx, a);
}

static Anchors* make_anchors(tbContext* ctx, int count)
{
  Anchors* a = TB_NEW(ctx, Anchors, 1);
  if (!a) return NULL;
  a->count = count, a->at = TB_NEW(ctx, Anchor, (size_t)count);
  if (a->at) return a;
  free_anchors(ctx, a);
  return NULL;
}

static uint64_t hash_anchors(uint64_t hash, const void* state)
{
  const Anchors* a = state;
  for (int i = 0; i < a->count; i++) hash = tb_hash_numbers(hash, &a->at[i].stretch.x, 3);
  return hash;
}

static void code_anchors(tbCodec* c, const tbWorld* w, void** state)
{
  int count = *state ? ((const Anchors*)*state)->count : 0, shapes = (int)w->shape.count;
  tb_code_count(c, &count, 48);
  if (tb_codec_reads(c) && tb_codec_good(c) && !(*state = make_anchors(c->ctx, count)))
    c->status = TB_ERROR_MEMORY;
  Anchors* a = *state;
  for (int i = 0; i < count && tb_codec_good(c); i++) {
    tb_code_int(c, &a->at[i].shape_a, -(int)w->body.count, shapes - 1);
    tb_code_int(c, &a->at[i].shape_b, -(int)w->body.count, shapes - 1);
    tb_code_u64(c, &a->at[i].feature);
    tb_code_vec3(c, &a->at[i].stretch);
  }
}

static int rigid_count(const tbStepWork* work)
{
  const tbRelaxedSoft* soft = work->own;
  return work->assembly.nconstraint - (soft ? (int)soft->soft_contacts.count : 0);
}

static tbStatus push_soft(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int first,
                          tbStepWork* work, Anchors* next)
{
  const Anchors* before = work->state;
  int count = work->assembly.nconstraint - first, rigid = count_rigid(before), at = 0;
  const tbContactConstraint* t = (const tbContactConstraint*)work->constraints.data + first;
  tbVec3* stretch = TB_TAKE(work->arena, tbVec3, (size_t)count);
  if (!stretch) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    next->at[first + i] = anchor_of(&t[i]);
    stretch[i] = soft_stretch_before(before, rigid, &next->at[first + i], &at);
  }
  TB_TRY(tb_penalty_soft_push(ctx, w, o, first, stretch, work));
  for (int i = 0; i < count; i++) next->at[first + i].stretch = stretch[i];
  return TB_OK;
}

// Springs push; the joints' rows are solved with what they do.
static tbStatus push(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                     tbStepReport* report)
{
  double clock = tb_seconds();
  int count = rigid_count(work), before = count_rigid(work->state);
  Anchors* next = work->next = make_anchors(ctx, work->assembly.nconstraint);
  if (!next) return TB_ERROR_MEMORY;
  const tbContactConstraint* t = work->constraints.data;
  for (int i = 0; i < count; i++) {
    double* lambda = work->assembly.lambda + work->assembly.problem->row_adr[i];
    next->at[i] = anchor_of(&t[i]);
    tbPenaltyPoint point =
        tb_penalty_point(w, &t[i], points_of_pair(t, count, i), stretch_before(work->state, before, &t[i]));
    double force[6];
    tb_penalty_force(w, o, &point, force, &next->at[i].stretch);
    for (int r = 0; r < t[i].rows; r++) {
      double unit = r == 1 || r == 2 ? t[i].stretch[r - 1] : 1;
      lambda[r] = unit > 0 ? o->dt * force[r] / unit : 0;
    }
  }
  if (work->own) TB_TRY(push_soft(ctx, w, o, count, work, next));
  TB_TRY(solve_joints(ctx, w, o, work, report));
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  return TB_OK;
}

static tbStatus begin_soft(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  if (tb_first_deforming(w) < 0) return TB_OK;
  return tb_penalty_is_implicit(w, o) ? tb_penalty_implicit_begin(ctx, w, o, work)
                                      : tb_penalty_soft_begin(ctx, w, o, work, work->own);
}

// With deformable bodies, or as a minimum.
static tbStatus prepare_all(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbStepReport* report)
{
  double clock = tb_seconds();
  tbRelaxedSoft* soft = work->own = TB_TAKE(work->arena, tbRelaxedSoft, 1);
  if (!soft) return TB_ERROR_MEMORY;
  soft->spread = true; // springs hold what lies between them no better than they are close
  soft->soft_contacts = TB_ARRAY(tbSoftContact), soft->met = TB_ARRAY(tbSurfaceContact);
  tb_surface_candidates_init(&soft->candidates);
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tb_hold_attached(w, work->unconstrained);
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tb_constraint_laws(w, o, work->constraints.data, (int)work->constraints.count);
  TB_TRY(tb_resolve_impacts(ctx, w, o, work, report));
  tb_constraint_biases(w, o, work->constraints.data, (int)work->constraints.count);
  if (tb_penalty_is_implicit(w, o)) tb_penalty_take_gaps(o, &work->constraints);
  TB_TRY(begin_soft(ctx, w, o, work));
  TB_TRY(tb_penalty_assemble(ctx, w, o, work));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  tb_step_note(work, report);
  return TB_OK;
}

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  bool plain = !tb_penalty_is_implicit(w, o) && tb_first_deforming(w) < 0;
  return plain ? tb_semi_implicit_prepare(ctx, w, o, work, report) : prepare_all(ctx, w, o, work, report);
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  // Flight is integrated like contact, by x + h v: with parabolas between, every bounce would gain m g v h.
  for (size_t i = 0; i < w->body.count; i++) work->unconstrained[i].held = true;
  if (tb_penalty_is_implicit(w, o)) return tb_penalty_minimise(ctx, w, o, rigid_count(work), work, report);
  TB_TRY(push(ctx, w, o, work, report));
  double clock = tb_seconds();
  TB_TRY(tb_assembly_judge(ctx, o, NULL, &work->assembly));
  tbOutcome solved = report->outcome;
  tb_step_confirm(o, work, report);
  if (solved == TB_CONVERGED && report->outcome != TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
  report->residual = tb_worse_residual(&report->residual, &work->assembly.residual);
  report->used = "penalty";
  if (work->own) TB_TRY(tb_relaxed_soft_count(ctx, work, work->own, report));
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return tb_array_push(ctx, &work->records, NULL, (size_t)work->assembly.nconstraint);
}

static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  return work->own ? tb_relaxed_publish(ctx, w, o, work, report) : TB_OK;
}

static void remove_anchors(void* state, const tbWorld* w, int body)
{
  Anchors* a = state;
  int first = tb_bodies(w)[body].shape, count = tb_bodies(w)[body].nshape, kept = 0;
  for (int i = 0; i < a->count; i++) {
    Anchor x = a->at[i];
    bool gone_a = x.shape_a >= first && x.shape_a < first + count;
    bool gone_b = x.shape_b >= first && x.shape_b < first + count;
    if (gone_a || gone_b || is_soft(&x)) continue; // whose bodies may have another place now
    if (x.shape_a >= first) x.shape_a -= count;
    if (x.shape_b >= first) x.shape_b -= count;
    a->at[kept++] = x;
  }
  a->count = kept;
}

static double* number_of(void* state, int i)
{
  Anchors* a = state;
  return i < 3 * a->count ? &a->at[i / 3].stretch.x + i % 3 : NULL;
}

static const tbStateKind anchors = {.scheme = "penalty",
                                    .free = free_anchors,
                                    .hash = hash_anchors,
                                    .remove = remove_anchors,
                                    .code = code_anchors,
                                    .number = number_of};

const tbSchemeMethod tb_penalty = {.prepare = prepare,
                                   .solve = solve,
                                   .advance = tb_semi_implicit_advance,
                                   .publish = publish,
                                   .end = tb_relaxed_end,
                                   .touching = tb_penalty_touching,
                                   .state = &anchors};
