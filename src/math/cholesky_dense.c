// SPDX-License-Identifier: Apache-2.0
// Dense factorisation of a front's panel, and its update matrix.
//
// One operation does nearly all the work, a rank-k update of a lower trapezoid,
//
//   C_ij −= Σ_k A_ik A_jk      0 ≤ j < cols,  j ≤ i < rows      (or C_ij = −Σ…),
//
// computed in tiles of TILE_ROWS × TILE_COLS that live in registers (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008). Both factors are rows of the same A. A small A is used
// where it lies; a large one is first copied, PACK_DEPTH columns at a time, into strips of TILE_ROWS rows in
// which a tile walks through consecutive memory; strips are taken in blocks that stay in the second cache.
//
// The panel is factored by halves: left half, update of the right half, right half (Gustavson 1997). Below
// BASE columns, scalar code factors the triangle and the rows under it are solved for in registers.
#include "math/cholesky_dense.h"
#include "base/simd.h"
#include "base/stop.h"
#include "base/threads.h"
#include "base/unroll.h"

#include <math.h>
#include <string.h>

enum {
  TILE_VECTORS = 3,
  TILE_ROWS = TILE_VECTORS * TB_WIDE,
  TILE_COLS = TB_WIDE == 8   ? 8
              : TB_WIDE == 4 ? 4
                             : 3, // as many as leave the tile in registers
  BASE = 8,
  PACK_DEPTH = 256,
  PACK_ROWS = 160,   // A is packed from this many rows …
  PACK_COLS = 24,    // … for a trapezoid of this many columns …
  PACK_TERMS = 16,   // … and this many terms
  BLOCK_STRIPS = 10, // strips that are kept in cache together: 10 · 24 rows · 256 · 8 bytes = 480 KiB
  PARALLEL = 2 * 1000 * 1000, // multiply-adds worth waking other threads for
};

_Static_assert(TILE_ROWS % TILE_COLS == 0, "a block of columns is broadcast from one strip");

#define INLINE static inline __attribute__((always_inline))

// One tile: C −= A Bᵀ with `vectors` vectors of rows, the last of them `last` rows long, and `cols` columns;
// C is taken for 0 when `fresh`. vectors and cols are constants where this is expanded.
INLINE void tile(int vectors, int cols, int k, const double* a, size_t lda, const double* b, size_t ldb,
                 double* c, size_t ldc, int last, bool fresh)
{
  tbwd sum[TILE_COLS][TILE_VECTORS];
  TB_UNROLL
  for (int j = 0; j < cols; j++) {
    TB_UNROLL
    for (int v = 0; v < vectors; v++) sum[j][v] = tbw_set1(0);
  }
  for (; k > 0; k--, a += lda, b += ldb) {
    tbwd x[TILE_VECTORS];
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) x[v] = tbw_load(a + v * TB_WIDE);
    x[vectors - 1] = tbw_load_part(a + (vectors - 1) * TB_WIDE, last);
    TB_UNROLL
    for (int j = 0; j < cols; j++) {
      tbwd y = tbw_set1(b[j]);
      TB_UNROLL
      for (int v = 0; v < vectors; v++) sum[j][v] = tbw_add(sum[j][v], tbw_mul(x[v], y));
    }
  }
  tbwd zero = tbw_set1(0);
  TB_UNROLL
  for (int j = 0; j < cols; j++, c += ldc) {
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++)
      tbw_store(c + v * TB_WIDE, tbw_sub(fresh ? zero : tbw_load(c + v * TB_WIDE), sum[j][v]));
    double* end = c + (vectors - 1) * TB_WIDE;
    tbw_store_part(end, tbw_sub(fresh ? zero : tbw_load_part(end, last), sum[j][vectors - 1]), last);
  }
}

typedef void TileFn(int k, const double* a, size_t lda, const double* b, size_t ldb, double* c, size_t ldc,
                    int last, bool fresh);
#define TILE(v, n)                                                                                       \
  static void tile_##v##_##n(int k, const double* a, size_t lda, const double* b, size_t ldb, double* c, \
                             size_t ldc, int last, bool fresh)                                           \
  {                                                                                                      \
    tile(v, n, k, a, lda, b, ldb, c, ldc, last, fresh);                                                  \
  }
#if TB_WIDE == 8
#define TILES(v) TILE(v, 1) TILE(v, 2) TILE(v, 3) TILE(v, 4) TILE(v, 5) TILE(v, 6) TILE(v, 7) TILE(v, 8)
#define TILE_ROW(v)                                                                                   \
  {                                                                                                   \
    tile_##v##_1, tile_##v##_2, tile_##v##_3, tile_##v##_4, tile_##v##_5, tile_##v##_6, tile_##v##_7, \
        tile_##v##_8                                                                                  \
  }
