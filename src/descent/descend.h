// SPDX-License-Identifier: Apache-2.0
// Preconditioned descent on g(v) (Macklin et al. 2020, algorithm 1).
//
//   v ← v − α P ∇g(v)       P: the inverse of the diagonal, or of the blocks, of A + JᵀDJ, or of all of it
//
// with a fixed α or a line search, and with or without acceleration.
#ifndef TB_DESCENT_DESCEND_H
#define TB_DESCENT_DESCEND_H

#include "descent/hessian.h"

typedef struct tbDescent {
  const tbRelaxed* relaxed;
  const tbCells* cells;
  tbDescentOptions options;
  int iterations;     // at most
  double still;       // m/s: an iteration that would change velocities by less ends them
  double deadline;    // on the clock of base/clock.h: none begins later; 0: none
  tbHessian* hessian; // null: made where it is needed
  // Results: the last iterate, its impulses λ(u) and curvatures D(u).
  double *v, *u, *lambda, *D; // (ndof), (nrow), (nrow), (d_adr[ncontact])
  int used;                   // iterations
  double off;                 // of the balanced impulses: how far they are from the minimum   m/s
} tbDescent;

// Memory for the results.
tbStatus tb_descent_begin(tbArena* arena, const tbRelaxed* relaxed, const tbCells* cells, tbDescent* out);

// Begins at v_free + A⁻¹Jᵀλ of a guess, if g is lower there than at v_free.
tbStatus tb_descent_start(tbContext* ctx, tbArena* arena, const double* lambda, tbDescent* descent);

// From d->v on.
tbStatus tb_descent_run(tbContext* ctx, tbArena* arena, tbDescent* descent);

// Makes the last iterate balance: Newton steps v + δ, K δ = −∇g (coupled.h), whose impulses λ − (D + E) J δ
// satisfy A (v + δ − v_free) = Jᵀλ, to rounding, before they are clipped to what the laws allow. Repeated
// while clipping, or the step that would follow, changes velocities by more than `still`; a step that does
// not lessen the next is replaced by one of descent to the minimum along it. Where that does not end, those
// impulses are taken that clipping changed least, and d->off says by how much they are off. d->lambda: the
// impulses; the velocities are for the judge to find.
tbStatus tb_descent_balance(tbContext* ctx, tbArena* arena, tbDescent* descent);

// λ(u), D(u) and u at v. Returns Σ ψ.
double tb_descent_evaluate(const tbDescent* descent, tbThreads* threads);

#endif
