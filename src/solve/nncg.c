// SPDX-License-Identifier: Apache-2.0
// Nonsmooth nonlinear conjugate gradients (Silcowitz, Niebe and Erleben 2010; course §3.2.7).
//
// One Gauss–Seidel sweep S serves as a gradient: ∇f = λ − S(λ). Fletcher–Reeves without a line search:
//
//   β = ‖∇f‖² / ‖∇f_before‖²
//   β ≤ 1:   λ ← S(λ) + β p,   p ← β p − ∇f
//   β > 1:   λ ← S(λ),         p ← 0            the direction has gone stale: start over
//
// with norms weighted by the diagonal of W, which makes rows of different units comparable. What is judged is
// always the outcome of a sweep, so that it satisfies the bounds; the conjugate step follows it. Sweeps go
// row by row: sweeps of exact contact solves need as many iterations and each costs more. Only the associated
// model, which rows cannot solve, sweeps by contacts.
//
// Where the sweep keeps w = A⁻¹Jᵀλ, w is combined as λ is: it is linear in λ.
//
// Cost      one sweep and two vector updates per iteration.
// Limits    no proof of convergence. In practice a fifth to a half of the sweeps of pgs, less on hard
// problems.
#include "solve/gauss_seidel.h"
#include "solve/methods.h"

#include <math.h>
#include <string.h>

// A vector that moves: the point a sweep starts from and the search direction.
typedef struct {
  size_t size;
  double *start, *direction;
} Mover;

typedef struct {
  tbGaussSeidel sweeps;
  Mover lambda, w;
  double* weight; // diagonal of W (nrow)
} Nncg;

static void layout(Nncg* g, tbScratch* s, const tbDelassus* W)
{
  g->lambda.size = (size_t)W->problem->nrow;
  g->w.size = tb_sweep_bodies(W);
  tb_gauss_seidel_layout(&g->sweeps, s, W);
  g->weight = TB_SCRATCH(s, double, g->lambda.size);
  for (int i = 0; i < 2; i++) {
    Mover* m = i == 0 ? &g->lambda : &g->w;
    m->start = TB_SCRATCH(s, double, m->size);
    m->direction = TB_SCRATCH(s, double, m->size);
  }
}

size_t tb_nncg_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Nncg){0}, &counting, W);
  return counting.used;
}

static void begin(Mover* m, const double* x)
{
  memcpy(m->start, x, m->size * sizeof *x);
  memset(m->direction, 0, m->size * sizeof *x);
}

// After a sweep has taken start to x.
static void turn(Mover* m, const double* x, double beta)
{
  for (size_t i = 0; i < m->size; i++) {
    double p = m->direction[i], d = x[i] - m->start[i];
    m->start[i] = x[i] + beta * p;
    m->direction[i] = beta * p + d;
  }
}

static double change(const Nncg* g, const double* lambda)
{
  double sum = 0;
  for (size_t i = 0; i < g->lambda.size; i++) {
    double d = lambda[i] - g->lambda.start[i];
    sum += g->weight[i] * d * d;
  }
  return sum;
}

void tb_nncg(tbRun* run, double* lambda)
{
  Nncg g = {0};
  layout(&g, &run->scratch, run->W);
  if (run->o->model == TB_MODEL_CCP) tb_gauss_seidel_by_contacts(&g.sweeps, run, run->o->order, lambda);
  else
    tb_gauss_seidel_by_rows(&g.sweeps, run, run->o->relaxation > 0 ? run->o->relaxation : 1, run->o->order,
                            lambda);
  for (int k = 0; k < run->p->ncontact; k++)
    for (int i = 0, rows = tb_rows(run->p, k); i < rows; i++)
      g.weight[run->p->row_adr[k] + i] = run->W->diag[run->W->diag_adr[k] + (size_t)(i * rows + i)];

  double *w = g.sweeps.sweep.w, before = 0;
  begin(&g.lambda, lambda);
  begin(&g.w, w);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    memcpy(lambda, g.lambda.start, g.lambda.size * sizeof *lambda);
    memcpy(w, g.w.start, g.w.size * sizeof *w);
    tb_sweep(&g.sweeps.sweep);

    run->operations += 8.0 * (double)g.lambda.size + 4.0 * (double)g.w.size; // of `change` and `turn`
    double now = change(&g, lambda), beta = now / before;
    before = now;
    if (beta <= 1) {
      turn(&g.lambda, lambda, beta);
      turn(&g.w, w, beta);
    } else {
      begin(&g.lambda, lambda);
      begin(&g.w, w);
    }
  }
}
