// SPDX-License-Identifier: Apache-2.0
// What a step's report says of the problems solved on its way.
#ifndef TB_STEP_COUNT_H
#define TB_STEP_COUNT_H

#include "step/scheme.h"

// A problem within a step that was solved and then judged: not converged, or above the tolerance, it makes
// the step so. The report keeps the worst of every number of the judge.
void tb_count_solve(const tbStepOptions* options, const tbSolveResult* result, const tbAssembly* assembly,
                    tbStepReport* report);

// Of every number the worse; not a number is the worst.
tbResidual tb_worse_residual(const tbResidual* a, const tbResidual* b);

#endif
