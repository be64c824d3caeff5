// SPDX-License-Identifier: Apache-2.0
// From the corners of an overlap to the few points that carry it.
#ifndef TB_COLLIDE_MANIFOLD_H
#define TB_COLLIDE_MANIFOLD_H

#include "collide/clip.h"

// Points closer than `near` to one before them, and points of the same features, are dropped; of more than
// TB_MANIFOLD_POINTS, those stay that span the most, and the deepest. They come out in the order of their
// names. `point` is overwritten.
void tb_manifold_from(tbClipPoint* point, int count, tbVec3 normal, double near, tbManifold* out);

#endif
