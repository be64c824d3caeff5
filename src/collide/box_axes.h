// SPDX-License-Identifier: Apache-2.0
// The separating axes of pairs of boxes, several pairs side by side.
#ifndef TB_COLLIDE_BOX_AXES_H
#define TB_COLLIDE_BOX_AXES_H

#include <stdint.h>

enum { TB_BOX_LANES = 8 };
typedef double tbBoxLane[TB_BOX_LANES];

// Of each pair: the axes of both boxes (columns of R), half their edges, from the centre of A to that of B.
// What an unused lane holds has to be a number.
typedef struct tbBoxPairs {
  tbBoxLane A[3][3], B[3][3], half_a[3], half_b[3], d[3], margin;
} tbBoxPairs;

// Axes as in tbBoxHint; 0: none.
typedef struct tbBoxAxis {
  double gap;           // along the axis that keeps them apart, or else along the pair of edges
  uint8_t apart;        // keeps them farther apart than the margin
  uint8_t face, edges;  // or else: the face with the widest gap, and the pair of edges if its gap is wider
  double C[3][3];       // the axes of B in the frame of A
  double t[3], back[3]; // the centre of B in the frame of A, and along the axes of B
} tbBoxAxis;

static const double TB_BOX_TIE = 2e-3; // of the least half edge: gaps that differ by less are equal

void tb_box_axes(const tbBoxPairs* pairs, int count, tbBoxAxis* out);

#endif
