// SPDX-License-Identifier: Apache-2.0
// With n = d/|d| the second derivative of E by d is
//
//   k n nᵀ + k (1 − L/|d|)(I − n nᵀ)
//
// whose second term is left out of the positive tangent where the spring is pushed together.
#include "fem/spring.h"

double tb_spring_evaluate(const tbSpring* s, const tbVec3 x[2], tbTangent tangent, double f[6],
                          double K[TB_SPRING_BLOCKS][9])
{
  tbVec3 d = tb_sub3(x[1], x[0]);
  double distance = tb_norm3(d), k = s->stiffness, longer = distance - s->length;
  tbVec3 n = distance > 0 ? tb_scale3(1 / distance, d) : tb_zero3();
  tbVec3 force = tb_scale3(k * longer, n); // on the first
  tb_store3(f, force);
  tb_store3(f + 3, tb_neg3(force));
  if (tangent != TB_TANGENT_NONE) {
    double across = distance > 0 ? k * longer / distance : s->length > 0 ? 0 : k;
    if (tangent != TB_TANGENT_EXACT) across = fmax(across, 0);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        double entry = (k - across) * ((&n.x)[i] * (&n.x)[j]) + (i == j ? across : 0);
        K[0][3 * i + j] = K[2][3 * i + j] = entry, K[1][3 * i + j] = -entry;
      }
  }
  return 0.5 * k * longer * longer;
}