#elif TB_WIDE == 4
#define TILES(v) TILE(v, 1) TILE(v, 2) TILE(v, 3) TILE(v, 4)
#define TILE_ROW(v)                                        \
  {                                                        \
    tile_##v##_1, tile_##v##_2, tile_##v##_3, tile_##v##_4 \
  }
#else
#define TILES(v) TILE(v, 1) TILE(v, 2) TILE(v, 3)
#define TILE_ROW(v)                          \
  {                                          \
    tile_##v##_1, tile_##v##_2, tile_##v##_3 \
  }
#endif
TILES(1)
TILES(2)
TILES(3) static TileFn* const tiles[TILE_VECTORS][TILE_COLS] = {TILE_ROW(1), TILE_ROW(2), TILE_ROW(3)};

static int at_most(int x, int limit) { return x < limit ? x : limit; }

// A tile of `rows` × `cols`, both at most the tile's size.
static void run_tile(int rows, int cols, int k, const double* a, size_t lda, const double* b, size_t ldb,
                     double* c, size_t ldc, bool fresh)
{
  int vectors = (rows + TB_WIDE - 1) / TB_WIDE;
  tiles[vectors - 1][cols - 1](k, a, lda, b, ldb, c, ldc, rows - (vectors - 1) * TB_WIDE, fresh);
}

typedef struct {
  int rows, cols, k;
  const double* A;
  size_t lda;
  double* C;
  size_t ldc;
  bool fresh;     // C starts at 0
  double* strips; // packed A
  tbInterrupt interrupt;
} Trapezoid;

static void update_in_place(const Trapezoid* t)
{
  for (int j = 0; j < t->cols; j += TILE_COLS)
    for (int i = j; i < t->rows; i += TILE_ROWS)
      run_tile(at_most(t->rows - i, TILE_ROWS), at_most(t->cols - j, TILE_COLS), t->k, t->A + i, t->lda,
               t->A + j, t->lda, t->C + i + (size_t)j * t->ldc, t->ldc, t->fresh);
}

static void pack_strips(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Trapezoid* t = user;
  for (int s = begin; s < end; s++) {
    double* to = t->strips + (size_t)s * TILE_ROWS * t->k;
    const double* from = t->A + (size_t)s * TILE_ROWS;
    int rows = at_most(t->rows - s * TILE_ROWS, TILE_ROWS);
    for (int k = 0; k < t->k; k++, to += TILE_ROWS, from += t->lda)
      if (rows == TILE_ROWS)
        for (int v = 0; v < TILE_ROWS; v += TB_WIDE) tbw_store(to + v, tbw_load(from + v));
      else memcpy(to, from, (size_t)rows * sizeof *to);
  }
}

// The strips begin … end−1 of the result. A block of columns is broadcast from the strip it lies in.
static void update_strips(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Trapezoid* t = user;
  size_t strip = (size_t)TILE_ROWS * t->k;
  int last_col = at_most(t->cols, end * TILE_ROWS);
  for (int j = 0; j < last_col; j += TILE_COLS) {
    const double* b = t->strips + j / TILE_ROWS * strip + j % TILE_ROWS;
    for (int s = j / TILE_ROWS > begin ? j / TILE_ROWS : begin; s < end; s++)
      run_tile(at_most(t->rows - s * TILE_ROWS, TILE_ROWS), at_most(t->cols - j, TILE_COLS), t->k,
               t->strips + s * strip, TILE_ROWS, b, TILE_ROWS, t->C + s * TILE_ROWS + (size_t)j * t->ldc,
               t->ldc, t->fresh);
  }
}

static void update_packed(tbThreads* threads, Trapezoid t)
{
  int strips = (t.rows + TILE_ROWS - 1) / TILE_ROWS, depth = t.k;
  const double* A = t.A;
  for (int k = 0; k < depth; k += PACK_DEPTH) {
    t.k = at_most(depth - k, PACK_DEPTH);
    t.A = A + (size_t)k * t.lda;
    if (tb_asked(t.interrupt)) return;
    tbThreads* help = (double)t.rows * t.cols * t.k > PARALLEL ? threads : NULL;
    tb_parallel_for(help, strips, BLOCK_STRIPS, pack_strips, &t);
    tb_parallel_for(help, strips, BLOCK_STRIPS, update_strips, &t);
    t.fresh = false;
  }
}

static bool worth_packing(int rows, int cols, int k)
{
  return rows >= PACK_ROWS && cols >= PACK_COLS && k >= PACK_TERMS;
}

static void update_trapezoid(tbThreads* threads, const Trapezoid* t)
{
  if (worth_packing(t->rows, t->cols, t->k)) update_packed(threads, *t);
  else update_in_place(t);
}

