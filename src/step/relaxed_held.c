// SPDX-License-Identifier: Apache-2.0
#include "step/relaxed_held.h"

#include "descent/coupled.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-13; // of solves with K
static const double SLIGHT = 1e-6, SAME = 0.1;

static tbArray* arrays(tbRelaxedHeld* h, int i)
{
  tbArray* all[] = {&h->v,     &h->u,   &h->lambda,    &h->curvature, &h->slope,    &h->param,
                    &h->still, &h->dof, &h->joint_row, &h->link,      &h->residual, &h->pulled};
  return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

void tb_relaxed_held_init(tbRelaxedHeld* h)
{
  tbArray* a;
  *h = (tbRelaxedHeld){0};
  for (int i = 0; (a = arrays(h, i)); i++) *a = TB_ARRAY(double);
  h->dof = h->joint_row = h->link = TB_ARRAY(int);
}

void tb_relaxed_held_free(tbContext* ctx, tbRelaxedHeld* h)
{
  tbArray* a;
  for (int i = 0; (a = arrays(h, i)); i++) tb_array_free(ctx, a);
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

static bool has_strayed(const tbRelaxedHeld* h, const tbProblem* p)
{
  if (p->ndof != h->ndof || p->nrow != h->rows) return true;
  size_t params = (size_t)p->param_adr[p->ncontact];
  return params != h->param.count ||
         (params > 0 && memcmp(p->param, h->param.data, params * sizeof(double)) != 0);
}

tbStatus tb_relaxed_held_impulses(tbContext* ctx, tbRelaxedHeld* h, const tbRelaxedRun* run)
{
  const tbProblem* p = run->problem;
  if (has_strayed(h, p)) return h->strayed = true, TB_OK;
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

// r with the recorded velocities, appended to `out`.
static tbStatus residual(tbContext* ctx, const tbRelaxed* r, const tbRelaxedRun* run, const tbRelaxedHeld* h,
                         tbArray* out)
{
  size_t n = (size_t)h->ndof;
  double* work = TB_TAKE(run->arena, double, n);
  if (!work) return TB_ERROR_MEMORY;
  out->count = 0;
  TB_TRY(tb_array_push(ctx, out, NULL, n));
  tb_relaxed_gradient(r, ctx->threads, h->v.data, run->lambda, work, out->data);
  return TB_OK;
}

// to = w − Jᵀ(D + E)ᵀ push
static tbStatus gather(tbContext* ctx, const tbRelaxed* r, const tbRelaxedRun* run, const tbRelaxedHeld* h,
                       double* to)
{
  const tbProblem* p = run->problem;
  double *turned = TB_TAKE(run->arena, double, (size_t)p->nrow),
         *work = TB_TAKE(run->arena, double, (size_t)p->ndof);
  const double *D = h->curvature.data, *E = h->slope.data;
  if (!turned || !work) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
    for (int i = first; i < first + rows; i++) {
      turned[first] += E[i] * h->push[i];
      for (int j = 0; j < rows; j++) turned[first + j] += D[(i - first) * rows + j] * h->push[i];
    }
    D += rows * rows;
  }
  tb_relaxed_gradient(r, ctx->threads, p->v_free, turned, work, to);
  for (int i = 0; i < p->ndof; i++) to[i] += h->w[i];
  return TB_OK;
}

static tbStatus pull(tbContext* ctx, tbRelaxedHeld* h, const tbRelaxedRun* run)
{
  const tbProblem* p = run->problem;
  Matrix m;
  double *x = TB_TAKE(run->arena, double, (size_t)p->ndof), *y = TB_TAKE(run->arena, double, (size_t)p->ndof);
  if (!x || !y) return TB_ERROR_MEMORY;
  TB_TRY(begin_matrix(ctx, run, &m));
  if (p->nrow > 0) memcpy(m.coupled.E, h->slope.data, (size_t)p->nrow * sizeof(double));
  for (int i = 0; i < p->nrow; i++) m.coupled.any = m.coupled.any || m.coupled.E[i] != 0;
  tbStatus status = tb_hessian_update(ctx, &m.hessian, h->curvature.data);
  if (status == TB_OK) status = gather(ctx, &m.relaxed, run, h, y);
  if (status == TB_OK) status = tb_coupled_solve(ctx, &m.coupled, true, y, x);
  tb_hessian_end(ctx, &m.hessian);
  TB_TRY(status);
  return fill(ctx, &h->pulled, x, p->ndof);
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

static tbStatus add_link(tbContext* ctx, tbRelaxedHeld* h, int a, int b)
{
  int pair[2] = {a, b};
  return tb_array_push(ctx, &h->link, pair, 2);
}

// Constraints connect all columns they have; matrices of deformable bodies the nodes of an element.
static tbStatus link_columns(tbContext* ctx, const tbProblem* p, tbRelaxedHeld* h)
{
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = 0; i < p->jac_width[c]; i += 3)
        for (int e = p->jac_adr[k]; e <= c; e++) TB_TRY(add_link(ctx, h, p->jac_dof[e], p->jac_dof[c] + i));
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* m = &p->block[b];
    for (int i = 0; m->kind == TB_METRIC_SPARSE && i < m->size; i += 3)
      for (int e = m->ptr[i]; e < m->ptr[i + 1]; e++)
        if (m->col[e] % 3 == 0 && m->col[e] < i) TB_TRY(add_link(ctx, h, m->dof + i, m->dof + m->col[e]));
  }
  return TB_OK;
}

// Where impulses of joints stand among the rows, behind those of contacts.
static tbStatus list_joints(tbContext* ctx, const tbWorld* w, const tbAssembly* a, tbRelaxedHeld* h)
{
  const tbProblem* p = a->problem;
  int block = a->nconstraint;
  h->joint_row.count = 0;
  for (size_t i = 0; i < w->joint.count; i++) {
    int row[TB_JOINT_IMPULSES];
    for (int k = 0; k < TB_JOINT_IMPULSES; k++) row[k] = -1;
    for (int k = 0; k < a->nblock[i]; k++, block++) {
      int slot = a->slot[TB_JOINT_BLOCKS * i + (size_t)k], first = p->row_adr[block];
      for (int e = first; e < p->row_adr[block + 1]; e++) row[slot + e - first] = e;
      for (int c = p->jac_adr[block]; c < p->jac_adr[block + 1]; c++)
        for (int e = 0; e < p->jac_width[c]; e += 3) TB_TRY(add_link(ctx, h, -1 - (int)i, p->jac_dof[c] + e));
    }
    TB_TRY(tb_array_push(ctx, &h->joint_row, row, TB_JOINT_IMPULSES));
  }
  return TB_OK;
}

// Whether the step is more than the one minimum: impacts came first, or contacts with what was met on the way
// of free motion; or bodies that the problem does not hold whole.
static bool is_more(const tbWorld* w, const tbStepWork* work)
{
  const tbAssembly* a = &work->assembly;
  const tbRelaxedSoft* soft = work->own;
  const tbSoftContact* c = soft->soft_contacts.data;
  for (size_t i = 0; i < soft->soft_contacts.count; i++)
    if (c[i].met > 0) return true;
  for (int i = 0; i < a->nconstraint; i++)
    if (a->constraint[i].impact >= 0) return true;
  for (size_t i = 0; soft->step && i < w->body.count; i++)
    if (soft->step[i].size > 0 && (soft->step[i].expensive || a->place[i].dof < 0)) return true;
  return false;
}

static tbStatus list_all(tbContext* ctx, const tbWorld* w, tbRelaxedHeld* h, const tbRelaxedRun* run,
                         const tbStepWork* work)
{
  const tbProblem* p = run->problem;
  h->solves++, h->ndof = p->ndof, h->rows = p->nrow;
  h->more = is_more(w, work);
  h->dof.count = h->link.count = 0;
  for (size_t i = 0; i < w->body.count; i++)
    TB_TRY(tb_array_push(ctx, &h->dof, &work->assembly.place[i].dof, 1));
  TB_TRY(link_columns(ctx, p, h));
  TB_TRY(list_joints(ctx, w, &work->assembly, h));
  return fill(ctx, &h->param, p->param, p->param_adr[p->ncontact]);
}

static tbStatus record(tbContext* ctx, const tbWorld* w, tbRelaxedHeld* h, const tbRelaxedRun* run,
                       const tbStepWork* work)
{
  const tbProblem* p = run->problem;
  const tbAssembly* a = &work->assembly;
  Matrix m;
  TB_TRY(list_all(ctx, w, h, run, work));
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
    h->more = h->more || is_bent(&m, u, D, at, l, other);
    status = fill(ctx, &h->v, a->v, p->ndof);
  }
  if (status == TB_OK) status = fill(ctx, &h->u, u, p->nrow);
  if (status == TB_OK) status = fill(ctx, &h->lambda, a->lambda, p->nrow);
  if (status == TB_OK) status = fill(ctx, &h->curvature, D, values);
  if (status == TB_OK) status = fill(ctx, &h->slope, E, p->nrow);
  if (status == TB_OK) status = residual(ctx, &m.relaxed, run, h, &h->still);
  tb_hessian_end(ctx, &m.hessian);
  return status;
}

tbStatus tb_relaxed_held_keep(tbContext* ctx, const tbWorld* w, tbRelaxedHeld* h, const tbRelaxedRun* run,
                              tbStepWork* work)
{
  tbAssembly* a = &work->assembly;
  const int* dof = h->dof.data;
  if (!h->hold) return record(ctx, w, h, run, work);
  h->strayed = h->strayed || has_strayed(h, run->problem);
  for (size_t i = 0; i < w->body.count && !h->strayed; i++) h->strayed = dof[i] != a->place[i].dof;
  if (h->strayed) return TB_OK;
  tbRelaxed r;
  TB_TRY(tb_relaxed_begin(run->arena, run->problem, &run->how, run->options->solver.model,
                          run->options->solver.directions, &r));
  TB_TRY(residual(ctx, &r, run, h, &h->residual));
  for (int i = 0; i < h->ndof; i++) a->v[i] = ((double*)h->v.data)[i] + (h->offset ? h->offset[i] : 0);
  return h->w ? pull(ctx, h, run) : TB_OK;
}
