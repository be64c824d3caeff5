// SPDX-License-Identifier: Apache-2.0
// Questions about one thing at its place: where a ray meets it, its point nearest to another, how far two of
// them are apart. Knows shapes and triangles, no bodies.
//
// Convex shapes and half-spaces are solid. Meshes, distance grids (by the mesh they were made from) and
// triangles over points are surfaces, solid where they are closed.
#ifndef TB_COLLIDE_QUERY_H
#define TB_COLLIDE_QUERY_H

#include "collide/gjk.h"
#include "geometry/sdf.h"

typedef struct tbSubject {
  const tbShape* shape; // null: the triangles
  tbTransform T;        // of the shape's own frame in the world
  const tbVec3* point;  // corners of the triangles, in the world
  const int (*triangle)[3];
  int ntriangle;
  bool closed; // the triangles bound a solid
} tbSubject;

tbSubject tb_subject_shape(const tbShape* shape, tbTransform body);
tbSubject tb_subject_triangles(const tbVec3* point, const int (*triangle)[3], int count, bool closed);

typedef struct tbMeeting {
  double distance; // along the ray; from the point, negative inside                        m
  tbVec3 point, normal;
  int triangle; // −1: none
} tbMeeting;

// Where the ray from `from` along the unit vector d first meets the subject, within `length`. In a convex
// shape or a half-space that it starts in: at once, with the normal −d. Triangles are met from both sides;
// the normal is against the ray.
bool tb_subject_ray(const tbSubject* subject, tbVec3 from, tbVec3 d, double length, tbMeeting* out);

// The point of the surface nearest to p, if within `reach`; inside of what is solid the distance is negative,
// however deep. The normal leads away from the surface, outwards.
bool tb_subject_nearest(const tbSubject* subject, tbVec3 p, double reach, tbMeeting* out);

// How far two are apart, and where; 0 where they meet or one holds the other. Not looked for beyond `reach`:
// then ∞.
double tb_subject_distance(const tbSubject* a, const tbSubject* b, double reach, tbVec3* on_a, tbVec3* on_b);

// Its triangles: a mesh's or its own; null mesh and triangles: it has none.
static inline const tbMesh* tb_subject_mesh(const tbSubject* s)
{
  if (!s->shape) return NULL;
  return s->shape->type == TB_SHAPE_MESH  ? s->shape->mesh
         : s->shape->type == TB_SHAPE_SDF ? s->shape->sdf->mesh
                                          : NULL;
}

// Whether p is inside of closed triangles, by the solid angle they fill of what is seen from it.
bool tb_inside_triangles(const tbVec3* point, const int (*triangle)[3], int count, tbVec3 p);

#endif
