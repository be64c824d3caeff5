// SPDX-License-Identifier: Apache-2.0
// QR with column pivoting, carried on to a complete orthogonal decomposition.
//
// Method    Householder reflections; at each step the longest remaining column comes next (Businger & Golub,
// Numer.
//           Math. 7, 1965), its length computed afresh rather than updated, since updating loses it to
//           cancellation. Where columns run out before the rank is full, reflections from the right fold the
//           trapezoid [R₁₁ R₁₂] into a triangle (Golub & Van Loan §5.4.7), which makes the least-squares
//           solution of least norm one back-substitution away.
// Limits    Column pivoting misjudges the rank only for matrices made to deceive it (Kahan's).
#include "math/dense.h"

#include "math/scale.h"

#include <stddef.h>

#define ROW(i) (A + (ptrdiff_t)(i)*stride)

// The column from k on with the largest sum of squares in the rows from k on; that sum in *largest.
static int longest_column(int k, int m, int n, const double* A, int stride, double* work, double* largest)
{
  int best = k;
  for (int j = k; j < n; j++) work[j] = 0;
  for (int i = k; i < m; i++)
    for (int j = k; j < n; j++) work[j] += ROW(i)[j] * ROW(i)[j];
  *largest = 0;
  for (int j = k; j < n; j++)
    if (work[j] > *largest) *largest = work[j], best = j;
  return best;
}

// H = I − τ v vᵀ with v = (1, rest) takes (x, rest) to (β, 0). Returns τ; *x becomes β; rest, to be divided
// by *divisor, becomes v's.
static double reflector(double* x, double norm, double* divisor)
{
  double beta = -copysign(norm, *x), tau = (beta - *x) / beta;
  *divisor = *x - beta;
  *x = beta;
  return tau;
}

static void reflect_rows(int k, int m, int n, double* A, int stride, double tau, double* work) // A ← H_k A
{
  for (int j = k + 1; j < n; j++) work[j] = ROW(k)[j];
  for (int i = k + 1; i < m; i++)
    for (int j = k + 1; j < n; j++) work[j] += ROW(i)[k] * ROW(i)[j];
  for (int j = k + 1; j < n; j++) ROW(k)[j] -= tau * work[j];
  for (int i = k + 1; i < m; i++) {
    double factor = tau * ROW(i)[k];
    for (int j = k + 1; j < n; j++) ROW(i)[j] -= factor * work[j];
  }
}

// Folds row k of [R₁₁ R₁₂] into its diagonal entry and applies the same reflection to the rows above.
static double fold_row(int k, int rank, int n, double* A, int stride)
{
  double *v = ROW(k), divisor, rest = tb_norm(n - rank, v + rank), norm = sqrt(v[k] * v[k] + rest * rest);
  if (rest == 0) return 0;
  double tau = reflector(&v[k], norm, &divisor);
  for (int j = rank; j < n; j++) v[j] /= divisor;
  for (int i = 0; i < k; i++) {
    double *row = ROW(i), sum = row[k];
    for (int j = rank; j < n; j++) sum += v[j] * row[j];
    row[k] -= tau * sum;
    for (int j = rank; j < n; j++) row[j] -= tau * sum * v[j];
  }
  return tau;
}

int tb_dense_qr(int m, int n, double* A, int stride, int* swap, double* tau, double tolerance, double* work)
{
  int steps = m < n ? m : n, rank = 0;
  double largest = 0, floor = 0, length2;
  for (int i = 0; i < m; i++) {
    double row = tb_max_abs(n, ROW(i));
    if (row > largest) largest = row;
  }
  int e = tb_scale_exponent(largest);
  for (int i = 0; i < m; i++) tb_scale_by(-e, n, ROW(i));

  if (tolerance <= 0) tolerance = (m > n ? m : n) * DBL_EPSILON;
  for (int j = 0; j < n; j++) swap[j] = j;
  for (int k = 0; k < steps; k++, rank++) {
    swap[k] = longest_column(k, m, n, A, stride, work, &length2);
    double length = sqrt(length2), divisor;
    if (k == 0) floor = tolerance * length;
    if (!(length > floor)) {
      swap[k] = k;
      break;
    }
    for (int i = 0; i < m; i++) {
      double t = ROW(i)[k];
      ROW(i)[k] = ROW(i)[swap[k]], ROW(i)[swap[k]] = t;
    }
    tau[k] = reflector(&ROW(k)[k], length, &divisor);
    for (int i = k + 1; i < m; i++) ROW(i)[k] /= divisor;
    reflect_rows(k, m, n, A, stride, tau[k], work);
  }
  for (int k = rank - 1; k >= 0; k--) tau[steps + k] = fold_row(k, rank, n, A, stride);
  for (int k = 0; k < rank; k++) tb_scale_by(e, rank - k, ROW(k) + k);
  return rank;
}

double tb_dense_qr_solve(int m, int n, int rank, const double* A, int stride, const int* swap,
                         const double* tau, double* b, double* x)
{
  int steps = m < n ? m : n;
  for (int k = 0; k < rank; k++) { // b ← Qᵀ b
    double sum = b[k];
    for (int i = k + 1; i < m; i++) sum += ROW(i)[k] * b[i];
    b[k] -= tau[k] * sum;
    for (int i = k + 1; i < m; i++) b[i] -= tau[k] * sum * ROW(i)[k];
  }
  for (int k = 0; k < n; k++) x[k] = k < rank ? b[k] : 0;
  for (int k = rank - 1; k >= 0; k--) { // T y = b
    for (int j = k + 1; j < rank; j++) x[k] -= ROW(k)[j] * x[j];
    x[k] /= ROW(k)[k];
  }
  for (int k = 0; k < rank && rank < n; k++) { // x ← Zᵀ y
    double sum = x[k];
    for (int j = rank; j < n; j++) sum += ROW(k)[j] * x[j];
    x[k] -= tau[steps + k] * sum;
    for (int j = rank; j < n; j++) x[j] -= tau[steps + k] * sum * ROW(k)[j];
  }
  for (int k = rank - 1; k >= 0; k--) {
    double t = x[k];
    x[k] = x[swap[k]], x[swap[k]] = t;
  }
  return tb_norm(m - rank, b + rank);
}
