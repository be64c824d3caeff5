// SPDX-License-Identifier: Apache-2.0
// Compressed rows and blocks against dense loops.
#include "base/memory.h"
#include "math/sparse.h"
#include "test.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

typedef struct {
  int rows, cols, count;
  int row[MOST], col[MOST];
  double val[MOST];
} Triplets;

static Triplets random_triplets(tbRandom* r, int rows, int cols, int count)
{
  Triplets t = {.rows = rows, .cols = cols, .count = count};
  for (int k = 0; k < count; k++) {
    t.row[k] = test_below(r, rows);
    t.col[k] = test_below(r, cols);
    t.val[k] = test_uniform(r, -1, 1);
  }
  return t;
}

static tbStatus compress(tbContext* ctx, const Triplets* t, tbCsr* A)
{
  return tb_csr_from_triplets(ctx, t->rows, t->cols, (size_t)t->count, t->row, t->col, t->val, A);
}

static bool sorted_without_duplicates(const tbCsr* A)
{
  for (int i = 0; i < A->rows; i++)
    for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      if (A->idx[p] < 0 || A->idx[p] >= A->cols || (p > A->ptr[i] && A->idx[p] <= A->idx[p - 1]))
        return false;
  return A->ptr[0] == 0;
}

TEST(triplets_compress_to_sorted_rows_that_multiply_like_the_triplets)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(1);
  for (int trial = 0; trial < 200; trial++) {
    int rows = 1 + test_below(&r, 20), cols = 1 + test_below(&r, 20);
    Triplets t = random_triplets(&r, rows, cols, test_below(&r, MOST));
    tbCsr A, T;
    CHECK_OK(&ctx, compress(&ctx, &t, &A));
    CHECK_OK(&ctx, tb_csr_transpose(&ctx, &A, &T));
    REQUIRE(sorted_without_duplicates(&A) && sorted_without_duplicates(&T) && T.rows == cols &&
            T.cols == rows);
    double x[20], y[20], expected[20] = {0}, z[20], back[20] = {0};
    for (int i = 0; i < 20; i++) x[i] = test_uniform(&r, -1, 1);
    for (int k = 0; k < t.count; k++) {
      expected[t.row[k]] += t.val[k] * x[t.col[k]];
      back[t.col[k]] += t.val[k] * x[t.row[k]];
    }
    tb_csr_multiply(&A, x, y);
    for (int i = 0; i < rows; i++) CHECK_NEAR(y[i], expected[i], 1e-13);
    tb_csr_multiply_transposed(&A, x, y);
    tb_csr_multiply(&T, x, z);
    for (int i = 0; i < cols; i++) CHECK_NEAR(y[i], back[i], 1e-13);
    for (int i = 0; i < cols; i++) CHECK_NEAR(z[i], back[i], 1e-13);
    tb_csr_free(&ctx, &A);
    tb_csr_free(&ctx, &T);
  }
}

TEST(duplicates_are_added_in_the_order_given)
{
  tbContext ctx = tb_default_context();
  tbCsr A;
  CHECK_OK(&ctx, tb_csr_from_triplets(&ctx, 2, 2, 4, (int[]){1, 1, 0, 1}, (int[]){1, 1, 0, 1},
                                      (double[]){1e16, 1, 5, -1e16}, &A));
  CHECK(A.ptr[1] == 1 && A.ptr[2] == 2 && A.val[0] == 5 && A.val[1] == (1e16 + 1) - 1e16);
  tb_csr_free(&ctx, &A);
  tb_csr_free(&ctx, &A); // empty now
}

TEST(bad_triplets_are_refused_by_name)
{
  tbContext ctx = tb_default_context();
  tbCsr A;
  CHECK(tb_csr_from_triplets(&ctx, 3, 4, 2, (int[]){0, 2}, (int[]){0, 4}, (double[]){1, 1}, &A) ==
        TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "entry 1 is at (2, 4)") && A.ptr == NULL);
  CHECK(tb_csr_from_triplets(&ctx, 3, 4, 1, (int[]){-1}, (int[]){0}, (double[]){1}, &A) == TB_ERROR_INPUT);
  CHECK(tb_csr_from_triplets(&ctx, 3, 4, 1, (int[]){1}, (int[]){2}, (double[]){NAN}, &A) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "entry 0 at (1, 2)"));
  CHECK(tb_csr_from_triplets(&ctx, 1, 1, 2, (int[]){0, 0}, (int[]){0, 0}, (double[]){1e308, 1e308}, &A) ==
        TB_ERROR_INPUT);
  CHECK(tb_csr_from_triplets(&ctx, -1, 4, 0, NULL, NULL, NULL, &A) == TB_ERROR_ARGUMENT);
}

