// SPDX-License-Identifier: Apache-2.0
// How far two shapes are apart, at least.
#ifndef TB_COLLIDE_DISTANCE_H
#define TB_COLLIDE_DISTANCE_H

#include "tribo/geometry.h"

// A lower bound of the gap, tight to rounding between convex shapes; not positive when they overlap, −∞ where
// nothing is known. *normal (may be null) is a unit vector n from A to B such that the shapes are this far
// apart along n, n·b − n·a ≥ gap for all their points; zero when there is no such direction.
double tb_distance(const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb, tbVec3* normal);

// No point of a shape is farther from `centre`, a point of its body's frame. ∞ for planes.
double tb_reach_about(const tbShape* shape, tbVec3 centre);

#endif
