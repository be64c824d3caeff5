// SPDX-License-Identifier: Apache-2.0
// The factor in the order in which solves read it: y ← L⁻¹y and y ← L⁻ᵀy over some supernodes, four sides to
// a row of y.
//
// A supernode's columns are cut into blocks of eight at most, of about the same width. A block is stored row
// by row,
//
//   cols × cols    the inverse of its triangle, lower; zeros above
//   inner × cols   rows under it in the diagonal block of its supernode, which follow it in y
//   rows × cols    rows below, wherever in y they are
//
// and blocks one after the other: both halves are one stream of memory, forwards and backwards. A row of the
// block is a cache line or less; its entries are broadcast and multiplied with whole rows of y. No sum runs
// across lanes, and every sum runs over its terms in one order.
//
// Cost      each half reads L once. Copying it takes about as long as two solves.
#include "base/simd.h"
#include "base/unroll.h"
#include "math/cholesky_stream.h"

enum { BLOCK = 8, WIDTH = 4 };

// Expanded for every number of columns; with the sanitizers' checks in every copy that takes long.
#if defined TB_SANITIZED
#define INLINE static
#else
#define INLINE static inline __attribute__((always_inline))
#endif

// ---- its layout ----

// Blocks of a supernode: how many, and how wide the k-th is.
static int block_count(int cols) { return (cols + BLOCK - 1) / BLOCK; }
static int block_cols(int cols, int k) { return cols / block_count(cols) + (k < cols % block_count(cols)); }

static size_t round_up(size_t entries) { return (entries + BLOCK - 1) / BLOCK * BLOCK; }

size_t tb_cholesky_stream_size(int cols, int rows)
{
  size_t sum = 0;
  for (int k = 0, first = 0; first < cols; k++) {
    int wide = block_cols(cols, k);
    sum += round_up((size_t)wide * (size_t)(cols - first + rows));
    first += wide;
  }
  return sum;
}

// Lower triangle of `cols` columns from L, `lead` apart: out = its inverse, by columns of the unit matrix.
static void invert(int cols, const double* L, size_t lead, const double* inverse, double* out)
{
  for (int c = 0; c < cols; c++)
    for (int i = 0; i < cols; i++) {
      double sum = i == c;
      for (int k = c; k < i; k++) sum -= L[(size_t)k * lead + (size_t)i] * out[k * cols + c];
      out[i * cols + c] = i < c ? 0 : sum * inverse[i];
    }
}

void tb_cholesky_stream_fill(const tbCholesky* f, int s, double* out)
{
  int cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s);
  size_t lead = (size_t)f->lead[s];
  for (int k = 0, first = 0; first < cols; k++) {
    int wide = block_cols(cols, k), under = cols - first - wide + rows;
    const double* L = f->L + f->panel[s] + (size_t)first * lead + (size_t)first;
    double* to = out + (size_t)wide * (size_t)wide;
    invert(wide, L, lead, f->inverse_diagonal + f->start[s] + first, out);
    for (int i = 0; i < under; i++)
      for (int c = 0; c < wide; c++) *to++ = L[(size_t)c * lead + (size_t)(wide + i)];
    out += round_up((size_t)wide * (size_t)(wide + under));
    first += wide;
  }
}

// ---- a block ----

typedef struct {
  const double* L;
  double* x;       // rows of y of its columns
  int inner, rows; // under it
  const int* row;  // where the latter are
  double* y;
} Block;

INLINE tb4d add_product(double l, tb4d x, tb4d sum) { return tb4_add(sum, tb4_mul(tb4_set1(l), x)); }

// y −= Σ_k L_k x_k
INLINE void down_row(int cols, const double* L, const tb4d* x, double* y)
{
  tb4d sum = tb4_mul(tb4_set1(L[0]), x[0]);
  TB_UNROLL
  for (int k = 1; k < cols; k++) sum = add_product(L[k], x[k], sum);
  tb4_store(y, tb4_sub(tb4_load(y), sum));
}

INLINE void down_block(int cols, const Block* b)
{
  tb4d y[BLOCK], x[BLOCK];
  const double* L = b->L;
  TB_UNROLL
  for (int k = 0; k < cols; k++) y[k] = tb4_load(b->x + k * WIDTH);
  TB_UNROLL
  for (int k = 0; k < cols; k++, L += cols) {
    x[k] = tb4_mul(tb4_set1(L[0]), y[0]);
    TB_UNROLL
    for (int j = 1; j <= k; j++) x[k] = add_product(L[j], y[j], x[k]);
    tb4_store(b->x + k * WIDTH, x[k]);
  }
  double* under = b->x + cols * WIDTH;
  for (int i = 0; i < b->inner; i++, L += cols) down_row(cols, L, x, under + (size_t)i * WIDTH);
  for (int i = 0; i < b->rows; i++, L += cols) down_row(cols, L, x, b->y + (size_t)b->row[i] * WIDTH);
}

