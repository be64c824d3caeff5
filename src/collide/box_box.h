// SPDX-License-Identifier: Apache-2.0
// Two boxes, for steps that take a few points per pair: at most four, along one normal.
//
// What comes out depends on the two boxes and the margin alone: not on their order, nor on the hint.
#ifndef TB_COLLIDE_BOX_BOX_H
#define TB_COLLIDE_BOX_BOX_H

#include "collide/box_axes.h"
#include "tribo/geometry.h"

enum { TB_NARROW_POINTS = 4, TB_NARROW_MOST = 8 };

typedef struct tbNarrowPoint {
  tbVec3 position;  // world, midway between the surfaces
  double gap;       // along the normal; negative: overlapping
  uint64_t feature; // as in tbContactPoint: the same from one step to the next
} tbNarrowPoint;

typedef struct tbNarrowManifold {
  int n;
  tbVec3 normal; // unit, from A to B
  float with[2]; // how much of its turning the normal shares with A and with B: all of that whose face it is
  tbNarrowPoint point[TB_NARROW_MOST]; // the first TB_NARROW_POINTS hold the bodies best
} tbNarrowManifold;

// A box at its place, made once per step for all of its pairs.
typedef struct tbPlacedBox {
  tbVec3 x;       // its centre
  tbMat3 R;       // its axes are the columns
  double half[4]; // half the edge lengths, and 0: rows of three are read as four
} tbPlacedBox;

// An axis that separated the pair when it was last looked at, or 0: 1 … 3 faces of A, 4 … 6 faces of B, 7 …
// 15 pairs of edges.
typedef uint8_t tbBoxHint;

// What comes in between has to be a number.
static inline void tb_box_pairs_begin(tbBoxPairs* pairs) { *pairs = (tbBoxPairs){0}; }

// Whether the axis of the hint keeps them farther apart than the margin, and by more than rounding.
bool tb_box_hint_holds(const tbPlacedBox* a, const tbPlacedBox* b, double margin, tbBoxHint hint);

// A pair into a lane, in an order that does not depend on which is called a; returns whether that is the
// other way round. The axes found are then those of the pair in this order.
bool tb_box_pairs_put(tbBoxPairs* pairs, int lane, const tbPlacedBox* a, const tbPlacedBox* b, double margin);

// The axis that keeps a pair apart, which was put in this order, as a hint; 0: none does.
tbBoxHint tb_box_apart(const tbBoxAxis* axis, bool swapped);

// Points whose gap is at most `margin`, into *out, of a pair that no axis keeps apart: no more than `most`,
// TB_NARROW_POINTS or TB_NARROW_MOST. False where a face looks at the other box but nothing of
// that lies over it: corners that pass each other closer than the margin. The closest points are then to be
// had from tb_collide; *out is empty.
//
// Between axes whose gaps differ by less than 2e-3 of the least half edge, a face of the first box wins over
// one of the second, and a face over a pair of edges.
//
// Cost      10 ns for a hint, 20 ns for a lane of axes, 150 ns for points.
bool tb_box_points(const tbPlacedBox* a, const tbPlacedBox* b, double margin, int most, bool swapped,
                   const tbBoxAxis* axis, tbNarrowManifold* out);

// All of this for one pair: points as above; none, and true, where an axis keeps them apart.
bool tb_box_box(const tbPlacedBox* a, const tbPlacedBox* b, double margin, int most, tbBoxHint* hint,
                tbNarrowManifold* out);

// Whether an axis separates them by clearly more than `margin`: that of the hint, or else one that it names
// then.
bool tb_boxes_apart(const tbPlacedBox* a, const tbPlacedBox* b, double margin, tbBoxHint* hint);

#endif
