// SPDX-License-Identifier: Apache-2.0
// The dense kernels of the sparse LU, on row-major matrices.
//
// Every entry of a result is summed over k in one fixed order, with fused multiply-adds; vector lanes and
// threads only share out the entries. The bits depend neither on the vector width nor on the number of
// threads.
#ifndef TB_MATH_LU_DENSE_H
#define TB_MATH_LU_DENSE_H

#include "tribo/base.h"

// C −= A B with A m×k, B k×n, C m×n; lda, ldb, ldc are the distances of two rows.
void tb_dense_multiply_subtract(tbThreads* threads, int m, int n, int k, const double* A, int lda,
                                const double* B, int ldb, double* C, int ldc);

// Eliminates the first `pivots` unknowns of a front (front × front, rows `lead` apart) in place:
//
//   P F₁₁ = L₁₁ U₁₁,   U₁₂ = L₁₁⁻¹ P F₁₂,   L₂₁ = F₂₁ U₁₁⁻¹,   F₂₂ −= L₂₁ U₁₂
//
// with L₁₁ unit lower triangular. Rows are exchanged among the first `pivots` alone: at step k row k was
// exchanged with swap[k] ≥ k. A pivot smaller than `tiny` is replaced by ±tiny. Returns how many were, or −1
// when it was interrupted: F and swap are then of no use.
int tb_dense_eliminate(tbThreads* threads, tbInterrupt interrupt, int front, int pivots, double* F, int lead,
                       int* swap, double tiny);

#endif
