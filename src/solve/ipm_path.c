// SPDX-License-Identifier: Apache-2.0
// The central path: predictor, corrector, and steps that stay near it. The equations are in ipm.c.
#include "math/scale.h"
#include "solve/ipm.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double CENTRED = 0.1;          // least eigenvalue over the mean that a step may leave
static const double LAG = 0.3;              // of the gap behind what the dynamics misses
static const double REGULARISATION = 1e-13; // of the factored diagonal; refinement takes it out again

enum { REFINEMENTS = 2 };

static bool on_path(const tbIpm* s, const tbIpmCone* c) { return s->island[c->island].state == TB_IPM_PATH; }

// D W D + (I − φ′) S⁻²
static void factor(tbIpm* s)
{
  const tbProblem* p = s->run->p;
  tb_ipm_scaled_matrix(s, REGULARISATION);
  for (int c = 0; c < s->cones; c++) {
    tbIpmCone* cone = &s->cone[c];
    if (!on_path(s, cone)) continue;
    int size = cone->size, rows = tb_rows(p, cone->contact), at = cone->row - p->row_adr[cone->contact];
    double *block = tb_ipm_diagonal(s, cone->contact), H[TB_SOC_MAX * TB_SOC_MAX], g[TB_SOC_MAX];
    tb_soc_scaling(size, s->x + cone->row, s->z + cone->row, &cone->scaling);
    tb_soc_scale(size, &cone->scaling, s->z + cone->row, s->v + cone->row);
    tb_soc_hessian(size, &cone->scaling, H);
    tb_ipm_lift(s, cone, g);
    for (int j = 0; j < size; j++)
      for (int i = 1; i < size; i++) H[j] -= g[i - 1] * H[i * size + j];
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) block[(at + i) * rows + at + j] += H[i * size + j];
  }
  tb_lu_factor(s->prepared->lu, s->run->threads, s->run->W->val_adr, s->values, s->active, DBL_MIN);
}

// residual = rhs − [D W D + (I − φ′) S⁻²] dx, on active rows
static void find_residual(tbIpm* s)
{
  double* residual = s->residual;
  tb_ipm_multiply(s, s->dx, residual);
  for (int i = 0; i < s->n; i++) residual[i] = s->active[i] ? s->rhs[i] - residual[i] : 0;
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    if (!on_path(s, cone)) continue;
    double t[TB_SOC_MAX], g[TB_SOC_MAX];
    tb_soc_unscale(cone->size, &cone->scaling, s->dx + cone->row, t);
    tb_soc_unscale(cone->size, &cone->scaling, t, t);
    tb_ipm_lift(s, cone, g);
    for (int i = 1; i < cone->size; i++) t[0] -= g[i - 1] * t[i];
    for (int i = 0; i < cone->size; i++) residual[cone->row + i] -= t[i];
  }
}

// The direction for the centring and correction that every island has chosen.
static void find_direction(tbIpm* s)
{
  for (int i = 0; i < s->n; i++) s->rhs[i] = s->active[i] ? -s->r[i] : 0;
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    const tbIpmIsland* land = &s->island[cone->island];
    if (!on_path(s, cone)) continue;
    int row = cone->row, size = cone->size;
    double a[TB_SOC_MAX], b[TB_SOC_MAX], t[TB_SOC_MAX], g[TB_SOC_MAX];
    tb_soc_product(size, s->v + row, s->v + row, t);
    for (int i = 0; i < size; i++) t[i] = -t[i];
    t[0] += land->sigma * land->gap * cone->weight;
    if (land->correction > 0) {
      tb_soc_unscale(size, &cone->scaling, s->dx + row, a);
      tb_soc_scale(size, &cone->scaling, s->dz + row, b);
      tb_soc_product(size, a, b, a);
      for (int i = 0; i < size; i++) t[i] -= land->correction * a[i];
    }
    tb_soc_divide(size, s->v + row, t, t);
    tb_soc_unscale(size, &cone->scaling, t, s->d + row);
    tb_ipm_lift(s, cone, g);
    for (int i = 0; i < size; i++) s->rhs[row + i] += s->d[row + i];
    for (int i = 1; i < size; i++) s->rhs[row] -= g[i - 1] * s->d[row + i];
  }
  memcpy(s->dx, s->rhs, (size_t)s->n * sizeof *s->dx);
  tb_lu_solve(s->prepared->lu, s->dx);
  for (int i = 0; i < REFINEMENTS; i++) {
    find_residual(s);
    tb_lu_solve(s->prepared->lu, s->residual);
    for (int j = 0; j < s->n; j++) s->dx[j] += s->residual[j];
  }
  for (int c = 0; c < s->cones; c++) { // dz = d − S⁻² dx
    const tbIpmCone* cone = &s->cone[c];
    if (!on_path(s, cone)) continue;
    double t[TB_SOC_MAX];
    tb_soc_unscale(cone->size, &cone->scaling, s->dx + cone->row, t);
    tb_soc_unscale(cone->size, &cone->scaling, t, t);
    for (int i = 0; i < cone->size; i++) s->dz[cone->row + i] = s->d[cone->row + i] - t[i];
  }
}

