// SPDX-License-Identifier: Apache-2.0
// Projection of a small symmetric matrix onto the positive semidefinite ones.
#include "barrier/barrier.h"

#include "math/jacobi.h"

#include <string.h>

enum { SWEEPS = 30 };

static const double NOTHING = 1e-32; // of the squares on the diagonal, that may be left beside it

// Rows and columns p, q of A, and columns p, q of V.
static void rotate(int n, double* A, double* V, int p, int q)
{
  double off = A[p * n + q];
  if (off == 0) return;
  double t = tb_jacobi_tangent((A[q * n + q] - A[p * n + p]) / (2 * off)), c = 1 / sqrt(1 + t * t), s = t * c;
  for (int k = 0; k < n; k++) {
    double a = A[k * n + p], b = A[k * n + q];
    A[k * n + p] = c * a - s * b, A[k * n + q] = s * a + c * b;
  }
  for (int k = 0; k < n; k++) {
    double a = A[p * n + k], b = A[q * n + k];
    A[p * n + k] = c * a - s * b, A[q * n + k] = s * a + c * b;
  }
  for (int k = 0; k < n; k++) {
    double a = V[k * n + p], b = V[k * n + q];
    V[k * n + p] = c * a - s * b, V[k * n + q] = s * a + c * b;
  }
}

static bool is_diagonal(int n, const double* A)
{
  double on = 0, off = 0;
  for (int i = 0; i < n; i++) {
    on += A[i * n + i] * A[i * n + i];
    for (int j = 0; j < i; j++) off += A[i * n + j] * A[i * n + j];
  }
  return !(off > NOTHING * on);
}

void tb_make_positive(int n, double* A)
{
  double D[TB_MOST_POSITIVE * TB_MOST_POSITIVE], V[TB_MOST_POSITIVE * TB_MOST_POSITIVE] = {0};
  memcpy(D, A, (size_t)(n * n) * sizeof *A);
  for (int i = 0; i < n; i++) V[i * n + i] = 1;
  for (int sweep = 0; sweep < SWEEPS && !is_diagonal(n, D); sweep++)
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) rotate(n, D, V, p, q);
  bool negative = false;
  for (int i = 0; i < n; i++) negative = negative || D[i * n + i] < 0;
  if (!negative) return;
  memset(A, 0, (size_t)(n * n) * sizeof *A);
  for (int k = 0; k < n; k++) {
    double value = D[k * n + k];
    if (!(value > 0)) continue;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i * n + j] += value * V[i * n + k] * V[j * n + k];
  }
}
