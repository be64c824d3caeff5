// SPDX-License-Identifier: Apache-2.0
// Points in an order in which those that follow each other lie together.
#ifndef TB_GEOMETRY_PATCHES_H
#define TB_GEOMETRY_PATCHES_H

#include "tribo/math.h"

#include <stdbool.h>

enum { TB_PATCH = 8 };

// Orders `count` points so that every TB_PATCH of them, from the first on, are a patch; every TB_PATCH of
// these one of the next size, and so on: halves along the widest axis, cut between patches. items: of points,
// in any order. The same whatever that is.
void tb_patches_order(const tbVec3* point, int* items, int count);

// Puts the `first` items that lie lowest along an axis in front: Hoare's selection, the median of three its
// pivot.
void tb_select_along(const tbVec3* point, int axis, int* items, int count, int first);

#endif
