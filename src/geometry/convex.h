// SPDX-License-Identifier: Apache-2.0
// Convex shapes as the narrow phase sees them: a core with a radius around it, its farthest point in a
// direction, and the flat face it turns to a direction.
//
//   sphere    point + radius            capsule   segment + radius
//   box, convex, cylinder: themselves, radius 0
#ifndef TB_GEOMETRY_CONVEX_H
#define TB_GEOMETRY_CONVEX_H

#include "tribo/geometry.h"

enum { TB_FACE_CORNERS = 64, TB_CYLINDER_SIDES = 8 };

// The core's point farthest along d (any length but zero), in the shape's own frame (pose not applied).
// feature: index of the corner among the shape's; *hint starts the hill climb on hulls and is updated (may be
// null).
tbVec3 tb_core_support(const tbShape* shape, tbVec3 d, int* hint, int* feature);
double tb_core_radius(const tbShape* shape);
tbVec3 tb_core_centre(const tbShape* shape); // a point well inside the core, in the shape's own frame
double tb_core_reach(const tbShape* shape);  // no point of the core is farther from the frame's origin

// How far a capsule's surface lies beyond a point of its segment along a direction d: up to where the line
// leaves the side or the sphere at the end. along = |axis·d|, rest: from the point to the end on d's side.
double tb_capsule_thickness(double radius, double rest, double along);

// The flat faces of the core: boxes' and hulls' faces, a cylinder's caps. normal·x = offset on the face.
int tb_core_face_count(const tbShape* shape);
tbVec3 tb_core_face_normal(const tbShape* shape, int face, double* offset);

// The face, edge or corner of the core that faces d most, as a polygon counter-clockwise about d: n corners
// with their features, and the index of the face (boxes, hulls: the face; cylinders: caps 0 and 1, side 2).
// A cylinder's cap is a regular polygon of TB_CYLINDER_SIDES corners on the rim. More corners than
// TB_FACE_CORNERS are thinned out to the extreme ones.
typedef struct tbFace {
  int n, index;
  tbVec3 normal; // outward, unit; zero for an edge or a corner
  tbVec3 corner[TB_FACE_CORNERS];
  int feature[TB_FACE_CORNERS];
} tbFace;

void tb_core_face(const tbShape* shape, tbVec3 d, tbFace* out);
void tb_core_face_at(const tbShape* shape, int face, tbFace* out); // a flat face by its number

#endif