TEST(an_empty_matrix_is_a_matrix)
{
  tbContext ctx = tb_default_context();
  tbCsr A, T;
  tbBsr B;
  CHECK_OK(&ctx, tb_csr_from_triplets(&ctx, 0, 0, 0, NULL, NULL, NULL, &A));
  CHECK_OK(&ctx, tb_csr_transpose(&ctx, &A, &T));
  CHECK_OK(&ctx, tb_bsr_from_csr(&ctx, &A, 3, 3, &B));
  CHECK(T.rows == 0 && B.rows == 0 && B.ptr[0] == 0);
  tb_csr_free(&ctx, &A);
  tb_csr_free(&ctx, &T);
  tb_bsr_free(&ctx, &B);
}

TEST(blocks_multiply_like_the_rows_they_come_from)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(2);
  for (int trial = 0; trial < 200; trial++) {
    int br = 1 + test_below(&r, 6), bc = 1 + test_below(&r, 6), I = 1 + test_below(&r, 8),
        J = 1 + test_below(&r, 8);
    Triplets t = random_triplets(&r, I * br, J * bc, test_below(&r, 60));
    tbCsr A, back;
    tbBsr B;
    CHECK_OK(&ctx, compress(&ctx, &t, &A));
    CHECK_OK(&ctx, tb_bsr_from_csr(&ctx, &A, br, bc, &B));
    CHECK_OK(&ctx, tb_bsr_to_csr(&ctx, &B, &back));
    REQUIRE(sorted_without_duplicates(&back) && back.rows == A.rows && back.cols == A.cols);
    double x[48], y[48], z[48], w[48];
    for (int i = 0; i < 48; i++) x[i] = test_uniform(&r, -1, 1);
    tb_csr_multiply(&A, x, y);
    tb_bsr_multiply(&B, x, z);
    tb_csr_multiply(&back, x, w);
    for (int i = 0; i < A.rows; i++) CHECK_NEAR(z[i], y[i], 1e-14);
    for (int i = 0; i < A.rows; i++) CHECK_NEAR(w[i], y[i], 1e-14);
    tb_csr_multiply_transposed(&A, x, y);
    tb_bsr_multiply_transposed(&B, x, z);
    for (int i = 0; i < A.cols; i++) CHECK_NEAR(z[i], y[i], 1e-14);
    tb_csr_free(&ctx, &A);
    tb_csr_free(&ctx, &back);
    tb_bsr_free(&ctx, &B);
  }
}

TEST(blocks_of_a_wrong_size_are_refused)
{
  tbContext ctx = tb_default_context();
  tbCsr A;
  tbBsr B;
  CHECK_OK(&ctx, tb_csr_from_triplets(&ctx, 6, 6, 1, (int[]){0}, (int[]){5}, (double[]){1}, &A));
  CHECK(tb_bsr_from_csr(&ctx, &A, 4, 3, &B) == TB_ERROR_ARGUMENT && B.ptr == NULL);
  CHECK(tb_bsr_from_csr(&ctx, &A, 7, 3, &B) == TB_ERROR_ARGUMENT);
  CHECK(tb_bsr_from_csr(&ctx, &A, 3, 0, &B) == TB_ERROR_ARGUMENT);
  tb_csr_free(&ctx, &A);
}

static tbStatus build_all(tbContext* ctx)
{
  tbCsr A = {0}, T = {0}, back = {0};
  tbBsr B = {0};
  tbStatus status =
      tb_csr_from_triplets(ctx, 4, 4, 3, (int[]){0, 3, 0}, (int[]){0, 1, 0}, (double[]){1, 2, 3}, &A);
  if (status == TB_OK) status = tb_csr_transpose(ctx, &A, &T);
  if (status == TB_OK) status = tb_bsr_from_csr(ctx, &T, 2, 2, &B);
  if (status == TB_OK) status = tb_bsr_to_csr(ctx, &B, &back);
  tb_csr_free(ctx, &A);
  tb_csr_free(ctx, &T);
  tb_csr_free(ctx, &back);
  tb_bsr_free(ctx, &B);
  return status;
}

TEST(sparse_matrices_survive_every_failed_allocation)
{
  for (long k = 0;; k++) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbStatus status = build_all(&ctx);
    CHECK(state.alive == 0);
    if (status == TB_OK) {
      CHECK(k == 14);
      break;
    }
    REQUIRE(status == TB_ERROR_MEMORY && k < 100);
  }
}
