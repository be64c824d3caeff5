// From velocities to poses.
#ifndef TB_STEP_INTEGRATE_H
#define TB_STEP_INTEGRATE_H

#include "step/assemble.h"

// Moves every body over the step to the velocities the assembly found, and the clock with them.
void tb_integrate(tbContext* ctx, const tbStepOptions* options, const tbFree* free,
                  const tbAssembly* assembly, tbWorld* world);

// A body in prescribed motion, to where it is at the end of the step.
void tb_follow(const tbWorld* world, tbBody* body, const tbFree* free, double dt);

void tb_advance_clock(tbWorld* world, double dt);

#endif
