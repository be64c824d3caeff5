// SPDX-License-Identifier: Apache-2.0
// The volume of a tetrahedron as a share of that at rest, J = V/V₀, and the Hessian of an energy W(J).
#ifndef TB_BARRIER_VOLUME_H
#define TB_BARRIER_VOLUME_H

#include "barrier/barrier.h"

typedef struct tbVolume {
  double J;
  double share;      // 1/(6 V₀)
  tbVec3 e[3], n[3]; // edges from corner 0, and ∂J by them
} tbVolume;

tbVolume tb_volume_of(const tbVec3 corner[4], double rest); // V₀ above 0

// By the three edges, given the derivatives of W at J: as it is, or its positive part.
void tb_volume_hessian(const tbVolume* volume, tbJet energy, bool positive, double H[81]);

#endif
