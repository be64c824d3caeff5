// SPDX-License-Identifier: Apache-2.0
// Potentials of relaxed contact: derivatives against differences, and how smooth they are.
#include "descent/potential.h"
#include "test.h"

#include <complex.h>
#include <math.h>

TEST(contact_potentials_have_the_derivatives_they_say)
{
  static const double exponents[] = {2, 2.5, 3, 4, 6};
  for (int i = 0; i < 5; i++)
    for (double gap = -0.9; gap < 0.3; gap += 0.13) {
      double k = 7, e = 1e-5, p = exponents[i];
      tbPotential x = tb_contact_potential(k, p, gap);
      double up = tb_contact_potential(k, p, gap + e).value, down = tb_contact_potential(k, p, gap - e).value;
      CHECK_NEAR(x.slope, (up - down) / (2 * e), 1e-7);
      up = tb_contact_potential(k, p, gap + e).slope, down = tb_contact_potential(k, p, gap - e).slope;
      CHECK_NEAR(x.curvature, (up - down) / (2 * e), 1e-5);
    }
  CHECK(tb_contact_potential(1, 2, 0).slope == 0 && tb_contact_potential(1, 3, 0.1).curvature == 0);
}

TEST(friction_potentials_have_the_derivatives_they_say)
{
  for (int m = 0; m < TB_RELAX_COUNT; m++)
    for (double s = 0.013; s < 1; s += 0.037) {
      double k = 30, limit = 6, e = 1e-6;
      tbRelaxedFriction model = (tbRelaxedFriction)m;
      tbFrictionPotential x = tb_friction_potential(model, k, limit, s);
      tbFrictionPotential up = tb_friction_potential(model, k, limit, s + e);
      tbFrictionPotential down = tb_friction_potential(model, k, limit, s - e);
      CHECK_NEAR(x.slope, (up.value - down.value) / (2 * e), 1e-7);
      CHECK_NEAR(x.curvature, (up.slope - down.slope) / (2 * e), 1e-4);
      CHECK_NEAR(x.turn, x.slope / s, 1e-12 * x.turn);
      up = tb_friction_potential(model, k, limit + e, s),
      down = tb_friction_potential(model, k, limit - e, s);
      CHECK_NEAR(x.by_limit, (up.slope - down.slope) / (2 * e), 1e-7);
      CHECK(x.slope <= limit * (1 + 1e-15));
    }
}

// The same potentials written once more, in complex numbers: U'(x) = Im U(x + iε)/ε has no difference in it,
// and is right to the last digits.
static double complex contact_energy(double k, double p, double complex gap) { return k / p * cpow(-gap, p); }

static double complex friction_energy(tbRelaxedFriction model, double k, double complex limit,
                                      double complex s)
{
  double complex end = model == TB_RELAX_QUINTIC ? 1.875 * limit / k : limit / k, t = s / end, t2 = t * t;
  switch (model) {
  case TB_RELAX_QUINTIC:
    return creal(t) >= 1 ? limit * (s - 0.3125 * end)
                         : limit * end * (0.9375 * t2 - 0.3125 * t2 * t2 + 0.0625 * t2 * t2 * t2);
  case TB_RELAX_PSEUDO_HUBER: return limit * (csqrt(s * s + end * end) - end);
  default: return creal(t) >= 1 ? limit * s - 0.5 * limit * end : 0.5 * k * s * s;
  }
}

TEST(slopes_of_potentials_are_those_of_complex_steps)
{
  static const double exponents[] = {2, 2.5, 3, 4, 6}, e = 1e-30;
  for (int i = 0; i < 5; i++)
    for (double gap = -0.9; gap < -0.01; gap += 0.13) {
      double slope = cimag(contact_energy(7, exponents[i], gap + e * I)) / e;
      CHECK_NEAR(tb_contact_potential(7, exponents[i], gap).slope, slope, 1e-13 * fabs(slope));
    }
  for (int m = 0; m < TB_RELAX_COUNT; m++)
    for (double s = 0.013; s < 1; s += 0.037) {
      double slope = cimag(friction_energy((tbRelaxedFriction)m, 30, 6, s + e * I)) / e;
      CHECK_NEAR(tb_friction_potential((tbRelaxedFriction)m, 30, 6, s).slope, slope, 1e-13 * slope);
    }
}

// All begin with k_f and end at the limit; stick–slip has a kink where the quintic has two derivatives.
TEST(friction_potentials_stick_with_k_and_slip_at_the_limit)
{
  for (int m = 0; m < TB_RELAX_COUNT; m++) {
    tbRelaxedFriction model = (tbRelaxedFriction)m;
    CHECK_NEAR(tb_friction_potential(model, 30, 6, 0).turn, 30, 1e-12);
    CHECK_NEAR(tb_friction_potential(model, 30, 6, 0).curvature, 30, 1e-12);
    CHECK_NEAR(tb_friction_potential(model, 30, 6, 1e6).slope, 6, 1e-10);
    CHECK(tb_friction_potential(model, 30, 0, 1).slope == 0);
  }
  double end = 1.875 * 6 / 30, e = 1e-6;
  CHECK_NEAR(tb_friction_potential(TB_RELAX_QUINTIC, 30, 6, end - e).curvature, 0, 1e-8);
  CHECK_NEAR(tb_friction_potential(TB_RELAX_STICK_SLIP, 30, 6, 6.0 / 30 - e).curvature, 30, 1e-12);
}
