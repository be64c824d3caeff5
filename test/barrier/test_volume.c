// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "barrier/volume.h"

#include <math.h>
#include <string.h>

static double energy_at(const tbVec3 x[4])
{
  double J = tb_volume_of(x, 0.3).J;
  return 0.5 * J * J - 3 * J; // W' = J − 3, W'' = 1
}

// By second differences over the edges; and its positive part by rotations.
TEST(volume_has_the_hessian_it_says)
{
  tbRandom random = test_random(5);
  for (int round = 0; round < 20; round++) {
    tbVec3 x[4] = {0};
    for (int k = 1; k < 4; k++)
      x[k] =
          tb_vec3(test_uniform(&random, -1, 1), test_uniform(&random, -1, 1), test_uniform(&random, -1, 1));
    tbVolume at = tb_volume_of(x, 0.3);
    tbJet w = {.first = at.J - 3, .second = 1};
    double H[81], P[81], most = 0;
    const double step = 1e-3;
    tb_volume_hessian(&at, w, false, H);
    for (int i = 0; i < 81; i++) most = fmax(most, fabs(H[i]));
    for (int i = 0; i < 9; i++)
      for (int j = 0; j < 9; j++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) {
          tbVec3 y[4];
          memcpy(y, x, sizeof y);
          (&y[1 + i / 3].x)[i % 3] += k & 1 ? step : -step;
          (&y[1 + j / 3].x)[j % 3] += k & 2 ? step : -step;
          sum += (k == 0 || k == 3 ? 1 : -1) * energy_at(y) / (4 * step * step);
        }
        CHECK_NEAR(H[9 * i + j], sum, 1e-4 * most);
      }
    tb_volume_hessian(&at, w, true, P);
    tb_make_positive(9, H);
    for (int i = 0; i < 81; i++) CHECK_NEAR(P[i], H[i], 1e-10 * most);
  }
}
