// SPDX-License-Identifier: Apache-2.0
// `auto` on problems with sparse metric blocks: which method goes first.
//
// Through a sparse block W is dense, and every column of it is a solve with A; `cr` needs a product with A
// per iteration. It therefore goes first where contacts are mostly on such blocks. But sweeps and conjugate
// residuals converge slowly on soft bodies, whose W is ill conditioned, where `prox-newton` takes ten or
// twenty steps: so it has its turn after a quarter of what W and Newton cost. Where contacts are many Newton
// goes by velocities instead and needs no W (newton_core.h). Where W costs too much, or does not fit, it
// never has its turn: `ica` and `cr` go on from the best so far. A rigid body on many nodes couples all of
// their contacts in the matrix that `cr` factors at every change of states: it is left out where that takes
// a good part of what Newton does.
#include "math/cholesky.h"
#include "problem/delassus.h"
#include "solve/auto.h"
#include "solve/methods.h"

#include <math.h>

static const double MOST_WORK = 2e11; // multiply-adds for W: a minute or so
static const double MOST_WORTH = 1e6; // iterations
static const double DIAGONAL =
    0.5; // of the work for W: its diagonal blocks take the first half of each solve
static const double SCHUR_WORTH = 0.25; // of Newton's work: the most that one factor of `cr` may take

static bool is_sparse(const tbProblem* p, int c)
{
  return p->block[p->dof_block[p->jac_dof[c]]].kind == TB_METRIC_SPARSE;
}

// A column of A⁻¹: both triangular solves, over the part of L that is reached and with many columns at a
// time, which takes about an eighth of the time that as many operations of a product take; or conjugate
// gradients.
static double work_per_column(const tbMetricBlock* b)
{
  return b->factor ? 0.25 * (double)tb_cholesky_stats(b->factor).entries : 60.0 * b->ptr[b->size];
}

// Multiply-adds of the factor of J D⁻¹Jᵀ, dense over each body that is not sparse, at the pace of products.
static tbStatus schur_work(tbContext* ctx, const tbProblem* p, double* out)
{
  double* rows = TB_NEW(ctx, double, (size_t)p->nblock);
  if (!rows) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      if (!is_sparse(p, c)) rows[p->dof_block[p->jac_dof[c]]] += tb_rows(p, k);
  *out = 0;
  for (int b = 0; b < p->nblock; b++) *out += rows[b] * rows[b] * rows[b] / 3 / 4;
  tb_free(ctx, rows);
  return TB_OK;
}

tbStatus tb_auto_soft(tbContext* ctx, const tbRun* run, tbAutoSoft* out)
{
  const tbProblem* p = run->p;
  double schur;
  double work = 0, step = 0, flops = 0, entries = 0, bytes,
         most = run->o->factor_bytes > 0 ? run->o->factor_bytes : TB_FACTOR_BYTES;
  int on_sparse = 0;
  *out = (tbAutoSoft){0};
  for (int b = 0; b < p->nblock; b++) {
    bool sparse = p->block[b].kind == TB_METRIC_SPARSE;
    out->soft = out->soft || sparse;
    if (sparse && p->block[b].factor) {
      tbCholeskyStats stats = tb_cholesky_stats(p->block[b].factor);
      flops += stats.flops, entries += (double)stats.entries;
    }
    step += sparse ? p->block[b].ptr[p->block[b].size] + 20.0 * p->block[b].size : 60.0 * p->block[b].size;
  }
  out->soft = out->soft && run->o->inverse == TB_INVERSE_EXACT;
  if (!out->soft) return TB_OK;
  for (int k = 0; k < p->ncontact; k++) {
    bool soft = false;
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      double values = (double)(p->jac_val_adr[c + 1] - p->jac_val_adr[c]);
      bool first = c == p->jac_adr[k] || p->dof_block[p->jac_dof[c]] != p->dof_block[p->jac_dof[c - 1]];
      soft = soft || is_sparse(p, c);
      step += 4 * values;
      if (first && is_sparse(p, c))
        work += tb_rows(p, k) * work_per_column(&p->block[p->dof_block[p->jac_dof[c]]]);
    }
    on_sparse += soft;
  }
  TB_TRY(tb_delassus_bytes(ctx, p, &bytes));
  bool by_velocity = tb_newton_by_velocity(p, run->o);
  out->W_too_large = !by_velocity && (work > MOST_WORK || bytes > most);
  out->soft = 2 * on_sparse >= p->ncontact || out->W_too_large;
  // Newton's systems in contact space are dense and have a third of the rows or so; in velocity space they
  // take about twice the factor of A. Their operations run four times as fast.
  double rows = p->nrow, newton = 12 * (rows * rows * rows / 3 / 9 / 4 + rows * rows);
  if (by_velocity) work *= DIAGONAL, newton = 12 * (2 * flops / 4 + 8 * entries + 500 * rows);
  TB_TRY(schur_work(ctx, p, &schur));
  out->worth = schur > SCHUR_WORTH * (work + newton) ? 0 : (int)fmin(MOST_WORTH, (work + newton) / step);
  return TB_OK;
}
