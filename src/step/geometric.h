// SPDX-License-Identifier: Apache-2.0
// The stiffness that tight joints have across their pull.
#ifndef TB_STEP_GEOMETRIC_H
#define TB_STEP_GEOMETRIC_H

#include "kind/step.h"

// Adds to `out` (one per body, zeroed) what the joints' forces of the last step call for in a step of dt.
void tb_geometric_stiffness(const tbWorld* world, double dt, const tbTransform* centre, tbGeometric* out);

#endif
