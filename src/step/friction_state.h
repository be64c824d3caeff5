// SPDX-License-Identifier: Apache-2.0
// Friction that depends on how the surfaces move, taken at the start of the step, and forces that are no cone
// over the origin.
#ifndef TB_STEP_FRICTION_STATE_H
#define TB_STEP_FRICTION_STATE_H

#include "step/find.h"

// Whether a side of the constraint slides against its direction over the other; where nothing slides yet,
// whether gravity pulls it that way.
bool tb_friction_goes_back(const tbWorld* world, const tbContactConstraint* constraint, int side,
                           tbVec3 direction);

// Friction at rest, or at the speed that the surfaces slide with: the constraint's coefficients, scaled.
void tb_friction_at_speed(const tbWorld* world, tbContactConstraint* constraint);

// Frames turned along the sliding where the options, or Tresca's law, ask for it; and that law's rows.
void tb_friction_rows(const tbWorld* world, const tbStepOptions* options, tbContactConstraint* constraint);

// Tresca's law: friction of no more than so much along the first tangent and across it, N·s.
void tb_friction_bound(double along, double across, tbContactConstraint* constraint);

#endif
