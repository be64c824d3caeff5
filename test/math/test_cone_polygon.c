// SPDX-License-Identifier: Apache-2.0
// Projections onto polygons by their corners, against the closed form for regular ones and Moreau's
// decomposition.
#include "base/random.h"
#include "math/cone.h"
#include "test.h"
#include "tribo/math.h"

#include <math.h>

TEST(corners_of_a_regular_polygon_project_like_its_closed_form)
{
  uint64_t random = 5;
  for (int i = 0; i < 4000; i++) {
    int k = 3 + i % 9;
    double mu = 0.1 + (i % 7) * 0.3, corner[16][2], z[3], x[3], y[3], J[9], K[9];
    for (int c = 0; c < k; c++)
      corner[c][0] = mu * cos(2 * TB_PI * c / k), corner[c][1] = mu * sin(2 * TB_PI * c / k);
    for (int r = 0; r < 3; r++) z[r] = tb_random_uniform(&random, -2, 2);
    tb_project_corner_cone(k, (const double(*)[2])corner, z, x, J);
    tb_project_polygon_cone(k, mu, z, y, K);
    for (int r = 0; r < 3; r++) CHECK_NEAR(x[r], y[r], 1e-13);
    for (int r = 0; r < 9; r++) CHECK_NEAR(J[r], K[r], 1e-10);
  }
}

// z = P_K(z) + P_K°(z): what is left points away from every ray, and is at right angles to the projection.
TEST(the_projection_onto_a_cone_over_any_polygon_leaves_its_polar)
{
  uint64_t random = 9;
  for (int i = 0; i < 4000; i++) {
    static const double shape[3][4][2] = {{{0.7, 0}, {0.1, 0.4}, {-0.2, 0.05}, {0, -0.3}},
                                          {{0.5, 0.01}, {0.49, 0.02}, {0, 0.02}, {0, -0.01}},
                                          {{0.3, 0.1}, {-0.3, 0.3}, {-0.4, 0}, {-0.3, -0.2}}};
    const double(*corner)[2] = shape[i % 3];
    int count = i % 5 == 0 ? 2 : i % 5 == 1 ? 1 : 4;
    double z[3], x[3], rest[3], flat[2];
    for (int r = 0; r < 3; r++) z[r] = tb_random_uniform(&random, -1, 1);
    tb_project_corner_cone(count, corner, z, x, NULL);
    double across = 0;
    for (int r = 0; r < 3; r++) rest[r] = z[r] - x[r], across += rest[r] * x[r];
    CHECK_NEAR(across, 0, 1e-14);
    for (int c = 0; c < count; c++) CHECK(rest[0] + rest[1] * corner[c][0] + rest[2] * corner[c][1] <= 1e-14);
    tb_project_corners(count, corner, x[0], x + 1, flat, NULL); // and the projection is in the cone
    CHECK(x[0] >= 0 && hypot(flat[0] - x[1], flat[1] - x[2]) < 1e-14);
  }
}
