// SPDX-License-Identifier: Apache-2.0
// What a replay shows: bodies made of meshes with a normal at every corner, and planes.
#ifndef TB_RENDER_SUBJECT_H
#define TB_RENDER_SUBJECT_H

#include "io/record/drawing.h"
#include "io/replay/open.h"

typedef struct tbSolidMesh {
  int nvertex, ntriangle;
  tbVec3* vertex;
  const int (*triangle)[3]; // counter-clockwise seen from outside
  tbVec3* normal;           // unit, of the corners                                       (3 ntriangle)
  double reach;             // of the vertices from the origin
  tbVec3 lo, hi;            // box around them, of what is rigid
} tbSolidMesh;

typedef struct tbSubjectBody {
  tbBodyMotion motion;
  bool sheet;       // seen from both sides
  tbTransform pose; // at the start
  int pose_index;   // in a frame; −1: it stays
  int node;         // first in a frame, of what deforms
  int first, count; // its instances
  double reach;     // from its origin, of a rigid body
} tbSubjectBody;

// A mesh in a body's frame. What deforms has a mesh of its own, in the world.
typedef struct tbInstance {
  int body, mesh, triangle; // triangle: number of its first among all
  tbTransform pose;
  tbVec3 scale;
} tbInstance;

typedef struct tbSubjectPlane {
  int body;
  tbVec3 normal; // in the body's frame, unit
  double offset;
} tbSubjectPlane;

typedef struct tbSubjectJoint {
  tbJointType type;
  int a, b;                        // bodies; −1: the world
  tbVec3 anchor_a, anchor_b, axis; // in the frames of a, of b, and of a
  double lower, upper;             // infinite: no limit
} tbSubjectJoint;

// Around the vertices of a surface: its triangles' corners, for normals that follow.
typedef struct tbSubjectSurface {
  int body, mesh;
  int* corner_adr; // first corner of a vertex                                            (nvertex+1)
  int* corner;     // 3 triangle + k                                                      (3 ntriangle)
  tbVec3* face;    // unit normals                                                        (ntriangle)
} tbSubjectSurface;

// What a view cuts away of an instance (cutaway.c).
enum { TB_CUT_NOTHING, TB_CUT_ALL, TB_CUT_NEAR };

typedef struct tbCut {
  tbVec3 forward;  // of the view
  double distance; // along it: triangles before it go
} tbCut;

typedef struct tbSubject {
  int nbody, ninstance, nplane, nsurface, nmesh, ntriangle, njoint;
  tbSubjectBody* body;
  tbInstance* instance; // in the order of bodies
  tbSubjectPlane* plane;
  tbSubjectJoint* joint;
  tbSubjectSurface* surface;
  tbSolidMesh* mesh;
  tbVec3 up;          // unit
  int max_vertex;     // of a mesh
  int box, sphere;    // the meshes of boxes and balls; −1: none
  double inner;       // radius of the largest ball in the mesh of one of radius 1
  unsigned char* cut; // what goes of an instance                                         (ninstance)
  const char* name;
  double dt, tolerance, velocity_tolerance; // 0: not asked
  tbTransform* now; // poses of all bodies in the frame shown                             (nbody)
  tbArena arena;    // memory behind all of it
} tbSubject;

tbStatus tb_subject_create(tbContext* ctx, const tbReplay* replay, tbSubject* out);
void tb_subject_free(tbSubject* subject);                                   // takes one that is all zero
void tb_subject_pose(const tbSubject* subject, const tbReplayFrame* frame); // poses alone
void tb_subject_show(tbThreads* threads, const tbSubject* subject, const tbReplayFrame* frame);

bool tb_cut_hides(const tbCut* cut, tbVec3 a, tbVec3 b, tbVec3 c);

// Corner normals: of all faces around the vertex that lean from the corner's own by less than an angle, by
// area.
tbStatus tb_surface_mesh_build(tbArena* arena, const tbSolidMesh* mesh, tbSubjectSurface* out);
// cosine: of that angle.
void tb_surface_normals(tbThreads* threads, const tbSubjectSurface* surface, const tbSolidMesh* mesh,
                        double cosine);

#endif
