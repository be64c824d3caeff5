// SPDX-License-Identifier: Apache-2.0
// Sparse LU of a block matrix:  P A = L U  for a square A of small dense blocks, symmetric in pattern or not.
//
//   tb_lu_analyze    once for a pattern: ordering, structure of the factors, all memory
//   tb_lu_factor     for each set of values and each choice of rows; allocates nothing
//   tb_lu_solve      for each right-hand side; allocates nothing
//
// A factorisation is of the submatrix of the `active` rows and columns, whichever these are: the structure is
// that of the whole, so an active-set method analyses once and pays for the rows it keeps. Results do not
// depend on the number of threads.
#ifndef TB_MATH_LU_SPARSE_H
#define TB_MATH_LU_SPARSE_H

#include "tribo/base.h"

typedef struct tbLu tbLu;

typedef struct tbLuStats {
  int rows, supernodes;
  double entries; // of L and U, as stored when every row is active
  double flops;   // multiplications and additions of one factorisation of the whole
  double bytes;   // of factor and working memory
} tbLuStats;

// Node i of the pattern stands for rows row_adr[i] … row_adr[i+1]−1; its neighbours are idx[ptr[i]] … with
// ptr and idx as in a CSR matrix, columns in any order, none twice; the diagonal need not be there. The
// factor keeps pointers to none of them. TB_ERROR_UNSUPPORTED when factor and working memory would need more
// than `max_bytes` (0: no limit); *out is then null. Later factorisations, too, watch the interrupt of this
// context, or of the last that tb_lu_watch names.
tbStatus tb_lu_analyze(tbContext* ctx, int nodes, const int* row_adr, const int* ptr, const int* idx,
                       double max_bytes, tbLu** out);
void tb_lu_watch(tbLu* lu, tbInterrupt interrupt); // takes null
void tb_lu_free(tbContext* ctx, tbLu* lu);         // takes null
tbLuStats tb_lu_stats(const tbLu* lu);

// Factors the active part of A, whose block e of the pattern is val + val_adr[e], row-major. active: one byte
// per row, or null for all. Rows are exchanged within a supernode; a pivot below `tiny` times the largest
// entry of A is replaced by that (tiny ≤ 0: 1e-14). Returns how many were, or −1 when A holds a value that is
// not finite, or when it was interrupted: what a solve gives is then of no use.
int tb_lu_factor(tbLu* lu, tbThreads* threads, const size_t* val_adr, const double* val,
                 const uint8_t* active, double tiny);

// x ← A⁻¹ x on the rows that were active; the others are left alone.
void tb_lu_solve(tbLu* lu, double* x);

#endif
