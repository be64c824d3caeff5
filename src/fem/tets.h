// SPDX-License-Identifier: Apache-2.0
// A solid cut into tetrahedra, with its surface.
#ifndef TB_FEM_TETS_H
#define TB_FEM_TETS_H

#include "base/memory.h"
#include "math/sparse.h"
#include "tribo/fem.h"

struct tbTetMesh {
  int nnode, ntet, ntriangle;
  tbVec3* node;
  int (*tet)[4];      // positive: (x₁−x₀)×(x₂−x₀)·(x₃−x₀) > 0                     (ntet)
  double* volume;     // of each                                                   (ntet)  m³
  int (*triangle)[3]; // the surface, counter-clockwise seen from outside          (ntriangle)
  int* triangle_tet;  // the tetrahedron behind a surface triangle                 (ntriangle)
  double total;       // volume of the solid
  tbArena arena;      // memory behind all of it
};

// Surface of tetrahedra that are sound one by one (tet_faces.c): fills ntriangle, triangle, triangle_tet.
tbStatus tb_tet_mesh_surface(tbContext* ctx, tbTetMesh* mesh, tbArena* scratch);

typedef struct tbTetQuality {
  double worst, mean; // radius ratio 3 r_in/r_out: 1 for the regular tetrahedron, 0 for a flat one
  int worst_tet;
  double least_dihedral; // angle between two faces of one tetrahedron   rad
} tbTetQuality;

tbTetQuality tb_tet_mesh_quality(const tbTetMesh* mesh);

// Mass at the nodes: a quarter of each tetrahedron's (nnode); and as a matrix over nodes, exact for linear
// fields: ρV/10 on the diagonal, ρV/20 beside it.
void tb_tet_mesh_lump(const tbTetMesh* mesh, double density, double* mass);
tbStatus tb_tet_mesh_mass(tbContext* ctx, const tbTetMesh* mesh, double density, tbCsr* out);

#endif
