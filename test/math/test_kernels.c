// SPDX-License-Identifier: Apache-2.0
// Kernels that are compiled once per vector width give the same bits at each.
#include "base/kernels.h"
#include "math/cholesky_dense.h"
#include "math/ldu.h"
#include "math/svd3.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#ifdef TB_SIMD_AUTO

double tb_dot_sse2(int n, const double* a, const double* b);
double tb_dot_avx2(int n, const double* a, const double* b);
double tb_dot_avx512(int n, const double* a, const double* b);
void tb_svd3_many_sse2(int count, const tbMat3* A, tbSvd3* out);
void tb_svd3_many_avx2(int count, const tbMat3* A, tbSvd3* out);
void tb_svd3_many_avx512(int count, const tbMat3* A, tbSvd3* out);
int tb_dense_factor_sse2(tbThreads* threads, tbInterrupt interrupt, int front, int cols, double* panel,
                         int lead, double* inverse_diagonal, double* pack);
int tb_dense_factor_avx2(tbThreads* threads, tbInterrupt interrupt, int front, int cols, double* panel,
                         int lead, double* inverse_diagonal, double* pack);
int tb_dense_factor_avx512(tbThreads* threads, tbInterrupt interrupt, int front, int cols, double* panel,
                           int lead, double* inverse_diagonal, double* pack);

enum { FRONT = 90, COLS = 61, MANY = 37 };

typedef struct {
  double dot[FRONT];
  tbSvd3 svd[MANY];
  double panel[FRONT * COLS], inverse[COLS];
} Results;

// A diagonally dominant panel, matrices and vectors from one seed: only the kernels differ.
static void fill(Results* r, double* a, double* b, tbMat3* A)
{
  tbRandom random = test_random(7);
  for (int i = 0; i < FRONT; i++) a[i] = test_uniform(&random, -1, 1), b[i] = test_uniform(&random, -1, 1);
  for (int k = 0; k < MANY; k++)
    for (int i = 0; i < 9; i++) A[k].m[i / 3][i % 3] = test_uniform(&random, -1, 1);
  for (int j = 0; j < COLS; j++)
    for (int i = 0; i < FRONT; i++) r->panel[j * FRONT + i] = i == j ? FRONT : test_uniform(&random, -1, 1);
}

#define RUN(width, r)                                                                                \
  do {                                                                                               \
    double a[FRONT], b[FRONT];                                                                       \
    tbMat3 A[MANY];                                                                                  \
    memset(r, 0, sizeof *r);                                                                         \
    fill(r, a, b, A);                                                                                \
    for (int n = 0; n < FRONT; n++) r->dot[n] = tb_dot_##width(n, a, b);                             \
    tb_svd3_many_##width(MANY, A, r->svd);                                                           \
    double* pack = calloc(tb_dense_pack_size(FRONT, COLS) + 1, sizeof *pack);                        \
    tb_dense_factor_##width(NULL, (tbInterrupt){0}, FRONT, COLS, r->panel, FRONT, r->inverse, pack); \
    free(pack);                                                                                      \
  } while (0)

// What lies above the panel's diagonal is left over, and is not compared.
static void compare(const Results* a, const Results* b)
{
  CHECK(memcmp(a->dot, b->dot, sizeof a->dot) == 0);
  CHECK(memcmp(a->svd, b->svd, sizeof a->svd) == 0);
  CHECK(memcmp(a->inverse, b->inverse, sizeof a->inverse) == 0);
  for (int j = 0; j < COLS; j++) {
    int at = j * FRONT + j;
    CHECK(memcmp(a->panel + at, b->panel + at, sizeof(double) * (size_t)(FRONT - j)) == 0);
  }
}

TEST(kernels_give_the_same_bits_at_every_width)
{
  Results *narrow = malloc(sizeof *narrow), *wide = malloc(sizeof *wide);
  RUN(sse2, narrow);
  CHECK(narrow->inverse[COLS - 1] > 0);
  if (tb_has_avx2()) {
    RUN(avx2, wide);
    compare(narrow, wide);
  }
  if (tb_has_avx512()) {
    RUN(avx512, wide);
    compare(narrow, wide);
  }
  free(narrow);
  free(wide);
}

#endif
