// SPDX-License-Identifier: Apache-2.0
// Convex shapes for the tests, and what is true of them, in long double and by brute force.
//
// A shape in the world is a list of corners with a radius around (sphere: one, capsule: two, box, hull), or a
// cylinder. Its distance to another is the least over all pairs of features, its penetration the least over
// all normals of faces and pairs of edges, none of them culled.
#ifndef TB_TEST_ORACLE_H
#define TB_TEST_ORACLE_H

#include "geometry/hull.h"
#include "test.h"

typedef long double Real;
typedef struct {
  Real x, y, z;
} Point;

enum { ORACLE_CORNERS = 16, ORACLE_EDGES = 48, ORACLE_FACES = 32 };

// A hull in fixed storage, of at most ORACLE_CORNERS corners.
typedef struct {
  tbHull hull;
  tbVec3 vertex[ORACLE_CORNERS], face_normal[ORACLE_FACES];
  double face_offset[ORACLE_FACES];
  int face_adr[ORACLE_FACES + 1], face_vertex[2 * ORACLE_EDGES], near_adr[ORACLE_CORNERS + 1],
      near[2 * ORACLE_EDGES];
  tbHullEdge edge[ORACLE_EDGES];
} OracleHull;

// The hull of a few points by trying all planes; coplanar points make one face.
void oracle_hull(OracleHull* out, const tbVec3* point, int count);

tbShape oracle_sphere(double radius);
tbShape oracle_box(double x, double y, double z); // halves
tbShape oracle_capsule(double radius, double half);
tbShape oracle_cylinder(double radius, double half);
tbShape oracle_convex(const OracleHull* hull);
tbShape oracle_plane(tbVec3 normal, double offset);

typedef struct {
  tbShapeType type;
  int ncorner, nedge, nface, nway;
  Point corner[ORACLE_CORNERS];
  int edge[ORACLE_EDGES][2];
  Point way[ORACLE_EDGES]; // directions of the edges, each once
  Point normal[ORACLE_FACES];
  int face_adr[ORACLE_FACES + 1], face_corner[2 * ORACLE_EDGES];
  Point centre, axis; // cylinder
  Real radius, half;  // around the core; of the cylinder
  Real offset;        // plane: normal[0]·x = offset
} Body;

void oracle_place(Body* out, const tbShape* shape, tbTransform T);

// n·b − n·a over all points: how far apart along n.
Real oracle_slab(const Body* a, const Body* b, Point n);
bool oracle_is_polytope(const Body* a);
Real oracle_distance(const Body* a, const Body* b); // of the cores of polytopes, less the radii
Real oracle_depth(const Body* a,
                  const Body* b);              // the largest slab over all axes, less the radii: for overlaps
Real oracle_gap(const Body* a, const Body* b); // either
Real oracle_off_surface(const Body* a, Point p); // how far p is from the surface

Point oracle_point(tbVec3 v);
Real oracle_dot(Point a, Point b);

// Random poses: any rotation; or a rotation that takes axes to axes.
tbQuat oracle_rotation(tbRandom* r);
tbQuat oracle_quarter_turn(tbRandom* r);
tbVec3 oracle_direction(tbRandom* r);

#endif
