// SPDX-License-Identifier: Apache-2.0
// Degrees of freedom that are solved for together: a rigid body's six, a reduced body's all, a node's three.
//
// Their blocks of ∇²g = A + JᵀDJ are what descent is preconditioned with (Macklin et al. 2020, eq. 13, block
// by block) and what vertex block descent solves with.
#ifndef TB_DESCENT_CELLS_H
#define TB_DESCENT_CELLS_H

#include "descent/relaxed.h"

typedef struct tbCells {
  int count;
  int* dof;    // first degree of freedom                                     (count+1)
  int* of_dof; // the cell of one                                             (ndof)
  int* block;  // its metric block                                            (count)
  int* adr;    // first value of its matrix, size²                            (count+1)
  double* own; // A_cc                                                        (adr[count])
  int widest;  // of all
  // Column blocks of J that act on it, and their contacts, in the order of the contacts.
  int* ptr; // (count+1)
  int *col, *contact;
} tbCells;

tbStatus tb_cells_begin(tbArena* arena, const tbProblem* problem, tbCells* out);

static inline int tb_cell_size(const tbCells* c, int i) { return c->dof[i + 1] - c->dof[i]; }

// H = A_cc + Σ J_kcᵀ D_k J_kc of one cell, row-major.
void tb_cell_curvature(const tbRelaxed* relaxed, const tbCells* cells, int cell, const double* D, double* H);

// Factors of all of them, or (diagonal) of their diagonals alone; P: (adr[count]).
void tb_cells_factor(const tbRelaxed* relaxed, const tbCells* cells, tbThreads* threads, const double* D,
                     bool diagonal, double* P);
// x ← P⁻¹ x, cell by cell.
void tb_cells_solve(const tbCells* cells, tbThreads* threads, const double* P, double* x);

#endif
