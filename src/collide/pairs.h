// SPDX-License-Identifier: Apache-2.0
// The narrow phase, a function per pair of types. collide.c lists them; nothing else calls most of them.
//
// A pair comes in canonical order (tb_collide sees to it): type of A ≤ type of B in the order of tbShapeType.
//
//   convex pairs fill a manifold, in the frame of shape A. `B` is the pose of shape B in that frame.
//   other pairs push points in the world to `out`, as many as they find.
//
// Features. A point's feature is two halves of 32 bits, A's high and B's low, each a tbFeature: a vertex, an
// edge (its two vertices) or a face of the shape, so that swapping the shapes swaps the halves.
#ifndef TB_COLLIDE_PAIRS_H
#define TB_COLLIDE_PAIRS_H

#include "collide/contact.h"

typedef struct tbManifold {
  int n;
  tbContactPoint point[TB_MANIFOLD_POINTS];
} tbManifold;

static inline uint32_t tb_feature_vertex(int v) { return (uint32_t)v & 0x3fffffffu; }
static inline uint32_t tb_feature_edge(int v, int w) // vertices beyond 2¹⁵ wrap around
{
  uint32_t lo = (uint32_t)(v < w ? v : w) & 0x7fffu, hi = (uint32_t)(v < w ? w : v) & 0x7fffu;
  return 0x40000000u | hi << 15 | lo;
}
static inline uint32_t tb_feature_face(int f) { return 0x80000000u | ((uint32_t)f & 0x3fffffffu); }
static inline uint64_t tb_feature_pair(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

// How much of its turning the normal of a point shares with A and with B: all of that whose face it is.
static inline void tb_normal_turns(uint64_t feature, float with[2])
{
  bool a = feature >> 63, b = feature >> 31 & 1;
  with[0] = a && !b, with[1] = b && !a;
}

// A point of the manifold from its place on A; nothing when the gap is beyond the margin or there is no room.
void tb_manifold_add(tbManifold* m, double margin, tbVec3 a, tbVec3 normal, double gap, uint32_t feature_a,
                     uint32_t feature_b);

typedef void tbConvexPair(const tbShape* a, const tbShape* b, tbTransform B, double margin, tbManifold* out);

// A shape in the world: T is the pose of the shape's own frame.
typedef struct tbPlaced {
  const tbShape* shape;
  tbTransform T;
} tbPlaced;

static inline tbPlaced tb_place(const tbShape* shape, tbTransform T) // T: the body's pose
{
  tbTransform placed = tb_transform_mul(T, shape->pose);
  tbPlaced out = {shape, tb_transform(tb_quat_normalize(placed.q), placed.x)};
  return out;
}

// B's pose in A's frame; the difference of the places comes first, which is exact for near bodies.
static inline tbTransform tb_place_relative(tbTransform A, tbTransform B)
{
  return tb_transform(tb_quat_normalize(tb_quat_mul(tb_quat_conj(A.q), B.q)),
                      tb_quat_unrotate(A.q, tb_sub3(B.x, A.x)));
}

// Points of two convex shapes, or of a convex shape and a plane, in the world: as tb_collide finds them.
// False for other pairs.
bool tb_collide_convex(const tbPlaced* a, const tbPlaced* b, double margin, tbManifold* out);

typedef tbStatus tbOtherPair(tbContext* ctx, const tbPlaced* a, const tbPlaced* b, double margin,
                             tbArray* out);

// round.c: closed forms between round shapes.
tbConvexPair tb_collide_sphere_sphere, tb_collide_sphere_box, tb_collide_sphere_capsule,
    tb_collide_sphere_cylinder, tb_collide_capsule_capsule;

// plane.c: everything convex on a plane.
tbConvexPair tb_collide_sphere_plane, tb_collide_box_plane, tb_collide_capsule_plane,
    tb_collide_cylinder_plane, tb_collide_hull_plane;

// cores.c: any two convex shapes, by separating axes, distance and expanding polytope.
tbConvexPair tb_collide_cores;

#endif
