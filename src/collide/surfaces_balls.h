// SPDX-License-Identifier: Apache-2.0
#ifndef TB_COLLIDE_SURFACES_BALLS_H
#define TB_COLLIDE_SURFACES_BALLS_H

#include "collide/surfaces.h"

// Vertices within `reach` (and their radii) of faces at the start of the step, or that are if both go `ahead`
// times as far as they do, along the normal between them, as contacts of the start (t = 0); of faces that
// share a side or a corner, those whose closest point has none beside it that is closer. Edges are not looked
// at, nor planes. Sorted by features. Appended. The same for any number of threads.
tbStatus tb_surface_balls_near(tbContext* ctx, tbArena* arena, const tbSurfaceScene* scene, double reach,
                               double ahead, tbArray* contacts); // tbSurfaceContact

#endif
