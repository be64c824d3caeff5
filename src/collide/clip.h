// SPDX-License-Identifier: Apache-2.0
// Where two faces that look at each other overlap, seen along a direction.
#ifndef TB_COLLIDE_CLIP_H
#define TB_COLLIDE_CLIP_H

#include "collide/pairs.h"
#include "geometry/convex.h"

enum { TB_CLIP_POINTS = 2 * TB_FACE_CORNERS + 2 };

typedef struct tbClipPoint {
  tbVec3 a, b;     // one above the other, b − a = gap·n; segments to a thousandth of their length
  double gap;      // along n
  uint32_t fa, fb; // features of A and B that meet
} tbClipPoint;

// Corners of the overlap of face `a` (of A) with face `b` (of B) along the unit vector n from A to B, in
// order around it; returns their number. Faces may be polygons, segments or points. A corner within `near` of
// the other face's border is inside. `b_clips` says whose border cuts the other's: it matters for corners
// that lie on the border, and for nothing else.
int tb_clip_faces(const tbFace* a, const tbFace* b, tbVec3 n, bool b_clips, double near, tbClipPoint* out);

#endif
