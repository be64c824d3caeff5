// SPDX-License-Identifier: Apache-2.0
// Iterative constraint anticipation (Otaduy, Tamstorf, Steinemann and Gross 2009; course §4.3.6).
//
// A is split into a diagonal D and the rest. With w = v − v_free, a Jacobi step of A w = Jᵀλ anticipates
//
//   w⁺ = D⁻¹Jᵀλ + w − D⁻¹A w      so that       u = W_D λ + q + J (w − D⁻¹A w),    W_D = J D⁻¹ Jᵀ + R
//
// and λ solves the contact problem on W_D, which is as sparse as contacts share nodes: a few sweeps of exact
// contact solves (bgs.c). Then w takes a Gauss–Seidel step of A w = Jᵀλ, which is what lets elasticity carry
// the impulses on. D is the diagonal of sparse blocks, raised to half the row's sum of moduli where that is
// more: then no eigenvalue of D⁻¹A exceeds 2, and the splitting contracts. Small blocks are inverted as a
// whole; where there are no others W_D is W, and what is left is blocked Gauss–Seidel.
//
// Cost      SWEEPS sweeps, two products with A and two with J per iteration. W and A⁻¹ are never formed.
// Limits    linear convergence, slower the stiffer the bodies: the square of what Krylov methods need.
#include "problem/delassus.h"
#include "problem/metric.h"
#include "solve/cr_system.h"
#include "solve/gauss_seidel.h"
#include "solve/methods.h"

#include <string.h>

enum { SWEEPS = 4 };

typedef struct {
  tbCrSystem products;
  tbGaussSeidel sweeps;
  double *w, *Aw, *f; // v − v_free, A times that, Jᵀλ  (ndof)
  double* q;          // of the anticipated problem     (nrow)
  bool soft;          // there is a sparse block
} Ica;

static void layout(Ica* s, tbScratch* scratch, const tbDelassus* W)
{
  size_t dofs = (size_t)W->problem->ndof;
  tb_cr_system_layout(&s->products, scratch, W);
  tb_gauss_seidel_layout(&s->sweeps, scratch, W);
  s->w = TB_SCRATCH(scratch, double, dofs);
  s->Aw = TB_SCRATCH(scratch, double, dofs);
  s->f = TB_SCRATCH(scratch, double, dofs);
  s->q = TB_SCRATCH(scratch, double, (size_t)W->problem->nrow);
}

size_t tb_ica_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Ica){0}, &counting, W);
  return counting.used;
}

// q = J (v_free + w − D⁻¹A w) + b; small blocks have w = D⁻¹A w.
static void anticipate(Ica* s, const tbRun* run)
{
  const tbProblem* p = run->p;
  const tbDelassus* W = run->W;
  memcpy(s->q, W->q, (size_t)p->nrow * sizeof *s->q);
  if (!s->soft) return;
  tb_cr_multiply_metric(&s->products, s->w, s->Aw);
  for (int i = 0; i < p->ndof; i++) {
    bool sparse = p->block[p->dof_block[i]].kind == TB_METRIC_SPARSE;
    s->Aw[i] = sparse ? s->w[i] - s->Aw[i] / W->lumped[i] : 0;
  }
  tb_cr_spread(&s->products, s->Aw, s->q);
  for (int i = 0; i < p->nrow; i++) s->q[i] += W->q[i];
}

// A Gauss–Seidel step of A w = Jᵀλ on the sparse blocks.
static void relax(Ica* s, const tbRun* run, const double* lambda)
{
  const tbProblem* p = run->p;
  if (!s->soft) return;
  memset(s->f, 0, (size_t)p->ndof * sizeof *s->f);
  tb_cr_gather(&s->products, lambda, s->f);
  for (int k = 0; k < p->nblock; k++) {
    const tbMetricBlock* b = &p->block[k];
    double* w = s->w + b->dof;
    for (int i = 0; b->kind == TB_METRIC_SPARSE && i < b->size; i++) {
      double sum = s->f[b->dof + i], diagonal = 0;
      for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) {
        if (b->col[e] == i) diagonal = b->value[e];
        else sum -= b->value[e] * w[b->col[e]];
      }
      w[i] = sum / diagonal;
    }
  }
}

void tb_ica(tbRun* run, double* lambda)
{
  Ica s = {0};
  layout(&s, &run->scratch, run->W);
  tb_cr_system_begin(&s.products, run);
  s.soft = run->W->lumped;
  tb_cr_approach(&s.products, lambda, run->w_guess, s.w);

  tbDelassus W = *run->W; // with a q of its own
  tbRun inner = *run;
  W.q = s.q;
  inner.W = &W;
  tb_gauss_seidel_by_contacts(&s.sweeps, &inner, run->o->order, lambda);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    anticipate(&s, run);
    for (int i = 0; i < SWEEPS; i++) tb_sweep(&s.sweeps.sweep);
    relax(&s, run, lambda);
  }
}
