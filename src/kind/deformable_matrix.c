// SPDX-License-Identifier: Apache-2.0
// Linearised at the start of a step, a deformable body obeys
//
//   A v⁺ = M v + h (f(x) + M g) + Jᵀλ,      A = M + hB + h²K(x)
//
// one step of Newton's method on the implicit Euler scheme.
#include "kind/deformable_step.h"

#include "base/stop.h"
#include "math/cholesky.h"
#include "problem/borrowed.h"
#include "problem/metric.h"

#include <string.h>

enum { LARGE = 4000 }; // nodes

// The order of elimination, once for a body.
static tbStatus analyse(tbContext* ctx, const tbDeformable* d, tbBodyFactor* out)
{
  if (out->analysed) return TB_OK;
  tbCholesky* factor;
  const tbCsr* K = &d->fem->K;
  TB_TRY(
      tb_metric_is_too_large(ctx, d->fem->nnode, d->fem->assembly.ptr, d->fem->assembly.col, &out->analysed));
  if (out->analysed) return TB_OK;
  // The best order for large bodies is a library's; that of all others must not depend on which are
  // installed.
  tbCholeskyOptions how = {.ordering = d->fem->nnode > LARGE ? TB_ORDERING_AUTO : TB_ORDERING_DEGREE,
                           .most_bytes = TB_FACTOR_BYTES};
  TB_TRY(tb_cholesky_analyze(ctx, 3 * d->fem->nnode, K->ptr, K->idx, &how, &factor));
  out->analysed = true;
  if (!factor) return TB_OK;
  tbCholeskyStats stats = tb_cholesky_stats(factor);
  if (tb_metric_should_factor(&stats)) out->factor = factor;
  else tb_cholesky_free(ctx, factor);
  return TB_OK;
}

// The body that elements write what they compute into.
static tbStatus computes_in(tbArena* arena, const tbBodyFactor* kept, const tbDeformable* d, tbFemBody** out)
{
  *out = d->fem;
  return kept->apart ? tb_fem_apart(arena, d->fem, out) : TB_OK;
}

tbStatus tb_deformable_begin(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbBody* body,
                             tbBodyStep* out)
{
  const tbDeformable* d = body->own;
  tbDeformableStep* s = out->own = TB_TAKE(arena, tbDeformableStep, 1);
  if (!s) return TB_ERROR_MEMORY;
  TB_TRY(computes_in(arena, kept, d, &s->fem));
  TB_TRY(analyse(ctx, d, kept));
  tbCholesky* factor = s->factor = kept->factor;
  size_t n = 3 * (size_t)d->fem->nnode;
  out->size = (int)n, out->large = d->fem->nnode > LARGE, out->expensive = !factor;
  s->pattern = &d->fem->K;
  s->packed.pattern = &d->fem->packed;
  s->packed.value = s->value = TB_TAKE(arena, double, tb_packed_values(&d->fem->packed));
  if (!s->value) return TB_ERROR_MEMORY;
  if (!factor) {
    s->packed.rounded = s->rounded = TB_TAKE(arena, float, tb_packed_values(&d->fem->packed));
    s->packed.inverse = s->inverse = TB_TAKE(arena, double, 2 * n);
    if (!s->rounded || !s->inverse) return TB_ERROR_MEMORY;
  }
  tbMetricBlock block = {.kind = TB_METRIC_SPARSE, .size = (int)n, .factor = factor, .packed = &s->packed};
  s->A = TB_TAKE(arena, double, (size_t)d->fem->K.ptr[n]);
  s->rhs = TB_TAKE(arena, double, n);
  s->pin = TB_TAKE(arena, tbVec3, (size_t)d->fem->nnode);
  s->force = TB_TAKE(arena, double, n);
  s->space = TB_TAKE(arena, double, tb_metric_workspace(&block));
  out->v = &d->v->x;
  out->v_free = TB_TAKE(arena, double, n);
  return s->A && s->rhs && s->pin && s->force && s->space && out->v_free ? TB_OK : TB_ERROR_MEMORY;
}

// Where what holds a node will be at the end of the step.
static tbTransform holder_after(const tbWorld* w, const tbHold* hold, double t)
{
  if (hold->body < 0) return tb_motion_pose(w, &hold->motion, t);
  const tbBody* b = &tb_bodies(w)[hold->body];
  return b->motion == TB_BODY_KINEMATIC ? tb_motion_at(w, b, t) : tb_transform(b->q, b->x);
}

void tb_deformable_lead(const tbWorld* w, const tbDeformable* d, double h, tbVec3* pin)
{
  for (int k = 0; k < d->nhold; k++) {
    tbTransform T = holder_after(w, &d->hold[k], w->time + h);
    for (int i = 0; i < d->fem->nnode; i++)
      if (d->holder[i] == k && d->fem->pinned[i])
        pin[i] = tb_scale3(1 / h, tb_sub3(tb_transform_point(T, d->local[i]), d->x[i]));
  }
}

// v_free = v + A⁻¹(rhs − A v): what is solved for is the change alone, and small at rest.
static void solve(tbContext* ctx, const tbMetricBlock* block, double tolerance, tbBodyStep* out)
{
  tbDeformableStep* s = out->own;
  size_t n = (size_t)out->size;
  double* change = s->force;
  for (size_t k = 0; k < n; k++) out->v_free[k] = -out->v[k];
  memcpy(change, s->rhs, n * sizeof *change);
  tb_metric_multiply_add(block, out->v_free, change);
  if (s->factor) tb_metric_solve(block, ctx->threads, change, s->space);
  else tb_metric_cg_unless(ctx->interrupt, block, ctx->threads, tolerance, change, s->space);
  for (size_t k = 0; k < n; k++) out->v_free[k] = out->v[k] + change[k];
}

