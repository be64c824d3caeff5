// SPDX-License-Identifier: Apache-2.0
// Deformable matter as finite elements: solids of linear tetrahedra, cloth of triangles and hinges. Meshes
// and materials only; tribo/scene.h makes bodies of them.
#ifndef TRIBO_FEM_H
#define TRIBO_FEM_H

#include "tribo/geometry.h"

TB_API_BEGIN

typedef enum tbElasticModel {
  TB_ELASTIC_LINEAR,             // small displacements: constant stiffness, not invariant to rotation
  TB_ELASTIC_COROTATED,          // linear in the frame of the closest rotation
  TB_ELASTIC_STVK,               // St. Venant–Kirchhoff: linear in Green's strain
  TB_ELASTIC_NEO_HOOKEAN,        // compressible, with the logarithm of the volume
  TB_ELASTIC_NEO_HOOKEAN_VOLUME, // the same, continued linearly below 70 % of the volume, not of a stretch
  TB_ELASTIC_COUNT
} tbElasticModel;

// "linear", "corotated", "stvk", "neo-hookean", "neo-hookean-volume"
const char* tb_elastic_name(tbElasticModel model);
bool tb_elastic_from_name(const char* name, tbElasticModel* out);

typedef struct tbSoftDef {
  tbElasticModel model;
  double young, poisson, density;         // Pa, –, kg/m³
  double mass_damping, stiffness_damping; // Rayleigh's α and β   1/s, s
  bool consistent_mass;                   // else at the nodes
} tbSoftDef;

// How folds resist: a half bend · weight · θ², θ the angle between two triangles. The scheme pd alone has a
// choice.
typedef enum tbBending {
  TB_BENDING_QUADRATIC, // pd: of 2 sin(θ/2) in the place of θ, whose matrix is constant
  TB_BENDING_DIHEDRAL,  // of the angle itself, in every scheme
  TB_BENDING_COUNT
} tbBending;

const char* tb_bending_name(tbBending bending); // "quadratic", "dihedral"
bool tb_bending_from_name(const char* name, tbBending* out);

typedef struct tbClothDef {
  double area_density, stretch, shear, bend; // kg/m², N/m, N/m, N·m
  tbBending bending;
  double strain_limit; // beyond this change of length threads resist with limit_stiffness, too; < 1, 0: none
  double limit_stiffness; // 0: 100 times `stretch`   N/m
  double thickness;       // surfaces keep half of it from the middle of the cloth   m
  double air_damping;     // drag per area and velocity   N·s/m³
  double mass_damping, stiffness_damping;
  tbVec3 warp; // of the threads at rest
} tbClothDef;

// A spring between two nodes of a deformable body: an energy ½ stiffness (distance − length)² beside that of
// its elements.
typedef struct tbSpringDef {
  int nodes[2];
  double stiffness; // N/m
  double length;    // at rest, m; less than 0: as far as the nodes are from each other at rest
} tbSpringDef;

tbSoftDef tb_soft_def(void);   // co-rotated, 1 MPa, 0.3, 1000 kg/m³, undamped, mass at the nodes
tbClothDef tb_cloth_def(void); // 0.2 kg/m², 200 and 50 N/m, 1e-5 N·m, 1 mm, warp along x

// A solid cut into tetrahedra. Copied and checked: TB_ERROR_INPUT names the first tetrahedron that has an
// index out of range, a corner twice, the wrong orientation ((x₁−x₀)×(x₂−x₀)·(x₃−x₀) must be positive) or no
// volume (less than 1e-10 of its longest edge cubed), that is there twice or lies on the same side of a face
// as another; a face with three tetrahedra; an edge where the surface is no manifold; a node that is not
// finite, beyond 1e30, or in no tetrahedron.
typedef struct tbTetMesh tbTetMesh; // src/fem/tets.h

tbStatus tb_tet_mesh_create(tbContext* ctx, const tbVec3* nodes, int nnode, const int (*tets)[4], int ntet,
                            tbTetMesh** out);
void tb_tet_mesh_free(tbContext* ctx, tbTetMesh* mesh); // takes null
int tb_tet_mesh_node_count(const tbTetMesh* mesh);
int tb_tet_mesh_tet_count(const tbTetMesh* mesh);
const tbVec3* tb_tet_mesh_nodes(const tbTetMesh* mesh);
tbTriangleView tb_tet_mesh_triangles(const tbTetMesh* mesh); // its surface; vertices are all of its nodes
void tb_tet_mesh_rotate(tbTetMesh* mesh, tbQuat rotation);   // about the origin
// Cuts every tetrahedron into eight; nodes are numbered anew.
tbStatus tb_tet_mesh_refine(tbContext* ctx, const tbTetMesh* mesh, tbTetMesh** out);

// Grids, centred on the origin. Cells are cut into five or six tetrahedra, each cell the mirror image of its
// neighbours, so that even numbers of cells give symmetric meshes.
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

// A rectangle of cloth in the plane z = 0, centred, its cells cut along alternating diagonals.
tbStatus tb_cloth_grid(tbContext* ctx, double width, double height, int across, int along, tbMesh** out);
// A tube of cloth about z, centred: open at its ends, of two radii. around: at least 3.
tbStatus tb_cloth_tube(tbContext* ctx, double top, double bottom, double length, int around, int along,
                       tbMesh** out);

TB_API_END
#endif
