// SPDX-License-Identifier: Apache-2.0
#include "descent/coordinate.h"

#include "base/stop.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { SETTLE = 8 };              // passes on the potentials alone, after those with multipliers
static const double SOFTEST = 10; // κ at first, as a multiple of what one cell's inertia makes of the row
static const double GROWTH = 2;   // of κ, with every pass
static const double STIFFEST = 1; // κ at last, in units of the relaxation's

typedef struct {
  tbDescent* d;
  double* multipliers; // null: potentials alone
  double *kappa, *top; // (nrow): of the rows now, and at most
  double *H, *gradient;
  int* order; // cells by colours
} Loop;

static int rows_of(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

// ---- colours ----

// Cells that a contact or the metric couples differ: first fit, in order.
static void mark_neighbours(const tbRelaxed* r, const tbCells* c, int cell, const int* colour, int* mark)
{
  const tbProblem* p = r->problem;
  for (int i = c->ptr[cell]; i < c->ptr[cell + 1]; i++) {
    int k = c->contact[i];
    for (int col = p->jac_adr[k]; col < p->jac_adr[k + 1]; col++)
      for (int o = c->of_dof[p->jac_dof[col]]; o <= c->of_dof[p->jac_dof[col] + p->jac_width[col] - 1]; o++)
        if (colour[o] >= 0) mark[colour[o]] = cell + 1;
  }
  const tbMetricBlock* m = &p->block[c->block[cell]];
  if (m->kind != TB_METRIC_SPARSE) return;
  int row = c->dof[cell] - m->dof;
  for (int e = m->ptr[row]; e < m->ptr[row + 1]; e++) {
    int o = c->of_dof[m->dof + m->col[e]];
    if (colour[o] >= 0) mark[colour[o]] = cell + 1;
  }
}

static tbStatus colour_cells(tbArena* arena, Loop* l)
{
  const tbCells* c = l->d->cells;
  size_t n = (size_t)c->count;
  int *colour = TB_TAKE(arena, int, n), *mark = TB_TAKE(arena, int, n + 1), most = 0, at = 0;
  l->order = TB_TAKE(arena, int, n);
  if (!colour || !mark || !l->order) return TB_ERROR_MEMORY;
  for (int i = 0; i < c->count; i++) colour[i] = -1;
  for (int i = 0; i < c->count; i++) {
    mark_neighbours(l->d->relaxed, c, i, colour, mark);
    int free = 0;
    while (mark[free] == i + 1) free++;
    colour[i] = free, most = free >= most ? free + 1 : most;
  }
  for (int k = 0; k < most; k++)
    for (int i = 0; i < c->count; i++)
      if (colour[i] == k) l->order[at++] = i;
  return TB_OK;
}

// ---- multipliers ----

// 1/(J_kc A_cc⁻¹ J_kcᵀ), of the lightest cell: what its inertia alone makes of a row, roughly.
static double inertia_of(const tbRelaxed* r, const tbCells* c, int k, int row)
{
  const tbProblem* p = r->problem;
  double sum = 0;
  for (int col = p->jac_adr[k]; col < p->jac_adr[k + 1]; col++) {
    int width = p->jac_width[col];
    const double* J = p->jac + p->jac_val_adr[col] + (size_t)(row * width);
    for (int j = 0; j < width; j++) {
      int dof = p->jac_dof[col] + j, cell = c->of_dof[dof], size = tb_cell_size(c, cell),
          i = dof - c->dof[cell];
      sum += J[j] * J[j] / c->own[c->adr[cell] + i * size + i];
    }
  }
  return sum > 0 ? 1 / sum : 0;
}

static tbStatus begin_multipliers(tbArena* arena, Loop* l)
{
  const tbRelaxed* r = l->d->relaxed;
  const tbProblem* p = r->problem;
  l->kappa = TB_TAKE(arena, double, (size_t)p->nrow), l->top = TB_TAKE(arena, double, (size_t)p->nrow);
  if (!l->kappa || !l->top) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0; i < rows_of(p, k); i++) {
      int at = p->row_adr[k] + i;
      bool soft = p->compliance[at] > 0;
      l->top[at] = STIFFEST * tb_relaxed_stiffness(r, k, i);
      l->kappa[at] = soft ? l->top[at] : fmin(l->top[at], SOFTEST * inertia_of(r, l->d->cells, k, i));
      if (soft) l->multipliers[at] = 0; // a spring of its own: no multiplier
    }
  return TB_OK;
}

