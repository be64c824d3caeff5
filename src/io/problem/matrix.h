// SPDX-License-Identifier: Apache-2.0
// Sparse matrices as files bring them: written out in full, by one triangle, in four parts.
#ifndef TB_IO_PROBLEM_MATRIX_H
#define TB_IO_PROBLEM_MATRIX_H

#include "math/sparse.h"

// From a full matrix: entry (i, j) is x[i·row_step + j·col_step]. Zeros are left out.
tbStatus tb_csr_from_dense(tbArena* arena, int rows, int cols, const double* x, size_t row_step,
                           size_t col_step, tbCsr* out);

// A square matrix with entries on one side of the diagonal only stands for the symmetric one: fills the other
// half. Leaves all others alone.
tbStatus tb_csr_complete_triangle(tbArena* arena, tbCsr* a);

// [A B; C D]: A and B have the same rows, A and C the same columns, …
tbStatus tb_csr_join(tbArena* arena, const tbCsr* a, const tbCsr* b, const tbCsr* c, const tbCsr* d,
                     tbCsr* out);

// Connected components of a square matrix's pattern: the smallest member of the component of each row (rows).
void tb_csr_components(const tbCsr* a, int* first);

#endif
