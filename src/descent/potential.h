// SPDX-License-Identifier: Apache-2.0
// The potentials of relaxed contact (Macklin et al. 2020, sections 5.2 and 6.2), as pure functions of one
// number, with the derivatives that descent and gradients through it need.
#ifndef TB_DESCENT_POTENTIAL_H
#define TB_DESCENT_POTENTIAL_H

#include "tribo/descent.h"

// U, U' and U'' at one place. The force is −U'.
typedef struct tbPotential {
  double value, slope, curvature;
} tbPotential;

// k/2 x²
tbPotential tb_quadratic_potential(double k, double x);

// k/p (−x)ᵖ for a gap x < 0, else 0. The force has p − 2 continuous derivatives: p = 2 continuous, 3 C¹,
// 4 C².
tbPotential tb_contact_potential(double k, double exponent, double gap);

// Friction of a contact that slips at the speed s ≥ 0: the slope is the force against it, at most the limit
// (μ times the normal force, held constant). by_limit: ∂slope/∂limit. slope/s, of the turning directions, is
// `turn`: k_f at s = 0.
typedef struct tbFrictionPotential {
  double value, slope, curvature, turn, by_limit;
} tbFrictionPotential;
tbFrictionPotential tb_friction_potential(tbRelaxedFriction model, double k_f, double limit, double speed);

#endif
