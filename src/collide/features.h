// SPDX-License-Identifier: Apache-2.0
// Two features of surfaces at one moment: a vertex and a face, or two edges.
//
// Corners come as in ccd.h: p f0 f1 f2, or the edges b0 b1 a0 a1. The vector from a point of the face, or of
// the edge a, to a point of the other is F(u, v) = C + u U + v V, with (u, v) in a triangle or in a square,
// and closest points are where the convex |F|² is least: inside, or on one of three or four sides.
#ifndef TB_COLLIDE_FEATURES_H
#define TB_COLLIDE_FEATURES_H

#include "tribo/base.h"
#include "tribo/math.h"

typedef struct tbClosest {
  tbVec3 way;       // from the face, or the edge a, to the other
  double weight[4]; // of the corners, as in tbCcdHit; exactly 0 off the part that is closest
  bool inside;      // of the face, of both edges; never where edges are parallel, to 1e-7
} tbClosest;

// To rounding for features of any shape, without area or length among them.
tbClosest tb_closest_features(bool face, const tbVec3 x[4]);

// Where |C + u U + v V| is least over all (u, v): their determinant, and u and v times that. 0: U and V are
// parallel, to 1e-7.
double tb_foot_on_plane(tbVec3 C, tbVec3 U, tbVec3 V, double* u, double* v);

// +1: the vertex lies on the side that the face turns to, or b beyond a along (a1 − a0) × (b1 − b0); 0: in
// one plane. Exact.
int tb_side_of_features(bool face, const tbVec3 x[4]);
// That direction, a unit vector; zero where there is none.
tbVec3 tb_normal_of_features(bool face, const tbVec3 x[4]);

#endif
