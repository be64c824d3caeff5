// SPDX-License-Identifier: Apache-2.0
// Forces that act in one step beside those given to bodies: loads over time, and the pull of adhesion.
#ifndef TB_STEP_LOADS_H
#define TB_STEP_LOADS_H

#include "scene/world.h"
#include "tribo/step.h"

// What they are, and what was before they were added.
typedef struct tbStepLoads {
  tbArray pull;   // tbAdhesivePull
  tbArray force;  // tbVec3: force and torque on each body
  tbArray number; // double: forces on the nodes of each
  tbArray record; // tbContactRecord
} tbStepLoads;

bool tb_step_has_loads(const tbWorld* world);

// Adds them to the forces on bodies and nodes, and to the impulses that a step starts from what adhesion
// withstands. The cache is the world's, or one for this alone. After a failure it has changed nothing.
tbStatus tb_step_loads_begin(tbContext* ctx, tbCache* cache, tbWorld* world, const tbStepOptions* options,
                             tbStepLoads* out);
// After the step: impulses of contacts that adhere are those of the contact with its pull.
void tb_step_loads_done(const tbStepLoads* loads, const tbStepOptions* options, tbWorld* world);
void tb_step_loads_restore(const tbStepLoads* loads, tbWorld* world); // after a step that failed
void tb_step_loads_free(tbContext* ctx, tbStepLoads* loads);

#endif
