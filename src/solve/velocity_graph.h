// SPDX-License-Identifier: Apache-2.0
// The inside of systems in velocity space, shared by velocity.c and velocity_graph.c.
#ifndef TB_SOLVE_VELOCITY_GRAPH_H
#define TB_SOLVE_VELOCITY_GRAPH_H

#include "base/memory.h"
#include "base/slab.h"
#include "solve/velocity.h"

// The columns of a contact's J that lie in one node.
typedef struct {
  int contact, node, at; // at: the node's row that the first column stands for
  int width, stride;     // columns; distance of two rows of J
  size_t jac;            // first value in p->jac
  size_t CJ;             // first value in CJ, rows × width
} tbVelocityPart;

// A block of the matrix gets J_aᵀ C J_b.
typedef struct {
  int a, b; // parts
} tbVelocityTerm;

struct tbVelocity {
  const tbProblem* p;
  const size_t* diag_adr;
  tbArena memory;
  tbLu *full, *narrow; // over all contacts; over the active ones, in the slab, or null
  int nodes, entries;
  int* first;      // degree of freedom of a node                     (nodes+1)
  int* node_of;    // a degree of freedom                             (ndof)
  int *ptr, *col;  // pattern of the matrix by nodes                  (nodes+1), (entries)
  size_t* val_adr; // (entries+1)
  double *A, *val; // A alone; A + Jᵀ C J
  int* part_ptr;   // parts of a contact                              (ncontact+1)
  tbVelocityPart* part;
  int* term_ptr; // terms of an entry                                 (entries+1)
  tbVelocityTerm* term;
  double* CJ;
  uint8_t* pushes; // whether C of a contact is not 0                 (ncontact)

  // what the narrow one is over
  tbContext slab_ctx;
  tbSlab slab;                       // no memory: there is never a narrow one
  uint8_t *metric, *live, *analysed; // entries that A has; that are not 0; that are in the factor   (entries)
  int live_count;
  int *lu_ptr, *lu_col; // (nodes+1), (entries)
  size_t* lu_adr;       // (entries)
};

// From a problem to nodes, parts, the pattern of the matrix with the values of A in it, and terms.
tbStatus tb_velocity_graph(tbVelocity* v, tbArena* temporary);
// The values of A again, in place; the narrow factor's columns are lost.
void tb_velocity_metric(tbVelocity* v);

#endif
