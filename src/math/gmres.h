// SPDX-License-Identifier: Apache-2.0
// Restarted GMRES (Saad and Schultz 1986) for A x = b, A given by its products alone.
//
// Arnoldi's basis by modified Gram–Schmidt, the least-squares problem by Givens rotations; the preconditioner
// works from the right, so that the residual is the true one.
//
// Cost      per iteration one product, one preconditioning, and as many inner products as the basis is long.
// Limits    a restart forgets: small bases may stall on indefinite matrices.
#ifndef TB_MATH_GMRES_H
#define TB_MATH_GMRES_H

#include "tribo/base.h"

enum { TB_GMRES_BASIS = 40 }; // vectors until it starts over

typedef struct tbGmres {
  int n;
  void (*apply)(void* user, const double* x, double* y);        // y = A x
  void (*precondition)(void* user, const double* x, double* y); // y ≈ A⁻¹ x; null: none
  void* user;
  double tolerance; // stop when ‖b − A x‖ ≤ tolerance ‖b‖
  int max_products;
  tbInterrupt interrupt; // ends it early, with the x it has
} tbGmres;

size_t tb_gmres_workspace(int n); // doubles

// x is the start on input. Returns ‖b − A x‖ / ‖b‖ as the recurrence has it; 0 for b = 0.
double tb_gmres(const tbGmres* g, const double* b, double* x, double* workspace);

#endif
