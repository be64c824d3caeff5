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
#include "base/unroll.h"
#include "math/cholesky_factor.h"

enum {
  BLOCK = 8,
  ROWS = TB_WIDE >= 4 ? 8 : 4, // as many as leave their sums in registers
  MAX_WIDTH = 8,
};

// Expanded for every size with constants in place of arguments; with the sanitizers' checks in every copy
// that takes the compiler half a minute.
#if defined TB_SANITIZED
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

// Product and sum round apart: L streams from memory more slowly than they are computed, and wasm and older
// machines have no fused instruction.
INLINE Row add_product(int groups, double l, Row x, Row sum)
{
  tb4d factor = tb4_set1(l);
  for (int g = 0; g < groups; g++) sum.part[g] = tb4_add(sum.part[g], tb4_mul(factor, x.part[g]));
  return sum;
}

INLINE Row subtract_product(int groups, double l, Row x, Row from)
{
  tb4d factor = tb4_set1(l);
  for (int g = 0; g < groups; g++) from.part[g] = tb4_sub(from.part[g], tb4_mul(factor, x.part[g]));
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
  TB_UNROLL
  for (int r = 0; r < count; r++)
    sum[r] = first ? zero(groups) : load(groups, b->sums + (size_t)(i + r) * width);
  TB_UNROLL
  for (int k = 0; k < cols; k++) {
    TB_UNROLL
    for (int r = 0; r < count; r++) sum[r] = add_product(groups, L[k * b->lead + r], x[k], sum[r]);
  }
  TB_UNROLL
  for (int r = 0; r < count; r++) {
    double* to = last ? b->y + (size_t)b->row[i + r] * width : b->sums + (size_t)(i + r) * width;
    store(groups, to, last ? subtract(groups, load(groups, to), sum[r]) : sum[r]);
  }
}

INLINE void forward_block(int groups, int cols, const Block* b, bool first, bool last)
{
  int width = 4 * groups;
  Row x[BLOCK];
  TB_UNROLL
  for (int k = 0; k < cols; k++) x[k] = load(groups, b->x + k * width);
  TB_UNROLL
  for (int k = 0; k < cols; k++) {
    x[k] = scale(groups, b->inverse[k], x[k]);
    store(groups, b->x + k * width, x[k]);
    TB_UNROLL
    for (int j = k + 1; j < cols; j++) x[j] = subtract_product(groups, b->L[k * b->lead + j], x[k], x[j]);
  }
  for (int i = 0; i < b->inner; i++) {
    double* to = b->x + (size_t)(cols + i) * width;
    Row sum = zero(groups);
    TB_UNROLL
    for (int k = 0; k < cols; k++) sum = add_product(groups, b->L[k * b->lead + cols + i], x[k], sum);
    store(groups, to, subtract(groups, load(groups, to), sum));
  }
  const double* L = b->L + cols + b->inner;
  int i = 0;
  for (; i + ROWS <= b->rows; i += ROWS) forward_rows(groups, cols, ROWS, b, L + i, x, i, first, last);
  for (; i < b->rows; i++) forward_rows(groups, cols, 1, b, L + i, x, i, first, last);
}

