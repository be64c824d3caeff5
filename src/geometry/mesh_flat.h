// SPDX-License-Identifier: Apache-2.0
// Triangles without area, as CAD programs leave them along seams.
#ifndef TB_GEOMETRY_MESH_FLAT_H
#define TB_GEOMETRY_MESH_FLAT_H

#include "base/memory.h"
#include "tribo/math.h"

bool tb_triangle_is_flat(const tbVec3* vertex, const int v[3]); // exactly

// Flips flat triangles away where they have a neighbour to flip with. What is flat afterwards may be
// dropped.
tbStatus tb_mesh_flip_flat(tbArena* scratch, const tbVec3* vertex, int (*triangle)[3], int count);

#endif
