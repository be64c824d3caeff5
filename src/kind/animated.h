// SPDX-License-Identifier: Apache-2.0
// Meshes that go where they are told, vertex by vertex: obstacles with a surface of their own and no degree
// of freedom. What nothing touches about them is a kinematic body's: a frame in prescribed motion, in which
// the vertices go on straight lines from frame to frame.
#ifndef TB_KIND_ANIMATED_H
#define TB_KIND_ANIMATED_H

#include "geometry/surface_mesh.h"
#include "kind/table.h"

extern const tbKind tb_kind_animated;

typedef struct tbAnimated { // tbBody.own
  int nvertex, ntriangle, nframe;
  double* t;  // of the frames, increasing                                     (nframe)
  tbVec3* at; // vertices of the frames, in the body's frame                   (nframe · nvertex)
  int (*triangle)[3];
  tbVec3 *x, *v;          // of the vertices, now                              (nvertex)
  double radius;          // half the thickness
  tbSurfaceMesh* surface; // made at the first frame; surface->node: the vertices that triangles use
  tbArena arena;
} tbAnimated;

// Memory for so many, all zero but the surface; then the surface, once frames and triangles are there.
tbStatus tb_animated_take(tbContext* ctx, int nvertex, int ntriangle, int nframe, tbAnimated** out);
tbStatus tb_animated_finish(tbContext* ctx, tbAnimated* animated);
void tb_animated_free(tbContext* ctx, tbAnimated* animated); // takes null

// The vertices to where they are, as the body's frame is, and as fast as they go from there.
void tb_animated_follow(const tbWorld* world, tbBody* body);

void tb_animated_code(struct tbCodec* codec, tbWorld* world, int body); // animated_code.c

#endif
