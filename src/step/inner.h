// SPDX-License-Identifier: Apache-2.0
// Bodies that contacts at their surfaces could not keep from passing through something.
#ifndef TB_STEP_INNER_H
#define TB_STEP_INNER_H

#include "step/scheme.h"

enum { TB_INNER_ROUNDS = 4 }; // how often, at most, inner contacts are looked for and solved with

// With the velocities that the assembly found: adds a contact for every inner sphere that would meet a body
// that this step touches, in the order of shapes, and takes contacts between surfaces out. Impulses found so
// far become the constraints' guesses. added: how many; where there are none the constraints are left as they
// are.
tbStatus tb_inner_contacts(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                           tbStepWork* work, int* added);

// Sets free[].lost of bodies whose inner sphere would meet a body that they touch in this step all the same.
void tb_stop_short(const tbWorld* world, const tbStepOptions* options, tbStepWork* work);

#endif
