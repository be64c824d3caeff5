// SPDX-License-Identifier: Apache-2.0
// Dense elimination of a front, and the matrix product that does nearly all of its work.
//
// The product C −= A B is computed in tiles of TILE_ROWS × TILE_COLS that live in registers, B copied
// TILE_COLS columns and DEPTH rows at a time into a strip that stays in the first-level cache (Goto and van
// de Geijn, "Anatomy of high-performance matrix multiplication", 2008). Elimination goes by halves: left half
// of the columns, triangular solve and product for the right half, right half (Toledo 1997); so does the
// triangular solve. Halves end at BASE columns.
#include "math/lu_dense.h"
#include "base/simd.h"
#include "base/stop.h"
#include "base/threads.h"
#include "base/unroll.h"

#include <math.h>
#include <string.h>

enum {
  TILE_VECTORS = 3,
  TILE_COLS = TILE_VECTORS * TB_WIDE,
  TILE_ROWS = TB_WIDE == 8 ? 8 : 4, // as many as leave the tile in registers
  DEPTH = 128,
  BASE = 8,
  PARALLEL = 2 * 1000 * 1000, // multiply-adds worth waking other threads for
  LONG = 20 * 1000 * 1000,    // multiply-adds worth asking whether to go on: milliseconds
};

#define INLINE static inline __attribute__((always_inline))

// One tile: `rows` rows (a constant where this is expanded) by `vectors` vectors, the last of them `last`
// long.
INLINE void tile(int rows, int vectors, int k, const double* a, size_t lda, const double* b, size_t ldb,
                 double* c, size_t ldc, int last)
{
  tbwd sum[TILE_ROWS][TILE_VECTORS];
  TB_UNROLL
  for (int i = 0; i < rows; i++) {
    TB_UNROLL
    for (int v = 0; v < vectors; v++) sum[i][v] = tbw_set1(0);
  }
  for (int p = 0; p < k; p++, b += ldb) {
    tbwd y[TILE_VECTORS];
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++) y[v] = tbw_load(b + v * TB_WIDE);
    y[vectors - 1] = tbw_load_part(b + (vectors - 1) * TB_WIDE, last);
    TB_UNROLL
    for (int i = 0; i < rows; i++) {
      tbwd x = tbw_set1(a[(size_t)i * lda + (size_t)p]);
      TB_UNROLL
      for (int v = 0; v < vectors; v++) sum[i][v] = tbw_add(sum[i][v], tbw_mul(x, y[v]));
    }
  }
  TB_UNROLL
  for (int i = 0; i < rows; i++, c += ldc) {
    TB_UNROLL
    for (int v = 0; v < vectors - 1; v++)
      tbw_store(c + v * TB_WIDE, tbw_sub(tbw_load(c + v * TB_WIDE), sum[i][v]));
    double* end = c + (vectors - 1) * TB_WIDE;
    tbw_store_part(end, tbw_sub(tbw_load_part(end, last), sum[i][vectors - 1]), last);
  }
}

// `rows` rows of C, as full tiles and then row by row.
INLINE void tile_column(int vectors, int m, int k, const double* a, size_t lda, const double* b, size_t ldb,
                        double* c, size_t ldc, int last)
{
  int i = 0;
  for (; i + TILE_ROWS <= m; i += TILE_ROWS)
    tile(TILE_ROWS, vectors, k, a + (size_t)i * lda, lda, b, ldb, c + (size_t)i * ldc, ldc, last);
  for (; i + 2 <= m; i += 2)
    tile(2, vectors, k, a + (size_t)i * lda, lda, b, ldb, c + (size_t)i * ldc, ldc, last);
  if (i < m) tile(1, vectors, k, a + (size_t)i * lda, lda, b, ldb, c + (size_t)i * ldc, ldc, last);
}

typedef struct {
  int m, n, k;
  const double *A, *B;
  double* C;
  size_t lda, ldb, ldc;
  double work; // multiply-adds
  tbInterrupt interrupt;
} Product;

typedef struct {
  tbThreads* threads;
  tbInterrupt interrupt;
} Workers;

static int at_most(int x, int limit) { return x < limit ? x : limit; }

static void multiply_strips(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Product* t = user;
  double strip[DEPTH * TILE_COLS];
  if (t->work > LONG && tb_asked(t->interrupt)) return;
  for (int s = begin; s < end; s++) {
    int first = s * TILE_COLS, cols = at_most(t->n - first, TILE_COLS);
    int vectors = (cols + TB_WIDE - 1) / TB_WIDE, last = cols - (vectors - 1) * TB_WIDE;
    for (int p = 0; p < t->k; p += DEPTH) {
      int depth = at_most(t->k - p, DEPTH);
      const double *a = t->A + p, *b = t->B + (size_t)p * t->ldb + first;
      double* c = t->C + first;
      size_t ldb = t->ldb;
      if (t->m > 2 * TILE_ROWS) {
        for (int r = 0; r < depth; r++)
          memcpy(strip + r * TILE_COLS, b + (size_t)r * ldb, (size_t)cols * sizeof *strip);
        b = strip, ldb = TILE_COLS;
      }
      switch (vectors) {
      case 1: tile_column(1, t->m, depth, a, t->lda, b, ldb, c, t->ldc, last); break;
      case 2: tile_column(2, t->m, depth, a, t->lda, b, ldb, c, t->ldc, last); break;
      default: tile_column(3, t->m, depth, a, t->lda, b, ldb, c, t->ldc, last);
      }
    }
  }
}

