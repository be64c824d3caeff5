// SPDX-License-Identifier: Apache-2.0
#include "step/relaxed_held.h"

#include "descent/coupled.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-13; // of solves with K
static const double SLIGHT = 1e-6, SAME = 0.1;

void tb_relaxed_held_init(tbRelaxedHeld* h)
{
  *h = (tbRelaxedHeld){.v = TB_ARRAY(double),
                       .u = TB_ARRAY(double),
                       .lambda = TB_ARRAY(double),
                       .curvature = TB_ARRAY(double),
                       .slope = TB_ARRAY(double),
                       .dof = TB_ARRAY(int),
                       .phi = TB_ARRAY(double),
                       .pulled = TB_ARRAY(double)};
}

void tb_relaxed_held_free(tbContext* ctx, tbRelaxedHeld* h)
{
  tbArray* all[] = {&h->v, &h->u, &h->lambda, &h->curvature, &h->slope, &h->dof, &h->phi, &h->pulled};
  for (int i = 0; i < 8; i++) tb_array_free(ctx, all[i]);
}

static tbStatus fill(tbContext* ctx, tbArray* to, const void* from, int count)
{
  to->count = 0;
  return tb_array_push(ctx, to, from, (size_t)count);
}

typedef struct {
  tbRelaxed relaxed;
  tbCells cells;
  tbHessian hessian;
  tbCoupled coupled;
} Matrix;

// K's parts; its Hessian is to be ended.
static tbStatus begin_matrix(tbContext* ctx, const tbRelaxedRun* run, Matrix* m)
{
  const tbStepOptions* o = run->options;
  tbRelaxation how = run->how;
  how.turning = true;
  TB_TRY(
      tb_relaxed_begin(run->arena, run->problem, &how, o->solver.model, o->solver.directions, &m->relaxed));
  TB_TRY(tb_cells_begin(run->arena, run->problem, &m->cells));
  TB_TRY(tb_hessian_begin(ctx, run->arena, &m->relaxed, &m->cells, &m->hessian));
  tbStatus status = tb_coupled_begin(run->arena, &m->hessian, TOLERANCE, &m->coupled);
  if (status != TB_OK) tb_hessian_end(ctx, &m->hessian);
  return status;
}

tbStatus tb_relaxed_held_impulses(tbContext* ctx, tbRelaxedHeld* h, const tbRelaxedRun* run)
{
  const tbProblem* p = run->problem;
  if (p->ndof != h->ndof || p->nrow != h->rows) return h->strayed = true, TB_OK;
  tbRelaxed r = {.problem = p, .how = run->how};
  double* u = TB_TAKE(run->arena, double, (size_t)p->nrow);
  if (!u) return TB_ERROR_MEMORY;
  tb_relaxed_velocities(&r, ctx->threads, h->v.data, u);
  const double *D = h->curvature.data, *E = h->slope.data, *at = h->u.data, *lambda = h->lambda.data;
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
    for (int i = first; i < first + rows; i++) {
      double sum = lambda[i] - E[i] * (u[first] - at[first]);
      for (int j = 0; j < rows; j++) sum -= D[(i - first) * rows + j] * (u[first + j] - at[first + j]);
      run->lambda[i] = sum;
    }
    D += rows * rows;
  }
  return TB_OK;
}

// pulled = A K⁻ᵀ w
static tbStatus pull(tbContext* ctx, tbRelaxedHeld* h, const tbRelaxedRun* run)
{
  const tbProblem* p = run->problem;
  Matrix m;
  double *x = TB_TAKE(run->arena, double, (size_t)p->ndof), *y = TB_TAKE(run->arena, double, (size_t)p->ndof);
  if (!x || !y) return TB_ERROR_MEMORY;
  TB_TRY(begin_matrix(ctx, run, &m));
  memcpy(m.coupled.E, h->slope.data, (size_t)p->nrow * sizeof(double));
  for (int i = 0; i < p->nrow; i++) m.coupled.any = m.coupled.any || m.coupled.E[i] != 0;
  tbStatus status = tb_hessian_update(ctx, &m.hessian, h->curvature.data);
  if (status == TB_OK) status = tb_coupled_solve(ctx, &m.coupled, true, h->w, x);
  tb_hessian_end(ctx, &m.hessian);
  TB_TRY(status);
  for (int b = 0; b < p->nblock; b++)
    tb_metric_multiply_add(&p->block[b], x + p->block[b].dof, y + p->block[b].dof);
  return fill(ctx, &h->pulled, y, p->ndof);
}

