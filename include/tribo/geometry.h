// SPDX-License-Identifier: Apache-2.0
// Shapes: what bodies are made of, as pure geometry. No masses, no motion, no contact.
//
// A shape is a small value: a type, its numbers, and its place in its body's frame. Hulls, meshes and
// distance grids are built once, never change afterwards, and may be shared by any number of shapes; the
// caller that builds them keeps them alive as long as shapes point to them (a world can keep them:
// tb_world_keep_hull, …).
#ifndef TRIBO_GEOMETRY_H
#define TRIBO_GEOMETRY_H

#include "tribo/base.h"
#include "tribo/math.h"

TB_API_BEGIN

typedef enum tbShapeType {
  TB_SHAPE_SPHERE,
  TB_SHAPE_BOX,
  TB_SHAPE_CAPSULE,  // along local z: a segment with a radius
  TB_SHAPE_CYLINDER, // along local z, flat caps
  TB_SHAPE_CONVEX,   // the convex hull of points
  TB_SHAPE_PLANE,    // the half-space below a plane; on fixed and kinematic bodies only
  TB_SHAPE_MESH,     // triangles, with exact features
  TB_SHAPE_SDF,      // a grid of signed distances built from a mesh
  TB_SHAPE_COUNT
} tbShapeType;

const char* tb_shape_type_name(tbShapeType type); // "sphere", …
bool tb_shape_type_from_name(const char* name, tbShapeType* out);

typedef struct tbHull tbHull; // src/geometry/hull.h
typedef struct tbMesh tbMesh; // src/geometry/mesh.h
typedef struct tbSdf tbSdf;   // src/geometry/sdf.h

typedef struct tbShape {
  tbShapeType type;
  tbTransform pose; // of the shape's frame in its body's
  union {
    struct {
      double radius;
    } sphere;
    struct {
      tbVec3 half; // half the edge lengths
    } box;
    struct {
      double radius, half; // half the distance between the centres of the caps
    } capsule;
    struct {
      double radius, half; // half the length
    } cylinder;
    struct {
      tbVec3 normal; // unit; the solid is normal·x ≤ offset
      double offset;
    } plane;
    const tbHull* hull;
    const tbMesh* mesh;
    const tbSdf* sdf;
  };
} tbShape;

// Shapes at the identity pose. Sizes are checked where a shape is used (tb_shape_check).
tbShape tb_shape_sphere(double radius);
tbShape tb_shape_box(tbVec3 size); // full edge lengths
tbShape tb_shape_capsule(double radius, double length);
tbShape tb_shape_cylinder(double radius, double length);
tbShape tb_shape_plane(tbVec3 normal, double offset); // {x : normal·x = offset}; normal of any length
tbShape tb_shape_convex(const tbHull* hull);
tbShape tb_shape_mesh(const tbMesh* mesh);
tbShape tb_shape_sdf(const tbSdf* sdf);

tbStatus tb_shape_check(tbContext* ctx, const tbShape* shape); // finite, positive, unit pose, not null

// The convex hull of points, by quickhull with merged coplanar faces. Points that span less than a solid
// (a plane, a line, a point, to rounding) are TB_ERROR_INPUT, and so are NaN and infinities.
tbStatus tb_hull_create(tbContext* ctx, const tbVec3* points, int count, tbHull** out);
void tb_hull_free(tbContext* ctx, tbHull* hull); // takes null
// Its corners and faces, which live as long as it does.
typedef struct tbHullView {
  const tbVec3* vertex;
  const int* face_adr;    // first corner of a face in face_vertex                 (nface+1)
  const int* face_vertex; // corners, counter-clockwise seen from outside          (face_adr[nface])
  int nvertex, nface;
} tbHullView;

tbHullView tb_hull_faces(const tbHull* hull);

// Triangles over vertices, counter-clockwise seen from outside. Vertices at the very same place are joined;
// triangles without area are merged into their neighbours or dropped; indices out of range, NaN, coordinates
// beyond 1e30 and no triangle at all are errors. Whether the mesh is closed and consistently oriented
// decides what it can do: see tb_mesh_is_solid.
tbStatus tb_mesh_create(tbContext* ctx, const tbVec3* vertices, int vertex_count, const int* triangles,
                        int triangle_count, tbMesh** out);
void tb_mesh_free(tbContext* ctx, tbMesh* mesh);
// The triangles of a mesh, counter-clockwise seen from outside; they live as long as it does.
typedef struct tbTriangleView {
  const tbVec3* vertex;
  const int (*triangle)[3];
  int nvertex, ntriangle;
} tbTriangleView;

tbTriangleView tb_mesh_triangles(const tbMesh* mesh);
bool tb_mesh_is_solid(const tbMesh* mesh); // closed, oriented, of positive volume: may be a moving body

// Signed distances of a solid mesh on a grid of about `resolution` cells along its longest side.
tbStatus tb_sdf_create(tbContext* ctx, const tbMesh* mesh, int resolution, tbSdf** out);
void tb_sdf_free(tbContext* ctx, tbSdf* sdf);
const tbMesh* tb_sdf_mesh(const tbSdf* sdf); // that it was made from

// Mass properties for a uniform density, exact for every type: meshes by the divergence theorem, grids by the
// mesh they were built from. Planes and meshes that are not solid have none: mass 0.
typedef struct tbMass {
  double mass;    // kg
  tbVec3 centre;  // of mass, in the frame asked for
  tbMat3 inertia; // about the centre, in the axes of that frame   kg·m²
} tbMass;

tbMass tb_shape_mass(const tbShape* shape, double density); // in the body's frame: the pose is applied
tbMass tb_mass_add(tbMass a, tbMass b);                     // of two bodies in one frame, joined rigidly

typedef struct tbBox {
  tbVec3 lo, hi; // lo > hi: empty
} tbBox;

// The axis-aligned box of a shape in the world, body at pose T. A plane's is infinite.
tbBox tb_shape_box_of(const tbShape* shape, tbTransform T);

TB_API_END
#endif
