// SPDX-License-Identifier: Apache-2.0
// The sparse LU against the dense one, and by what it leaves.
#include "math/dense.h"
#include "math/lu_dense.h"
#include "math/lu_sparse.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A random block matrix: a band, and some blocks anywhere; node sizes 1 to 6.
typedef struct {
  int nodes, rows, blocks;
  int row_adr[201], ptr[201], *idx;
  size_t* val_adr;
  double *val, *dense;
  uint8_t* active;
} Blocks;

static void make(Blocks* m, tbRandom* r, int nodes, int band, double scattered)
{
  *m = (Blocks){.nodes = nodes};
  for (int i = 0; i < nodes; i++) m->row_adr[i + 1] = m->row_adr[i] + 1 + test_below(r, 6);
  m->rows = m->row_adr[nodes];
  m->idx = malloc((size_t)(nodes * nodes) * sizeof *m->idx);
  m->val_adr = malloc((size_t)(nodes * nodes + 1) * sizeof *m->val_adr);
  m->val = malloc((size_t)(m->rows * m->rows) * sizeof *m->val);
  m->dense = calloc((size_t)(m->rows * m->rows), sizeof *m->dense);
  m->active = malloc((size_t)m->rows);
  size_t used = 0;
  for (int i = 0; i < nodes; i++) {
    for (int j = 0; j < nodes; j++) {
      if (abs(i - j) > band && test_uniform(r, 0, 1) > scattered) continue;
      m->idx[m->blocks] = j;
      m->val_adr[m->blocks++] = used;
      for (int a = m->row_adr[i]; a < m->row_adr[i + 1]; a++)
        for (int b = m->row_adr[j]; b < m->row_adr[j + 1]; b++) {
          double x = test_uniform(r, -1, 1) + (a == b ? 4 : 0);
          m->val[used++] = m->dense[a * m->rows + b] = x;
        }
    }
    m->ptr[i + 1] = m->blocks;
  }
  for (int i = 0; i < m->rows; i++) m->active[i] = test_below(r, 3) > 0;
}

static void drop(Blocks* m) { free(m->idx), free(m->val_adr), free(m->val), free(m->dense), free(m->active); }

