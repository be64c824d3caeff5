// SPDX-License-Identifier: Apache-2.0
#include "fem/spring.h"
#include "test.h"

// Forces are the energy's slope, and the exact tangent theirs, against differences.
TEST(springs_have_the_derivatives_they_say)
{
  tbRandom r = test_random(5);
  for (int n = 0; n < 20; n++) {
    tbSpring s = {test_uniform(&r, 1, 9), test_uniform(&r, 0, 2)};
    tbVec3 x[2];
    for (int i = 0; i < 2; i++)
      x[i] = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
    double f[6], K[TB_SPRING_BLOCKS][9], P[TB_SPRING_BLOCKS][9];
    tb_spring_evaluate(&s, x, TB_TANGENT_EXACT, f, K);
    tb_spring_evaluate(&s, x, TB_TANGENT_POSITIVE, f, P);
    for (int i = 0; i < 6; i++) {
      double low[6], high[6], step = 1e-6, *at = &x[i / 3].x + i % 3, was = *at;
      *at = was + step;
      double up = tb_spring_evaluate(&s, x, TB_TANGENT_NONE, high, NULL);
      *at = was - step;
      double down = tb_spring_evaluate(&s, x, TB_TANGENT_NONE, low, NULL);
      *at = was;
      CHECK_NEAR(f[i], (down - up) / (2 * step), 1e-7);
      for (int j = 0; j < 6; j++) {
        int block = i / 3 + j / 3;
        CHECK_NEAR(K[block][3 * (i % 3) + j % 3], (low[j] - high[j]) / (2 * step), 1e-6);
      }
    }
    tbVec3 d = tb_sub3(x[1], x[0]);
    bool pulled = tb_norm3(d) >= s.length;
    for (int k = 0; pulled && k < 27; k++) CHECK(K[k / 9][k % 9] == P[k / 9][k % 9]);
    for (int t = 0; t < 10; t++) {
      tbVec3 y = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
      double sum = 0;
      for (int k = 0; k < 9; k++) sum += (&y.x)[k / 3] * P[0][k] * (&y.x)[k % 3];
      CHECK(sum >= -1e-12);
    }
  }
}
