// SPDX-License-Identifier: Apache-2.0
#include "descent/potential.h"

#include "tribo/math.h"

#include <stddef.h>

const char* tb_relaxed_friction_name(tbRelaxedFriction model)
{
  static const char* const names[TB_RELAX_COUNT] = {"stick-slip", "quintic", "pseudo-huber"};
  return (unsigned)model < TB_RELAX_COUNT ? names[model] : NULL;
}

tbPotential tb_quadratic_potential(double k, double x) { return (tbPotential){0.5 * k * x * x, k * x, k}; }

// xᵖ⁻² for x > 0; whole exponents by products.
static double power(double x, double p)
{
  if (p == 2) return 1;
  if (p == 3) return x;
  if (p == 4) return x * x;
  return tb_exp((p - 2) * tb_ln(x));
}

tbPotential tb_contact_potential(double k, double p, double gap)
{
  if (!(gap < 0)) return (tbPotential){0};
  double x = -gap, low = k * power(x, p); // k xᵖ⁻²
  return (tbPotential){low * x * x / p, -low * x, (p - 1) * low};
}

static tbFrictionPotential stick_slip(double k, double limit, double s)
{
  if (k * s < limit || !(s > 0)) return (tbFrictionPotential){0.5 * k * s * s, k * s, k, k, 0};
  return (tbFrictionPotential){limit * s - 0.5 * limit * limit / k, limit, 0, limit / s, 1};
}

// s₀ = 15/8 limit/k_f, so that the slope at 0 is k_f.
static tbFrictionPotential quintic(double k, double limit, double s)
{
  double s0 = 1.875 * limit / k, t = s / s0, t2 = t * t;
  if (t >= 1) return (tbFrictionPotential){limit * (s - 0.3125 * s0), limit, 0, limit / s, 1};
  double shape = 1.875 - t2 * (1.25 - 0.375 * t2), rest = 1 - t2; // q(t)/t
  double q = t * shape, dq = 1.875 * rest * rest;
  double area = t2 * (0.9375 - t2 * (0.3125 - 0.0625 * t2));
  return (tbFrictionPotential){limit * s0 * area, limit * q, limit / s0 * dq, limit / s0 * shape, q - t * dq};
}

// ε = limit/k_f, so that the slope at 0 is k_f.
static tbFrictionPotential pseudo_huber(double k, double limit, double s)
{
  double e = limit / k, r = sqrt(s * s + e * e), c = e / r, q = s / r;
  return (tbFrictionPotential){limit * s * s / (r + e), limit * q, limit / r * c * c, limit / r, q * q * q};
}

tbFrictionPotential tb_friction_potential(tbRelaxedFriction model, double k, double limit, double s)
{
  if (!(limit > 0)) return (tbFrictionPotential){.by_limit = s > 0};
  switch (model) {
  case TB_RELAX_QUINTIC: return quintic(k, limit, s);
  case TB_RELAX_PSEUDO_HUBER: return pseudo_huber(k, limit, s);
  default: return stick_slip(k, limit, s);
  }
}
