// SPDX-License-Identifier: Apache-2.0
// The distance of two convex cores, and the points where it is attained.
#ifndef TB_COLLIDE_GJK_H
#define TB_COLLIDE_GJK_H

#include "geometry/convex.h"

// A convex set in a working frame: the core of a shape, or the hull of a few points (a triangle, say).
typedef struct tbCore {
  const tbShape* shape; // null: the points
  const tbVec3* point;  // in the working frame already
  int count;
  bool moved; // R and x say where; otherwise the shape's frame is the working frame
  tbMat3 R;
  tbVec3 x;
} tbCore;

tbCore tb_core_at_origin(const tbShape* shape);
tbCore tb_core_moved(const tbShape* shape, tbTransform T);
tbCore tb_core_of_points(const tbVec3* point, int count);

// The farthest point along d. *hint: any number from an earlier call on this core, or 0.
tbVec3 tb_core_farthest(const tbCore* core, tbVec3 d, int* hint, int* feature);
tbVec3 tb_core_middle(const tbCore* core);

typedef struct tbGjkVertex {
  tbVec3 a, b, w; // w = b − a
  int fa, fb;     // corners of A and B
  double weight;  // the closest point is Σ weight·w
} tbGjkVertex;

typedef struct tbGjk {
  int n;            // corners of the simplex: 1 … 4
  tbGjkVertex v[4]; // its closest point is the answer
  bool overlap;     // the cores meet, to rounding: distance 0 and no normal
  tbVec3 a, b;      // closest points
  tbVec3 normal;    // unit, from A to B
  double distance;  // ‖b − a‖
  double bound;     // the truth is not below: a separating slab of this width was seen
} tbGjk;

// Stops early once the distance is known to exceed `enough`.
void tb_gjk(const tbCore* a, const tbCore* b, double enough, tbGjk* out);

#endif