// max |b − A x| over the active rows, inactive x and columns left out.
static double leftover(const Blocks* m, const uint8_t* active, const double* x, const double* b)
{
  double worst = 0;
  for (int i = 0; i < m->rows; i++) {
    if (active && !active[i]) continue;
    double sum = b[i];
    for (int j = 0; j < m->rows; j++)
      if (!active || active[j]) sum -= m->dense[i * m->rows + j] * x[j];
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

TEST(sparse_lu_solves_the_whole_and_every_part)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(4);
  double worst = 0;
  for (int round = 0; round < 60; round++) {
    Blocks m;
    make(&m, &r, test_below(&r, 60), test_below(&r, 3), round % 3 == 0 ? 0 : round % 3 == 1 ? 0.03 : 0.5);
    tbLu* lu = NULL;
    CHECK_OK(&ctx, tb_lu_analyze(&ctx, m.nodes, m.row_adr, m.ptr, m.idx, 0, &lu));
    REQUIRE(lu);
    double *b = malloc(((size_t)m.rows + 1) * sizeof *b), *x = malloc(((size_t)m.rows + 1) * sizeof *x);
    for (int part = 0; part < 3; part++) {
      const uint8_t* active = part == 1 ? m.active : NULL;
      for (int i = 0; i < m.rows; i++) b[i] = x[i] = test_uniform(&r, -1, 1);
      CHECK(tb_lu_factor(lu, NULL, m.val_adr, m.val, active, 0) == 0);
      tb_lu_solve(lu, x);
      worst = fmax(worst, leftover(&m, active, x, b));
      for (int i = 0; i < m.rows; i++) CHECK(!active || active[i] || x[i] == b[i]);
    }
    free(b), free(x);
    tb_lu_free(&ctx, lu);
    drop(&m);
  }
  printf("[leftover %.1e] ", worst);
  CHECK(worst < 1e-11);
}

TEST(a_zero_diagonal_is_pivoted_around)
{
  // [0 1; 1 0] blocks on the diagonal of a dense matrix: one supernode, partial pivoting.
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(9);
  Blocks m;
  make(&m, &r, 20, 20, 1);
  for (int e = 0, i = 0; i < m.nodes; i++)
    for (; e < m.ptr[i + 1]; e++)
      if (m.idx[e] == i)
        for (int a = 0, n = m.row_adr[i + 1] - m.row_adr[i]; a < n; a++) {
          m.val[m.val_adr[e] + (size_t)(a * n + a)] = 0;
          m.dense[(m.row_adr[i] + a) * (m.rows + 1)] = 0;
        }
  tbLu* lu = NULL;
  CHECK_OK(&ctx, tb_lu_analyze(&ctx, m.nodes, m.row_adr, m.ptr, m.idx, 0, &lu));
  REQUIRE(lu);
  CHECK(tb_lu_stats(lu).supernodes == 1);
  double b[200], x[200];
  for (int i = 0; i < m.rows; i++) b[i] = x[i] = test_uniform(&r, -1, 1);
  CHECK(tb_lu_factor(lu, NULL, m.val_adr, m.val, NULL, 0) == 0);
  tb_lu_solve(lu, x);
  CHECK(leftover(&m, NULL, x, b) < 1e-10);
  tb_lu_free(&ctx, lu);
  drop(&m);
}

TEST(a_singular_matrix_gives_finite_numbers_and_says_so)
{
  tbContext ctx = tb_default_context();
  int row_adr[] = {0, 2, 4}, ptr[] = {0, 2, 4}, idx[] = {0, 1, 0, 1};
  size_t val_adr[] = {0, 4, 8, 12};
  double val[16], x[4] = {1, 2, 3, 4};
  for (int i = 0; i < 16; i++) val[i] = 1;
  tbLu* lu = NULL;
  CHECK_OK(&ctx, tb_lu_analyze(&ctx, 2, row_adr, ptr, idx, 0, &lu));
  REQUIRE(lu);
  CHECK(tb_lu_factor(lu, NULL, val_adr, val, NULL, 0) == 3);
  tb_lu_solve(lu, x);
  for (int i = 0; i < 4; i++) CHECK(isfinite(x[i]));
  val[5] = NAN;
  CHECK(tb_lu_factor(lu, NULL, val_adr, val, NULL, 0) == -1);
  tb_lu_free(&ctx, lu);
  CHECK(tb_lu_analyze(&ctx, 2, row_adr, ptr, idx, 8, &lu) == TB_ERROR_UNSUPPORTED && !lu);
}

TEST(threads_do_not_show_in_the_lu)
{
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, tb_threads_create(&ctx, 3, &ctx.threads));
  tbRandom r = test_random(2);
  Blocks m;
  make(&m, &r, 120, 4, 0.02);
  tbLu* lu = NULL;
  CHECK_OK(&ctx, tb_lu_analyze(&ctx, m.nodes, m.row_adr, m.ptr, m.idx, 0, &lu));
  REQUIRE(lu);
  double x[2][720];
  REQUIRE(m.rows <= 720);
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < m.rows; i++) x[t][i] = 1;
    CHECK(tb_lu_factor(lu, t ? ctx.threads : NULL, m.val_adr, m.val, NULL, 0) == 0);
    tb_lu_solve(lu, x[t]);
  }
  CHECK(memcmp(x[0], x[1], (size_t)m.rows * sizeof(double)) == 0);
  tb_lu_free(&ctx, lu);
  drop(&m);
  tb_threads_destroy(&ctx, ctx.threads);
}

TEST(dense_products_agree_with_plain_loops)
{
  tbRandom r = test_random(5);
  enum { SIZE = 70 };
  static double A[SIZE * SIZE], B[SIZE * SIZE], C[SIZE * SIZE], D[SIZE * SIZE];
  for (int round = 0; round < 200; round++) {
    int m = test_below(&r, SIZE), n = test_below(&r, SIZE), k = test_below(&r, SIZE);
    for (int i = 0; i < SIZE * SIZE; i++)
      A[i] = test_uniform(&r, -1, 1), B[i] = test_uniform(&r, -1, 1), C[i] = D[i] = test_uniform(&r, -1, 1);
    tb_dense_multiply_subtract(NULL, m, n, k, A, SIZE, B, SIZE, C, SIZE);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        for (int p = 0; p < k; p++) D[i * SIZE + j] -= A[i * SIZE + p] * B[p * SIZE + j];
    for (int i = 0; i < SIZE * SIZE; i++) CHECK_NEAR(C[i], D[i], 1e-13);
  }
}

TEST(lu_analysis_survives_every_failed_allocation)
{
  tbRandom r = test_random(7);
  Blocks m;
  make(&m, &r, 30, 1, 0.05);
  for (long k = 0;; k++) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbLu* lu = NULL;
    tbStatus status = tb_lu_analyze(&ctx, m.nodes, m.row_adr, m.ptr, m.idx, 0, &lu);
    tb_lu_free(&ctx, lu);
    CHECK(state.alive == 0);
    if (status == TB_OK) break;
    CHECK(status == TB_ERROR_MEMORY && !lu);
  }
  drop(&m);
}
