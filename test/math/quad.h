// SPDX-License-Identifier: Apache-2.0
// Quadruple precision for references: __float128 where the compiler has it, long double elsewhere.
#ifndef TB_TEST_QUAD_H
#define TB_TEST_QUAD_H

#include <math.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif

static inline quad quad_abs(quad x) { return x < 0 ? -x : x; }

static inline quad quad_sqrt(quad x) // Newton's method doubles the digits of the double's root
{
  if (x <= 0) return 0;
  quad r = sqrt((double)x);
  r = (r + x / r) / 2;
  return (r + x / r) / 2;
}

// Eigenvalues, descending, of a symmetric 3×3 matrix (destroyed) by Jacobi's method.
static inline void quad_eigenvalues(quad A[3][3], quad s[3])
{
  for (int sweep = 0; sweep < 40; sweep++)
    for (int k = 0; k < 3; k++) {
      int p = k == 2, q = k == 0 ? 1 : 2, r = 3 - p - q;
      if (A[p][q] == 0) continue;
      quad zeta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
      quad t = 1 / (quad_abs(zeta) + quad_sqrt(1 + zeta * zeta));
      if (quad_abs(zeta) > 1e80) t = 1 / (2 * quad_abs(zeta));
      if (zeta < 0) t = -t;
      quad c = 1 / quad_sqrt(1 + t * t), sn = t * c, rp = A[r][p], rq = A[r][q];
      A[p][p] -= t * A[p][q];
      A[q][q] += t * A[p][q];
      A[p][q] = A[q][p] = 0;
      A[p][r] = A[r][p] = c * rp - sn * rq;
      A[q][r] = A[r][q] = sn * rp + c * rq;
    }
  for (int i = 0; i < 3; i++) s[i] = A[i][i];
  for (int pass = 0; pass < 3; pass++) {
    int i = pass & 1;
    quad t = s[i];
    if (s[i] < s[i + 1]) s[i] = s[i + 1], s[i + 1] = t;
  }
}

#endif
