// Rigid bodies that lie inside each other.
#ifndef TB_STEP_OVERLAPS_H
#define TB_STEP_OVERLAPS_H

#include "base/array.h"
#include "scene/world.h"

typedef struct tbOverlap {
  int a, b;     // bodies, a < b
  double depth; // m: of the deepest contact between them
} tbOverlap;

// Appends, deepest first, the pairs of bodies that overlap as the world stands, by more than `share` of the
// smaller one's radius: of those that contacts could push apart, so not of two fixed bodies, nor of bodies
// that a joint lets overlap. `out` is an array of tbOverlap.
tbStatus tb_world_overlaps(tbContext* ctx, const tbWorld* world, double share, tbArray* out);

#endif
