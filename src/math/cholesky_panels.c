// SPDX-License-Identifier: Apache-2.0
// Panels of the supernodal factor applied to right-hand sides: y ← L⁻¹y and y ← L⁻ᵀy over some supernodes.
//
// WIDTH = 4 or 8 sides stand side by side in a row of y, so that a row is one or two vectors: an entry of L
// is read once, broadcast, and multiplied with whole rows; rows are gathered and scattered as vectors, and no
// sum runs across lanes. Panels are read in blocks of BLOCK columns from top to bottom, each column a stream
// of consecutive memory.
//
// Every sum runs over its terms in the same order for every number of sides, so that solving many at once
// changes no bits.
//
// Cost      each half reads L once per WIDTH sides; a large L is bound by memory.
#include "base/simd.h"
#include "math/cholesky_factor.h"

enum { BLOCK = 8, ROWS = 8, MAX_WIDTH = 8 };

// Expanded for every size with constants in place of arguments. With the sanitizers' checks in every copy, or
// where a fused multiply-add takes twenty instructions, that takes the compiler half a minute, and the copies
// are no faster.
#if defined TB_SANITIZED || !(defined TB_SIMD_AVX2 || defined TB_SIMD_NEON)
#define INLINE static
#else
#define INLINE static inline __attribute__((always_inline))
#endif

// Rows of the solution: `groups` vectors of four each, a constant where this is expanded.
typedef struct {
  tb4d part[MAX_WIDTH / 4];
} Row;

INLINE Row load(int groups, const double* y)
{
  Row r = {0};
  for (int g = 0; g < groups; g++) r.part[g] = tb4_load(y + 4 * g);
  return r;
}

INLINE void store(int groups, double* y, Row r)
{
  for (int g = 0; g < groups; g++) tb4_store(y + 4 * g, r.part[g]);
}

INLINE Row zero(int groups)
{
  Row r = {0};
  for (int g = 0; g < groups; g++) r.part[g] = tb4_set1(0);
  return r;
}

INLINE Row add_product(int groups, double l, Row x, Row sum)
{
  tb4d factor = tb4_set1(l);
  for (int g = 0; g < groups; g++) sum.part[g] = tb4_fma(factor, x.part[g], sum.part[g]);
  return sum;
}

INLINE Row subtract_product(int groups, double l, Row x, Row from)
{
  tb4d factor = tb4_set1(l);
  for (int g = 0; g < groups; g++) from.part[g] = tb4_fnma(factor, x.part[g], from.part[g]);
  return from;
}

INLINE Row add(int groups, Row a, Row b)
{
  for (int g = 0; g < groups; g++) a.part[g] = tb4_add(a.part[g], b.part[g]);
  return a;
}

INLINE Row subtract(int groups, Row a, Row b)
{
  for (int g = 0; g < groups; g++) a.part[g] = tb4_sub(a.part[g], b.part[g]);
  return a;
}

INLINE Row scale(int groups, double factor, Row a)
{
  for (int g = 0; g < groups; g++) a.part[g] = tb4_mul(tb4_set1(factor), a.part[g]);
  return a;
}

// What a block of columns of one panel is read with.
typedef struct {
  const double *L, *inverse; // the block's first pivot; 1/L_kk from there
  size_t lead;
  double* x;       // rows of the block's columns
  int inner, rows; // rows below the block in the diagonal block, and below that
  const int* row;  // where the latter are
  double *y, *sums;
} Block;

