// From velocities to poses.
#ifndef TB_STEP_INTEGRATE_H
#define TB_STEP_INTEGRATE_H

#include "step/assemble.h"

// A rigid body as it will be at the end of the step, at the velocities the assembly found.
tbBody tb_body_after(const tbWorld* world, double dt, const tbUnconstrained* unconstrained,
                     const tbAssembly* assembly, int body);

// Moves every rigid body over the step to the velocities the assembly found, and the clock with them. The
// report says which of them went only a part of it (free[].lost).
void tb_integrate(tbContext* ctx, const tbStepOptions* options, const tbUnconstrained* unconstrained,
                  const tbAssembly* assembly, tbWorld* world, tbStepReport* report);

// A body in prescribed motion, to where it is at the end of the step.
void tb_follow(const tbWorld* world, tbBody* body, const tbUnconstrained* unconstrained, double dt);

void tb_advance_clock(tbWorld* world, double dt);

#endif
