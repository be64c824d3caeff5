// SPDX-License-Identifier: Apache-2.0
// The motion of all bodies if nothing touched them: of frames, and of what is solved for (solved.c).
#ifndef TB_STEP_UNCONSTRAINED_H
#define TB_STEP_UNCONSTRAINED_H

#include "kind/step.h"

// Of bodies begin … end − 1.
void tb_free_motion(const tbWorld* world, double dt, int begin, int end, tbUnconstrained* out);

// Of every body, from the arena; of those that solve for nothing all zero. What is kept from step to step is
// in the cache.
tbStatus tb_free_motion_solved(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* world,
                               const tbStepOptions* options, tbBodyStep** out);

// Bodies that nodes of deformable ones are attached to do not fly freely.
void tb_hold_attached(const tbWorld* world, tbUnconstrained* unconstrained);

#endif