// y_row −= Σ_k L_k x_k for `count` rows (ROWS or 1) from row i; sums carries on from earlier blocks.
INLINE void forward_rows(int groups, int cols, int count, const Block* b, const double* L, const Row* x,
                         int i, bool first, bool last)
{
  int width = 4 * groups;
  Row sum[ROWS];
#pragma GCC unroll 8
  for (int r = 0; r < count; r++)
    sum[r] = first ? zero(groups) : load(groups, b->sums + (size_t)(i + r) * width);
#pragma GCC unroll 8
  for (int k = 0; k < cols; k++)
#pragma GCC unroll 8
    for (int r = 0; r < count; r++) sum[r] = add_product(groups, L[k * b->lead + r], x[k], sum[r]);
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    double* to = last ? b->y + (size_t)b->row[i + r] * width : b->sums + (size_t)(i + r) * width;
    store(groups, to, last ? subtract(groups, load(groups, to), sum[r]) : sum[r]);
  }
}

// gcc cannot see that only the first `cols` rows of x are used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
INLINE void forward_block(int groups, int cols, const Block* b, bool first, bool last)
{
  int width = 4 * groups;
  Row x[BLOCK];
#pragma GCC unroll 8
  for (int k = 0; k < cols; k++) x[k] = load(groups, b->x + k * width);
#pragma GCC unroll 8
  for (int k = 0; k < cols; k++) {
    x[k] = scale(groups, b->inverse[k], x[k]);
    store(groups, b->x + k * width, x[k]);
#pragma GCC unroll 8
    for (int j = k + 1; j < cols; j++) x[j] = subtract_product(groups, b->L[k * b->lead + j], x[k], x[j]);
  }
  for (int i = 0; i < b->inner; i++) {
    double* to = b->x + (size_t)(cols + i) * width;
    Row sum = zero(groups);
#pragma GCC unroll 8
    for (int k = 0; k < cols; k++) sum = add_product(groups, b->L[k * b->lead + cols + i], x[k], sum);
    store(groups, to, subtract(groups, load(groups, to), sum));
  }
  const double* L = b->L + cols + b->inner;
  int i = 0;
  for (; i + ROWS <= b->rows; i += ROWS) forward_rows(groups, cols, ROWS, b, L + i, x, i, first, last);
  for (; i < b->rows; i++) forward_rows(groups, cols, 1, b, L + i, x, i, first, last);
}

#pragma GCC diagnostic pop

// x_k −= Σ_i L_ik y_i over the rows below the block, which alternate between two sums; then the triangle.
INLINE void backward_block(int groups, int cols, const Block* b)
{
  int width = 4 * groups;
  Row sum[BLOCK], other[BLOCK], x[BLOCK];
#pragma GCC unroll 8
  for (int k = 0; k < cols; k++) sum[k] = other[k] = zero(groups);
  const double* L = b->L + cols;
  for (int i = 0; i < b->inner; i++, L++) {
    Row y = load(groups, b->x + (size_t)(cols + i) * width);
#pragma GCC unroll 8
    for (int k = 0; k < cols; k++) sum[k] = add_product(groups, L[k * b->lead], y, sum[k]);
  }
  int i = 0;
  for (; i + 1 < b->rows; i += 2, L += 2) {
    Row even = load(groups, b->y + (size_t)b->row[i] * width);
    Row odd = load(groups, b->y + (size_t)b->row[i + 1] * width);
#pragma GCC unroll 8
    for (int k = 0; k < cols; k++) {
      sum[k] = add_product(groups, L[k * b->lead], even, sum[k]);
      other[k] = add_product(groups, L[k * b->lead + 1], odd, other[k]);
    }
  }
  if (i < b->rows) {
    Row even = load(groups, b->y + (size_t)b->row[i] * width);
#pragma GCC unroll 8
    for (int k = 0; k < cols; k++) sum[k] = add_product(groups, L[k * b->lead], even, sum[k]);
  }
#pragma GCC unroll 8
  for (int k = 0; k < cols; k++)
    x[k] = subtract(groups, load(groups, b->x + k * width), add(groups, sum[k], other[k]));
#pragma GCC unroll 8
  for (int k = cols - 1; k >= 0; k--) {
#pragma GCC unroll 8
    for (int j = k + 1; j < cols; j++) x[k] = subtract_product(groups, b->L[k * b->lead + j], x[j], x[k]);
    x[k] = scale(groups, b->inverse[k], x[k]);
    store(groups, b->x + k * width, x[k]);
  }
}

