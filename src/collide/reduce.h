// SPDX-License-Identifier: Apache-2.0
// Many candidate points brought down to a few that hold the bodies the same way.
#ifndef TB_COLLIDE_REDUCE_H
#define TB_COLLIDE_REDUCE_H

#include "collide/contact.h"

// Keeps at most TB_MANIFOLD_POINTS points of every group of similar normals among the points first … count−1.
void tb_reduce_points(tbArray* points, size_t first);

#endif