size_t tb_dense_pack_size(int front, int cols)
{
  if (!worth_packing(front, front, cols)) return 0;
  size_t rows = ((size_t)front + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
  return rows * (size_t)at_most(cols, PACK_DEPTH);
}

// Factors a triangle of at most BASE columns. Returns the bad column or −1.
INLINE int factor_triangle(int cols, double* a, size_t lead, double* inverse_diagonal)
{
  for (int k = 0; k < cols; k++) {
    double* column = a + k * lead;
    double pivot = column[k];
    if (!(pivot > 0 && pivot < INFINITY)) return k;
    double root = sqrt(pivot), inverse = 1 / root;
    column[k] = root;
    inverse_diagonal[k] = inverse;
    for (int i = k + 1; i < cols; i++) column[i] *= inverse;
    for (int j = k + 1; j < cols; j++) {
      double factor = column[j];
      for (int i = j; i < cols; i++) a[j * lead + i] -= column[i] * factor;
    }
  }
  return -1;
}

// Solves X Lᵀ = C in place for `rows` rows under a triangle L of `cols` columns, a vector of rows at a time.
INLINE void solve_rows(int cols, int rows, const double* triangle, double* c, size_t lead,
                       const double* inverse_diagonal)
{
  for (int i = 0; i < rows; i += TB_WIDE) {
    int count = at_most(rows - i, TB_WIDE);
    tbwd x[BASE];
    TB_UNROLL
    for (int j = 0; j < cols; j++) x[j] = tbw_load_part(c + i + j * lead, count);
    TB_UNROLL
    for (int k = 0; k < cols; k++) {
      x[k] = tbw_mul(x[k], tbw_set1(inverse_diagonal[k]));
      TB_UNROLL
      for (int j = k + 1; j < cols; j++)
        x[j] = tbw_sub(x[j], tbw_mul(x[k], tbw_set1(triangle[k * lead + j])));
      tbw_store_part(c + i + k * lead, x[k], count);
    }
  }
}

// The panel's columns first … first+cols−1, with cols ≤ BASE constant where this is expanded.
INLINE int factor_base(int cols, int front, int first, double* panel, size_t lead, double* inverse_diagonal)
{
  double *corner = panel + first + first * lead, *inverse = inverse_diagonal + first;
  int bad = factor_triangle(cols, corner, lead, inverse);
  if (bad >= 0) return first + bad;
  solve_rows(cols, front - first - cols, corner, corner + cols, lead, inverse);
  return -1;
}

static int factor_few(int cols, int front, int first, double* panel, size_t lead, double* inverse)
{
  switch (cols) {
  case 1: return factor_base(1, front, first, panel, lead, inverse);
  case 2: return factor_base(2, front, first, panel, lead, inverse);
  case 3: return factor_base(3, front, first, panel, lead, inverse);
  case 4: return factor_base(4, front, first, panel, lead, inverse);
  case 5: return factor_base(5, front, first, panel, lead, inverse);
  case 6: return factor_base(6, front, first, panel, lead, inverse);
  case 7: return factor_base(7, front, first, panel, lead, inverse);
  default: return factor_base(BASE, front, first, panel, lead, inverse);
  }
}

static int factor_columns(tbThreads* threads, tbInterrupt interrupt, int front, int first, int cols,
                          double* panel, size_t lead, double* inverse, double* pack)
{
  if (cols <= BASE) return factor_few(cols, front, first, panel, lead, inverse);
  int half = (cols / 2 + BASE - 1) / BASE * BASE, next = first + half;
  int bad = factor_columns(threads, interrupt, front, first, half, panel, lead, inverse, pack);
  if (bad >= 0) return bad;
  Trapezoid right = {.rows = front - next,
                     .cols = cols - half,
                     .k = half,
                     .A = panel + next + first * lead,
                     .lda = lead,
                     .C = panel + next + next * lead,
                     .ldc = lead,
                     .strips = pack,
                     .interrupt = interrupt};
  update_trapezoid(threads, &right);
  return factor_columns(threads, interrupt, front, next, cols - half, panel, lead, inverse, pack);
}

int tb_dense_factor(tbThreads* threads, tbInterrupt interrupt, int front, int cols, double* panel, int lead,
                    double* inverse_diagonal, double* pack)
{
  return factor_columns(threads, interrupt, front, 0, cols, panel, (size_t)lead, inverse_diagonal, pack);
}

void tb_dense_schur(tbThreads* threads, tbInterrupt interrupt, int front, int cols, const double* panel,
                    int lead, double* U, double* pack)
{
  int rows = front - cols;
  Trapezoid t = {.rows = rows,
                 .cols = rows,
                 .k = cols,
                 .A = panel + cols,
                 .lda = (size_t)lead,
                 .C = U,
                 .ldc = (size_t)rows,
                 .fresh = true,
                 .strips = pack,
                 .interrupt = interrupt};
  update_trapezoid(threads, &t);
}
