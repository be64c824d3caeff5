// SPDX-License-Identifier: Apache-2.0
// The factors A = L D Vᵀ of a matrix that grows by a row and column at its end and loses them anywhere.
//
// Method    L and V are unit lower triangular, V = L for a symmetric A. Appending solves with the factors for
//           the new rows of L and V. Removing row and column k leaves the rows above as they are and adds d_k
//           l vᵀ to the product of those below, l and v being what stood under the pivot: a rank-one update
//           (Bennett 1965; for V = L, Gill, Golub, Murray & Saunders 1974, method C1).
// Cost      n² multiplications to append, n² to remove the first, half for a symmetric A.
// Limits    There is no pivoting: meant for positive definite A, symmetric or not, whose leading minors are
//           all positive. Rounding accumulates over removals; rebuild by appending from time to time.
#ifndef TB_MATH_LDU_H
#define TB_MATH_LDU_H

#include "base/memory.h"

typedef struct tbLdu {
  int n, stride;
  double *L, *V, *d; // rows of L and V up to the diagonal, stride apart
  double *l, *v;     // workspace of a removal, and what it has passed
  double *l_step, *v_step;
} tbLdu;

void tb_ldu_layout(tbLdu* f, tbScratch* s, int capacity, bool symmetric);

// column = A(0…n−1, n), row = A(n, 0…n−1); both are overwritten. Returns the new pivot; one that is no larger
// than `smallest` is refused, and the factor stays as it was.
double tb_ldu_append(tbLdu* f, double* column, double* row, double diagonal, double smallest);
void tb_ldu_remove(tbLdu* f, int k);
void tb_ldu_solve(const tbLdu* f, double* b); // b ← A⁻¹ b

double tb_dot(int n, const double* a, const double* b); // in four lanes

#endif
