// SPDX-License-Identifier: Apache-2.0
// What a world is made of, for programs that count, draw or export it. Bodies by their place, 0 …
// tb_world_body_count − 1.
#ifndef TRIBO_INSPECT_H
#define TRIBO_INSPECT_H

#include "tribo/scene.h"

TB_API_BEGIN

int tb_body_kind_count(void);
const char* tb_body_kind_name(int index); // "rigid", …

typedef struct tbWorldSize {
  int bodies, shapes, joints;
  int64_t nodes, tetrahedra, triangles; // of deformable bodies; triangles of cloth, not of surfaces
} tbWorldSize;

tbWorldSize tb_world_size(const tbWorld* world);

// How many elements a deformable body has, and with how many corners: 4 for tetrahedra, 3 for the triangles
// of cloth.
int tb_body_element_count(const tbWorld* world, int body, int* corners);

// Shapes of a rigid body, in its frame; they live until it is removed, or another body is added. Null: no
// such shape, or body.
int tb_body_shape_count(const tbWorld* world, tbBodyId body);
const tbShape* tb_body_shape_at(const tbWorld* world, tbBodyId body, int index);
// About the centre of mass, body axes: xx yy zz xy xz yz. Zeros: it is not a rigid body that moves freely.
void tb_body_inertia(const tbWorld* world, tbBodyId body, double inertia[6]);

// Every friction that is written down in a world: of its materials, then of bodies that have their own, then
// of pairs of materials. To turn all of them up or down, read them, and set each to a multiple of what it
// was.
int tb_world_friction_count(const tbWorld* world);
tbFriction tb_world_friction_at(const tbWorld* world, int index);
tbStatus tb_world_set_friction_at(tbContext* ctx, tbWorld* world, int index, tbFriction friction);

TB_API_END
#endif
