// SPDX-License-Identifier: Apache-2.0
// Separating axes: the flat faces of two cores, and the pairs of edges of polytopes.
#ifndef TB_COLLIDE_AXES_H
#define TB_COLLIDE_AXES_H

#include "collide/gjk.h"

typedef enum tbAxisKind { TB_AXIS_FACE_A, TB_AXIS_FACE_B, TB_AXIS_EDGES } tbAxisKind;

typedef struct tbAxis {
  tbAxisKind kind;
  double gap;     // of the two support planes; below the distance, negative when the cores overlap along n
  tbVec3 n;       // unit, from A to B
  int face;       // of A or of B
  int corner;     // the other core's, farthest against it
  int edge[2][2]; // corners of A's and of B's edge
  tbVec3 a, b;    // a point of A and of B on the two planes; for edges, where they cross
} tbAxis;

// The face normal with the widest gap. B's faces win only by more than `bias`, so that rounding does not
// choose. Stops at the first gap beyond `enough`. The shapes must have a face between them.
void tb_axes_faces(const tbCore* a, const tbCore* b, double enough, double bias, tbAxis* best);

// Both hulls have so many faces that looking at all of them is the long way.
bool tb_axes_many_faces(const tbCore* a, const tbCore* b);

// The better of the two faces that look along n and back, if its gap is not below `least`.
bool tb_axes_face_near(const tbCore* a, const tbCore* b, tbVec3 n, double least, tbAxis* best);

// True when both cores are polytopes whose pairs of edges are few enough to look at.
bool tb_axes_have_edges(const tbCore* a, const tbCore* b);

// Takes the place of *best where a pair of edges has a gap wider by more than `bias`.
void tb_axes_edges(const tbCore* a, const tbCore* b, double bias, tbAxis* best);

// The axis along which two boxes are nearest, where a corner of one lies over a face of the other (*out has
// no more than the kind and the direction) or two edges pass each other. False where it is neither, or where
// they overlap or all but do. A lies in the working frame, B is moved.
bool tb_axes_boxes_nearest(const tbCore* a, const tbCore* b, tbAxis* out);

#endif
