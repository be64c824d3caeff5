// SPDX-License-Identifier: Apache-2.0
// Small dense quadratic programs by the dual active-set method:
//
//   min ½ xᵀG x + gᵀx    subject to   C x ≥ b,      G symmetric positive definite
//
// The factor of G is computed once and serves every g, C and b. Nothing is allocated: a workspace is laid out
// over scratch for the largest sizes and used for any smaller ones.
#ifndef TB_MATH_QP_DUAL_H
#define TB_MATH_QP_DUAL_H

#include "base/memory.h"

// Constraints by sparse rows: bounds have one entry, the edges of a friction polygon two, a simplex as many
// as it has corners.
typedef struct tbQpRows {
  int count;
  const int* ptr;      // (count+1)
  const int* col;      // (ptr[count])
  const double* val;   // (ptr[count])
  const double* bound; // b (count)
} tbQpRows;

typedef struct tbQpDual {
  int n, room;          // variables of the factored G; most there is room for
  double* inverse_root; // L⁻¹ with G = L Lᵀ, row-major (n²)
  double* J; // its rows turned so that the active constraints span the first `active` of them (n²)
  double* R; // … and this triangle is what they are made of; column-major (n²)
  double *d, *z, *r, *slack;
  double* multiplier; // of the active constraints (n)
  int* constraint;    // which they are (n)
  bool* is_active;    // (constraints)
  int active;
} tbQpDual;

typedef enum tbQpOutcome { TB_QP_SOLVED, TB_QP_INFEASIBLE, TB_QP_UNFINISHED } tbQpOutcome;

void tb_qp_dual_layout(tbQpDual* q, tbScratch* scratch, int max_variables, int max_constraints);

// Factors G (row-major, n ≤ room; the upper triangle is read). False when it is not positive definite.
bool tb_qp_dual_factor(tbQpDual* q, int n, const double* G, int stride);

// x (n) and the multipliers y ≥ 0 (rows->count) of the solution: G x + g = Cᵀy. Where the constraints
// contradict each other to rounding, or the steps run out, x is the minimum over those that could be met.
tbQpOutcome tb_qp_dual_solve(tbQpDual* q, const double* g, const tbQpRows* rows, double* x, double* y);

// One step of refinement on the active set that the last solve ended with. gradient: of the objective at x,
// as exactly as the caller can say, be it of a W that G only resembles. x and y move to the optimum of the
// active set.
void tb_qp_dual_refine(tbQpDual* q, const double* gradient, const tbQpRows* rows, double* x, double* y);

#endif