INLINE void up_row(int cols, const double* L, const double* y, tb4d* sum)
{
  tb4d at = tb4_load(y);
  TB_UNROLL
  for (int k = 0; k < cols; k++) sum[k] = add_product(L[k], at, sum[k]);
}

// x_k = Σ_j (L⁻¹)_jk (x_j − Σ_i L_ij y_i): rows alternate between two sums.
INLINE void up_block(int cols, const Block* b)
{
  tb4d sum[BLOCK], other[BLOCK], x[BLOCK];
  TB_UNROLL
  for (int k = 0; k < cols; k++) sum[k] = other[k] = tb4_set1(0);
  const double *L = b->L + cols * cols, *under = b->x + cols * WIDTH;
  for (int i = 0; i < b->inner; i++, L += cols) up_row(cols, L, under + (size_t)i * WIDTH, sum);
  int i = 0;
  for (; i + 1 < b->rows; i += 2, L += 2 * cols) {
    up_row(cols, L, b->y + (size_t)b->row[i] * WIDTH, sum);
    up_row(cols, L + cols, b->y + (size_t)b->row[i + 1] * WIDTH, other);
  }
  if (i < b->rows) up_row(cols, L, b->y + (size_t)b->row[i] * WIDTH, sum);
  TB_UNROLL
  for (int k = 0; k < cols; k++) sum[k] = tb4_sub(tb4_load(b->x + k * WIDTH), tb4_add(sum[k], other[k]));
  TB_UNROLL
  for (int k = 0; k < cols; k++) {
    x[k] = tb4_mul(tb4_set1(b->L[k * cols + k]), sum[k]);
    TB_UNROLL
    for (int j = k + 1; j < cols; j++) x[k] = add_product(b->L[j * cols + k], sum[j], x[k]);
    tb4_store(b->x + k * WIDTH, x[k]);
  }
}

typedef void Half(const Block* b);
#define COPY(cols)                                                 \
  static void down_##cols(const Block* b) { down_block(cols, b); } \
  static void up_##cols(const Block* b) { up_block(cols, b); }
#define COPIES COPY(1) COPY(2) COPY(3) COPY(4) COPY(5) COPY(6) COPY(7) COPY(8)
COPIES
static Half* const down_of[BLOCK] = {down_1, down_2, down_3, down_4, down_5, down_6, down_7, down_8};
static Half* const up_of[BLOCK] = {up_1, up_2, up_3, up_4, up_5, up_6, up_7, up_8};

// ---- supernodes ----

static Block first_block(const tbCholesky* f, const double* stream, const int* rows, int s, double* y)
{
  return (Block){.L = stream,
                 .x = y + (size_t)f->start[s] * WIDTH,
                 .inner = tb_cholesky_cols(f, s),
                 .rows = tb_cholesky_rows(f, s),
                 .row = rows + f->below[s],
                 .y = y};
}

void tb_cholesky_stream_down(const tbCholesky* f, const tbCholeskyStream* stream, tbCholeskyRun run,
                             double* y)
{
  for (int i = 0; i < run.count; i++) {
    int s = run.list ? run.list[i] : run.first + i, cols = tb_cholesky_cols(f, s);
    Block b = first_block(f, stream->L + stream->adr[s], run.rows, s, y);
    for (int k = 0; b.inner > 0; k++) {
      int wide = block_cols(cols, k);
      b.inner -= wide;
      down_of[wide - 1](&b);
      b.L += round_up((size_t)wide * (size_t)(wide + b.inner + b.rows));
      b.x += wide * WIDTH;
    }
  }
}

void tb_cholesky_stream_up(const tbCholesky* f, const tbCholeskyStream* stream, tbCholeskyRun run, double* y)
{
  for (int i = run.count - 1; i >= 0; i--) {
    int s = run.list ? run.list[i] : run.first + i, cols = tb_cholesky_cols(f, s);
    Block b = first_block(f, stream->L + stream->adr[s + 1], run.rows, s, y);
    b.x += (size_t)cols * WIDTH, b.inner = 0;
    for (int k = block_count(cols) - 1; k >= 0; k--) {
      int wide = block_cols(cols, k);
      b.L -= round_up((size_t)wide * (size_t)(wide + b.inner + b.rows));
      b.x -= wide * WIDTH;
      up_of[wide - 1](&b);
      b.inner += wide;
    }
  }
}