// Expands `call` with the number of columns, 1 to BLOCK, a constant.
#define WITH_COLS(cols, call) \
  switch (cols) {             \
  case 1: {                   \
    enum { COLS = 1 };        \
    call;                     \
  } break;                    \
  case 2: {                   \
    enum { COLS = 2 };        \
    call;                     \
  } break;                    \
  case 3: {                   \
    enum { COLS = 3 };        \
    call;                     \
  } break;                    \
  case 4: {                   \
    enum { COLS = 4 };        \
    call;                     \
  } break;                    \
  case 5: {                   \
    enum { COLS = 5 };        \
    call;                     \
  } break;                    \
  case 6: {                   \
    enum { COLS = 6 };        \
    call;                     \
  } break;                    \
  case 7: {                   \
    enum { COLS = 7 };        \
    call;                     \
  } break;                    \
  default: {                  \
    enum { COLS = BLOCK };    \
    call;                     \
  }                           \
  }

static Block find_block(const tbCholesky* f, const int* rows, int s, int first, int cols, int width,
                        double* y, double* sums)
{
  int column = f->start[s] + first;
  size_t lead = (size_t)f->lead[s];
  return (Block){.L = f->L + f->panel[s] + first * lead + first,
                 .inverse = f->inverse_diagonal + column,
                 .lead = lead,
                 .x = y + (size_t)column * width,
                 .inner = tb_cholesky_cols(f, s) - first - cols,
                 .rows = tb_cholesky_rows(f, s),
                 .row = rows + f->below[s],
                 .y = y,
                 .sums = sums};
}

static bool all_zero(const double* x, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (x[i] != 0) return false;
  return true;
}

INLINE void forward(int groups, const tbCholesky* f, tbCholeskyRun run, double* y, double* sums, bool sparse)
{
  for (int i = 0; i < run.count; i++) {
    int s = run.list ? run.list[i] : run.first + i;
    int cols = tb_cholesky_cols(f, s), width = 4 * groups;
    if (sparse && all_zero(y + (size_t)f->start[s] * width, (size_t)cols * width)) continue;
    for (int k = 0; k < cols; k += BLOCK) {
      int count = cols - k < BLOCK ? cols - k : BLOCK;
      Block b = find_block(f, run.rows, s, k, count, width, y, sums);
      if (cols <= BLOCK) {
        WITH_COLS(count, forward_block(groups, COLS, &b, true, true));
      } else if (count == BLOCK) {
        forward_block(groups, BLOCK, &b, k == 0, k + BLOCK == cols);
      } else {
        WITH_COLS(count, forward_block(groups, COLS, &b, false, true));
      }
    }
  }
}

INLINE void backward(int groups, const tbCholesky* f, tbCholeskyRun run, double* y)
{
  for (int i = run.count - 1; i >= 0; i--) {
    int s = run.list ? run.list[i] : run.first + i;
    int cols = tb_cholesky_cols(f, s);
    for (int k = (cols - 1) / BLOCK * BLOCK; k >= 0; k -= BLOCK) {
      int count = cols - k < BLOCK ? cols - k : BLOCK;
      Block b = find_block(f, run.rows, s, k, count, 4 * groups, y, NULL);
      WITH_COLS(count, backward_block(groups, COLS, &b));
    }
  }
}

void tb_cholesky_down(const tbCholesky* f, int width, tbCholeskyRun run, double* y, double* sums, bool sparse)
{
  if (width == 4) forward(1, f, run, y, sums, sparse);
  else forward(2, f, run, y, sums, sparse);
}

void tb_cholesky_up(const tbCholesky* f, int width, tbCholeskyRun run, double* y)
{
  if (width == 4) backward(1, f, run, y);
  else backward(2, f, run, y);
}
