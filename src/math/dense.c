// SPDX-License-Identifier: Apache-2.0
// Cholesky and LU factorisation, right-looking, row by row. Golub & Van Loan, Matrix Computations, §4.2 and
// §3.4.
#include "math/dense.h"

#include <math.h>
#include <stddef.h>

int tb_dense_cholesky(int n, double* A, int stride)
{
  for (int k = 0; k < n; k++) {
    double* u = A + (ptrdiff_t)k * stride;
    if (!(u[k] > 0)) return k;
    double pivot = sqrt(u[k]);
    for (int j = k; j < n; j++) u[j] /= pivot;
    for (int i = k + 1; i < n; i++) {
      double* row = A + (ptrdiff_t)i * stride;
      tb_dense_subtract(n - i, u[i], u + i, row + i);
    }
  }
  return n;
}

void tb_dense_cholesky_solve(int n, const double* U, int stride, double* b)
{
  for (int k = 0; k < n; k++) { // Uᵀ y = b
    const double* u = U + (ptrdiff_t)k * stride;
    b[k] /= u[k];
    tb_dense_subtract(n - k - 1, b[k], u + k + 1, b + k + 1);
  }
  for (int k = n - 1; k >= 0; k--) { // U x = y
    const double* u = U + (ptrdiff_t)k * stride;
    for (int j = k + 1; j < n; j++) b[k] -= u[j] * b[j];
    b[k] /= u[k];
  }
}

static void exchange(int n, double* a, double* b)
{
  for (int j = 0; j < n; j++) {
    double t = a[j];
    a[j] = b[j], b[j] = t;
  }
}

int tb_dense_lu(int n, double* A, int stride, int* swap)
{
  for (int k = 0; k < n; k++) {
    double *u = A + (ptrdiff_t)k * stride, largest = 0;
    swap[k] = k;
    for (int i = k; i < n; i++) {
      double size = fabs(A[(ptrdiff_t)i * stride + k]);
      if (size > largest) largest = size, swap[k] = i;
    }
    if (!(largest > 0)) return k;
    if (swap[k] != k) exchange(n, u, A + (ptrdiff_t)swap[k] * stride);
    for (int i = k + 1; i < n; i++) {
      double* row = A + (ptrdiff_t)i * stride;
      row[k] /= u[k];
      tb_dense_subtract(n - k - 1, row[k], u + k + 1, row + k + 1);
    }
  }
  return n;
}

void tb_dense_lu_solve(int n, const double* LU, int stride, const int* swap, double* b)
{
  for (int k = 0; k < n; k++) exchange(1, b + k, b + swap[k]);
  for (int k = 0; k < n; k++) { // L y = P b
    const double* row = LU + (ptrdiff_t)k * stride;
    for (int j = 0; j < k; j++) b[k] -= row[j] * b[j];
  }
  for (int k = n - 1; k >= 0; k--) { // U x = y
    const double* row = LU + (ptrdiff_t)k * stride;
    for (int j = k + 1; j < n; j++) b[k] -= row[j] * b[j];
    b[k] /= row[k];
  }
}