// The longest step of each island inside its cones.
static void find_lengths(tbIpm* s)
{
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].alpha = INFINITY;
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    double* alpha = &s->island[cone->island].alpha;
    if (!on_path(s, cone)) continue;
    *alpha = fmin(*alpha, tb_soc_step(cone->size, s->x + cone->row, s->dx + cone->row));
    *alpha = fmin(*alpha, tb_soc_step(cone->size, s->z + cone->row, s->dz + cone->row));
  }
}

// After the step: the gap of each island, and its least eigenvalue over the weight.
static void look_ahead(const tbIpm* s, double* gap, double* least)
{
  for (int i = 0; i < s->prepared->islands; i++) gap[i] = 0, least[i] = INFINITY;
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    const tbIpmIsland* land = &s->island[cone->island];
    if (!on_path(s, cone)) continue;
    double x[TB_SOC_MAX], z[TB_SOC_MAX];
    for (int i = 0; i < cone->size; i++) {
      x[i] = s->x[cone->row + i] + land->alpha * s->dx[cone->row + i];
      z[i] = s->z[cone->row + i] + land->alpha * s->dz[cone->row + i];
      gap[cone->island] += x[i] * z[i] / (land->cones * cone->weight);
    }
    least[cone->island] = fmin(least[cone->island], tb_soc_least(cone->size, x, z) / cone->weight);
  }
}

// Mehrotra's choice, where the predictor got anywhere; else back towards the central path.
static void choose_centring(tbIpm* s)
{
  double *gap = s->trial, *least = s->residual;
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].alpha = fmin(1, s->island[i].alpha);
  look_ahead(s, gap, least);
  for (int i = 0; i < s->prepared->islands; i++) {
    tbIpmIsland* land = &s->island[i];
    double ratio = land->gap > 0 ? fmin(1, fmax(0, gap[i] / land->gap)) : 0;
    land->sigma = ratio * ratio * ratio;
    land->correction = land->alpha >= 0.5 ? 1 : land->alpha * land->alpha;
    if (land->alpha < 0.1) land->correction = 0, land->sigma = fmax(land->sigma, 0.5);
    // The gap must not run ahead of what the dynamics still misses, or the cones block every step that mends
    // it.
    if (land->gap > 0)
      land->sigma = fmax(land->sigma, fmin(1, LAG * (1 - land->alpha) * land->missed / land->gap));
  }
}

// Short of the boundary, then shorter until no cone is left far behind the others.
static void shorten(tbIpm* s)
{
  static const double back[] = {0.98, 0.96, 0.92, 0.84, 0.68, 0.36, 0.18, 0.09, 0.045, 0.02, 0.01, 0.005};
  double *gap = s->trial, *least = s->residual;
  for (int i = 0; i < s->prepared->islands; i++) {
    tbIpmIsland* land = &s->island[i];
    land->longest = fmin(1, land->alpha);
    land->alpha = fmin(1, fmax(0.99, 1 - land->gap) * land->alpha);
  }
  for (size_t tries = 0; tries < sizeof back / sizeof *back; tries++) {
    look_ahead(s, gap, least);
    bool centred = true;
    for (int i = 0; i < s->prepared->islands; i++)
      if (least[i] < CENTRED * gap[i]) {
        s->island[i].alpha = back[tries] * s->island[i].longest;
        centred = false;
      }
    if (centred) break;
  }
}

static void move(tbIpm* s)
{
  const tbProblem* p = s->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    const tbIpmIsland* land = &s->island[s->prepared->island[k]];
    for (int i = p->row_adr[k]; land->state == TB_IPM_PATH && i < p->row_adr[k + 1]; i++) {
      s->x[i] += land->alpha * s->dx[i];
      if (p->law[k] != TB_LAW_BILATERAL) s->z[i] += land->alpha * s->dz[i];
    }
  }
}

void tb_ipm_follow(tbIpm* s)
{
  factor(s);
  if (tb_run_stops(s->run)) return; // and the factor may be half done
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].sigma = s->island[i].correction = 0;
  find_direction(s); // the predictor
  find_lengths(s);
  choose_centring(s);
  find_direction(s);
  find_lengths(s);
  shorten(s);
  move(s);
}
