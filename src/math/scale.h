// SPDX-License-Identifier: Apache-2.0
// Exact scaling by powers of two, for kernels whose squares and products would leave the range of double.
#ifndef TB_MATH_SCALE_H
#define TB_MATH_SCALE_H

#include <float.h>
#include <math.h>

// The exponent e for which 2⁻ᵉ m is near one; 0, meaning that no scaling is needed, where m is ordinary
// already or is 0, infinite or NaN.
static inline int tb_scale_exponent(double m)
{
  if (m > 0x1p-60 && m < 0x1p60) return 0;
  if (!(m > 0) || m > DBL_MAX) return 0;
  int e;
  frexp(m, &e);
  return e;
}

static inline void tb_scale_by(int e, int n, double* v) // v ← 2ᵉ v
{
  if (e == 0) return;
  for (int i = 0; i < n; i++) v[i] = ldexp(v[i], e);
}

static inline double tb_max_abs(int n, const double* v) // NaN is passed over
{
  double m = 0;
  for (int i = 0; i < n; i++) m = fabs(v[i]) > m ? fabs(v[i]) : m;
  return m;
}

// ‖v‖ without overflow or underflow on the way; scaling v by a power of two scales the result, bit for bit.
static inline double tb_norm(int n, const double* v)
{
  double s = 0;
  for (int i = 0; i < n; i++) s += v[i] * v[i];
  if (s > 1e-270 && s < 1e300) return sqrt(s);
  double m = tb_max_abs(n, v);
  if (!(m > 0) || m > DBL_MAX) return sqrt(s); // 0, ∞, NaN
  int e;
  frexp(m, &e);
  s = 0;
  for (int i = 0; i < n; i++) s += ldexp(v[i], -e) * ldexp(v[i], -e);
  return ldexp(sqrt(s), e);
}

// Slopes of cones are kept where their squares, and the inverses of these, are ordinary numbers.
#define TB_SLOPE_MIN 1e-140
#define TB_SLOPE_MAX 1e140
static inline double tb_clamp_slope(double mu)
{
  return mu > TB_SLOPE_MAX ? TB_SLOPE_MAX : mu < TB_SLOPE_MIN ? 0 : mu;
}

#endif
