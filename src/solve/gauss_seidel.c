// SPDX-License-Identifier: Apache-2.0
#include "solve/gauss_seidel.h"

#include <math.h>

void tb_gauss_seidel_layout(tbGaussSeidel* g, tbScratch* s, const tbDelassus* W)
{
  g->friction = TB_SCRATCH(s, tbFrictionSet, (size_t)W->problem->ncontact);
  g->local = TB_SCRATCH(s, tbLocal, (size_t)W->problem->ncontact);
  g->row = TB_SCRATCH(s, tbRoundRows, (size_t)W->problem->ncontact);
  tb_sweep_layout(&g->sweep, s, W);
}

// λ_i ← clamp(λ_i − ω u_i / D_ii, lo, hi), and what that does to the velocities of the contact's own rows.
static void move_row(int rows, const double* D, int i, double omega, double lo, double hi, double* u,
                     double* lambda)
{
  double step = D[i * rows + i] > 0 ? omega * u[i] / D[i * rows + i] : 0;
  double next = fmin(fmax(lambda[i] - step, lo), hi), d = next - lambda[i];
  lambda[i] = next;
  for (int r = 0; r < rows; r++) u[r] += D[r * rows + i] * d;
}

static void move_friction_rows(int rows, const double* D, const tbFrictionSet* f, double omega,
                               const double* u, double* lambda)
{
  double size = 0, z[TB_MAX_ROWS];
  for (int i = 1; i < rows; i++) {
    double sum = 0;
    for (int j = 1; j < rows; j++) sum += fabs(D[i * rows + j]);
    size = fmax(size, sum);
  }
  for (int i = 1; i < rows; i++) z[i - 1] = lambda[i] - (size > 0 ? omega * u[i] / size : 0);
  tb_friction_closest(f, lambda[0], z, lambda + 1);
}

static void update_rows(void* user, int k, const double* at, double* lambda)
{
  tbGaussSeidel* g = user;
  const tbProblem* p = g->run->p;
  int rows = tb_rows(p, k);
  const double *D = g->run->W->diag + g->run->W->diag_adr[k], *param = p->param + p->param_adr[k];
  const tbFrictionSet* f = &g->friction[k];
  double u[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) u[i] = at[i];

  if (f->kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++) {
      double lo = p->law[k] == TB_LAW_BILATERAL ? -INFINITY : p->law[k] == TB_LAW_NONNEG ? 0 : param[i];
      double hi = p->law[k] == TB_LAW_BOX ? param[rows + i] : INFINITY;
      move_row(rows, D, i, g->omega, lo, hi, u, lambda);
    }
    return;
  }
  move_row(rows, D, 0, g->omega, 0, INFINITY, u, lambda);
  tb_friction_turn(f, u);
  if (f->kind == TB_SET_BOX)
    for (int i = 1; i < rows; i++)
      move_row(rows, D, i, g->omega, lambda[0] * f->par[2 * i - 2], lambda[0] * f->par[2 * i - 1], u, lambda);
  else move_friction_rows(rows, D, f, g->omega, u, lambda);
}

static void update_contact(void* user, int k, const double* u, double* lambda)
{
  tb_local_solve(&((tbGaussSeidel*)user)->local[k], u, lambda);
}

static void begin(tbGaussSeidel* g, tbRun* run, tbOrder order, double* lambda,
                  void (*update)(void*, int, const double*, double*))
{
  g->run = run;
  for (int k = 0; k < run->p->ncontact; k++)
    tb_friction_make(run->p, k, run->o->model, run->o->directions, &g->friction[k]);
  g->sweep.update = update;
  g->sweep.user = g;
  tb_sweep_begin(&g->sweep, run, order, lambda);
  if (order == TB_ORDER_GREEDY) return; // which wants to know how far each contact moves
  g->sweep.round = (tbRoundSweep){.rows = tb_round_rows(run->W, run->o->model),
                                  .W = run->W,
                                  .lambda = lambda,
                                  .otherwise = update,
                                  .user = g};
}

int tb_round_rows(const tbDelassus* W, tbModel model)
{
  const tbProblem* p = W->problem;
  int rows = p->ncontact ? tb_rows(p, 0) : 0;
  if (!(W->forms & TB_FORM_BLOCKS) || model != TB_MODEL_CONE || (rows != 2 && rows != 3)) return 0;
  for (int k = 0; k < p->ncontact; k++)
    if (p->law[k] != TB_LAW_COULOMB || p->row_adr[k] != rows * k) return 0;
  return p->nrow == rows * p->ncontact ? rows : 0;
}

// What move_row() and move_friction_rows() divide by.
static void prepare_rows(tbGaussSeidel* g, int rows)
{
  const tbDelassus* W = g->run->W;
  for (int k = 0; k < g->run->p->ncontact; k++) {
    const double* D = W->diag + W->diag_adr[k];
    double size = 0;
    for (int i = 1; i < rows; i++) {
      double sum = 0;
      for (int j = 1; j < rows; j++) sum += fabs(D[i * rows + j]);
      size = sum > size ? sum : size;
    }
    g->row[k] = (tbRoundRows){.normal = D[0] > 0 ? g->omega / D[0] : 0,
                              .friction = size > 0 ? g->omega / size : 0,
                              .mu = g->friction[k].par[0]};
  }
  g->sweep.round.row = g->row;
}

void tb_gauss_seidel_by_rows(tbGaussSeidel* g, tbRun* run, double omega, tbOrder order, double* lambda)
{
  g->omega = omega;
  begin(g, run, order, lambda, update_rows);
  if (g->sweep.round.rows) prepare_rows(g, g->sweep.round.rows);
}

void tb_gauss_seidel_by_contacts(tbGaussSeidel* g, tbRun* run, tbOrder order, double* lambda)
{
  begin(g, run, order, lambda, update_contact);
  for (int k = 0; k < run->p->ncontact; k++)
    tb_local_prepare(run->p, k, &g->friction[k], run->W->diag + run->W->diag_adr[k], &g->local[k]);
  g->sweep.round.local = g->local;
}
