// SPDX-License-Identifier: Apache-2.0
// Worlds with soft bodies, cloth and rigid bodies together, for tests.
#ifndef TB_TEST_SOFT_WORLDS_H
#define TB_TEST_SOFT_WORLDS_H

#include "tribo/step.h"

// A box, a ball and a rigid compound in a heap on a floor, under a cloth that is pinned, attached to a
// swinging bar and swept by a wall: something of everything the scheme `implicit` does. Stops at the first
// failure.
tbStatus soft_heap(tbContext* ctx, tbWorld* world);

// Bodies of every kind, thrown at each other: which, how fast and what of is decided by the seed, and so are
// gravity, friction and the step. Nothing touches at the start.
tbStatus soft_storm(tbContext* ctx, uint64_t seed, tbWorld** out, tbStepOptions* options);

#endif
