// SPDX-License-Identifier: Apache-2.0
// Semicircular arches of voussoirs, built of hulls, and what limit analysis says of them.
#ifndef TB_TEST_ARCHES_H
#define TB_TEST_ARCHES_H

#include "known/worlds.h"

enum { VOUSSOIRS_MOST = 400 };

// Mean radius 1, thickness t, standing on the floor z = 0 along x; y is the depth of the stones.
void stage_arch(Stage* s, int stones, double thickness, tbBodyId* out);

// Whether a symmetric line of thrust fits: compression everywhere inside the joints, shear within μ of it.
bool arch_stands(int stones, double thickness, double mu);
double arch_least_thickness(int stones, double mu);
double arch_least_friction(int stones, double thickness);

#endif
