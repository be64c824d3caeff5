// SPDX-License-Identifier: Apache-2.0
// Sine, cosine and arctangent from correctly rounded operations alone (+ − × ÷ √), so that a simulation has
// the same bits with every C library, on every machine and in the browser.
//
// Sine and cosine: the angle is brought to r ∈ [−π/4, π/4] by subtracting n·π/2, with π/2 in three pieces the
// first two of which have 33 bits (Cody and Waite), exact for |n| < 2²⁰; then Taylor's series, whose first
// dropped term is below 1e-19. Beyond that many turns the remainder is exact but the period is π/2 rounded.
// Arctangent: two half-angle steps  atan t = 2 atan(t/(1 + √(1 + t²)))  bring t ∈ [0, 1] below tan(π/16).
//
// Within 2 units in the last place of the true value (4 for the arctangent).
#include "tribo/math.h"

#define PI      3.141592653589793238462643383279502884
#define HALF_PI 1.570796326794896619231321691639751442

static double sine(double r) // |r| ≤ π/4
{
  static const double c[] = {-1.0 / 6,
                             1.0 / 120,
                             -1.0 / 5040,
                             1.0 / 362880,
                             -1.0 / 39916800.0,
                             1.0 / 6227020800.0,
                             -1.0 / 1307674368000.0,
                             1.0 / 355687428096000.0};
  double x = r * r, p = c[7];
  for (int i = 6; i >= 0; i--) p = p * x + c[i];
  return r + r * (x * p);
}

static double cosine(double r)
{
  static const double c[] = {1.0 / 24,
                             -1.0 / 720,
                             1.0 / 40320,
                             -1.0 / 3628800,
                             1.0 / 479001600.0,
                             -1.0 / 87178291200.0,
                             1.0 / 20922789888000.0,
                             -1.0 / 6402373705728000.0};
  double x = r * r, p = c[7];
  for (int i = 6; i >= 0; i--) p = p * x + c[i];
  double half = 0.5 * x, one = 1 - half; // 1 − x/2 with its rounding error put back
  return one + (((1 - one) - half) + x * x * p);
}

void tb_sin_cos(double angle, double* s, double* c)
{
  double r, quarter;
  if (fabs(angle) < 1e6) {
    // π/2 = a + b + c: 33 bits, 33 bits, 53 bits
    const double pi_a = 0x1.921fb544p+0, pi_b = 0x1.0b4611a6p-34, pi_c = 0x1.3198a2e037073p-69;
    quarter = floor(angle * (2 / PI) + 0.5);
    r = ((angle - quarter * pi_a) - quarter * pi_b) - quarter * pi_c;
  } else {
    r = fmod(angle, 2 * PI);
    quarter = floor(r * (2 / PI) + 0.5);
    r -= quarter * HALF_PI;
  }
  double sr = sine(r), cr = cosine(r);
  switch ((int)(quarter - 4 * floor(quarter / 4))) {
  case 0: *s = sr, *c = cr; break;
  case 1: *s = cr, *c = -sr; break;
  case 2: *s = -sr, *c = -cr; break;
  default: *s = -cr, *c = sr; break;
  }
}

static double arctangent(double t) // 0 ≤ t ≤ 1
{
  t = t / (1 + sqrt(1 + t * t));
  t = t / (1 + sqrt(1 + t * t));
  double x = t * t, p = 0;
  for (int k = 27; k >= 3; k -= 2) p = x * ((k & 2 ? -1.0 : 1.0) / k + p);
  return 4 * (t + t * p);
}

double tb_atan2(double y, double x)
{
  double a = fabs(x), b = fabs(y);
  if (a == 0 && b == 0) return copysign(signbit(x) ? PI : 0, y);
  double angle = b <= a ? arctangent(b / a) : HALF_PI - arctangent(a / b);
  if (x < 0) angle = PI - angle;
  return copysign(angle, y);
}

double tb_acos(double x) { return tb_atan2(sqrt(fmax(0, (1 - x) * (1 + x))), x); }
