// SPDX-License-Identifier: Apache-2.0
// Through the factor, a few entries of x at a time stay in registers while all columns that are known are
// subtracted from them; then the triangle on the diagonal, one by one. The factor is read once for three
// right-hand sides, as its rows and columns lie. Products gather a longer piece of the result in registers,
// over all columns.
#include "math/dense_rows.h"
#include "base/simd.h"
#include "base/unroll.h"

#include <stddef.h>
#include <string.h>

enum { VECTORS = TB_WIDE >= 8 ? 1 : 2, BLOCK = VECTORS * TB_WIDE, ROWS = 3 };

#define INLINE static inline __attribute__((always_inline))

// x_i −= Σ x_k L_ik for the entries of a block, over the columns from `first` on, `step` apart; `rows` and
// `vectors` are constants where this is expanded, the last vector is `last` long.
INLINE void subtract(int n, int rows, int vectors, int last, const double* L, int first, int count, int step,
                     const double* x, double* block, int at)
{
  tbwd sum[ROWS][VECTORS];
  TB_UNROLL
  for (int r = 0; r < rows; r++) {
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) sum[r][v] = tbw_load(block + r * n + v * TB_WIDE);
    sum[r][vectors - 1] = tbw_load_part(block + r * n + (vectors - 1) * TB_WIDE, last);
  }
  for (int i = 0, k = first; i < count; i++, k += step) {
    const double* column = L + (size_t)k * (size_t)n + at;
    tbwd l[VECTORS];
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) l[v] = tbw_load(column + v * TB_WIDE);
    l[vectors - 1] = tbw_load_part(column + (vectors - 1) * TB_WIDE, last);
    TB_UNROLL
    for (int r = 0; r < rows; r++) {
      tbwd y = tbw_set1(x[r * n + k]);
      TB_UNROLL
      for (int v = 0; v < vectors; v++) sum[r][v] = tbw_sub(sum[r][v], tbw_mul(y, l[v]));
    }
  }
  TB_UNROLL
  for (int r = 0; r < rows; r++) {
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) tbw_store(block + r * n + v * TB_WIDE, sum[r][v]);
    tbw_store_part(block + r * n + (vectors - 1) * TB_WIDE, sum[r][vectors - 1], last);
  }
}

INLINE void subtract_block(int n, int rows, int size, const double* L, int first, int count, int step,
                           double* x, int at)
{
  if (size > TB_WIDE) subtract(n, rows, VECTORS, size - TB_WIDE, L, first, count, step, x, x + at, at);
  else subtract(n, rows, 1, size, L, first, count, step, x, x + at, at);
}

INLINE void solve(int n, int rows, const double* L, double* x)
{
  for (int at = 0; at < n; at += BLOCK) { // L y = x, downwards; columns of L are rows of Lᵀ
    int size = n - at < BLOCK ? n - at : BLOCK;
    subtract_block(n, rows, size, L, 0, at, 1, x, at);
    for (int k = at; k < at + size; k++) {
      const double* column = L + (size_t)k * (size_t)n;
      for (int r = 0; r < rows; r++) x[r * n + k] /= column[k];
      for (int r = 0; r < rows; r++)
        for (int i = k + 1; i < at + size; i++) x[r * n + i] -= x[r * n + k] * column[i];
    }
  }
  for (int end = n; end > 0; end -= BLOCK) { // Lᵀ x = y, upwards
    int at = end > BLOCK ? end - BLOCK : 0;
    subtract_block(n, rows, end - at, L, n - 1, n - end, -1, x, at);
    for (int k = end - 1; k >= at; k--) {
      const double* row = L + (size_t)k * (size_t)n;
      for (int r = 0; r < rows; r++) x[r * n + k] /= row[k];
      for (int r = 0; r < rows; r++)
        for (int i = at; i < k; i++) x[r * n + i] -= x[r * n + k] * row[i];
    }
  }
}

void tb_dense_solve_rows(int n, int rows, const double* L, double* x)
{
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * n) solve(n, ROWS, L, x);
  for (; rows > 0; rows--, x += n) solve(n, 1, L, x);
}

// ---- products ----

enum { LONG = 4, PIECE = LONG * TB_WIDE }; // vectors, entries

// y = S x in a piece of `vectors` vectors, the last of which is `last` long.
INLINE void gather(int n, int rows, int vectors, int last, const double* S, const double* x, double* y)
{
  tbwd sum[ROWS][LONG];
  TB_UNROLL
  for (int r = 0; r < rows; r++) {
    TB_UNROLL
    for (int v = 0; v < vectors; v++) sum[r][v] = tbw_set1(0);
  }
  for (int k = 0; k < n; k++) {
    const double* column = S + (size_t)k * (size_t)n;
    tbwd s[LONG];
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) s[v] = tbw_load(column + v * TB_WIDE);
    s[vectors - 1] = tbw_load_part(column + (vectors - 1) * TB_WIDE, last);
    TB_UNROLL
    for (int r = 0; r < rows; r++) {
      tbwd factor = tbw_set1(x[r * n + k]);
      TB_UNROLL
      for (int v = 0; v < vectors; v++) sum[r][v] = tbw_add(sum[r][v], tbw_mul(factor, s[v]));
    }
  }
  TB_UNROLL
  for (int r = 0; r < rows; r++) {
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) tbw_store(y + r * n + v * TB_WIDE, sum[r][v]);
    tbw_store_part(y + r * n + (vectors - 1) * TB_WIDE, sum[r][vectors - 1], last);
  }
}

INLINE void multiply(int n, int rows, const double* S, double* x)
{
  double y[ROWS * TB_DENSE_MOST];
  int at = 0;
  for (; at + PIECE <= n; at += PIECE) gather(n, rows, LONG, TB_WIDE, S + at, x, y + at);
  for (; at < n; at += TB_WIDE) gather(n, rows, 1, n - at < TB_WIDE ? n - at : TB_WIDE, S + at, x, y + at);
  memcpy(x, y, (size_t)(rows * n) * sizeof *x);
}

void tb_dense_multiply_rows(int n, int rows, const double* S, double* x)
{
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * n) multiply(n, ROWS, S, x);
  for (; rows > 0; rows--, x += n) multiply(n, 1, S, x);
}

void tb_dense_invert(int n, const double* L, double* inverse)
{
  memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
  for (int i = 0; i < n; i++) inverse[i * n + i] = 1;
  tb_dense_solve_rows(n, n, L, inverse);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) inverse[j * n + i] = inverse[i * n + j];
}
