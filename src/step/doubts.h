// What is doubtful about the deformable bodies of a world before its first step: surfaces that pass through
// each other or lie in the same place, sheets thicker than their cells, flat elements. None of it is an
// error.
#ifndef TB_STEP_DOUBTS_H
#define TB_STEP_DOUBTS_H

#include "base/array.h"
#include "scene/world.h"

typedef struct tbDoubt {
  int a, b;       // bodies, a ≤ b; b = −1: about a alone
  char what[160]; // about the two, or about a: "pass through each other", …
} tbDoubt;

// Appends them, as the world stands, in order of bodies. `out` is an array of tbDoubt. The world's surfaces
// may be made on the way.
tbStatus tb_world_doubts(tbContext* ctx, const tbWorld* world, tbArray* out);

#endif
