// SPDX-License-Identifier: Apache-2.0
#include "test.h"
#include "tribo/math.h"

TEST(the_logarithm_agrees_with_the_c_librarys)
{
  tbRandom random = test_random(5);
  for (int i = 0; i < 20000; i++) {
    double x = ldexp(test_uniform(&random, 1, 2), test_below(&random, 2000) - 1000);
    if (i % 4 == 0) x = test_uniform(&random, 0.5, 2);
    CHECK_NEAR(tb_ln(x), log(x), 4e-16 * fmax(fabs(log(x)), 0.1));
  }
  CHECK(tb_ln(1) == 0 && isinf(tb_ln(0)) && isnan(tb_ln(-1)) && isinf(tb_ln(INFINITY)) && isnan(tb_ln(NAN)));
  CHECK_NEAR(tb_ln(0x1p-1074), log(0x1p-1074), 1e-12);
}