static tbMetricBlock block_of(const tbDeformable* d, const tbBodyStep* step)
{
  const tbDeformableStep* s = step->own;
  return (tbMetricBlock){.kind = TB_METRIC_SPARSE,
                         .size = step->size,
                         .value = s->A,
                         .ptr = d->fem->K.ptr,
                         .col = d->fem->K.idx,
                         .unit = 3,
                         .factor = s->factor,
                         .packed = &s->packed};
}

// What products and solves with A need, once its values are there.
static tbStatus ready(tbContext* ctx, const tbMetricBlock* block, tbDeformableStep* s)
{
  if (s->rounded) tb_packed_round(s->packed.pattern, ctx->threads, s->value, s->rounded);
  if (s->inverse) tb_metric_invert_diagonal(block, ctx->threads, s->inverse);
  return s->factor ? tb_cholesky_factor(ctx, s->factor, s->A) : TB_OK;
}

tbStatus tb_deformable_prepare(tbContext* ctx, const tbWorld* w, const tbBody* body, double h,
                               double tolerance, tbBodyStep* out)
{
  const tbDeformable* d = body->own;
  tbDeformableStep* s = out->own;
  tb_fem_evaluate(s->fem, ctx->threads, d->x, TB_TANGENT_POSITIVE, s->force);
  tb_deformable_lead(w, d, h, s->pin);
  for (int k = 0; k < d->fem->nnode; k++)
    tb_store3(s->force + 3 * k, tb_add3(tb_load3(s->force + 3 * k), d->force[k]));
  tbVec3 pull = tb_madd3(w->gravity, 1 / body->mass, body->force);
  tb_fem_step(s->fem, ctx->threads, h, pull, s->force, d->v, s->pin, s->A, s->value, s->rhs);
  tbMetricBlock block = block_of(d, out);
  TB_TRY(ready(ctx, &block, s));
  solve(ctx, &block, tolerance, out);
  return tb_check_interrupt(ctx);
}

tbStatus tb_deformable_potential(tbArena* arena, const tbBodyFactor* kept, const tbWorld* w,
                                 const tbBody* body, double h, tbNodePotential* out)
{
  const tbDeformable* d = body->own;
  tbVec3* pin = TB_TAKE(arena, tbVec3, (size_t)d->fem->nnode);
  tbAttachedNode* attached = NULL;
  if (!pin) return TB_ERROR_MEMORY;
  tb_deformable_lead(w, d, h, pin);
  int count = tb_deformable_list_attached(w, d, NULL);
  if (count > 0 && !(attached = TB_TAKE(arena, tbAttachedNode, (size_t)count))) return TB_ERROR_MEMORY;
  tb_deformable_list_attached(w, d, attached);
  tbFemBody* fem;
  TB_TRY(computes_in(arena, kept, d, &fem));
  *out = (tbNodePotential){.fem = fem,
                           .x = d->x,
                           .v = d->v,
                           .pin = pin,
                           .force = d->force,
                           .node = d->surface->node,
                           .gravity = tb_madd3(w->gravity, 1 / body->mass, body->force),
                           .nattached = count,
                           .attached = attached};
  return TB_OK;
}

// v_free = v − A⁻¹ miss, A = M + hB + h²K(x).
tbStatus tb_deformable_linearise(tbContext* ctx, const tbBody* body, double h, const tbVec3* x,
                                 const tbVec3* v, const tbVec3* miss, bool exact, tbBodyStep* out)
{
  const tbDeformable* d = body->own;
  tbDeformableStep* s = out->own;
  size_t n = (size_t)d->fem->nnode;
  tb_fem_evaluate(s->fem, ctx->threads, x, exact ? TB_TANGENT_EXACT : TB_TANGENT_POSITIVE, s->force);
  memcpy(s->pin, v, n * sizeof *s->pin);
  tb_fem_step(s->fem, ctx->threads, h, tb_zero3(), s->force, v, s->pin, s->A, s->value, s->rhs);
  tbMetricBlock block = block_of(d, out);
  TB_TRY(ready(ctx, &block, s));
  double* change = s->force;
  memcpy(change, miss, n * sizeof *miss);
  if (s->factor) tb_metric_solve(&block, ctx->threads, change, s->space);
  else tb_metric_cg_unless(ctx->interrupt, &block, ctx->threads, TB_METRIC_EXACT, change, s->space);
  for (size_t k = 0; k < 3 * n; k++) out->v_free[k] = (&v->x)[k] - change[k];
  out->v = &v->x;
  return tb_check_interrupt(ctx);
}

void tb_deformable_metric(const tbStepView* view, int body, tbBuilder* b, int* dof)
{
  const tbBodyStep* step = &view->step[body];
  const tbDeformableStep* s = step->own;
  if (step->split) {
    tb_deformable_masses(step, b, dof);
    return;
  }
  const tbCsr* A = s->pattern;
  const tbPacked* packed = s->packed.pattern ? &s->packed : NULL;
  if (step->lent)
    tb_builder_borrowed(b, step->size, A->ptr, A->idx, s->A, step->v_free, s->factor, packed, s->entries,
                        dof);
  else tb_builder_sparse(b, step->size, A->ptr, A->idx, s->A, step->v_free, dof);
}
