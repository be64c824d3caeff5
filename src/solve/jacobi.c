// SPDX-License-Identifier: Apache-2.0
// Projected Jacobi (course §3.2.1).
//
// All contacts move at once, each from the same λ:
//
//   λ_n ← max(0, λ_n − ω u_n / s_n),    λ_F ← P_{λ_n F}(λ_F − ω u_F / s_F)
//
// with s_i = Σ_j |W_ij| over the whole row instead of W_ii: the ℓ₁ scaling bounds the spectral radius of D⁻¹W
// by one, so the iteration needs no tuned damping. Friction rows of a contact share the largest of their s,
// so that the projection is the Euclidean one and keeps the direction of sliding.
//
// Cost      one product with W per iteration, all of it parallel.
// Limits    the slowest of all; kept for comparison and for machines with very many cores. It may diverge
//           where W is far from symmetric: the run then ends as failed, with the best iterate (run.c).
#include "base/threads.h"
#include "solve/friction.h"
#include "solve/methods.h"
#include "solve/run.h"

#include <math.h>

typedef struct {
  tbRun* run;
  double omega;
  double *u, *lambda;
  double* step; // 1 / s_i; 0 where a row of W is empty
  tbFrictionSet* friction;
  double* workspace;
} Jacobi;

enum { CONTACTS_PER_PIECE = 256 };

static void layout(Jacobi* j, tbScratch* s, const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  j->u = TB_SCRATCH(s, double, (size_t)p->nrow);
  j->step = TB_SCRATCH(s, double, (size_t)p->nrow);
  j->friction = TB_SCRATCH(s, tbFrictionSet, (size_t)p->ncontact);
  j->workspace = TB_SCRATCH(s, double, tb_delassus_workspace(W));
}

size_t tb_jacobi_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Jacobi){0}, &counting, W);
  return counting.used;
}

static void row_sums(const Jacobi* j, int k)
{
  const tbDelassus* W = j->run->W;
  const int* row = j->run->p->row_adr;
  int rows = tb_rows(j->run->p, k);
  double sum[TB_MAX_ROWS] = {0}, friction = 0;
  for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
    int cols = row[W->col[e] + 1] - row[W->col[e]];
    for (int i = 0; i < rows; i++)
      for (int c = 0; c < cols; c++) sum[i] += fabs(W->val[W->val_adr[e] + (size_t)(i * cols + c)]);
  }
  for (int i = 1; i < rows; i++) friction = fmax(friction, sum[i]);
  for (int i = 0; i < rows; i++) {
    double s = i > 0 && j->friction[k].kind != TB_SET_NONE ? friction : sum[i];
    j->step[row[k] + i] = s > 0 ? j->omega / s : 0;
  }
}

static void move(void* user, int begin, int end, int piece)
{
  (void)piece;
  Jacobi* j = user;
  const tbProblem* p = j->run->p;
  for (int k = begin; k < end; k++) {
    int first = p->row_adr[k], rows = tb_rows(p, k);
    const tbFrictionSet* f = &j->friction[k];
    double u[TB_MAX_ROWS], z[TB_MAX_ROWS], *lambda = j->lambda + first;
    for (int i = 0; i < rows; i++) u[i] = j->u[first + i] + j->run->W->q[first + i];
    tb_friction_turn(f, u);
    for (int i = 0; i < rows; i++) z[i] = lambda[i] - j->step[first + i] * u[i];
    if (f->kind == TB_SET_NONE) {
      tb_friction_clamp_rows(p, k, z, lambda);
    } else {
      lambda[0] = fmax(0, z[0]);
      tb_friction_closest(f, lambda[0], z + 1, lambda + 1);
    }
  }
}

void tb_jacobi(tbRun* run, double* lambda)
{
  const tbProblem* p = run->p;
  Jacobi j = {.run = run, .lambda = lambda, .omega = run->o->relaxation > 0 ? run->o->relaxation : 1};
  layout(&j, &run->scratch, run->W);
  for (int k = 0; k < p->ncontact; k++) {
    tb_friction_make(p, k, run->o->model, run->o->directions, &j.friction[k]);
    row_sums(&j, k);
  }
  for (int iteration = 0; !tb_run_done(run, iteration, lambda); iteration++) {
    tb_delassus_apply(run->W, run->threads, lambda, j.u, j.workspace);
    tb_parallel_for(run->threads, p->ncontact, CONTACTS_PER_PIECE, move, &j);
  }
}
