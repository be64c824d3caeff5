// SPDX-License-Identifier: Apache-2.0
// ∇²g = A + JᵀDJ as a sparse matrix over the cells, and solves with it: by its factor or, where that would
// take too much memory, by conjugate gradients preconditioned with the cells' blocks.
#ifndef TB_DESCENT_HESSIAN_H
#define TB_DESCENT_HESSIAN_H

#include "descent/cells.h"
#include "math/cholesky.h"

typedef struct tbHessian {
  const tbRelaxed* relaxed;
  const tbCells* cells;
  // The lower half by cells: cells col[ptr[i] … ptr[i+1]−1] ≤ i, in order; at[…]: where they begin in a row.
  int *ptr, *col, *at;
  int *row_ptr, *row_idx; // by degrees of freedom
  double* value;
  tbCholesky* factor; // null: too large
  bool factored;
  double* P;    // of conjugate gradients                       (cells->adr[count])
  double* work; // (nrow + 6 ndof), or the factor's scratch
  const double* D;
} tbHessian;

// The pattern, and its analysis. Arrays live in the arena; tb_hessian_end frees the factor.
tbStatus tb_hessian_begin(tbContext* ctx, tbArena* arena, const tbRelaxed* relaxed, const tbCells* cells,
                          tbHessian* out);
void tb_hessian_end(tbContext* ctx, tbHessian* hessian);

// For the curvatures D, which must stay as they are until the last solve.
tbStatus tb_hessian_update(tbContext* ctx, tbHessian* hessian, const double* D);

// x = (A + JᵀDJ)⁻¹ b. x may be b.
tbStatus tb_hessian_solve(tbContext* ctx, tbHessian* hessian, const double* b, double* x);

#endif
