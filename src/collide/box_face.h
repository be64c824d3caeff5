// SPDX-License-Identifier: Apache-2.0
// The points of a box's face that another box lies on.
#ifndef TB_COLLIDE_BOX_FACE_H
#define TB_COLLIDE_BOX_FACE_H

#include "collide/box_box.h"

// In the frame of the box whose face it is, the reference.
typedef struct tbBoxOver {
  double half[3], other_half[3];
  double x[3];    // centre of the other box
  double R[3][3]; // its axes are the columns
  int axis;       // the face is across this axis …
  double side;    // … at its positive end (1) or its negative (−1)
} tbBoxOver;

typedef struct tbBoxFacePoint {
  double p[3]; // midway, in the frame of the reference
  double gap;
  uint32_t own, other; // features of the reference and of the other box
} tbBoxFacePoint;

// At most `most` points within the margin, first those that hold best; returns their number. `near`: corners
// that stand out over the border by less count as inside, points whose gaps differ by less as equally deep.
int tb_box_face_points(const tbBoxOver* over, double margin, double near, int most, tbBoxFacePoint* out);

#endif
