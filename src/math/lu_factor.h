// SPDX-License-Identifier: Apache-2.0
// The inside of the sparse LU, shared by the files lu_*.c.
//
// Nodes are eliminated in the order `node`, a postorder of the elimination tree; a node's place in it is its
// position.
#ifndef TB_MATH_LU_FACTOR_H
#define TB_MATH_LU_FACTOR_H

#include "base/memory.h"
#include "math/lu_sparse.h"

struct tbLu {
  tbArena memory;
  tbInterrupt interrupt; // that factorisations watch
  int nodes, rows, supernodes;
  int* row_adr;               // (nodes+1)
  int* node;                  // the caller's node of position k                    (nodes)
  int* start;                 // first position of a supernode                      (supernodes+1)
  size_t* below;              // first of its nodes in below_node                   (supernodes+1)
  int* below_node;            // nodes under the pivots, by position                (below[supernodes])
  int* parent;                // (supernodes)
  int *last_child, *previous; // a supernode's children from the last to the first, −1 ends   (supernodes)
  int* entry_ptr;             // blocks of A that a position owns                   (nodes+1)
  int* entry;                 // … the caller's number of the block,                (entry_ptr[nodes])
  int *entry_row, *entry_col; // … its nodes

  // the factor: live rows are the active ones
  size_t* live_adr;    // first of the supernode's live rows in live         (supernodes)
  int* live;           // the caller's rows of the front, pivots first
  int *pivots, *front; // live pivots, live rows in all                   (supernodes)
  int* swap;           // (rows)
  int* swap_adr;       // (supernodes)
  size_t* upper;       // pivots × front: L₁₁ \ U₁₁, U₁₂                     (supernodes)
  size_t* lower;       // (front − pivots) × pivots: L₂₁                     (supernodes)
  double* factor;

  double *work, *stack, *gather; // one front, update matrices, one front's unknowns
  int* place;                    // of a row in the current front         (rows)
  int* run;                      // where runs of rows begin in an update matrix, and in the front
  tbLuStats stats;
};

static inline int tb_lu_node_rows(const tbLu* lu, int k) { return lu->row_adr[k + 1] - lu->row_adr[k]; }

// From a pattern to the structure of the factors and all memory. `temporary` is the caller's to free.
// (lu_symbolic.c)
tbStatus tb_lu_symbolic(tbContext* ctx, tbLu* lu, tbArena* temporary, const int* row_adr, const int* ptr,
                        const int* idx, double max_bytes);

#endif
