// SPDX-License-Identifier: Apache-2.0
// Narrow phase for steps that take a few points per pair, and remember what kept a pair apart.
//
// Two boxes go their own way (box_box.h). Other convex shapes and planes have the points of tb_collide,
// thinned out to four, and two capsules their ends that come near; a hint spares most of those that come near
// without touching the search for their distance.
#ifndef TB_COLLIDE_NARROW_H
#define TB_COLLIDE_NARROW_H

#include "collide/box_box.h"
#include "collide/pairs.h"

// A shape at its place, made once per step for all of its pairs.
typedef struct tbNarrowShape {
  tbPlacedBox box; // of boxes
  tbShapeType type;
  tbPlaced placed;
} tbNarrowShape;

void tb_narrow_shape(const tbShape* shape, tbTransform body, tbNarrowShape* out);

// What kept a pair apart when it was last looked at; all zero: nothing is known. It saves time and changes
// nothing: a hint of another pair, or of long ago, gives the same points.
typedef struct tbPairHint {
  tbBoxHint axis; // of two boxes
  bool known;     // n is set: others
  float n[3];     // from A to B, in A's frame
} tbPairHint;

// Points whose gap is at most `margin`, into *out; no more than `most`, TB_NARROW_POINTS or TB_NARROW_MOST:
// only two boxes have more than the former. False for pairs with a mesh or a distance grid, which are
// for tb_collide.
bool tb_narrow(const tbNarrowShape* a, const tbNarrowShape* b, double margin, int most, tbPairHint* hint,
               tbNarrowManifold* out);

// The same of two boxes whose axes are known (box_box.h), none of which keeps them apart.
void tb_narrow_boxes(const tbNarrowShape* a, const tbNarrowShape* b, double margin, int most, bool swapped,
                     const tbBoxAxis* axis, tbNarrowManifold* out);

// Whether the shapes are clearly farther apart than `margin`, as far as the hint tells, or the axes of two
// boxes, one of which it names then. False says nothing.
bool tb_narrow_apart(const tbNarrowShape* a, const tbNarrowShape* b, double margin, tbPairHint* hint);

// Lets the hint say what keeps two shapes apart, between which no points were found within the margin. A
// search for their distance, where it is worth one.
void tb_narrow_learn(const tbNarrowShape* a, const tbNarrowShape* b, double margin, tbPairHint* hint);

#endif
