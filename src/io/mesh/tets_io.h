// SPDX-License-Identifier: Apache-2.0
// Tetrahedral meshes from files: Gmsh .msh 2.2 and 4.1, VTK legacy unstructured grids; text and binary each.
#ifndef TB_IO_MESH_TETS_IO_H
#define TB_IO_MESH_TETS_IO_H

#include "fem/tets.h"
#include "io/mesh/mesh_io.h"
#include "tribo/io.h"

tbStatus tb_tet_mesh_parse(tbContext* ctx, const char* name, const char* bytes, size_t length, tbVec3 scale,
                           tbTetMesh** out);

// VTK legacy text, all digits.
tbStatus tb_tet_mesh_print_vtk(tbOut* out, const tbTetMesh* mesh);
tbStatus tb_tet_mesh_save_vtk(tbContext* ctx, const char* path, const tbTetMesh* mesh);

// ---- for the readers ----

typedef struct tbTetReader {
  tbMeshReader at; // the cursor; its soup is not used
  bool packed;     // numbers are binary
  bool big;        // with the most significant byte first
  tbArray node;    // tbVec3
  tbArray tag;     // int64_t, of the nodes; empty where they count from 0
  tbArray corner;  // int64_t, four for each tetrahedron: tags of nodes
} tbTetReader;

tbStatus tb_tets_parse_msh(tbTetReader* reader);
tbStatus tb_tets_parse_vtk(tbTetReader* reader);

// Numbers as the file writes them: text, or `size` bytes (4 or 8).
tbStatus tb_tets_int(tbTetReader* reader, int size, const char* what, int64_t* out);
tbStatus tb_tets_real(tbTetReader* reader, int size, const char* what, double* out);
// A count, in text whatever the file, of things that take at least `bytes` each in what is left.
tbStatus tb_tets_count(tbTetReader* reader, size_t bytes, const char* what, int64_t* out);
tbStatus tb_tets_add_node(tbTetReader* reader, const double x[3]);
bool tb_tets_accept(tbTetReader* reader, const char* word); // after spaces; a whole word, in either case
tbStatus tb_tets_expect(tbTetReader* reader, const char* word);

#endif
