// SPDX-License-Identifier: Apache-2.0
// Small dense factorisations: factor in place, solve with the factor. No allocation.
//
// Matrices are row-major with a stride: A(i, j) = A[i*stride + j], stride ≥ columns. Of a symmetric matrix
// only the upper triangle is read and written; what lies below it is left alone. Rows are contiguous, and
// every inner loop of a factorisation adds a multiple of one row to another, which compilers vectorise
// without changing a bit.
//
//                 for                                  cost in multiplications
//   cholesky      symmetric positive definite          n³/6
//   ldlt          symmetric, of any inertia and rank   n³/6, and as many comparisons
//   lu            square                               n³/3
//   qr            any shape and rank, least squares    mn² − n³/3, and half as much again for pivoting
//
// Interchanges are kept as a sequence: at step k, row or column k was exchanged with swap[k] ≥ k.
// NaN in gives NaN or a deficient rank out.
#ifndef TB_MATH_DENSE_H
#define TB_MATH_DENSE_H

// y ← y − s x, the inner loop of them all.
static inline void tb_dense_subtract(int n, double s, const double* restrict x, double* restrict y)
{
  for (int i = 0; i < n; i++) y[i] -= s * x[i];
}

// A = Uᵀ U. Returns n, or the index of the first pivot that is not positive, where the factorisation stops.
int tb_dense_cholesky(int n, double* A, int stride);
void tb_dense_cholesky_solve(int n, const double* U, int stride, double* b); // b ← A⁻¹ b

// P A Pᵀ = Uᵀ D U with U unit upper triangular and D of blocks 1×1 and 2×2. Returns the rank: elimination
// stops when no remaining entry exceeds tolerance × the largest entry of A (tolerance ≤ 0 means n ε).
//
// U stands above the diagonal of A and D on it; where rows k, k+1 share a 2×2 block, A(k, k+1) is D's
// off-diagonal entry and swap[k], swap[k+1] are stored as complements, ~index.
int tb_dense_ldlt(int n, double* A, int stride, int* swap, double tolerance);

// b ← x with A x = b. For a singular A, one of the solutions, with n − rank zeros in it. Returns the largest
// entry of b that no x can reach: 0 for full rank, of rounding size for a consistent b.
double tb_dense_ldlt_solve(int n, int rank, const double* UD, int stride, const int* swap, double* b);

int tb_dense_ldlt_negative(int rank, const double* UD, int stride, const int* swap); // negative eigenvalues

// P A = L U with L unit lower triangular. Returns n, or the index of the first column without a pivot, where
// the factorisation stops.
int tb_dense_lu(int n, double* A, int stride, int* swap);
void tb_dense_lu_solve(int n, const double* LU, int stride, const int* swap, double* b); // b ← A⁻¹ b

// A P = Q [T 0; 0 0] Z with Q, Z orthogonal and T triangular of order rank. Returns the rank: the number of
// steps until no remaining column is longer than tolerance × the longest of A (tolerance ≤ 0 means max(m, n)
// ε).
//
// T stands on and above the diagonal; the reflectors of Q stand below it, those of Z in the columns from rank
// on. Sizes: swap n, tau 2 min(m, n), work n.
int tb_dense_qr(int m, int n, double* A, int stride, int* swap, double* tau, double tolerance, double* work);

// The x of least norm that minimises ‖A x − b‖. b (m) is overwritten by Qᵀ b. Returns ‖A x − b‖.
double tb_dense_qr_solve(int m, int n, int rank, const double* QR, int stride, const int* swap,
                         const double* tau, double* b, double* x);

#endif
