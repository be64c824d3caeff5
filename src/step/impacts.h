// SPDX-License-Identifier: Apache-2.0
// Impacts with restitution, before the contacts of the step are solved.
#ifndef TB_STEP_IMPACTS_H
#define TB_STEP_IMPACTS_H

#include "step/scheme.h"

// Resolves the impacts that happen within the step: changes the free velocities of the bodies they strike,
// notes when on the constraints (impact) and with what impulse (struck). The report keeps the worst residual.
tbStatus tb_resolve_impacts(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                            tbStepWork* work, tbStepReport* report);

#endif
