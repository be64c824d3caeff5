// SPDX-License-Identifier: Apache-2.0
// Impacts that would add energy.
#ifndef TB_STEP_IMPACT_ENERGY_H
#define TB_STEP_IMPACT_ENERGY_H

#include "step/scheme.h"

// Assembles, solves and judges the impacts of a round. With friction, Newton's law of restitution can ask for
// more kinetic energy than there was: where it does, a group of bodies that touch each other is given only a
// share of its restitution, about the largest that gains nothing, and solved again. What comes out is the
// judged solution of the problem with that share. `begun`: when the step was (tb_step_budget). `before`:
// velocities the impacts started from. The constraints' biases are changed. The report counts every problem
// that was solved, keeps the residual of the last, and says how many impacts were damped, and by how much.
tbStatus tb_solve_impacts(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                          double begun, const tbUnconstrained* before, const tbTransform* centre,
                          tbContactConstraint* constraints, int count, tbAssembly* out, tbStepReport* report);

#endif
