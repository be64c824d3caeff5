// SPDX-License-Identifier: Apache-2.0
#include "math/sparse.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static tbStatus csr_create(tbContext* ctx, int rows, int cols, size_t entries, tbCsr* out)
{
  *out = (tbCsr){.rows = rows, .cols = cols};
  if (entries > INT_MAX)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a sparse matrix holds at most %d entries, not %zu", INT_MAX,
                   entries);
  out->ptr = TB_NEW(ctx, int, (size_t)rows + 1);
  out->idx = TB_NEW(ctx, int, entries);
  out->val = TB_NEW(ctx, double, entries);
  if (out->ptr && out->idx && out->val) return TB_OK;
  tb_csr_free(ctx, out);
  return TB_ERROR_MEMORY;
}

void tb_csr_free(tbContext* ctx, tbCsr* A)
{
  tb_free(ctx, A->ptr);
  tb_free(ctx, A->idx);
  tb_free(ctx, A->val);
  *A = (tbCsr){0};
}

tbStatus tb_csr_take(tbArena* arena, int rows, int cols, int entries, tbCsr* out)
{
  *out = (tbCsr){rows, cols, TB_TAKE(arena, int, (size_t)rows + 1), TB_TAKE(arena, int, (size_t)entries),
                 TB_TAKE(arena, double, (size_t)entries)};
  return out->ptr && out->idx && out->val ? TB_OK : TB_ERROR_MEMORY;
}

// Turns counts kept one place up (ptr[i+1] = entries of row i) into offsets.
static void counts_to_offsets(int* ptr, int rows)
{
  for (int i = 0; i < rows; i++) ptr[i + 1] += ptr[i];
}

// Undoes the shift that filling rows through ptr[row]++ leaves behind.
static void rewind_offsets(int* ptr, int rows)
{
  memmove(ptr + 1, ptr, (size_t)rows * sizeof *ptr);
  ptr[0] = 0;
}

// Adds up neighbours in the same place; rows are sorted.
static void merge_duplicates(tbCsr* A)
{
  int end = 0;
  for (int i = 0, p = 0; i < A->rows; i++) {
    int first = end;
    for (; p < A->ptr[i + 1]; p++) {
      if (end > first && A->idx[end - 1] == A->idx[p]) {
        A->val[end - 1] += A->val[p];
      } else {
        A->idx[end] = A->idx[p];
        A->val[end++] = A->val[p];
      }
    }
    A->ptr[i + 1] = end; // row i is behind us: its old end is no longer needed
  }
}

// A: zeroed, with room for count entries. column: zeroed (cols+1). by_column: (count).
// Two stable counting sorts, by column and then by row, leave duplicates in the order given:
// O(count + rows + cols).
static void fill_triplets(tbCsr* A, size_t count, const int* row, const int* col, const double* val,
                          int* column, int* by_column)
{
  for (size_t k = 0; k < count; k++) column[col[k] + 1]++, A->ptr[row[k] + 1]++;
  counts_to_offsets(column, A->cols);
  counts_to_offsets(A->ptr, A->rows);
  for (size_t k = 0; k < count; k++) by_column[column[col[k]]++] = (int)k;
  for (size_t k = 0; k < count; k++) {
    int from = by_column[k], to = A->ptr[row[from]]++;
    A->idx[to] = col[from];
    A->val[to] = val[from];
  }
  rewind_offsets(A->ptr, A->rows);
  merge_duplicates(A);
}

// T: zeroed, with room for the entries of A.
static void fill_transpose(const tbCsr* A, tbCsr* T)
{
  for (int p = 0; p < A->ptr[A->rows]; p++) T->ptr[A->idx[p] + 1]++;
  counts_to_offsets(T->ptr, T->rows);
  for (int i = 0; i < A->rows; i++)
    for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
      int to = T->ptr[A->idx[p]]++;
      T->idx[to] = i;
      T->val[to] = A->val[p];
    }
  rewind_offsets(T->ptr, T->rows);
}

static tbStatus check_triplets(tbContext* ctx, int rows, int cols, size_t count, const int* row,
                               const int* col, const double* val)
{
  if (rows < 0 || cols < 0 || rows == INT_MAX || cols == INT_MAX)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a sparse matrix cannot be %d × %d", rows, cols);
  for (size_t k = 0; k < count; k++) {
    if (row[k] < 0 || row[k] >= rows || col[k] < 0 || col[k] >= cols)
      return tb_fail(ctx, TB_ERROR_INPUT, "entry %zu is at (%d, %d), outside a %d × %d matrix", k, row[k],
                     col[k], rows, cols);
    if (!isfinite(val[k]))
      return tb_fail(ctx, TB_ERROR_INPUT, "entry %zu at (%d, %d) is %g, not a finite number", k, row[k],
                     col[k], val[k]);
  }
  return TB_OK;
}