static void multiply(const Workers* w, int m, int n, int k, const double* A, int lda, const double* B,
                     int ldb, double* C, int ldc)
{
  if (m == 0 || n == 0 || k == 0) return;
  Product t = {m, n, k, A, B, C, (size_t)lda, (size_t)ldb, (size_t)ldc, (double)m * n * k, w->interrupt};
  tbThreads* help = t.work > PARALLEL ? w->threads : NULL;
  tb_parallel_for(help, (n + TILE_COLS - 1) / TILE_COLS, 1, multiply_strips, &t);
}

void tb_dense_multiply_subtract(tbThreads* threads, int m, int n, int k, const double* A, int lda,
                                const double* B, int ldb, double* C, int ldc)
{
  multiply(&(Workers){.threads = threads}, m, n, k, A, lda, B, ldb, C, ldc);
}

// B ← L⁻¹ B with L unit lower triangular, n×n; B has `cols` columns.
static void solve_lower(const Workers* w, int n, int cols, const double* L, double* B, int lead)
{
  if (n <= BASE) {
    for (int i = 1; i < n; i++)
      multiply(&(Workers){0}, 1, cols, i, L + (size_t)i * lead, lead, B, lead, B + (size_t)i * lead, lead);
    return;
  }
  int half = n / 2;
  size_t down = (size_t)half * lead;
  solve_lower(w, half, cols, L, B, lead);
  multiply(w, n - half, cols, half, L + down, lead, B, lead, B + down, lead);
  solve_lower(w, n - half, cols, L + down + half, B + down, lead);
}

typedef struct {
  Workers workers;
  int front, pivots, lead;
  double* F;
  int* swap;
  double tiny;
  int replaced;
  bool stopped;
} Elimination;

static void exchange(int n, double* a, double* b)
{
  for (int j = 0; j < n; j++) {
    double t = a[j];
    a[j] = b[j], b[j] = t;
  }
}

// Columns first … first+cols−1, over all rows from `first` down.
static void eliminate_few(Elimination* e, int first, int cols)
{
  int end = first + cols;
  size_t lead = (size_t)e->lead;
  for (int k = first; k < end; k++) {
    double *row = e->F + k * lead, largest = 0;
    int best = k;
    for (int i = k; i < e->pivots; i++) {
      double size = fabs(e->F[i * lead + k]);
      if (size > largest) largest = size, best = i;
    }
    e->swap[k] = best;
    if (best != k) exchange(e->front, row, e->F + best * lead);
    if (!(largest >= e->tiny)) {
      row[k] = copysign(e->tiny, row[k]);
      e->replaced++;
    }
    double inverse = 1 / row[k];
    for (int i = k + 1; i < e->front; i++) {
      double *below = e->F + i * lead, factor = below[k] *= inverse;
      for (int j = k + 1; j < end; j++) below[j] -= factor * row[j];
    }
  }
}

static void eliminate(Elimination* e, int first, int cols)
{
  if (cols <= BASE) {
    eliminate_few(e, first, cols);
    return;
  }
  if ((double)cols * cols * e->front > LONG && tb_asked(e->workers.interrupt)) {
    e->stopped = true;
    return;
  }
  int half = cols / 2, next = first + half, rest = cols - half;
  size_t lead = (size_t)e->lead;
  double *corner = e->F + first * lead + first, *below = e->F + next * lead + first;
  eliminate(e, first, half);
  if (e->stopped) return;
  solve_lower(&e->workers, half, rest, corner, corner + half, e->lead);
  multiply(&e->workers, e->front - next, rest, half, below, e->lead, corner + half, e->lead, below + half,
           e->lead);
  eliminate(e, next, rest);
}

int tb_dense_eliminate(tbThreads* threads, tbInterrupt interrupt, int front, int pivots, double* F, int lead,
                       int* swap, double tiny)
{
  Elimination e = {{threads, interrupt}, front, pivots, lead, F, swap, tiny, 0, false};
  if (pivots == 0) return 0;
  int rest = front - pivots;
  double *right = F + pivots, *below = F + (size_t)pivots * (size_t)lead;
  eliminate(&e, 0, pivots);
  if (e.stopped) return -1;
  solve_lower(&e.workers, pivots, rest, F, right, lead);
  multiply(&e.workers, rest, rest, pivots, below, lead, right, lead, below + pivots, lead);
  // A product that was left out shows here: a stop that was asked for once is told again.
  bool long_one = (double)pivots * front * front > LONG;
  return long_one && tb_asked(interrupt) ? -1 : e.replaced;
}
