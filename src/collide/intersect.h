// Do surfaces pass through each other? An independent check on everything that is to prevent it: exact, and
// with no code in common with continuous collision detection.
#ifndef TB_COLLIDE_INTERSECT_H
#define TB_COLLIDE_INTERSECT_H

#include "geometry/bvh.h"

// Triangles over vertices. Triangles are neighbours where they share the index of a vertex.
typedef struct tbTriangles {
  const tbVec3* vertex;
  int nvertex;
  const int (*triangle)[3];
  int ntriangle;
  int body;
  bool rigid;        // two rigid surfaces may cross: that is not looked at here
  const tbBvh* tree; // over the triangles, wherever they were when it was made; null: one is made every time
  const int* holder; // the body that a vertex is attached to, or less than 0; null: none   (nvertex)
} tbTriangles;

typedef enum tbMeeting { TB_APART, TB_TOUCHING, TB_CROSSING } tbMeeting;

// TB_CROSSING: the triangles' interiors have a point in common. TB_TOUCHING: only their rims do, or a rim and
// an interior. Exact, for coordinates that are 0 or between 2⁻¹⁰⁰ and 2¹⁰⁰ in size. A triangle without area
// has no interior and meets nothing.
tbMeeting tb_triangles_meet(const tbVec3 a[3], const tbVec3 b[3]);

// rims: whether it matters that they touch; if not, TB_APART stands for that too.
tbMeeting tb_triangles_meeting(const tbVec3 a[3], const tbVec3 b[3], bool rims);

typedef struct tbIntersections {
  int64_t crossing; // pairs of triangles whose interiors meet, neighbours among them
  int64_t touching; // pairs that only touch, neighbours left out
} tbIntersections;

// Counts pairs between and within all of the surfaces, but for two rigid ones, and for triangles with a
// corner attached to the body of the other. Vertices that are not finite, or beyond 2¹⁰⁰, are
// TB_ERROR_NUMERIC. The same for every number of threads.
tbStatus tb_count_intersections(tbContext* ctx, const tbTriangles* surfaces, int count, tbIntersections* out);

#endif
