// SPDX-License-Identifier: Apache-2.0
// Two surfaces being compared: what the files mesh_contact*.c share.
#ifndef TB_COLLIDE_MEET_H
#define TB_COLLIDE_MEET_H

#include "collide/pairs.h"
#include "collide/surface.h"

// Vertex `vertex` of surface `side` lies behind a triangle of the other one, or behind its back (sign −1).
typedef struct tbDeep {
  int side, vertex, triangle, sign;
  double depth;
  bool allowed; // the vertex can touch in that direction
} tbDeep;

typedef struct tbMeet {
  tbContext* ctx;
  tbArena arena;
  tbFeatureSurface s[2];
  double margin;
  double reach; // margin plus radii: how near cores must come
  double eps;   // lengths that rounding may have made
  tbArray* out;
  size_t first; // of this pair's points in `out`
  tbArray deep; // of tbDeep
  tbArray near; // cells of B
  tbStatus status;
} tbMeet;

// How far a feature may tilt out of its normal cone and still be one of several that share a contact (sine).
#define TB_MEET_TILT 0.1
// A penetrating contact is believed when it is at most this many times deeper than the closest way out.
#define TB_MEET_TRUST 2.0

static inline uint32_t tb_feature_mesh_edge(int e) { return 0x40000000u | ((uint32_t)e & 0x3fffffffu); }

// A point from places p on one core and q on the other; `n` leads from surface `side` to the other one. The
// features are in the order of p and q.
void tb_meet_add(tbMeet* m, int side, tbVec3 p, tbVec3 q, tbVec3 n, uint32_t feature_p, uint32_t feature_q);

// Points of vertices that are inside the other surface, and of a surface that is there altogether
// (mesh_deep.c).
void tb_meet_deep(tbMeet* m);

#endif
