// Bodies that contacts could not keep from passing through something.
#ifndef TB_STEP_HALT_H
#define TB_STEP_HALT_H

#include "step/scheme.h"

// Sets free[].lost of bodies whose heart would pass through a body that they touch in this step.
void tb_halt_bodies(const tbWorld* world, const tbStepOptions* options, tbStepWork* work);

#endif