// Finite entries may add up to one that is not.
static tbStatus check_sums(tbContext* ctx, const tbCsr* A)
{
  for (int i = 0; i < A->rows; i++)
    for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (!isfinite(A->val[p]))
        return tb_fail(ctx, TB_ERROR_INPUT, "the entries at (%d, %d) add up to %g", i, A->idx[p], A->val[p]);
  return TB_OK;
}

tbStatus tb_csr_from_triplets(tbContext* ctx, int rows, int cols, size_t count, const int* row,
                              const int* col, const double* val, tbCsr* out)
{
  *out = (tbCsr){0};
  TB_TRY(check_triplets(ctx, rows, cols, count, row, col, val));
  tbCsr A;
  TB_TRY(csr_create(ctx, rows, cols, count, &A));
  int* column = TB_NEW(ctx, int, (size_t)cols + 1);
  int* by_column = TB_NEW(ctx, int, count);
  tbStatus status = column && by_column ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    fill_triplets(&A, count, row, col, val, column, by_column);
    status = check_sums(ctx, &A);
  }
  tb_free(ctx, column);
  tb_free(ctx, by_column);
  if (status == TB_OK) *out = A;
  else tb_csr_free(ctx, &A);
  return status;
}

tbStatus tb_csr_take_triplets(tbArena* arena, int rows, int cols, int count, const int* row, const int* col,
                              const double* val, tbCsr* out)
{
  TB_TRY(tb_csr_take(arena, rows, cols, count, out));
  int *column = TB_TAKE(arena, int, (size_t)cols + 1), *by_column = TB_TAKE(arena, int, (size_t)count);
  if (!column || !by_column) return TB_ERROR_MEMORY;
  fill_triplets(out, (size_t)count, row, col, val, column, by_column);
  return TB_OK;
}

tbStatus tb_csr_transpose(tbContext* ctx, const tbCsr* A, tbCsr* out)
{
  tbCsr T;
  *out = (tbCsr){0};
  TB_TRY(csr_create(ctx, A->cols, A->rows, (size_t)A->ptr[A->rows], &T));
  fill_transpose(A, &T);
  *out = T;
  return TB_OK;
}

tbStatus tb_csr_take_transpose(tbArena* arena, const tbCsr* A, tbCsr* out)
{
  TB_TRY(tb_csr_take(arena, A->cols, A->rows, A->ptr[A->rows], out));
  fill_transpose(A, out);
  return TB_OK;
}

void tb_csr_multiply(const tbCsr* A, const double* x, double* y)
{
  for (int i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++) sum += A->val[p] * x[A->idx[p]];
    y[i] = sum;
  }
}

void tb_csr_multiply_transposed(const tbCsr* A, const double* x, double* y)
{
  memset(y, 0, (size_t)A->cols * sizeof *y);
  for (int i = 0; i < A->rows; i++)
    for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++) y[A->idx[p]] += A->val[p] * x[i];
}

static tbStatus bsr_create(tbContext* ctx, const tbBsr* shape, size_t blocks, tbBsr* out)
{
  *out = *shape;
  out->ptr = TB_NEW(ctx, int, (size_t)shape->rows + 1);
  out->idx = TB_NEW(ctx, int, blocks);
  out->val = TB_NEW(ctx, double, blocks*(size_t)(shape->block_rows * shape->block_cols));
  if (out->ptr && out->idx && out->val) return TB_OK;
  tb_bsr_free(ctx, out);
  return TB_ERROR_MEMORY;
}

void tb_bsr_free(tbContext* ctx, tbBsr* B)
{
  tb_free(ctx, B->ptr);
  tb_free(ctx, B->idx);
  tb_free(ctx, B->val);
  *B = (tbBsr){0};
}

// Lists the block columns of block row I in ascending order and returns how many there are: at[] walks the
// sorted rows of the block together, and the least column none of them has passed comes next.
static int block_row(const tbCsr* A, int I, int block_rows, int block_cols, int* list)
{
  int at[TB_BSR_MAX_BLOCK], count = 0;
  for (int r = 0; r < block_rows; r++) at[r] = A->ptr[I * block_rows + r];
  for (;; count++) {
    int next = INT_MAX;
    for (int r = 0; r < block_rows; r++)
      if (at[r] < A->ptr[I * block_rows + r + 1] && A->idx[at[r]] / block_cols < next)
        next = A->idx[at[r]] / block_cols;
    if (next == INT_MAX) return count;
    for (int r = 0; r < block_rows; r++)
      while (at[r] < A->ptr[I * block_rows + r + 1] && A->idx[at[r]] / block_cols == next) at[r]++;
    if (list) list[count] = next;
  }
}

