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

TB_API_END
#endif
