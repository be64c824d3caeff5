// SPDX-License-Identifier: Apache-2.0
// Do surfaces pass through each other? An independent check on everything that is to prevent it: exact, and
// with no code in common with continuous collision detection.
#ifndef TB_COLLIDE_INTERSECT_H
#define TB_COLLIDE_INTERSECT_H

#include "base/array.h"
#include "geometry/bvh.h"

// Triangles over vertices. Triangles are neighbours where they share the index of a vertex.
typedef struct tbTriangles {
  const tbVec3* vertex;
  int nvertex;
  const int (*triangle)[3];
  int ntriangle;
  int body;
  bool rigid;        // two rigid surfaces may cross: that is not looked at here, unless one of them
  bool alert;        // is to be compared with rigid surfaces of other bodies, too
  bool closed;       // it bounds a solid, and its triangles are counter-clockwise seen from outside
  const tbBvh* tree; // over the triangles, wherever they were when it was made; null: one is made every time
  const int* holder; // the body that a vertex is attached to, or less than 0; null: none   (nvertex)
} tbTriangles;

typedef enum tbMeeting { TB_APART, TB_TOUCHING, TB_OVERLAPPING, TB_CROSSING } tbMeeting;

// TB_CROSSING: the triangles' interiors have a point in common, and they are not in one plane.
// TB_OVERLAPPING: they are, and have an area in common. TB_TOUCHING: only their rims have a point in common,
// or a rim and an interior. Exact, for coordinates that are 0 or between 2⁻¹⁰⁰ and 2¹⁰⁰ in size. A triangle
// without area has no interior and meets nothing.
tbMeeting tb_triangles_meet(const tbVec3 a[3], const tbVec3 b[3]);

// rims: whether it matters that they touch; if not, TB_APART stands for that too.
tbMeeting tb_triangles_meeting(const tbVec3 a[3], const tbVec3 b[3], bool rims);

// Pairs of triangles that meet. A surface may pass through another at vertices and edges, where no two
// triangles cross: that counts as crossing. It only rests on it where one of the two can be moved out of the
// way: that is touching (intersect_touch.c).
typedef struct tbIntersections {
  int64_t crossing;    // of surfaces that pass through each other, or neighbours folded flat onto each other
  int64_t touching;    // of surfaces that only touch, neighbours left out
  int64_t overlapping; // of the latter: those that lie in one plane, with an area in common
} tbIntersections;

// The same of two surfaces, or of one with itself (a == b).
typedef struct tbSurfacesMeet {
  int a, b; // a ≤ b
  tbIntersections count;
} tbSurfacesMeet;

// Counts pairs between and within all of the surfaces, but for two rigid ones, and for triangles with a
// corner attached to the body of the other. Vertices that are not finite, or beyond 2¹⁰⁰, are
// TB_ERROR_NUMERIC. The same for every number of threads.
tbStatus tb_count_intersections(tbContext* ctx, const tbTriangles* surfaces, int count, tbIntersections* out);

// Appends a tbSurfacesMeet for every two surfaces that meet, in order.
tbStatus tb_list_intersections(tbContext* ctx, const tbTriangles* surfaces, int count, tbArray* out);
tbIntersections tb_sum_intersections(const tbArray* meetings); // of such a list

#endif
