// SPDX-License-Identifier: Apache-2.0
// From velocities to poses.
#ifndef TB_STEP_INTEGRATE_H
#define TB_STEP_INTEGRATE_H

#include "step/assemble.h"

// A frame as it will be at the end of the step.
tbBody tb_body_after(const tbStepView* view, int body);

// Moves every body over the step with the velocities the assembly found, and the clock with them. The report
// says which of them went only a part of it (tbUnconstrained.lost, share).
void tb_integrate(tbContext* ctx, const tbStepOptions* options, const tbUnconstrained* unconstrained,
                  const tbAssembly* assembly, tbWorld* world, tbStepReport* report);

void tb_advance_clock(tbWorld* world, double dt);

#endif
