// SPDX-License-Identifier: Apache-2.0
// What the files of the scheme `penalty` share: the forces of one contact (penalty_force.c), and the phases
// and anchors around them (penalty.c).
#ifndef TB_STEP_PENALTY_H
#define TB_STEP_PENALTY_H

#include "step/scheme.h"

// A contact, and the points of its pair that are in contact with it: they share the mass.
typedef struct tbPenaltyPoint {
  const tbContactConstraint* at;
  int points;
  tbVec3 stretch; // of its anchor before the step, world axes   m
} tbPenaltyPoint;

// Forces along the rows of the contact, N and N·m; *stretch: that of its anchor after the step.
void tb_penalty_force(const tbWorld* world, const tbStepOptions* options, const tbPenaltyPoint* point,
                      double force[6], tbVec3* stretch);

#endif