tbStatus tb_bsr_from_csr(tbContext* ctx, const tbCsr* A, int block_rows, int block_cols, tbBsr* out)
{
  *out = (tbBsr){0};
  if (block_rows < 1 || block_rows > TB_BSR_MAX_BLOCK || block_cols < 1 || block_cols > TB_BSR_MAX_BLOCK)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "blocks must be 1 to %d wide and high, not %d × %d",
                   TB_BSR_MAX_BLOCK, block_rows, block_cols);
  if (A->rows % block_rows || A->cols % block_cols)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a %d × %d matrix does not divide into %d × %d blocks", A->rows,
                   A->cols, block_rows, block_cols);
  tbBsr shape = {A->rows / block_rows, A->cols / block_cols, block_rows, block_cols, NULL, NULL, NULL}, B;
  size_t blocks = 0;
  for (int I = 0; I < shape.rows; I++) blocks += (size_t)block_row(A, I, block_rows, block_cols, NULL);
  TB_TRY(bsr_create(ctx, &shape, blocks, &B));
  for (int I = 0; I < B.rows; I++) {
    int* list = B.idx + B.ptr[I];
    B.ptr[I + 1] = B.ptr[I] + block_row(A, I, block_rows, block_cols, list);
    for (int r = 0; r < block_rows; r++) {
      int i = I * block_rows + r, k = 0;
      for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        while (list[k] < A->idx[p] / block_cols) k++;
        B.val[((size_t)(B.ptr[I] + k) * block_rows + r) * block_cols + A->idx[p] % block_cols] = A->val[p];
      }
    }
  }
  *out = B;
  return TB_OK;
}

tbStatus tb_bsr_to_csr(tbContext* ctx, const tbBsr* B, tbCsr* out)
{
  *out = (tbCsr){0};
  tbCsr A;
  int br = B->block_rows, bc = B->block_cols, end = 0;
  if ((int64_t)B->rows * br >= INT_MAX || (int64_t)B->cols * bc >= INT_MAX)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d × %d blocks of %d × %d are too many rows", B->rows, B->cols,
                   br, bc);
  TB_TRY(csr_create(ctx, B->rows * br, B->cols * bc, (size_t)B->ptr[B->rows] * br * bc, &A));
  for (int i = 0; i < A.rows; i++) {
    for (int p = B->ptr[i / br]; p < B->ptr[i / br + 1]; p++)
      for (int c = 0; c < bc; c++) {
        A.idx[end] = B->idx[p] * bc + c;
        A.val[end++] = B->val[((size_t)p * br + i % br) * bc + c];
      }
    A.ptr[i + 1] = end;
  }
  *out = A;
  return TB_OK;
}

// The block size is a constant where this is expanded, so that a block's product unrolls.
static inline __attribute__((always_inline)) void multiply(const tbBsr* B, int br, int bc, const double* x,
                                                           double* y)
{
  for (int I = 0; I < B->rows; I++) {
    double sum[TB_BSR_MAX_BLOCK] = {0};
    for (int p = B->ptr[I]; p < B->ptr[I + 1]; p++) {
      const double *block = B->val + (size_t)p * br * bc, *part = x + (size_t)B->idx[p] * bc;
      for (int r = 0; r < br; r++)
        for (int c = 0; c < bc; c++) sum[r] += block[r * bc + c] * part[c];
    }
    memcpy(y + (size_t)I * br, sum, (size_t)br * sizeof *y);
  }
}

void tb_bsr_multiply(const tbBsr* B, const double* x, double* y)
{
  if (B->block_rows == 3 && B->block_cols == 3) multiply(B, 3, 3, x, y);
  else if (B->block_rows == 3 && B->block_cols == 6) multiply(B, 3, 6, x, y);
  else if (B->block_rows == 6 && B->block_cols == 6) multiply(B, 6, 6, x, y);
  else multiply(B, B->block_rows, B->block_cols, x, y);
}

void tb_bsr_multiply_transposed(const tbBsr* B, const double* x, double* y)
{
  int br = B->block_rows, bc = B->block_cols;
  memset(y, 0, (size_t)B->cols * bc * sizeof *y);
  for (int I = 0; I < B->rows; I++)
    for (int p = B->ptr[I]; p < B->ptr[I + 1]; p++) {
      const double *block = B->val + (size_t)p * br * bc, *from = x + (size_t)I * br;
      double* part = y + (size_t)B->idx[p] * bc;
      for (int r = 0; r < br; r++)
        for (int c = 0; c < bc; c++) part[c] += block[r * bc + c] * from[r];
    }
}
