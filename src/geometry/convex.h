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

// The face, edge or corner of the core that faces d most, as a polygon counter-clockwise about d: n corners
// with their features, and the index of the face (boxes, hulls: the face; cylinders: caps 0 and 1, sides 2…).
// A cylinder's cap is a regular polygon of TB_CYLINDER_SIDES corners on the rim. More corners than
// TB_FACE_CORNERS are thinned out to the extreme ones.
typedef struct tbFace {
  int n, index;
  tbVec3 normal; // outward, unit; zero for an edge or a corner
  tbVec3 corner[TB_FACE_CORNERS];
  int feature[TB_FACE_CORNERS];
} tbFace;

void tb_core_face(const tbShape* shape, tbVec3 d, tbFace* out);

#endif
