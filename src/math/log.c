// log x = e log 2 + log m  with x = 2ᵉ m and m ∈ [√½, √2), and  log m = 2 artanh s,  s = (m − 1)/(m + 1),
// by its series in s² ≤ 0.0295, whose first dropped term is below 1e-19 of the sum. log 2 comes in two
// pieces, the first with 33 bits, so that e log 2 is exact to rounding. m − 1 is exact, so that the digits of
// a logarithm near 0 are all there.
#include "math/log.h"

#include <math.h>

#define LOG2_HIGH 0x1.62e42fefp-1
#define LOG2_LOW  0x1.473de6af278edp-34

// s (f − Σ) with f = m − 1 and Σ the series from its second term on: log m = f − tail, the leading term
// exact.
static double tail(double m)
{
  double f = m - 1, s = f / (m + 1), z = s * s, p = 0;
  for (int k = 23; k >= 3; k -= 2) p = (p + 2.0 / k) * z;
  return s * (f - p);
}

double tb_logarithm(double x)
{
  if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
  if (x > 1.7976931348623157e308) return x;
  int e;
  double m = frexp(x, &e);
  if (m < 0.70710678118654752) m *= 2, e--;
  return e * LOG2_HIGH + ((m - 1) - (tail(m) - e * LOG2_LOW));
}

double tb_logarithm_gap(double x) { return x > 0.71 && x < 1.41 ? tail(x) : x - 1 - tb_logarithm(x); }
