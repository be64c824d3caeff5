// SPDX-License-Identifier: Apache-2.0
// What a world looks like: triangles for every shape, shared by shapes that are alike, and the surfaces of
// deformable bodies over the nodes they use. Made once; a frame then needs only poses and nodes.
#ifndef TB_IO_RECORD_DRAWING_H
#define TB_IO_RECORD_DRAWING_H

#include "base/array.h"
#include "tribo/scene.h"

typedef struct tbDrawMesh {
  int nvertex, ntriangle;
  const tbVec3* vertex;
  const tbVec3* normal;     // unit, of the vertices; null: the triangles are flat          (nvertex)
  const int (*triangle)[3]; // counter-clockwise seen from outside                          (ntriangle)
  int given;                // number among the hulls and meshes of the scene; −1: cut from a shape's sizes
} tbDrawMesh;

// A mesh in a body's frame: p ↦ pose (scale ∘ p).
typedef struct tbDrawShape {
  int mesh;
  tbTransform pose;
  tbVec3 scale;
} tbDrawShape;

// The surface of a deformable body. Nodes inside a solid are left out.
typedef struct tbDrawSurface {
  int body, nvertex, ntriangle;
  const int* node;          // of a vertex                                                  (nvertex)
  const int (*triangle)[3]; // over the vertices                                            (ntriangle)
} tbDrawSurface;

typedef struct tbDrawing {
  int nbody, ngiven;
  tbArray mesh;      // tbDrawMesh
  tbArray shape;     // tbDrawShape, body by body
  tbArray surface;   // tbDrawSurface, in the order of the bodies
  int* body_shape;   // first shape of a body                                             (nbody+1)
  int* body_surface; // of a deformable body; −1: rigid                                   (nbody)
  int segments;      // of a full turn, where round shapes are cut: 24, fewer in large worlds
  tbVec3 centre;     // of everything that is not a plane, and how far it reaches: the planes are
  double reach;      //   drawn so that they lie under all of it
  tbArena arena;     // memory behind all of it
  tbArray made;      // what each mesh was made of
} tbDrawing;

// The geometry that shapes point to is not copied: the world must outlive the drawing.
tbStatus tb_drawing_create(tbContext* ctx, const tbWorld* world, tbDrawing* out);
void tb_drawing_free(tbContext* ctx, tbDrawing* drawing); // takes one that is all zero

static inline const tbDrawMesh* tb_draw_meshes(const tbDrawing* d) { return d->mesh.data; }
static inline const tbDrawShape* tb_draw_shapes(const tbDrawing* d) { return d->shape.data; }
static inline const tbDrawSurface* tb_draw_surfaces(const tbDrawing* d) { return d->surface.data; }

static inline tbVec3 tb_draw_point(const tbDrawShape* s, tbVec3 p) // of the mesh, in the body's frame
{
  return tb_transform_point(s->pose, tb_mul3(s->scale, p));
}

// Round shapes of radius 1 about z (drawing_shapes.c). ratio: half the length of a capsule's segment.
tbStatus tb_draw_sphere(tbArena* arena, int segments, tbDrawMesh* out);
tbStatus tb_draw_capsule(tbArena* arena, int segments, double ratio, tbDrawMesh* out);
tbStatus tb_draw_cylinder(tbArena* arena, int segments, tbDrawMesh* out); // −1 ≤ z ≤ 1
tbStatus tb_draw_box(tbArena* arena, tbDrawMesh* out);                    // −1 ≤ x, y, z ≤ 1
tbStatus tb_draw_square(tbArena* arena, tbDrawMesh* out);                 // −1 ≤ x, y ≤ 1, facing z
tbStatus tb_draw_hull(tbArena* arena, const tbHull* hull, tbDrawMesh* out);

// Hints for painting: a few colours that go well together, the last for what is fixed. sRGB, 0 … 255.
enum { TB_COLORS = 9, TB_COLOR_FIXED = 8 };

typedef struct tbColor {
  unsigned char r, g, b;
} tbColor;

tbColor tb_color(int index); // 0 … TB_COLORS − 1
int tb_body_color(const tbWorld* world, tbBodyId body);
void tb_color_linear(tbColor color, double rgb[3]); // light, 0 … 1 (IEC 61966-2-1)

bool tb_body_moves(const tbWorld* world, tbBodyId body); // as one pose: it has no nodes, and is not fixed

// The axis closest to gravity's: 0, 1 or 2; 2 without gravity.
int tb_world_up(const tbWorld* world);

#endif