// Whether curvatures change with the slightest change of velocities: a contact is about to slip, or to stick.
static bool is_bent(Matrix* m, const double* u, const double* D, double* at, double* lambda, double* other)
{
  const tbProblem* p = m->relaxed.problem;
  for (int side = -1; side <= 1; side += 2) {
    for (int i = 0; i < p->nrow; i++) at[i] = (1 + side * SLIGHT) * u[i];
    tb_relaxed_impulses(&m->relaxed, NULL, at, NULL, lambda, other);
    for (int i = 0; i < m->relaxed.d_adr[p->ncontact]; i++)
      if (!(fabs(other[i] - D[i]) <= SAME * fabs(D[i]))) return true;
  }
  return false;
}

static tbStatus record(tbContext* ctx, const tbWorld* w, tbRelaxedHeld* h, const tbRelaxedRun* run,
                       const tbAssembly* a)
{
  const tbProblem* p = run->problem;
  Matrix m;
  h->solves++, h->ndof = p->ndof, h->rows = p->nrow;
  h->impacts = w->joint.count > 0;
  for (int i = 0; i < a->nconstraint; i++) h->impacts = h->impacts || a->constraint[i].impact >= 0;
  h->dof.count = 0;
  for (size_t i = 0; i < w->body.count; i++) TB_TRY(tb_array_push(ctx, &h->dof, &a->place[i].dof, 1));
  TB_TRY(begin_matrix(ctx, run, &m));
  int values = m.relaxed.d_adr[p->ncontact];
  double *u = TB_TAKE(run->arena, double, (size_t)p->nrow), *l = TB_TAKE(run->arena, double, (size_t)p->nrow);
  double *D = TB_TAKE(run->arena, double, (size_t)values),
         *other = TB_TAKE(run->arena, double, (size_t)values);
  double *at = TB_TAKE(run->arena, double, (size_t)p->nrow), *E = m.coupled.E;
  tbStatus status = u && l && D && other && at ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    tb_relaxed_velocities(&m.relaxed, ctx->threads, a->v, u);
    tb_coupled_evaluate(&m.coupled, u, l, D);
    h->impacts = h->impacts || is_bent(&m, u, D, at, l, other);
    status = fill(ctx, &h->v, a->v, p->ndof);
  }
  if (status == TB_OK) status = fill(ctx, &h->u, u, p->nrow);
  if (status == TB_OK) status = fill(ctx, &h->lambda, a->lambda, p->nrow);
  if (status == TB_OK) status = fill(ctx, &h->curvature, D, values);
  if (status == TB_OK) status = fill(ctx, &h->slope, E, p->nrow);
  tb_hessian_end(ctx, &m.hessian);
  return status;
}

tbStatus tb_relaxed_held_keep(tbContext* ctx, const tbWorld* w, tbRelaxedHeld* h, const tbRelaxedRun* run,
                              tbAssembly* a)
{
  const int* dof = h->dof.data;
  if (!h->hold) return record(ctx, w, h, run, a);
  for (size_t i = 0; i < w->body.count && !h->strayed; i++) h->strayed = dof[i] != a->place[i].dof;
  if (h->strayed) return TB_OK;
  TB_TRY(fill(ctx, &h->phi, a->v, h->ndof));
  for (int i = 0; i < h->ndof; i++) a->v[i] = ((double*)h->v.data)[i] + (h->offset ? h->offset[i] : 0);
  return h->w ? pull(ctx, h, run) : TB_OK;
}
