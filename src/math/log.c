// The natural logarithm from correctly rounded operations alone, so that what is decided by it is decided
// alike with every C library.
//
// x = 2ᵉ m with m ∈ [√½, √2), and log m = 2 atanh s with s = (m − 1)/(m + 1), |s| < 0.172: the first dropped
// term of the series is below 1e-18. Within 2 units in the last place, but near 1, where e log 2 is absent.
#include "tribo/math.h"

double tb_ln(double x)
{
  if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
  if (isinf(x)) return x;
  int e;
  double m = frexp(x, &e);
  if (m < 0.70710678118654752440) m *= 2, e--;
  double s = (m - 1) / (m + 1), z = s * s, p = 0;
  for (int k = 23; k >= 3; k -= 2) p = z * (1.0 / k + p);
  return e * 0.69314718055994530942 + 2 * (s + s * p);
}
