// From elements to one matrix and one vector, to the same bits for any number of threads.
//
// Every element writes its own forces and blocks; then every node, and every block of the matrix, adds up
// what belongs to it in the order of the elements. No two threads write the same place and no sum depends on
// timing. The lists behind this and the pattern of the matrix are computed once.
//
// Memory per tetrahedron: 720 bytes of blocks, 96 of forces, 56 of lists.
#ifndef TB_FEM_ASSEMBLY_H
#define TB_FEM_ASSEMBLY_H

#include "base/memory.h"
#include "math/sparse.h"

typedef struct tbStencil { // elements of one kind
  int count, corners;      // 3 or 4 corners each
  const int* node;         // count × corners
} tbStencil;

enum { TB_ASSEMBLY_KINDS = 2 };

typedef struct tbFemAssembly {
  int nnode;
  // What elements write. Kind k, element e, corner a:   force[force_adr[k] + (e · corners + a)]  three
  // doubles each;
  //                      its block p:                   block[block_adr[k] + (e · pairs + p)]    nine doubles
  //                      each
  double (*force)[3];
  double (*block)[9];
  int force_adr[TB_ASSEMBLY_KINDS + 1], block_adr[TB_ASSEMBLY_KINDS + 1];
  int pairs[TB_ASSEMBLY_KINDS]; // corners (corners + 1)/2

  // the pattern, by nodes: blocks of node i are ptr[i] … ptr[i+1]−1, columns ascending
  int *ptr, *col;
  int* diag;      // block (i, i) of node i; the upper ones of its row follow        (nnode)
  int* upper_adr; // number of block (i, i) among the upper blocks alone             (nnode)
  int* mirror;    // block (j, i) of block (i, j)                                    (ptr[nnode])
  // the sums: upper block b adds items sum_adr[b] … sum_adr[b+1]−1 of `sum`; an item is 2·block, plus 1
  // when it is to be transposed
  int *sum_adr, *sum;
  int *node_adr, *node_sum; // forces of a node
} tbFemAssembly;

// All arrays live in the arena. Elements must have been checked.
tbStatus tb_fem_assembly_init(tbArena* arena, int nnode, int kinds, const tbStencil* stencil,
                              tbFemAssembly* out);

// An empty matrix of the pattern, 3 nnode × 3 nnode. Block b of node i has its rows at tb_fem_assembly_row +
// 3 (b − ptr[i]).
tbStatus tb_fem_assembly_take_matrix(tbArena* arena, const tbFemAssembly* assembly, tbCsr* out);

static inline int tb_fem_assembly_row(const tbFemAssembly* s, int node,
                                      int axis) // first entry of a scalar row
{
  return 9 * s->ptr[node] + 3 * axis * (s->ptr[node + 1] - s->ptr[node]);
}

void tb_fem_assembly_matrix(const tbFemAssembly* assembly, tbThreads* threads,
                            double* val); // Σ blocks, both halves
void tb_fem_assembly_forces(const tbFemAssembly* assembly, tbThreads* threads,
                            double* f); // Σ forces (3 nnode)

#endif