// λ = Π(λ₀ − κ u) and the curvature of rows that are not at a bound.
static void augmented(const Loop* l, int k, const double* u, double* lambda, double* D)
{
  const tbRelaxed* r = l->d->relaxed;
  const tbProblem* p = r->problem;
  const tbFrictionSet* f = &r->set[k];
  int rows = rows_of(p, k), at = p->row_adr[k];
  double z[TB_MAX_ROWS] = {0}, turned[TB_MAX_ROWS];
  memset(D, 0, (size_t)(rows * rows) * sizeof *D);
  memcpy(turned, u, (size_t)rows * sizeof *turned);
  tb_friction_turn(f, turned);
  for (int i = 0; i < rows; i++) z[i] = l->multipliers[at + i] - l->kappa[at + i] * turned[i];
  if (f->kind == TB_SET_NONE) {
    tb_friction_clamp_rows(p, k, z, lambda);
    for (int i = 0; i < rows; i++) D[i * rows + i] = lambda[i] == z[i] ? l->kappa[at + i] : 0;
    return;
  }
  lambda[0] = fmax(0, z[0]);
  D[0] = z[0] > 0 ? l->kappa[at] : 0;
  double asked = 0, given = 0;
  if (rows > 1) tb_friction_closest(f, lambda[0], z + 1, lambda + 1);
  for (int i = 1; i < rows; i++) asked += z[i] * z[i], given += lambda[i] * lambda[i];
  double share = asked > 0 ? sqrt(given / asked) : 1;
  for (int i = 1; i < rows && z[0] > 0; i++) D[i * rows + i] = share * l->kappa[at + i];
}

static void raise_multipliers(Loop* l)
{
  const tbProblem* p = l->d->relaxed->problem;
  double lambda[TB_MAX_ROWS], D[TB_MAX_ROWS * TB_MAX_ROWS];
  for (int k = 0; k < p->ncontact; k++) {
    int at = p->row_adr[k], rows = rows_of(p, k);
    augmented(l, k, l->d->u + at, lambda, D);
    for (int i = 0; i < rows; i++) {
      if (p->compliance[at + i] > 0) continue;
      l->multipliers[at + i] = lambda[i];
      if (D[i * rows + i] > 0) l->kappa[at + i] = fmin(GROWTH * l->kappa[at + i], l->top[at + i]);
    }
  }
}

// ---- passes ----

// A (v − v_free) on the degrees of freedom of a cell.
static void inertia_gradient(const Loop* l, int cell, double* g)
{
  const tbProblem* p = l->d->relaxed->problem;
  const tbCells* c = l->d->cells;
  const tbMetricBlock* m = &p->block[c->block[cell]];
  int size = tb_cell_size(c, cell), first = c->dof[cell];
  const double* v = l->d->v;
  for (int i = 0; i < size; i++) {
    g[i] = 0;
    int row = first - m->dof + i;
    if (m->kind != TB_METRIC_SPARSE)
      for (int j = 0; j < size; j++)
        g[i] += c->own[c->adr[cell] + i * size + j] * (v[first + j] - p->v_free[first + j]);
    else
      for (int e = m->ptr[row]; e < m->ptr[row + 1]; e++) {
        int dof = m->dof + m->col[e];
        g[i] += m->value[e] * (v[dof] - p->v_free[dof]);
      }
  }
}

