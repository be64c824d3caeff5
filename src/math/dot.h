// SPDX-License-Identifier: Apache-2.0
// Products of short vectors, summed in order. (tb_dot of math/ldu.h sums in four lanes.)
#ifndef TB_MATH_DOT_H
#define TB_MATH_DOT_H

static inline double tb_dot_in_order(int n, const double* a, const double* b)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

#endif
