// Impacts that would add energy.
#ifndef TB_STEP_CALM_H
#define TB_STEP_CALM_H

#include "step/assemble.h"

// With friction, Newton's law of restitution can ask for more kinetic energy than there was. Where the
// impacts of `a` do, per group of bodies that touch each other, their impulses and velocities are mixed with
// those of the same impacts without restitution, just enough to gain nothing. `before`: velocities the
// impacts started from. The touches' biases are changed.
tbStatus tb_calm_impacts(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                         const tbFree* before, const tbTransform* centre, tbTouch* touches, int count,
                         tbAssembly* a);

#endif
