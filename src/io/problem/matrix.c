// SPDX-License-Identifier: Apache-2.0
#include "io/problem/matrix.h"

#include <limits.h>

static tbStatus check_count(tbArena* arena, size_t count)
{
  if (count <= INT_MAX) return TB_OK;
  return tb_fail(arena->ctx, TB_ERROR_UNSUPPORTED, "a matrix of more than %d entries", INT_MAX);
}

static tbStatus allocate(tbArena* arena, int rows, int cols, size_t count, tbCsr* out)
{
  TB_TRY(check_count(arena, count));
  return tb_csr_take(arena, rows, cols, (int)count, out);
}

tbStatus tb_csr_from_dense(tbArena* arena, int rows, int cols, const double* x, size_t row_step,
                           size_t col_step, tbCsr* out)
{
  size_t count = 0;
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) TB_TRY(allocate(arena, rows, cols, count, out));
    count = 0;
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < cols; j++) {
        double value = x[(size_t)i * row_step + (size_t)j * col_step];
        if (value == 0) continue;
        if (pass == 1) out->idx[count] = j, out->val[count] = value;
        count++;
      }
      if (pass == 1) out->ptr[i + 1] = (int)count;
    }
  }
  return TB_OK;
}

tbStatus tb_csr_complete_triangle(tbArena* arena, tbCsr* a)
{
  size_t below = 0, above = 0, count = (size_t)a->ptr[a->rows];
  for (int i = 0; i < a->rows; i++)
    for (int e = a->ptr[i]; e < a->ptr[i + 1]; e++) below += a->idx[e]<i, above += a->idx[e]> i;
  size_t missing = below + above;
  if (missing == 0 || (below && above)) return TB_OK;
  TB_TRY(check_count(arena, count + missing));
  int *row = TB_TAKE(arena, int, count + missing), *col = TB_TAKE(arena, int, count + missing), used = 0;
  double* val = TB_TAKE(arena, double, count + missing);
  if (!row || !col || !val) return TB_ERROR_MEMORY;
  for (int i = 0; i < a->rows; i++)
    for (int e = a->ptr[i]; e < a->ptr[i + 1]; e++) {
      row[used] = i, col[used] = a->idx[e], val[used++] = a->val[e];
      if (a->idx[e] != i) row[used] = a->idx[e], col[used] = i, val[used++] = a->val[e];
    }
  return tb_csr_take_triplets(arena, a->rows, a->cols, used, row, col, val, a);
}

static int append_row(const tbCsr* a, int row, int first_col, tbCsr* out, int used)
{
  for (int e = a->ptr[row]; e < a->ptr[row + 1]; e++, used++) {
    out->idx[used] = first_col + a->idx[e];
    out->val[used] = a->val[e];
  }
  return used;
}

tbStatus tb_csr_join(tbArena* arena, const tbCsr* a, const tbCsr* b, const tbCsr* c, const tbCsr* d,
                     tbCsr* out)
{
  const tbCsr* part[2][2] = {{a, b}, {c, d}};
  size_t count = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) count += (size_t)part[i][j]->ptr[part[i][j]->rows];
  if (a->rows > INT_MAX - c->rows || a->cols > INT_MAX - b->cols)
    return tb_fail(arena->ctx, TB_ERROR_UNSUPPORTED, "a matrix of more than %d rows", INT_MAX);
  TB_TRY(allocate(arena, a->rows + c->rows, a->cols + b->cols, count, out));
  int used = 0, row = 0;
  for (int i = 0; i < 2; i++)
    for (int r = 0; r < part[i][0]->rows; r++) {
      used = append_row(part[i][0], r, 0, out, used);
      used = append_row(part[i][1], r, a->cols, out, used);
      out->ptr[++row] = used;
    }
  return TB_OK;
}

static int find_root(int* parent, int d)
{
  while (parent[d] != d) d = parent[d] = parent[parent[d]];
  return d;
}

void tb_csr_components(const tbCsr* a, int* first)
{
  for (int d = 0; d < a->rows; d++) first[d] = d;
  for (int i = 0; i < a->rows; i++)
    for (int e = a->ptr[i]; e < a->ptr[i + 1]; e++) {
      int r = find_root(first, i), s = find_root(first, a->idx[e]);
      first[r > s ? r : s] = r > s ? s : r;
    }
  for (int d = 0; d < a->rows; d++) first[d] = find_root(first, d);
}
