// SPDX-License-Identifier: Apache-2.0
// A shape as the features of its surface: vertices, edges and triangles with a radius around them, placed in
// the frame in which two surfaces are compared. Spheres are one vertex, capsules one edge, boxes and hulls
// are meshes whose flat edges cannot be touched; meshes are themselves.
#ifndef TB_COLLIDE_SURFACE_H
#define TB_COLLIDE_SURFACE_H

#include "geometry/mesh.h"
#include "geometry/round.h"

typedef struct tbFeatureSurface {
  const tbMesh* mesh;
  int corners; // of a cell: 3 triangles, 2 one segment, 1 one point
  double radius;
  bool solid;  // it has an inside
  bool convex; // the inside is what lies behind all triangles
  tbMat3 R;    // p ↦ R p + x: from the mesh's frame to the one of the comparison
  tbVec3 x;
  tbMesh own; // of shapes that are not meshes
} tbFeatureSurface;

// The surface of a sphere, capsule, box, hull or mesh; its arrays from the arena. T is where it stands in the
// frame of the comparison. The surface must not be moved in memory.
tbStatus tb_surface_make(tbArena* arena, const tbShape* shape, tbTransform T, tbFeatureSurface* out);

static inline tbVec3 tb_surface_point(const tbFeatureSurface* s, tbVec3 p)
{
  return tb_add3(tb_mat3_mulv(s->R, p), s->x);
}
static inline tbVec3 tb_surface_vertex(const tbFeatureSurface* s, int v)
{
  return tb_surface_point(s, s->mesh->vertex[v]);
}
static inline tbVec3 tb_surface_normal(const tbFeatureSurface* s, int triangle)
{
  return tb_mat3_mulv(s->R, s->mesh->normal[triangle]);
}

// Whether a feature may be touched from the front of its faces, or, without an inside, from any side.
static inline bool tb_surface_sharp(const tbFeatureSurface* s, uint8_t sharp)
{
  return s->solid ? sharp & TB_SHARP_FRONT : sharp != 0;
}

// Whether the direction d (unit, away from the surface) lies in the normal cone of a vertex or an edge: no
// neighbouring edge or face leans into d by more than an angle of sine `tilt`.
bool tb_surface_vertex_faces(const tbFeatureSurface* s, int vertex, tbVec3 d, double tilt);
bool tb_surface_edge_faces(const tbFeatureSurface* s, int edge, tbVec3 d, double tilt);

// The normal of the edge's faces that is closest to d.
tbVec3 tb_surface_edge_normal(const tbFeatureSurface* s, int edge, tbVec3 d);

// Signed distance to a solid surface's mesh, with the closest point, the triangle it is on and the way out.
typedef struct tbOutside {
  tbVec3 point, normal;
  int triangle;
} tbOutside;

double tb_surface_distance(const tbFeatureSurface* s, tbVec3 p, tbOutside* out);

// The closest point q of a triangle with normal n: 0 on its face, 1 + i on the side opposite to corner i, 4 +
// i at corner i. A point over a side is above the triangle too, rounding included (1e-7 of the side's
// length).
int tb_closest_on_triangle(const tbVec3 corner[3], tbVec3 n, tbVec3 x, tbVec3* q);
int tb_closest_on_sides(const tbVec3 corner[3], tbVec3 x, tbVec3* q); // of a point that is not above it
bool tb_above_triangle(const tbVec3 corner[3], tbVec3 n, tbVec3 x);
int tb_closest_on_side(const tbVec3 corner[3], int side, tbVec3 x, tbVec3* q);

// The same question of many points: the planes through the sides of the triangle, across it.
typedef struct tbTriangleSides {
  tbVec3 inward[3]; // of the side that starts in corner i
  double least[3];  // inward · (x − corner) of points above the triangle, at least
} tbTriangleSides;

static inline tbTriangleSides tb_triangle_sides(const tbVec3 corner[3], tbVec3 n)
{
  tbTriangleSides s;
  for (int i = 0; i < 3; i++) {
    tbVec3 along = tb_sub3(corner[(i + 1) % 3], corner[i]);
    s.inward[i] = tb_cross3(n, along), s.least[i] = -1e-7 * tb_dot3(along, along);
  }
  return s;
}

static inline bool tb_is_within_sides(const tbTriangleSides* s, const tbVec3 corner[3], tbVec3 x)
{
  for (int i = 0; i < 3; i++)
    if (tb_dot3(s->inward[i], tb_sub3(x, corner[i])) < s->least[i]) return false;
  return true;
}

tbBox tb_surface_box(const tbFeatureSurface* s); // in the frame of the comparison

#endif
