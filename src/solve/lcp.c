// SPDX-License-Identifier: Apache-2.0
#include "solve/lcp.h"
#include "solve/friction.h"
#include "tribo/math.h"

#include <string.h>

// With var null the variables are only counted.
static int add(tbLcp* lcp, tbLcpVariable v)
{
  if (lcp->var) lcp->var[lcp->n] = v;
  return lcp->n++;
}

static int add_slack(tbLcp* lcp, int normal, double constant)
{
  return add(lcp, (tbLcpVariable){.row = {-1, -1}, .slack = -1, .normal = normal, .constant = constant});
}

static tbLcpVariable along(int row, double coef, int slack)
{
  return (tbLcpVariable){.row = {row, -1}, .coef = {coef, 0}, .slack = slack, .normal = -1};
}

static void add_bounded_row(tbLcp* lcp, int row, double lo, double hi)
{
  bool below = isfinite(lo), above = isfinite(hi);
  if (lcp->var) lcp->offset[row] = below ? lo : above ? hi : 0;
  if (below && above && hi <= lo) return; // held
  int slack = below && above ? add_slack(lcp, -1, hi - lo) : -1;
  tbLcpVariable v = along(row, below || !above ? 1 : -1, slack);
  v.free = !below && !above;
  add(lcp, v);
}

static void add_polygon(tbLcp* lcp, int normal, int row, const tbFrictionSet* f)
{
  if (!(f->par[0] > 0)) return;
  double corner[TB_MAX_DIRECTIONS][2];
  int slack = add_slack(lcp, normal, 0), corners = tb_friction_corners(f, corner);
  for (int i = 0; i < corners; i++)
    add(lcp, (tbLcpVariable){
                 .row = {row, row + 1}, .coef = {corner[i][0], corner[i][1]}, .slack = slack, .normal = -1});
}

static void add_interval(tbLcp* lcp, int normal, int row, double lo, double hi)
{
  if (!(hi > lo)) return;
  int slack = add_slack(lcp, normal, 0);
  if (hi > 0) add(lcp, along(row, hi, slack));
  if (lo < 0) add(lcp, along(row, lo, slack));
}

static void add_contact(tbLcp* lcp, const tbProblem* p, const tbSolveOptions* o, int k)
{
  tbFrictionSet f;
  tb_friction_make(p, k, o->model, o->directions, &f);
  int row = p->row_adr[k], rows = tb_rows(p, k);
  const double* param = p->param + p->param_adr[k];
  if (f.kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++) {
      double lo = p->law[k] == TB_LAW_BILATERAL ? -INFINITY : p->law[k] == TB_LAW_NONNEG ? 0 : param[i];
      add_bounded_row(lcp, row + i, lo, p->law[k] == TB_LAW_BOX ? param[rows + i] : INFINITY);
    }
    return;
  }
  int normal = add(lcp, along(row, 1, -1));
  if (f.kind == TB_SET_POLYGON) add_polygon(lcp, normal, row + 1, &f);
  if (f.kind == TB_SET_BALL) add_interval(lcp, normal, row + 1, -f.par[0], f.par[0]); // in two dimensions
  if (f.kind == TB_SET_BOX)
    for (int i = 0; i < f.dim; i++) add_interval(lcp, normal, row + 1 + i, f.par[2 * i], f.par[2 * i + 1]);
}

int tb_lcp_size(const tbProblem* p, const tbSolveOptions* o)
{
  tbLcp counting = {0};
  for (int k = 0; k < p->ncontact; k++) add_contact(&counting, p, o, k);
  return counting.n;
}

void tb_lcp_layout(tbLcp* lcp, tbScratch* s, const tbDelassus* W, const tbSolveOptions* o)
{
  size_t rows = (size_t)W->problem->nrow;
  lcp->W = W;
  lcp->n = tb_lcp_size(W->problem, o);
  lcp->var = TB_SCRATCH(s, tbLcpVariable, (size_t)lcp->n);
  lcp->offset = TB_SCRATCH(s, double, rows);
  lcp->drift = TB_SCRATCH(s, double, rows);
  lcp->product = TB_SCRATCH(s, double, rows);
}

void tb_lcp_build(tbLcp* lcp, const tbSolveOptions* o)
{
  const tbProblem* p = lcp->W->problem;
  int rows = p->nrow;
  memset(lcp->offset, 0, (size_t)rows * sizeof *lcp->offset);
  lcp->n = 0;
  for (int k = 0; k < p->ncontact; k++) add_contact(lcp, p, o, k);
  for (int i = 0; i < rows; i++) {
    const double* W = lcp->W->dense + (size_t)i * (size_t)rows;
    lcp->drift[i] = lcp->W->q[i];
    for (int j = 0; j < rows; j++) lcp->drift[i] += W[j] * lcp->offset[j];
  }
}

double tb_lcp_constant(const tbLcp* lcp, int i)
{
  const tbLcpVariable* v = &lcp->var[i];
  double r = v->constant;
  for (int a = 0; a < 2 && v->row[a] >= 0; a++) r += v->coef[a] * lcp->drift[v->row[a]];
  return r;
}

void tb_lcp_matrix_row(tbLcp* lcp, int i, double* M)
{
  const tbLcpVariable* v = &lcp->var[i];
  int rows = lcp->W->problem->nrow;
  double* g = lcp->product; // row i of Pᵀ W
  memset(g, 0, (size_t)rows * sizeof *g);
  for (int a = 0; a < 2 && v->row[a] >= 0; a++) {
    const double* W = lcp->W->dense + (size_t)v->row[a] * (size_t)rows;
    for (int r = 0; r < rows; r++) g[r] += v->coef[a] * W[r];
  }
  for (int j = 0; j < lcp->n; j++) {
    const tbLcpVariable* x = &lcp->var[j];
    M[j] = x->slack == i ? -1 : 0;
    for (int b = 0; b < 2 && x->row[b] >= 0; b++) M[j] += x->coef[b] * g[x->row[b]];
  }
  if (v->slack >= 0) M[v->slack] += 1;
  if (v->normal >= 0) M[v->normal] += 1;
}

void tb_lcp_impulse(const tbLcp* lcp, const double* z, double* lambda)
{
  memcpy(lambda, lcp->offset, (size_t)lcp->W->problem->nrow * sizeof *lambda);
  for (int j = 0; j < lcp->n; j++)
    for (int a = 0; a < 2 && lcp->var[j].row[a] >= 0; a++)
      lambda[lcp->var[j].row[a]] += lcp->var[j].coef[a] * z[j];
}
