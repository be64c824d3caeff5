// SPDX-License-Identifier: Apache-2.0
// The matrix is kept transposed to EISPACK's, so that every inner loop runs along a row.
#include "math/eigen.h"

#include <math.h>
#include <stddef.h>

enum { ITERATIONS = 60 }; // of one eigenvalue; two or three are usual

// Row i of A less its projection on the reflector in row i: d, e hold the diagonal and what lies beside it.
static void reflect(int n, int i, double* A, double* d, double* e)
{
  double *row = A + (size_t)i * (size_t)n, scale = 0, h = 0;
  for (int k = 0; k < i; k++) scale += fabs(row[k]);
  if (i == 1 || !(scale > 0)) {
    e[i] = row[i - 1], d[i] = 0;
    return;
  }
  for (int k = 0; k < i; k++) row[k] /= scale, h += row[k] * row[k];
  double f = row[i - 1], g = f >= 0 ? -sqrt(h) : sqrt(h), sum = 0;
  e[i] = scale * g, h -= f * g, row[i - 1] = f - g;
  for (int j = 0; j < i; j++) { // e = A u / h
    double p = 0;
    for (int k = 0; k <= j; k++) p += A[(size_t)j * (size_t)n + (size_t)k] * row[k];
    for (int k = j + 1; k < i; k++) p += A[(size_t)k * (size_t)n + (size_t)j] * row[k];
    e[j] = p / h, sum += e[j] * row[j];
  }
  double half = sum / (h + h);
  for (int j = 0; j < i; j++) {
    e[j] -= half * row[j];
    double *to = A + (size_t)j * (size_t)n, fj = row[j], gj = e[j];
    for (int k = 0; k <= j; k++) to[k] -= fj * e[k] + gj * row[k];
  }
  d[i] = h;
}

// The product of the reflectors, its transpose in A.
static void accumulate(int n, double* A, double* d)
{
  for (int i = 0; i < n; i++) {
    double* row = A + (size_t)i * (size_t)n;
    if (i > 0 && d[i] != 0) // Q ← Q − (Q u) uᵀ/h, Q the leading i × i, by its transpose
      for (int j = 0; j < i; j++) {
        double g = 0, *of = A + (size_t)j * (size_t)n;
        for (int k = 0; k < i; k++) g += row[k] * of[k];
        for (int k = 0; k < i; k++) of[k] -= g * (row[k] / d[i]);
      }
    d[i] = row[i], row[i] = 1;
    for (int k = 0; k < i; k++) row[k] = 0, A[(size_t)k * (size_t)n + (size_t)i] = 0;
  }
}

// One QL iteration on the rows l … m, rotating the vectors along.
static void iterate(int n, int l, int m, double* A, double* d, double* e)
{
  double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1), s = 1, c = 1, p = 0;
  g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
  int i = m - 1;
  for (; i >= l; i--) {
    double f = s * e[i], b = c * e[i];
    r = sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p, e[m] = 0;
      return;
    }
    s = f / r, c = g / r, g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b, p = s * r;
    d[i + 1] = g + p, g = c * r - b;
    double *x = A + (size_t)i * (size_t)n, *y = x + n;
    for (int k = 0; k < n; k++) {
      double high = y[k];
      y[k] = s * x[k] + c * high, x[k] = c * x[k] - s * high;
    }
  }
  d[l] -= p, e[l] = g, e[m] = 0;
}

static bool diagonalise(int n, double* A, double* d, double* e)
{
  for (int i = 1; i < n; i++) e[i - 1] = e[i];
  e[n - 1] = 0;
  for (int l = 0; l < n; l++)
    for (int k = 0;; k++) {
      int m = l;
      for (; m < n - 1; m++) {
        double size = fabs(d[m]) + fabs(d[m + 1]);
        if (!(fabs(e[m]) > 0x1p-53 * size)) break;
      }
      if (m == l) break;
      if (k == ITERATIONS) return false;
      iterate(n, l, m, A, d, e);
    }
  return true;
}

static void sort(int n, double* A, double* d)
{
  for (int i = 0; i < n; i++) {
    int least = i;
    for (int j = i + 1; j < n; j++)
      if (d[j] < d[least]) least = j;
    if (least == i) continue;
    double t = d[i], *x = A + (size_t)i * (size_t)n, *y = A + (size_t)least * (size_t)n;
    d[i] = d[least], d[least] = t;
    for (int k = 0; k < n; k++) t = x[k], x[k] = y[k], y[k] = t;
  }
}

bool tb_dense_eigen(int n, double* A, double* value, double* work)
{
  if (n < 1) return true;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
    if (!isfinite(A[i])) return false;
  value[0] = work[0] = 0;
  for (int i = n - 1; i >= 1; i--) reflect(n, i, A, value, work);
  accumulate(n, A, value);
  if (!diagonalise(n, A, value, work)) return false;
  for (int i = 0; i < n; i++)
    if (!isfinite(value[i])) return false;
  sort(n, A, value);
  return true;
}
