// SPDX-License-Identifier: Apache-2.0
// The derivative of ∇g where contacts slide: their friction follows the normal impulse, which ∇²g leaves out.
//
//   K = A + Jᵀ(D + E)J,   E_tn = −∂λ_t/∂λ_n ∂λ_n/∂u_n        unsymmetric, of the friction rows t of a contact
//
// Solves are GMRES, preconditioned with ∇²g: as many iterations as there are different ways to slide.
#ifndef TB_DESCENT_COUPLED_H
#define TB_DESCENT_COUPLED_H

#include "descent/hessian.h"

typedef struct tbCoupled {
  tbHessian* hessian;
  double tolerance;
  double deadline; // on the clock of base/clock.h: what a solve has by then is its answer; 0: there is none
  double* E;       // E_tn in the place of row t, 0 in that of row n                        (nrow)
  bool any;        // whether one of them is not 0
  double* basis;   // (directions + 1) ndof
  double *u, *e;   // (nrow)
  double *x, *wk;  // (ndof)
} tbCoupled;

// Arrays live in the arena. tolerance: of solves, as a share of their size.
tbStatus tb_coupled_begin(tbArena* arena, tbHessian* hessian, double tolerance, tbCoupled* out);

// λ, D and E at the velocities u of contacts. The Hessian is then to be updated for D.
void tb_coupled_evaluate(tbCoupled* coupled, const double* u, double* lambda, double* D);

// x = K⁻¹ b, or K⁻ᵀ b, with the Hessian that is factored. x may not be b.
tbStatus tb_coupled_solve(tbContext* ctx, tbCoupled* coupled, bool transposed, const double* b, double* x);

#endif
