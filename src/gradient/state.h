// SPDX-License-Identifier: Apache-2.0
// The state of a world as numbers, and worlds at states next to it.
//
// A vector of state holds, for every body that moves freely: of a frame δx, δθ (a small rotation, world
// axes), δv, δω; of nodes δx and δv of each; of a reduced body those of its frame, unless it is pinned, and
// of its coordinates; then the impulses of the joints, of which the next step makes geometric stiffness, and
// those of the contact records, from which solvers start, and what the scheme keeps from step to step
// (tbStateKind.number). The clock is kept as it is.
#ifndef TB_GRADIENT_STATE_H
#define TB_GRADIENT_STATE_H

#include "scene/world.h"

typedef struct tbStateAt tbStateAt; // a world's state, apart from the world

tbStatus tb_state_check_kinds(tbContext* ctx, const tbWorld* world); // whether all of it is in the vector
int tb_state_size(const tbWorld* world);                             // with the contacts it has now

tbStatus tb_state_save(tbContext* ctx, const tbWorld* world, tbStateAt** state); // *state: null, or reused
void tb_state_free(tbContext* ctx, tbStateAt* state);

// Puts a world of the same bodies at state + step · direction (null: the state itself). Kinematic bodies are
// put where they are in the state if `whole`, else where the world's own motion has them by then.
tbStatus tb_state_put(tbContext* ctx, const tbStateAt* state, double step, const double* direction,
                      bool whole, tbWorld* world);

// out += factor · (world − base), both of the same bodies.
void tb_state_difference(const tbWorld* world, const tbWorld* base, double factor, double* out);

int tb_state_fixed(const tbWorld* world); // without the contacts

// What is a small change of each number is this times a small share: sizes, radians, what goes so far in dt.
// 0: there is none. (tb_state_fixed)
void tb_state_units(const tbWorld* world, double dt, double* unit);

// Which numbers act on each other within a step: islands of what the contacts of the last step, joints and
// attachments connect, 0 … count − 1. (tb_state_fixed)
tbStatus tb_state_islands(tbContext* ctx, const tbWorld* world, int* island, int* count);

// How large a direction is: lengths as shares of the bodies' sizes, velocities by what they do in dt.
double tb_state_norm(const tbWorld* world, double dt, const double* direction);

#endif
