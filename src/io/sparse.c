#include "io/sparse.h"

#include <limits.h>
#include <string.h>

static tbStatus allocate(tbArena* arena, int rows, int cols, size_t count, tbCsr* out)
{
  if (count > INT_MAX)
    return tb_fail(arena->ctx, TB_ERROR_UNSUPPORTED, "a matrix of more than %d entries", INT_MAX);
  *out = (tbCsr){rows, cols, TB_TAKE(arena, int, (size_t)rows + 1), TB_TAKE(arena, int, count),
                 TB_TAKE(arena, double, count)};
  return out->ptr && out->col && out->val ? TB_OK : TB_ERROR_MEMORY;
}

// order[k] ← the entries `from` (null: 0, 1, …) stably sorted by key. start: (keys+1), left holding row
// starts.
static void counting_sort(int count, const int* key, int keys, const int* from, int* start, int* order)
{
  memset(start, 0, ((size_t)keys + 1) * sizeof *start);
  for (int e = 0; e < count; e++) start[key[e] + 1]++;
  for (int k = 0; k < keys; k++) start[k + 1] += start[k];
  for (int k = 0; k < count; k++) {
    int e = from ? from[k] : k;
    order[start[key[e]]++] = e;
  }
  for (int k = keys; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}

tbStatus tb_csr_from_entries(tbArena* arena, int rows, int cols, int count, const int* row, const int* col,
                             const double* val, tbCsr* out)
{
  TB_TRY(allocate(arena, rows, cols, (size_t)count, out));
  int most = rows > cols ? rows : cols;
  int *start = TB_TAKE(arena, int, (size_t)most + 1), *by_col = TB_TAKE(arena, int, (size_t)count),
      *order = TB_TAKE(arena, int, (size_t)count);
  if (!start || !by_col || !order) return TB_ERROR_MEMORY;
  counting_sort(count, col, cols, NULL, start, by_col);
  counting_sort(count, row, rows, by_col, start, order);

  int used = 0;
  for (int i = 0; i < rows; i++) {
    for (int k = start[i]; k < start[i + 1]; k++) {
      int e = order[k];
      if (used > out->ptr[i] && out->col[used - 1] == col[e])
        out->val[used - 1] += val[e];
      else
        out->col[used] = col[e], out->val[used++] = val[e];
    }
    out->ptr[i + 1] = used;
  }
  return TB_OK;
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
        if (pass == 1) out->col[count] = j, out->val[count] = value;
        count++;
      }
      if (pass == 1) out->ptr[i + 1] = (int)count;
    }
  }
  return TB_OK;
}

tbStatus tb_csr_transpose(tbArena* arena, const tbCsr* a, tbCsr* out)
{
  TB_TRY(allocate(arena, a->cols, a->rows, (size_t)a->ptr[a->rows], out));
  for (int e = 0; e < a->ptr[a->rows]; e++) out->ptr[a->col[e] + 1]++;
  for (int j = 0; j < a->cols; j++) out->ptr[j + 1] += out->ptr[j];
  for (int i = 0; i < a->rows; i++)
    for (int e = a->ptr[i]; e < a->ptr[i + 1]; e++) {
      int at = out->ptr[a->col[e]]++;
      out->col[at] = i;
      out->val[at] = a->val[e];
    }
  for (int j = a->cols; j > 0; j--) out->ptr[j] = out->ptr[j - 1];
  out->ptr[0] = 0;
  return TB_OK;
}

tbStatus tb_csr_complete_triangle(tbArena* arena, tbCsr* a)
{
  size_t below = 0, above = 0, count = (size_t)a->ptr[a->rows];
  for (int i = 0; i < a->rows; i++)
    for (int e = a->ptr[i]; e < a->ptr[i + 1]; e++) below += a->col[e]<i, above += a->col[e]> i;
  size_t missing = below + above;
  if (missing == 0 || (below && above)) return TB_OK;
  if (count + missing > INT_MAX)
    return tb_fail(arena->ctx, TB_ERROR_UNSUPPORTED, "a matrix of more than %d entries", INT_MAX);
  int *row = TB_TAKE(arena, int, count + missing), *col = TB_TAKE(arena, int, count + missing), used = 0;
  double* val = TB_TAKE(arena, double, count + missing);
  if (!row || !col || !val) return TB_ERROR_MEMORY;
  for (int i = 0; i < a->rows; i++)
    for (int e = a->ptr[i]; e < a->ptr[i + 1]; e++) {
      row[used] = i, col[used] = a->col[e], val[used++] = a->val[e];
      if (a->col[e] != i) row[used] = a->col[e], col[used] = i, val[used++] = a->val[e];
    }
  return tb_csr_from_entries(arena, a->rows, a->cols, used, row, col, val, a);
}

static int append_row(const tbCsr* a, int row, int first_col, tbCsr* out, int used)
{
  for (int e = a->ptr[row]; e < a->ptr[row + 1]; e++, used++) {
    out->col[used] = first_col + a->col[e];
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
