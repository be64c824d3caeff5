// Sparse matrices on their way between files and problems.
#ifndef TB_IO_SPARSE_H
#define TB_IO_SPARSE_H

#include "base/memory.h"

// Compressed rows; columns increasing within a row, none twice.
typedef struct tbCsr {
  int rows, cols;
  int* ptr;    // (rows+1)
  int* col;    // (ptr[rows])
  double* val; // (ptr[rows])
} tbCsr;

// From entries (row, col, value) in any order; those at one place add up, in their order. Indices must be in
// range. Two stable counting sorts: O(count + rows + cols).
tbStatus tb_csr_from_entries(tbArena* arena, int rows, int cols, int count, const int* row, const int* col,
                             const double* val, tbCsr* out);

// From a full matrix: entry (i, j) is x[i·row_step + j·col_step]. Zeros are left out.
tbStatus tb_csr_from_dense(tbArena* arena, int rows, int cols, const double* x, size_t row_step,
                           size_t col_step, tbCsr* out);

tbStatus tb_csr_transpose(tbArena* arena, const tbCsr* a, tbCsr* out);

// A square matrix with entries on one side of the diagonal only stands for the symmetric one: fills the other
// half. Leaves all others alone.
tbStatus tb_csr_complete_triangle(tbArena* arena, tbCsr* a);

// [A B; C D]: A and B have the same rows, A and C the same columns, …
tbStatus tb_csr_join(tbArena* arena, const tbCsr* a, const tbCsr* b, const tbCsr* c, const tbCsr* d,
                     tbCsr* out);

#endif
