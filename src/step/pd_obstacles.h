// SPDX-License-Identifier: Apache-2.0
// Contacts of nodes with planes and round shapes, by their distance functions.
//
// Where the triangles of a surface are small beside the shape, no contact of its edges and faces would say
// more than those of its nodes; and a distance costs a few operations, without trees or candidates.
#ifndef TB_STEP_PD_OBSTACLES_H
#define TB_STEP_PD_OBSTACLES_H

#include "step/surfaces.h"

// Whether that holds for all shapes of the world and all surfaces of its bodies.
bool tb_pd_obstacles_are_smooth(const tbWorld* world, const tbSurfaces* surfaces);

// Appends a constraint for every vertex that is close to a shape, or may come to be within the step: `ahead`
// times as far as it is expected to go, and `reach` beyond. They point into memory of the arena. With the
// impulses of the last step, if options ask for a warm start.
tbStatus tb_pd_obstacles_find(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbStepView* view,
                              const tbTransform* pose, const tbSurfaces* surfaces, double clearance,
                              double ahead, double reach, const tbStepOptions* options, tbArray* constraints);

#endif
