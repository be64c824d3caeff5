// SPDX-License-Identifier: Apache-2.0
// Closed forms of the gaps along separating axes, good to rounding. They tell which axes are worth an exact
// look (axes.c): those within `band` of the widest gap. What the others would say changes nothing.
#ifndef TB_COLLIDE_AXES_BOUNDS_H
#define TB_COLLIDE_AXES_BOUNDS_H

#include "collide/gjk.h"
#include "geometry/hull.h"

// Two boxes, in the frame of the first.
typedef struct tbTwoBoxes {
  double t[3], C[3][3], a[3], b[3]; // place and axes (columns) of B; half edges
  double band;
} tbTwoBoxes;

bool tb_are_boxes(const tbCore* a, const tbCore* b, tbTwoBoxes* out); // A in the working frame, B moved
// Gaps of the faces of A, then of B, as they are numbered; returns the widest.
double tb_box_face_gaps(const tbTwoBoxes* boxes, double gap[12]);
// Gaps of the pairs of edges, ∞ for those so close to parallel that the closed form is not good enough;
// returns the widest of the others.
double tb_box_edge_gaps(const tbTwoBoxes* boxes, double gap[3][3]);

// Directions whose edges together have a whole great circle for their arcs: a box's three, a segment's one.
int tb_core_ways(const tbCore* core, tbVec3 way[3]);

// A box or a segment as a hull sees it, in the hull's own frame: half lengths along its ways.
typedef struct tbBars {
  tbVec3 centre, half[3];
  int n;
  double band;
} tbBars;

tbBars tb_bars_in(const tbCore* plain, const tbCore* hull);
double tb_bars_face_gap(const tbHull* hull, int face, const tbBars* bars);
// Whether the slab between an edge of a hull and the bars, along the common normal of the edge and the way,
// may be wider than `lead`. A tenth of the time that the exact look takes.
bool tb_bars_may_lead(const tbBars* bars, const tbHull* hull, int edge, tbVec3 way, double lead);

#endif
