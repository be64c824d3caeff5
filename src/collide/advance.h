// SPDX-License-Identifier: Apache-2.0
// Conservative advancement: the first moment two moving shapes touch.
#ifndef TB_COLLIDE_ADVANCE_H
#define TB_COLLIDE_ADVANCE_H

#include "tribo/geometry.h"

// A body's motion over a step: pose at the start, constant velocity of its centre of mass `centre` (world, at
// the start) and constant angular velocity.
typedef struct tbSweep {
  tbTransform start;
  tbVec3 centre, v, w;
} tbSweep;

tbTransform tb_sweep_at(const tbSweep* sweep, double t);

// Whether a time of impact can be told: of convex shapes, meshes and distance grids with each other, and of
// convex shapes with planes. (Meshes and planes need no sweep: contacts with a plane are the same all the
// way.)
bool tb_can_sweep(const tbShape* a, const tbShape* b);

// The first t in [0, end] at which the gap is at most `target` (> 0), or `end` when there is none. Never
// later than the truth; early by no more than it takes to close a thousandth of `target`, as a rule. 0 where
// it cannot be told.
double tb_time_of_impact(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb, double end,
                         double target);

// The same with those triangles of a mesh only that are farther than `apart` at the start; one of the shapes
// is a mesh or a distance grid.
double tb_time_of_impact_apart(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb,
                               double end, double target, double apart);

#endif
