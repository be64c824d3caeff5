// SPDX-License-Identifier: Apache-2.0
// LDLᵀ of a symmetric matrix with complete pivoting.
//
// Method    Bunch & Parlett, SIAM J. Numer. Anal. 8, 1971. Each step looks at the whole remaining matrix. If
// its
//           largest diagonal entry is at least α = (1 + √17)/8 of its largest entry it is the pivot;
//           otherwise the 2×2 block around the largest off-diagonal entry is, which is then indefinite.
//           Element growth is that of Gaussian elimination with complete pivoting, and what remains when the
//           pivots run out is no larger than the tolerance, so the rank is as reliable as an elimination can
//           tell it. Partial (Bunch & Kaufman) pivoting compares less but does not show the rank.
// Limits    Entries below 1e-300 or above 1e150 may under- or overflow in products.
#include "math/dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define ROW(i) (A + (ptrdiff_t)(i)*stride)

typedef struct Pivot {
  double diagonal, off; // the largest magnitudes on and off the diagonal of the remaining matrix
  int d, p, q;          // where: (d, d) and (p, q), p < q
} Pivot;

static double largest(int n, const double* v) // four at a time, so that they do not wait for each other
{
  double m[4] = {0};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; l++) m[l] = fabs(v[i + l]) > m[l] ? fabs(v[i + l]) : m[l];
  for (; i < n; i++) m[0] = fabs(v[i]) > m[0] ? fabs(v[i]) : m[0];
  m[0] = m[0] > m[1] ? m[0] : m[1], m[2] = m[2] > m[3] ? m[2] : m[3];
  return m[0] > m[2] ? m[0] : m[2];
}

static Pivot find_pivot(int k, int n, const double* A, int stride)
{
  Pivot best = {0, 0, k, k, k};
  for (int i = k; i < n; i++) {
    const double* row = ROW(i);
    if (fabs(row[i]) > best.diagonal) best.diagonal = fabs(row[i]), best.d = i;
    double off = largest(n - i - 1, row + i + 1);
    if (off > best.off) best.off = off, best.p = i;
  }
  best.q = best.p + 1;
  while (best.off > 0 && fabs(ROW(best.p)[best.q]) != best.off) best.q++;
  return best;
}

static void exchange(double* a, double* b)
{
  double t = *a;
  *a = *b, *b = t;
}

// Rows and columns p ≤ q of the symmetric matrix change places, those of the finished rows of U with them.
static void exchange_both(int n, double* A, int stride, int p, int q)
{
  if (p == q) return;
  for (int i = 0; i < p; i++) exchange(ROW(i) + p, ROW(i) + q);
  for (int j = p + 1; j < q; j++) exchange(ROW(p) + j, ROW(j) + q);
  for (int j = q + 1; j < n; j++) exchange(ROW(p) + j, ROW(q) + j);
  exchange(ROW(p) + p, ROW(q) + q);
}

// Subtracts uᵀ d⁻¹ u from what follows and leaves u/d in row k.
static void eliminate1(int k, int n, double* A, int stride)
{
  double *u = ROW(k), d = u[k];
  for (int i = k + 1; i < n; i++) {
    double l = u[i] / d;
    tb_dense_subtract(n - i, l, u + i, ROW(i) + i);
    u[i] = l;
  }
}

// The same for the two rows k, k+1 and D = [a b; b c]. D⁻¹ is applied with D divided by b, its largest entry.
static void eliminate2(int k, int n, double* A, int stride)
{
  double *u = ROW(k), *v = ROW(k + 1), b = u[k + 1], a = u[k] / b, c = v[k + 1] / b, det = a * c - 1;
  for (int i = k + 2; i < n; i++) {
    double ui = u[i] / b, vi = v[i] / b, l = (c * ui - vi) / det, m = (a * vi - ui) / det;
    tb_dense_subtract(n - i, l, u + i, ROW(i) + i);
    tb_dense_subtract(n - i, m, v + i, ROW(i) + i);
    u[i] = l, v[i] = m;
  }
}

int tb_dense_ldlt(int n, double* A, int stride, int* swap, double tolerance)
{
  const double alpha = 0.6403882032022076; // (1 + √17)/8
  double floor = 0;                        // below it nothing counts
  if (tolerance <= 0) tolerance = n * DBL_EPSILON;
  for (int i = 0; i < n; i++) swap[i] = i;
  for (int k = 0; k < n;) {
    Pivot best = find_pivot(k, n, A, stride);
    double size = best.diagonal > best.off ? best.diagonal : best.off;
    if (k == 0) floor = tolerance * size;
    if (!(size > floor)) return k;
    if (best.diagonal >= alpha * best.off) {
      swap[k] = best.d;
      exchange_both(n, A, stride, k, best.d);
      eliminate1(k, n, A, stride);
      k += 1;
    } else {
      swap[k] = ~best.p, swap[k + 1] = ~best.q; // q > p ≥ k, so the first exchange leaves q where it is
      exchange_both(n, A, stride, k, best.p);
      exchange_both(n, A, stride, k + 1, best.q);
      eliminate2(k, n, A, stride);
      k += 2;
    }
  }
  return n;
}

static int place(int swap) { return swap < 0 ? ~swap : swap; }

double tb_dense_ldlt_solve(int n, int rank, const double* A, int stride, const int* swap, double* x)
{
  for (int k = 0; k < rank; k++) exchange(x + k, x + place(swap[k]));
  for (int k = 0; k < rank; k++) { // Uᵀ y = P b, then y ← D⁻¹ y
    const double* u = ROW(k);
    if (swap[k] >= 0) {
      for (int j = k + 1; j < n; j++) x[j] -= u[j] * x[k];
      x[k] /= u[k];
    } else {
      const double* v = ROW(k + 1);
      for (int j = k + 2; j < n; j++) x[j] -= u[j] * x[k] + v[j] * x[k + 1];
      double b = u[k + 1], a = u[k] / b, c = v[k + 1] / b, det = a * c - 1, s = x[k] / b, t = x[k + 1] / b;
      x[k] = (c * s - t) / det, x[k + 1] = (a * t - s) / det;
      k++;
    }
  }
  double unreached = 0;
  for (int k = rank; k < n; k++) {
    if (!(fabs(x[k]) <= unreached)) unreached = fabs(x[k]);
    x[k] = 0;
  }
  for (int k = rank - 1; k >= 0; k--) { // U x = y
    int block = swap[k] < 0 ? 2 : 1;
    for (int i = k; i > k - block; i--)
      for (int j = k + 1; j < n; j++) x[i] -= ROW(i)[j] * x[j];
    k -= block - 1;
  }
  for (int k = rank - 1; k >= 0; k--) exchange(x + k, x + place(swap[k]));
  return unreached;
}

int tb_dense_ldlt_negative(int rank, const double* A, int stride, const int* swap)
{
  int negative = 0;
  for (int k = 0; k < rank; k++) {
    bool block = swap[k] < 0; // indefinite: one of each sign
    if (block || ROW(k)[k] < 0) negative++;
    if (block) k++;
  }
  return negative;
}
