// SPDX-License-Identifier: Apache-2.0
// What the narrow phase finds: points where two shapes touch or are about to.
#ifndef TB_COLLIDE_CONTACT_H
#define TB_COLLIDE_CONTACT_H

#include "base/array.h"
#include "tribo/geometry.h"

enum { TB_MANIFOLD_POINTS = 8 }; // most points kept for one pair of convex shapes

typedef struct tbContactPoint {
  tbVec3 a, b;      // on the surface of A, on the surface of B (world)
  tbVec3 normal;    // unit, from A to B
  double gap;       // (b − a)·normal; negative: overlapping
  uint64_t feature; // names the pair of features that meet; the same from one step to the next
} tbContactPoint;

// Appends the points of shapes A and B whose gap is at most `margin` to `out`, an array of tbContactPoint.
// Ta and Tb are the poses of the bodies; the shapes' own poses come on top. Features that meet at one place
// give one point. Deep overlaps give the direction of least penetration.
tbStatus tb_collide(tbContext* ctx, const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb,
                    double margin, tbArray* out);

#endif
