// SPDX-License-Identifier: Apache-2.0
// Pairs of triangles that touch, told apart: what intersect_search.c hands to intersect_touch.c.
#ifndef TB_COLLIDE_INTERSECT_TOUCH_H
#define TB_COLLIDE_INTERSECT_TOUCH_H

#include "collide/intersect.h"

// Triangle t of surface a meets triangle u of surface b: a ≤ b.
typedef struct tbTrianglePair {
  int a, b, t, u;
  tbMeeting meeting;
} tbTrianglePair;

// Turns those that touch or overlap into TB_CROSSING where their surfaces pass through each other.
tbStatus tb_tell_touching(tbContext* ctx, const tbTriangles* surfaces, int count, tbTrianglePair* pairs,
                          size_t npair);

#endif
