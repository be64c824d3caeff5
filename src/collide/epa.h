// SPDX-License-Identifier: Apache-2.0
// The direction of least penetration of two overlapping convex cores.
#ifndef TB_COLLIDE_EPA_H
#define TB_COLLIDE_EPA_H

#include "collide/gjk.h"

typedef struct tbEpa {
  tbVec3 normal;    // unit, from A to B: moving B along it by `depth` parts the cores
  double depth;     // an upper bound of the truth, attained by `normal`; within `tolerance` of it as a rule
  bool guessed;     // nothing beat the guess: what follows is not set
  tbVec3 a, b;      // where they meet: on A and on B, b − a = −depth·normal
  tbGjkVertex v[3]; // the support points around it, with weights
} tbEpa;

// The cores must span a solid together. `guess` is a unit direction to beat, or zero.
void tb_epa(const tbCore* a, const tbCore* b, double tolerance, tbVec3 guess, tbEpa* out);

#endif
