// SPDX-License-Identifier: Apache-2.0
// Inside of the Delassus operator, for the files that build and apply it.
#ifndef TB_PROBLEM_DELASSUS_H
#define TB_PROBLEM_DELASSUS_H

#include "problem/graph.h"

// Column blocks by the degrees of freedom they span.
typedef struct tbTouching {
  int* ptr;     // (ndof+1)
  int* col;     // (ptr[ndof])
  int* contact; // of each entry of col
} tbTouching;

typedef struct tbDelassusOwner {
  tbDelassus W;
  tbArena arena;
  tbInterrupt interrupt;  // of the context that made it: products watch it, too
  tbIncidence incidence;  // built for TB_FORM_FREE and for assembly from A and J
  tbTouching touching;    // where a diagonal stands for a sparse block; else null
  double* ainv_jac;       // A⁻¹Jᵀ; W has it where it is whole
  const int* row_contact; // where W is given                                             (nrow)
} tbDelassusOwner;

// Lays out the blocks: ptr, col, val_adr, and val, whose values are 0. (delassus_pattern.c)
tbStatus tb_delassus_pattern(tbContext* ctx, tbDelassusOwner* o);

// The values again, in place, after those of the problem have changed; sides: of bias and v_free alone. The
// context is the one that products are to watch from now on. Where it fails the operator is of no use.
tbStatus tb_delassus_renew(tbContext* ctx, tbDelassus* W, bool sides);

// The values of block (k, l).
double* tb_delassus_block(const tbDelassus* W, int k, int l);

// Through the factor of sparse block b: upper blocks of the contacts on it, or, where diag is not null, their
// diagonal blocks alone. (delassus_sparse.c)
tbStatus tb_delassus_by_factor(tbContext* ctx, tbDelassusOwner* o, int b, double* diag);

// With a diagonal in place of sparse blocks. (delassus_lumped.c)
tbStatus tb_delassus_lump(tbDelassusOwner* o);                                // fills W.lumped and touching
void tb_delassus_lump_values(tbDelassusOwner* o, tbThreads* threads);         // W.lumped again
void tb_delassus_blocks_lumped(const tbDelassusOwner* o, int k);              // upper blocks of contact k
void tb_delassus_diagonal_lumped(const tbDelassusOwner* o, int k, double* D); // its diagonal block

// Bytes that the blocks of W take, or a little more: every pair of contacts on a metric block is counted.
tbStatus tb_delassus_bytes(tbContext* ctx, const tbProblem* problem, double* out);

static inline int tb_contact_rows(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

#endif
