// SPDX-License-Identifier: Apache-2.0
// Large quadratic programs over a set with an easy projection:
//
//   min ½ xᵀW x + gᵀx    subject to   x ∈ X,      W symmetric positive semidefinite, given by its product
//
// X is a product of small sets: bounds, discs, polygons, cones. Nothing is allocated.
#ifndef TB_MATH_QP_PROJECTED_H
#define TB_MATH_QP_PROJECTED_H

#include "base/memory.h"

typedef struct tbQpProjected {
  int n;
  void (*apply)(void* user, const double* x, double* y); // y = W x
  void (*project)(void* user, double* x);                // x ← P_X(x)
  void* user;
  tbInterrupt interrupt; // ends it early, with the x it has
  double step;           // 1 / ‖W‖, as far as it is known; 0: to be found
  double *gradient, *ahead, *last, *trial, *product, *direction;
  uint8_t* free;
} tbQpProjected;

// n, apply, project, user and interrupt are the caller's to set.
void tb_qp_projected_layout(tbQpProjected* q, tbScratch* scratch, int max_variables);

// Improves x until ‖x − P(x − s∇)‖ ≤ tolerance · ‖s g‖ (s: the step) or `products` products with W are spent.
// Returns the products used.
int tb_qp_projected_solve(tbQpProjected* q, const double* g, double tolerance, int products, double* x);

#endif
