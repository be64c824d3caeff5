// SPDX-License-Identifier: Apache-2.0
// From elements to one matrix and one vector, to the same bits for any number of threads.
//
// Elements come in groups, a cache full of blocks each. Every element of a group writes its own blocks; then
// every block of the matrix adds up what belongs to it, in the order of the elements, and the next group
// takes the same memory. Forces are added likewise, once, by the nodes. No two threads write the same place
// and no sum depends on timing. The lists behind this and the pattern of the matrix are computed once.
//
// Memory per tetrahedron: 96 bytes of forces, some 70 of lists.
#ifndef TB_FEM_ASSEMBLY_H
#define TB_FEM_ASSEMBLY_H

#include "base/memory.h"
#include "math/sparse.h"

typedef struct tbStencil { // elements of one kind
  int count, corners;      // 2 to 4 corners each
  const int* node;         // count × corners
} tbStencil;

enum { TB_ASSEMBLY_KINDS = 3 };

// Elements begin … end−1 of a kind; its runs are run_begin … run_end−1.
typedef struct tbFemGroup {
  int kind, begin, end, run_begin, run_end;
} tbFemGroup;

typedef struct tbFemAssembly {
  int nnode;
  // What elements write. Kind k, element e, corner a:   force[force_adr[k] + (e · corners + a)]   three
  // doubles
  //                      its block p, while its group is at work:   block[(e − begin) · pairs + p]   nine
  double (*force)[3];
  double (*block)[9];
  int force_adr[TB_ASSEMBLY_KINDS + 1];
  int pairs[TB_ASSEMBLY_KINDS]; // corners (corners + 1)/2

  // the pattern, by nodes: blocks of node i are ptr[i] … ptr[i+1]−1, columns ascending
  int *ptr, *col;
  int* diag;      // block (i, i) of node i; the upper ones of its row follow        (nnode)
  int* upper_adr; // number of block (i, i) among the upper blocks alone             (nnode+1)
  int* mirror;    // block (j, i) of block (i, j)                                    (ptr[nnode])
  // the sums: run r adds items item_adr[r] … item_adr[r+1]−1 to an upper block; an item is twice the number
  // of a block in its group, plus 1 when it is to be transposed
  int ngroup;
  tbFemGroup* group;
  int *run_upper, *item_adr, *item;
  int *node_adr, *node_sum; // forces of a node
} tbFemAssembly;

// All arrays live in the arena. Elements must have been checked.
tbStatus tb_fem_assembly_init(tbArena* arena, int nnode, int kinds, const tbStencil* stencil,
                              tbFemAssembly* out);

// The pattern of both halves, 3 nnode × 3 nnode, without values. Block b of node i has its rows at
// tb_fem_assembly_row + 3 (b − ptr[i]).
tbStatus tb_fem_assembly_pattern(tbArena* arena, const tbFemAssembly* assembly, tbCsr* out);

static inline int tb_fem_assembly_row(const tbFemAssembly* s, int node,
                                      int axis) // first entry of a scalar row
{
  return 9 * s->ptr[node] + 3 * axis * (s->ptr[node + 1] - s->ptr[node]);
}

// The number, among the upper blocks, of block b of the row of node i, or of its mirror.
static inline int tb_fem_assembly_upper(const tbFemAssembly* s, int i, int b)
{
  int above = b >= s->diag[i] ? b : s->mirror[b], row = b >= s->diag[i] ? i : s->col[b];
  return s->upper_adr[row] + (above - s->diag[row]);
}

// upper += the blocks of a group; Σ forces (3 nnode).
void tb_fem_assembly_add(const tbFemAssembly* assembly, tbThreads* threads, int group, double (*upper)[9]);
void tb_fem_assembly_forces(const tbFemAssembly* assembly, tbThreads* threads, double* f);

#endif
