// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides at once with a dense block of some dozens of unknowns.
//
//   x ← A⁻¹ x,   A = L Lᵀ       through the factor
//   x ← S x                     by a symmetric matrix, such as A⁻¹: no entry waits for another
//
// L stands row-major on and below the diagonal, and Lᵀ above it. Every entry of x has its terms subtracted or
// added in one fixed order, as if it were done column by column: the bits depend neither on the vector width
// nor on how many right-hand sides there are.
#ifndef TB_MATH_DENSE_ROWS_H
#define TB_MATH_DENSE_ROWS_H

void tb_dense_solve_rows(int n, int rows, const double* L, double* x); // x: `rows` of them, n apart

enum { TB_DENSE_MOST = 256 };
void tb_dense_multiply_rows(int n, int rows, const double* S, double* x); // n ≤ TB_DENSE_MOST
void tb_dense_invert(int n, const double* L, double* inverse); // A⁻¹ (n²), symmetric to the bit

#endif
