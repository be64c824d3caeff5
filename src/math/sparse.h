// SPDX-License-Identifier: Apache-2.0
// Sparse matrices: compressed rows (CSR) and compressed rows of small dense blocks (BSR).
//
// Indices are int, so a matrix holds at most INT_MAX entries; what would not fit is refused. Column indices
// ascend within a row and no entry is stored twice: every function here makes and keeps it so. The transpose
// of a CSR matrix is its CSC form.
#ifndef TB_MATH_SPARSE_H
#define TB_MATH_SPARSE_H

#include "base/memory.h"

typedef struct tbCsr {
  int rows, cols;
  int* ptr;    // entries of row i: ptr[i] … ptr[i+1]−1     (rows+1)
  int* idx;    // column of each entry, ascending in a row  (ptr[rows])
  double* val; // its value                                 (ptr[rows])
} tbCsr;

// Sums duplicates in the order given. Refuses indices out of range and values that are not finite, naming the
// first bad entry. On failure *out is empty.
tbStatus tb_csr_from_triplets(tbContext* ctx, int rows, int cols, size_t count, const int* row,
                              const int* col, const double* val, tbCsr* out);
tbStatus tb_csr_transpose(tbContext* ctx, const tbCsr* A, tbCsr* out);
void tb_csr_free(tbContext* ctx, tbCsr* A); // leaves it empty; takes an empty one

// The same with arrays, and working memory, that live and die with an arena. What the entries are is the
// caller's word: indices must be in range, and values, and the sums of duplicates, are not looked at.
tbStatus tb_csr_take(tbArena* arena, int rows, int cols, int entries, tbCsr* out); // all zero, to be filled
tbStatus tb_csr_take_triplets(tbArena* arena, int rows, int cols, int count, const int* row, const int* col,
                              const double* val, tbCsr* out);
tbStatus tb_csr_take_transpose(tbArena* arena, const tbCsr* A, tbCsr* out);

void tb_csr_multiply(const tbCsr* A, const double* x, double* y);            // y = A x
void tb_csr_multiply_transposed(const tbCsr* A, const double* x, double* y); // y = Aᵀ x

enum { TB_BSR_MAX_BLOCK = 6 };

typedef struct tbBsr {
  int rows, cols;             // in blocks
  int block_rows, block_cols; // of one block, 1 to 6
  int* ptr;                   // blocks of block row i: ptr[i] … ptr[i+1]−1       (rows+1)
  int* idx;                   // block column, ascending in a block row           (ptr[rows])
  double* val;                // row-major blocks  (ptr[rows] · block_rows · block_cols)
} tbBsr;

// The sizes of A must be multiples of the block's. A block is stored when any entry of it is.
tbStatus tb_bsr_from_csr(tbContext* ctx, const tbCsr* A, int block_rows, int block_cols, tbBsr* out);
tbStatus tb_bsr_to_csr(tbContext* ctx, const tbBsr* B, tbCsr* out); // every entry of every block, zeros too
void tb_bsr_multiply(const tbBsr* B, const double* x, double* y);   // y = B x
void tb_bsr_multiply_transposed(const tbBsr* B, const double* x, double* y); // y = Bᵀ x
void tb_bsr_free(tbContext* ctx, tbBsr* B);

#endif
