// SPDX-License-Identifier: Apache-2.0
// Masonry arches at the limits of their strength: thickness and friction.
#include "known/arches.h"
#include "test.h"

enum { STONES = 25 };

// How far the stone that moved most has moved.
static double sag(double thickness, double mu, double seconds, double enough)
{
  Stage s = stage_open(mu, 0);
  s.step.dt = 1.0 / 60;
  stage_floor(&s, 0, 0);
  tbBodyId stone[STONES];
  tbVec3 start[STONES];
  stage_arch(&s, STONES, thickness, stone);
  for (int i = 0; i < STONES; i++) start[i] = stage_state(&s, stone[i]).position;
  double most = 0;
  for (int k = 0; k < (int)(seconds / s.step.dt) && most < enough; k++) {
    stage_run(&s, 1);
    for (int i = 0; i < STONES; i++)
      most = fmax(most, tb_distance3(stage_state(&s, stone[i]).position, start[i]));
  }
  CHECK(s.unconverged == 0);
  stage_close(&s);
  return most;
}

// Milankovitch 1907: 0.1075 of the mean radius, for any number of stones; a thick one slides below μ ≈ 0.31
// whatever its thickness (Gáspár, Sipos and Sajtos 2018).
TEST(limit_analysis_finds_the_known_thickness)
{
  CHECK_NEAR(arch_least_thickness(test_quick() ? 99 : 199, 10), 0.1075, 5e-4);
  CHECK_NEAR(arch_least_friction(99, 0.2), 0.31, 0.01);
}

LONG_TEST(arch_stands_and_falls_by_its_thickness)
{
  double least = arch_least_thickness(STONES, 1);
  CHECK_NEAR(least, 0.1075, 0.003);
  CHECK(sag(1.05 * 0.1075, 1, 2, 1) < 1e-3);
  CHECK(sag(0.95 * 0.1075, 1, 3, 0.1) >= 0.1);
  if (test_quick()) return;
  CHECK(sag(1.02 * least, 1, 2, 1) < 1e-3);
  CHECK(sag(0.98 * least, 1, 4, 0.1) >= 0.1);
}

LONG_TEST(arch_stands_and_slides_by_its_friction)
{
  double t = 0.2, least = arch_least_friction(STONES, t);
  CHECK(sag(t, 1.05 * least, 2, 1) < 1e-3);
  CHECK(sag(t, 0.95 * least, 3, 0.1) >= 0.1);
}
