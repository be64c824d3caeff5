// SPDX-License-Identifier: Apache-2.0
// The factor that grows and shrinks.
#include "math/ldu.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40 };

// B Bᵀ plus a little, and for the unsymmetric case a skew part, which leaves every principal minor positive.
static void make_matrix(tbRandom* r, bool symmetric, double A[N][N])
{
  double B[N][N], skew;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) B[i][j] = test_uniform(r, -1, 1);
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? 0.1 : 0;
      for (int k = 0; k < N; k++) sum += B[i][k] * B[j][k];
      skew = symmetric || i == j ? 0 : test_uniform(r, -3, 3);
      A[i][j] = sum + skew, A[j][i] = sum - skew;
    }
}

static bool append(tbLdu* f, double A[N][N], int* member, int i)
{
  double column[N], row[N];
  int n = f->n;
  for (int j = 0; j < n; j++) column[j] = A[member[j]][i], row[j] = A[i][member[j]];
  tb_ldu_append(f, column, row, A[i][i], 1e-12);
  member[n] = i;
  return f->n == n + 1;
}

// ‖A x − b‖ for a random b, by the factor.
static double solve_error(tbRandom* r, const tbLdu* f, double A[N][N], const int* member)
{
  double b[N], x[N], worst = 0;
  for (int i = 0; i < f->n; i++) x[i] = b[i] = test_uniform(r, -1, 1);
  tb_ldu_solve(f, x);
  for (int i = 0; i < f->n; i++) {
    double sum = -b[i];
    for (int j = 0; j < f->n; j++) sum += A[member[i]][member[j]] * x[j];
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

TEST(ldu_solves_through_400_rows_added_and_removed)
{
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    tbRandom r = test_random(5 + (uint64_t)symmetric);
    double A[N][N], worst = 0;
    int member[N] = {0};
    bool in[N] = {false};
    tbLdu f;
    tbScratch counting = {0};
    tb_ldu_layout(&f, &counting, N, symmetric);
    tbScratch real = {.base = malloc(counting.used), .size = counting.used};
    tb_ldu_layout(&f, &real, N, symmetric);
    make_matrix(&r, symmetric, A);
    for (int step = 0; step < 400; step++) {
      int i = test_below(&r, N);
      if (!in[i]) {
        CHECK(append(&f, A, member, i));
      } else {
        int at = 0;
        while (member[at] != i) at++;
        tb_ldu_remove(&f, at);
        memmove(member + at, member + at + 1, (size_t)(f.n - at) * sizeof *member);
      }
      in[i] = !in[i];
      worst = fmax(worst, solve_error(&r, &f, A, member));
    }
    CHECK_NEAR(worst, 0, 1e-9);
    free(real.base);
  }
}

TEST(ldu_refuses_a_row_that_depends_on_the_others)
{
  double A[N][N] = {{2, 1, 3}, {1, 2, 3}, {3, 3, 6}};
  int member[N] = {0};
  char room[4096 * sizeof(double)];
  tbLdu f;
  tbScratch s = {.base = room, .size = sizeof room};
  tb_ldu_layout(&f, &s, 3, true);
  CHECK(append(&f, A, member, 0) && append(&f, A, member, 1));
  CHECK(!append(&f, A, member, 2) && f.n == 2);
  double b[2] = {3, 3};
  tb_ldu_solve(&f, b);
  CHECK_NEAR(b[0], 1, 1e-15);
  CHECK_NEAR(b[1], 1, 1e-15);
}
