// A solid cut into tetrahedra, with its surface.
#ifndef TB_FEM_TETS_H
#define TB_FEM_TETS_H

#include "base/memory.h"
#include "math/sparse.h"
#include "tribo/math.h"

typedef struct tbTetMesh {
  int nnode, ntet, ntriangle;
  tbVec3* node;
  int (*tet)[4];      // positive: (x₁−x₀)×(x₂−x₀)·(x₃−x₀) > 0                     (ntet)
  double* volume;     // of each                                                   (ntet)  m³
  int (*triangle)[3]; // the surface, counter-clockwise seen from outside          (ntriangle)
  int* triangle_tet;  // the tetrahedron behind a surface triangle                 (ntriangle)
  double total;       // volume of the solid
  tbArena arena;      // memory behind all of it
} tbTetMesh;

// Copies and checks. TB_ERROR_INPUT names the first tetrahedron that has an index out of range, a corner
// twice, the wrong orientation or no volume (less than 1e-10 of its longest edge cubed), that is there twice
// or lies on the same side of a face as another; a face with three tetrahedra; an edge where the surface is
// no manifold; a node that is not finite, beyond 1e30, or in no tetrahedron.
tbStatus tb_tet_mesh_create(tbContext* ctx, const tbVec3* nodes, int nnode, const int (*tets)[4], int ntet,
                            tbTetMesh** out);
void tb_tet_mesh_free(tbContext* ctx, tbTetMesh* mesh); // takes null

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

// Grids (tet_grids.c), centred on the origin. Cells are cut into five or six tetrahedra, each cell the mirror
// image of its neighbours, so that even numbers of cells give symmetric meshes.
//
//   box        nx × ny × nz cells                                   5 or 6 tetrahedra each
//   sphere     a cube of n³ cells pulled round                      6 n³
//   cylinder   across² × along cells pulled round, along z          6 across² along
//   torus      across² × around, the ring around z                  6 across² around
//   ring       a rectangle of cells swept around z                  6 nr nz around
//
// What is pulled round wants an even number of cells across: then every tetrahedron has one face at most
// outside.
enum { TB_TET_CELLS_MAX = 1 << 26 };

tbStatus tb_tet_box(tbContext* ctx, tbVec3 size, const int cells[3], int tets_per_cell, tbTetMesh** out);
tbStatus tb_tet_sphere(tbContext* ctx, double radius, int cells, tbTetMesh** out);
tbStatus tb_tet_cylinder(tbContext* ctx, double radius, double length, int across, int along,
                         tbTetMesh** out);
tbStatus tb_tet_torus(tbContext* ctx, double ring, double tube, int across, int around, tbTetMesh** out);
tbStatus tb_tet_ring(tbContext* ctx, double inner, double outer, double height, const int cells[3],
                     tbTetMesh** out); // cells: radial, around, along z

#endif
