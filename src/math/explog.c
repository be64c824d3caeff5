// SPDX-License-Identifier: Apache-2.0
// Exponential and natural logarithm from correctly rounded operations alone (+ − × ÷, and scaling by powers
// of two), so that what depends on them has the same bits with every C library.
//
// Logarithm: x = 2ᵉ(1 + f) with 1 + f in [√½, √2); with s = f/(2 + f),
//
//   ln(1 + f) = 2 artanh s = f − s (f − R),   R = 2 (s²/3 + s⁴/5 + …),
//
// where f is exact and large beside what is subtracted; |s| < 0.172, the first dropped term is below 1e-19.
// Exponential: x = n ln 2 + r, |r| ≤ ln 2 / 2, and Taylor's series in r to degree 14. In both ln 2 is two
// pieces, the first of 32 bits, so that its multiples are exact.
//
// Within 2 units in the last place.
#include "tribo/math.h"

static const double ln2_a = 0x1.62e42feep-1, ln2_b = 0x1.a39ef35793c76p-33;

double tb_ln(double x)
{
  if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
  if (isinf(x)) return x;
  int e;
  double m = frexp(x, &e);
  if (m < 0.70710678118654752440) m *= 2, e--;
  double f = m - 1, s = f / (2 + f), z = s * s, R = 0;
  for (int k = 25; k >= 3; k -= 2) R = z * (2.0 / k + R);
  return e * ln2_a + (f - (s * (f - R) - e * ln2_b));
}

double tb_exp(double x)
{
  if (!(x < 710)) return x > 0 ? INFINITY : x; // or NaN
  if (x < -746) return 0;
  double n = floor(x * 1.44269504088896340736 + 0.5), r = (x - n * ln2_a) - n * ln2_b, p = 0;
  for (int k = 14; k >= 2; k--) p = r * (1 + p) / k;
  return ldexp(1 + (r + r * p), (int)n);
}
