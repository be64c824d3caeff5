// SPDX-License-Identifier: Apache-2.0
// Penalty contact: springs and dampers (Cundall and Strack 1979; course, section on penalty methods).
//
// Forces by depth and velocity are in penalty_force.c: springs and dampers along the normal, friction by
// anchors that follow when it gives way, or as damping.
//
// Explicit in the positions. The impulses h f are put to
// the same judge as every solver's: its number says how far springs are from the contact law. Joints stay
// rigid: their rows are solved with the contact forces known.
#include "step/penalty.h"

#include "step/count.h"

#include "base/clock.h"
#include "base/codec.h"

#include <string.h>

// The stretch of a contact's anchor, by shapes and feature, in the order of the contacts.
typedef struct Anchor {
  int shape_a, shape_b;
  uint64_t feature;
  tbVec3 stretch; // world axes   m
} Anchor;

typedef struct Anchors {
  int count;
  Anchor* at;
} Anchors;

// The anchor's stretch so far: that of the last step at the same features.
static tbVec3 stretch_before(const Anchors* before, const tbContactConstraint* t)
{
  int lo = 0, count = before ? before->count : 0, hi = count;
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

static int points_of_pair(const tbContactConstraint* t, int count, int i)
{
  int n = 0;
  for (int k = i; k >= 0 && t[k].shape_a == t[i].shape_a && t[k].shape_b == t[i].shape_b; k--)
    n += t[k].point.gap < 0;
  for (int k = i + 1; k < count && t[k].shape_a == t[i].shape_a && t[k].shape_b == t[i].shape_b; k++)
    n += t[k].point.gap < 0;
  return n > 1 ? n : 1;
}

// Adds the contact impulses to the free velocities.
static void push_bodies(const tbWorld* w, const tbStepWork* work, tbUnconstrained* unconstrained)
{
  const tbAssembly* a = &work->assembly;
  for (int i = 0; i < a->nconstraint; i++) {
    const tbContactConstraint* t = &a->constraint[i];
    const double* lambda = a->lambda + a->problem->row_adr[i];
    tbVec3 local = tb_vec3(lambda[0], t->rows > 1 ? t->stretch[0] * lambda[1] : 0,
                           t->rows > 1 ? t->stretch[1] * lambda[2] : 0);
    tbVec3 impulse = tb_mat3_tmulv(t->frame, local), turn = tb_zero3();
    for (int r = 3; r < t->rows; r++)
      turn = tb_madd3(turn, lambda[r], tb_mat3_row(t->frame, t->rows == 5 ? r - 2 : r - 3));
    for (int side = 0; side < 2; side++) {
      int k = side ? t->body_b : t->body_a;
      const tbBody* b = &tb_bodies(w)[k];
      if (b->motion != TB_BODY_DYNAMIC) continue;
      tbVec3 p = side ? impulse : tb_neg3(impulse);
      tbVec3 spin = tb_madd3(tb_cross3(tb_sub3(t->position, work->centre[k].x), p), side ? 1 : -1, turn);
      tbQuat q = work->centre[k].q;
      unconstrained[k].v = tb_madd3(unconstrained[k].v, 1 / b->mass, p);
      unconstrained[k].w = tb_add3(
          unconstrained[k].w, tb_quat_rotate(q, tb_mat3_mulv(b->inertia_inv, tb_quat_unrotate(q, spin))));
    }
  }
}

// Impulses of the joints, the contacts' being known.
static tbStatus solve_joints(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             tbStepReport* report)
{
  tbAssembly* all = &work->assembly;
  if (all->problem->ncontact == all->nconstraint) return TB_OK;
  tbUnconstrained* unconstrained = TB_TAKE(work->arena, tbUnconstrained, w->body.count);
  if (!unconstrained) return TB_ERROR_MEMORY;
  memcpy(unconstrained, work->unconstrained, w->body.count * sizeof *unconstrained);
  push_bodies(w, work, unconstrained);
  tbAssembly joints;
  TB_TRY(tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, unconstrained, work->centre, NULL, NULL,
                     0, &joints));
  tbSolveResult result;
  tbSolveOptions solver = o->solver;
  tb_step_budget(o, work->begun, &solver);
  tbStatus status = tb_solve(ctx, joints.problem, &solver, joints.lambda, &result);
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
    tb_code_int(c, &a->at[i].shape_a, 0, shapes - 1);
    tb_code_int(c, &a->at[i].shape_b, 0, shapes - 1);
    tb_code_u64(c, &a->at[i].feature);
    tb_code_vec3(c, &a->at[i].stretch);
  }
}

// Springs push; the joints' rows are solved with what they do.
static tbStatus push(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                     tbStepReport* report)
{
  double clock = tb_seconds();
  int count = work->assembly.nconstraint;
  Anchors* next = work->next = make_anchors(ctx, count);
  if (!next) return TB_ERROR_MEMORY;
  const tbContactConstraint* t = work->constraints.data;
  for (int i = 0; i < count; i++) {
    double* lambda = work->assembly.lambda + work->assembly.problem->row_adr[i];
    next->at[i] = (Anchor){t[i].shape_a, t[i].shape_b, t[i].point.feature, tb_zero3()};
    tbPenaltyPoint point = {&t[i], points_of_pair(t, count, i), stretch_before(work->state, &t[i])};
    double force[6];
    tb_penalty_force(w, o, &point, force, &next->at[i].stretch);
    for (int r = 0; r < t[i].rows; r++) {
      double unit = r == 1 || r == 2 ? t[i].stretch[r - 1] : 1;
      lambda[r] = unit > 0 ? o->dt * force[r] / unit : 0;
    }
  }
  TB_TRY(solve_joints(ctx, w, o, work, report));
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  return TB_OK;
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  TB_TRY(push(ctx, w, o, work, report));
  double clock = tb_seconds();
  TB_TRY(tb_assembly_judge(ctx, o, NULL, &work->assembly));
  tbOutcome solved = report->outcome;
  tb_step_confirm(o, work, report);
  if (solved == TB_CONVERGED && report->outcome != TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
  report->residual = tb_worse_residual(&report->residual, &work->assembly.residual);
  report->used = "penalty";
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return tb_array_push(ctx, &work->records, NULL, (size_t)work->assembly.nconstraint);
}

static void remove_anchors(void* state, int first, int count)
{
  Anchors* a = state;
  int kept = 0;
  for (int i = 0; i < a->count; i++) {
    Anchor x = a->at[i];
    bool gone_a = x.shape_a >= first && x.shape_a < first + count;
    bool gone_b = x.shape_b >= first && x.shape_b < first + count;
    if (gone_a || gone_b) continue;
    if (x.shape_a >= first) x.shape_a -= count;
    if (x.shape_b >= first) x.shape_b -= count;
    a->at[kept++] = x;
  }
  a->count = kept;
}

static const tbStateKind anchors = {"penalty", free_anchors, hash_anchors, remove_anchors, code_anchors};

const tbSchemeMethod tb_penalty = {.prepare = tb_semi_implicit_prepare,
                                   .solve = solve,
                                   .advance = tb_semi_implicit_advance,
                                   .state = &anchors};