// λ and D of a cell's contacts at the velocities as they are; their pushes taken from its gradient.
static void contact_gradient(const Loop* l, int cell, double* g)
{
  tbDescent* d = l->d;
  const tbRelaxed* r = d->relaxed;
  const tbProblem* p = r->problem;
  const tbCells* c = d->cells;
  int size = tb_cell_size(c, cell), first = c->dof[cell];
  for (int i = c->ptr[cell]; i < c->ptr[cell + 1]; i++) {
    int k = c->contact[i], col = c->col[i], at = p->row_adr[k], width = p->jac_width[col];
    double *lambda = d->lambda + at, *D = d->D + r->d_adr[k];
    if (l->multipliers) augmented(l, k, d->u + at, lambda, D);
    else tb_relaxed_contact(r, k, d->u + at, -1, lambda, D, NULL);
    const double* J = p->jac + p->jac_val_adr[col];
    for (int j = 0; j < width; j++) {
      int to = p->jac_dof[col] + j - first;
      if (to < 0 || to >= size) continue;
      for (int a = 0; a < rows_of(p, k); a++) g[to] -= J[a * width + j] * lambda[a];
    }
  }
}

static double visit(Loop* l, int cell)
{
  tbDescent* d = l->d;
  const tbProblem* p = d->relaxed->problem;
  const tbCells* c = d->cells;
  int size = tb_cell_size(c, cell), first = c->dof[cell];
  double* g = l->gradient;
  inertia_gradient(l, cell, g);
  contact_gradient(l, cell, g);
  tb_cell_curvature(d->relaxed, c, cell, d->D, l->H);
  if (tb_dense_cholesky(size, l->H, size) != size) return 0;
  tb_dense_cholesky_solve(size, l->H, size, g);
  double share = d->options.relaxation > 0 ? d->options.relaxation : 1;
  for (int i = 0; i < size; i++) {
    g[i] *= share;
    d->v[first + i] -= g[i];
  }
  double most = tb_relaxed_speed(d->relaxed, first, size, g);
  for (int i = c->ptr[cell]; i < c->ptr[cell + 1]; i++) {
    int k = c->contact[i], col = c->col[i], width = p->jac_width[col];
    const double* J = p->jac + p->jac_val_adr[col];
    double* u = d->u + p->row_adr[k];
    for (int j = 0; j < width; j++) {
      int from = p->jac_dof[col] + j - first;
      if (from < 0 || from >= size) continue;
      for (int a = 0; a < rows_of(p, k); a++) u[a] -= J[a * width + j] * g[from];
    }
  }
  return most;
}

tbStatus tb_coordinate_run(tbContext* ctx, tbArena* arena, tbDescent* d, double* multipliers)
{
  Loop l = {.d = d, .multipliers = multipliers};
  size_t widest = (size_t)d->cells->widest;
  l.H = TB_TAKE(arena, double, widest* widest), l.gradient = TB_TAKE(arena, double, widest);
  if (!l.H || !l.gradient) return TB_ERROR_MEMORY;
  TB_TRY(colour_cells(arena, &l));
  if (multipliers) TB_TRY(begin_multipliers(arena, &l));
  for (d->used = 0; d->used < d->iterations && !tb_is_late(d->deadline); d->used++) {
    TB_TRY(tb_check_interrupt(ctx));
    tb_relaxed_velocities(d->relaxed, ctx->threads, d->v, d->u); // afresh: roundings do not pile up
    double most = 0;
    for (int i = 0; i < d->cells->count; i++) most = fmax(most, visit(&l, l.order[i]));
    if (multipliers) raise_multipliers(&l);
    else if (!(most > d->still)) break;
  }
  l.multipliers = NULL; // the potentials settle where the multipliers have led
  for (int k = 0; multipliers && k < SETTLE && (k == 0 || !tb_is_late(d->deadline)); k++) {
    tb_relaxed_velocities(d->relaxed, ctx->threads, d->v, d->u);
    for (int i = 0; i < d->cells->count; i++) visit(&l, l.order[i]);
  }
  tb_descent_evaluate(d, ctx->threads);
  return TB_OK;
}