// x_k −= Σ_i L_ik y_i over the rows below the block, which alternate between two sums; then the triangle.
INLINE void backward_block(int groups, int cols, const Block* b)
{
  int width = 4 * groups;
  Row sum[BLOCK], other[BLOCK], x[BLOCK];
  TB_UNROLL
  for (int k = 0; k < cols; k++) sum[k] = other[k] = zero(groups);
  const double* L = b->L + cols;
  for (int i = 0; i < b->inner; i++, L++) {
    Row y = load(groups, b->x + (size_t)(cols + i) * width);
    TB_UNROLL
    for (int k = 0; k < cols; k++) sum[k] = add_product(groups, L[k * b->lead], y, sum[k]);
  }
  int i = 0;
  for (; i + 1 < b->rows; i += 2, L += 2) {
    Row even = load(groups, b->y + (size_t)b->row[i] * width);
    Row odd = load(groups, b->y + (size_t)b->row[i + 1] * width);
    TB_UNROLL
    for (int k = 0; k < cols; k++) {
      sum[k] = add_product(groups, L[k * b->lead], even, sum[k]);
      other[k] = add_product(groups, L[k * b->lead + 1], odd, other[k]);
    }
  }
  if (i < b->rows) {
    Row even = load(groups, b->y + (size_t)b->row[i] * width);
    TB_UNROLL
    for (int k = 0; k < cols; k++) sum[k] = add_product(groups, L[k * b->lead], even, sum[k]);
  }
  TB_UNROLL
  for (int k = 0; k < cols; k++)
    x[k] = subtract(groups, load(groups, b->x + k * width), add(groups, sum[k], other[k]));
  TB_UNROLL
  for (int k = cols - 1; k >= 0; k--) {
    TB_UNROLL
    for (int j = k + 1; j < cols; j++) x[k] = subtract_product(groups, b->L[k * b->lead + j], x[j], x[k]);
    x[k] = scale(groups, b->inverse[k], x[k]);
    store(groups, b->x + k * width, x[k]);
  }
}

// One copy of each half for every number of columns, 1 to BLOCK, and of vectors in a row. Each is a function
// of its own: compilers, and those of browsers more than others, give up on one that holds them all.
typedef void Forward(const Block* b, bool first, bool last);
typedef void Backward(const Block* b);

#define COPY(groups, cols)                                                     \
  static void forward_##groups##_##cols(const Block* b, bool first, bool last) \
  {                                                                            \
    forward_block(groups, cols, b, first, last);                               \
  }                                                                            \
  static void backward_##groups##_##cols(const Block* b) { backward_block(groups, cols, b); }
#define COPIES(groups) \
  COPY(groups, 1)      \
  COPY(groups, 2)      \
  COPY(groups, 3) COPY(groups, 4) COPY(groups, 5) COPY(groups, 6) COPY(groups, 7) COPY(groups, 8)
COPIES(1)
COPIES(2)
#define NAMES(half, groups)                                                                                  \
  {                                                                                                          \
    half##_##groups##_1, half##_##groups##_2, half##_##groups##_3, half##_##groups##_4, half##_##groups##_5, \
        half##_##groups##_6, half##_##groups##_7, half##_##groups##_8                                        \
  }
static Forward* const forward_of[MAX_WIDTH / 4][BLOCK] = {NAMES(forward, 1), NAMES(forward, 2)};
static Backward* const backward_of[MAX_WIDTH / 4][BLOCK] = {NAMES(backward, 1), NAMES(backward, 2)};

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

void tb_cholesky_down(const tbCholesky* f, int width, tbCholeskyRun run, double* y, double* sums, bool sparse)
{
  for (int i = 0; i < run.count; i++) {
    int s = run.list ? run.list[i] : run.first + i;
    int cols = tb_cholesky_cols(f, s);
    if (sparse && all_zero(y + (size_t)f->start[s] * width, (size_t)cols * width)) continue;
    for (int k = 0; k < cols; k += BLOCK) {
      int count = cols - k < BLOCK ? cols - k : BLOCK;
      Block b = find_block(f, run.rows, s, k, count, width, y, sums);
      forward_of[width / 4 - 1][count - 1](&b, k == 0, k + count == cols);
    }
  }
}

void tb_cholesky_up(const tbCholesky* f, int width, tbCholeskyRun run, double* y)
{
  for (int i = run.count - 1; i >= 0; i--) {
    int s = run.list ? run.list[i] : run.first + i;
    int cols = tb_cholesky_cols(f, s);
    for (int k = (cols - 1) / BLOCK * BLOCK; k >= 0; k -= BLOCK) {
      int count = cols - k < BLOCK ? cols - k : BLOCK;
      Block b = find_block(f, run.rows, s, k, count, width, y, NULL);
      backward_of[width / 4 - 1][count - 1](&b);
    }
  }
}
