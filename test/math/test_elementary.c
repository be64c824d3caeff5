// SPDX-License-Identifier: Apache-2.0
// Sine, cosine, arctangent, logarithm and exponential against the C library's in long double.
#include "test.h"
#include "tribo/math.h"

#include <float.h>

static double ulps(double x, long double truth)
{
  int e;
  frexpl(truth, &e);
  return (double)fabsl(x - truth) / ldexp(1, e < -1021 ? -1074 : e - 53);
}

TEST(logarithm_and_exponential_are_within_two_units_of_the_last_place)
{
  tbRandom r = test_random(1);
  double worst_ln = 0, worst_exp = 0;
  for (int i = 0; i < 100000; i++) {
    double near = 1 + test_uniform(&r, -0.5, 1), x = ldexp(near, test_below(&r, 2040) - 1020),
           y = test_uniform(&r, -708, 709);
    worst_ln = fmax(worst_ln, fmax(ulps(tb_ln(x), logl(x)), ulps(tb_ln(near), logl(near))));
    worst_exp =
        fmax(worst_exp, fmax(ulps(tb_exp(y), expl(y)), ulps(tb_exp(y / 1e3), expl((long double)(y / 1e3)))));
  }
  CHECK(worst_ln < 2);
  CHECK(worst_exp < 2);
}

TEST(sine_cosine_and_arctangent_are_within_their_bounds)
{
  tbRandom r = test_random(2);
  double worst = 0, worst_atan = 0;
  for (int i = 0; i < 100000; i++) {
    double angle = test_uniform(&r, -20, 20), x = test_uniform(&r, -1, 1), y = test_uniform(&r, -1, 1), s, c;
    tb_sin_cos(angle, &s, &c);
    worst = fmax(worst, fmax(ulps(s, sinl(angle)), ulps(c, cosl(angle))));
    worst_atan = fmax(worst_atan, ulps(tb_atan2(y, x), atan2l(y, x)));
  }
  CHECK(worst < 2);
  CHECK(worst_atan < 4);
}

TEST(arccosine_undoes_the_cosine)
{
  for (int i = 0; i <= 1000; i++) {
    double angle = 3.141592653589793 * i / 1000, s, c;
    tb_sin_cos(angle, &s, &c);
    CHECK_NEAR(tb_acos(c), angle, i % 1000 ? 1e-12 : 3e-8); // at the ends the cosine knows half of the digits
  }
  CHECK(tb_acos(1) == 0 && tb_acos(2) == 0);
}

TEST(logarithm_and_exponential_at_the_ends_of_their_range)
{
  CHECK(tb_ln(0) == -INFINITY && tb_ln(INFINITY) == INFINITY && isnan(tb_ln(-1)) && isnan(tb_ln(NAN)));
  CHECK(tb_ln(1) == 0 && tb_exp(0) == 1);
  CHECK(ulps(tb_ln(0x1p-1074), logl(0x1p-1074L)) < 2);
  CHECK(ulps(tb_ln(DBL_MAX), logl(DBL_MAX)) < 2);
  CHECK(tb_exp(INFINITY) == INFINITY && tb_exp(-INFINITY) == 0 && isnan(tb_exp(NAN)));
  CHECK(tb_exp(709.79) == INFINITY && tb_exp(709.78) < INFINITY && tb_exp(-745.2) == 0 && tb_exp(-745) > 0);
}
