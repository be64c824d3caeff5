// SPDX-License-Identifier: Apache-2.0
// The sparse Cholesky against dense arithmetic and against CHOLMOD.
#include "base/threads.h"
#include "math/cholesky.h"
#include "math/cholesky_inverse.h"
#include "math/sparse.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef TB_HAVE_CHOLMOD
#include <cholmod.h>
#endif

// A symmetric matrix in the making: entries (i, j) are given once and mirrored; `finish` adds to the diagonal
// what makes it dominant.
typedef struct {
  int n;
  size_t count, room;
  int *row, *col;
  double* val;
} Maker;

static void put(Maker* m, int i, int j, double v)
{
  if (m->count == m->room) {
    m->room = m->room ? 2 * m->room : 256;
    m->row = realloc(m->row, m->room * sizeof *m->row);
    m->col = realloc(m->col, m->room * sizeof *m->col);
    m->val = realloc(m->val, m->room * sizeof *m->val);
  }
  m->row[m->count] = i;
  m->col[m->count] = j;
  m->val[m->count++] = v;
}

static void couple(Maker* m, int i, int j, double v)
{
  put(m, i, j, -v);
  put(m, j, i, -v);
  put(m, i, i, fabs(v));
  put(m, j, j, fabs(v));
}

static tbCsr finish(tbContext* ctx, Maker* m, double diagonal)
{
  tbCsr A;
  for (int i = 0; i < m->n; i++) put(m, i, i, diagonal);
  CHECK_OK(ctx, tb_csr_from_triplets(ctx, m->n, m->n, m->count, m->row, m->col, m->val, &A));
  free(m->row);
  free(m->col);
  free(m->val);
  return A;
}

static tbCsr make_random(tbContext* ctx, tbRandom* r, int n, int edges)
{
  Maker m = {.n = n};
  for (int e = 0; e < edges; e++) {
    int i = test_below(r, n), j = test_below(r, n);
    if (i != j) couple(&m, i, j, test_uniform(r, -1, 1));
  }
  return finish(ctx, &m, 0.5);
}

static tbCsr make_grid(tbContext* ctx, int x, int y, int z)
{
  Maker m = {.n = x * y * z};
  for (int i = 0; i < m.n; i++) {
    if (i % x + 1 < x) couple(&m, i, i + 1, 1);
    if (i / x % y + 1 < y) couple(&m, i, i + x, 1 + 0.1 * (i % 7));
    if (i / (x * y) + 1 < z) couple(&m, i, i + x * y, 1);
  }
  return finish(ctx, &m, 0.01);
}

static tbCsr make_dense(tbContext* ctx, tbRandom* r, int n)
{
  Maker m = {.n = n};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) couple(&m, i, j, test_uniform(r, -1, 1));
  return finish(ctx, &m, 1);
}

static tbCsr make_arrow(tbContext* ctx, int n, bool backwards)
{
  Maker m = {.n = n};
  for (int i = 1; i < n; i++) couple(&m, backwards ? n - 1 : 0, backwards ? i - 1 : i, 1.0 / i);
  return finish(ctx, &m, 1);
}

static tbCsr make_blocks(tbContext* ctx, tbRandom* r, int blocks, int size)
{
  Maker m = {.n = blocks * size};
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < size; i++)
      for (int j = 0; j < i; j++) couple(&m, b * size + i, b * size + j, test_uniform(r, 0, 1));
  return finish(ctx, &m, 1);
}

// Three unknowns to a vertex of a sheet, as cloth has.
static tbCsr make_cloth(tbContext* ctx, tbRandom* r, int k)
{
  Maker m = {.n = 3 * k * k};
  static const int step[5][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}};
  for (int v = 0; v < k * k; v++)
    for (int e = 0; e < 5; e++) {
      int x = v % k + step[e][0], y = v / k + step[e][1];
      if (x >= k || y >= k) continue;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) couple(&m, 3 * v + a, 3 * (y * k + x) + b, test_uniform(r, -1, 1));
    }
  return finish(ctx, &m, 0.1);
}

// D A D with D from 1e-12 to 1e12: as positive definite as A was.
static tbCsr scale_badly(tbCsr A, tbRandom* r)
{
  double* d = malloc((size_t)A.rows * sizeof *d);
  for (int i = 0; i < A.rows; i++) d[i] = pow(10, test_uniform(r, -6, 6));
  for (int i = 0; i < A.rows; i++)
    for (int p = A.ptr[i]; p < A.ptr[i + 1]; p++) A.val[p] *= d[i] * d[A.idx[p]];
  free(d);
  return A;
}

static bool is_permutation(int n, const int* perm)
{
  bool ok = true;
  char* seen = calloc((size_t)n + 1, 1);
  for (int k = 0; k < n && ok; k++) ok = perm[k] >= 0 && perm[k] < n && !seen[perm[k]]++;
  free(seen);
  return ok;
}

// ‖A x − b‖ / (‖A‖ ‖x‖ + ‖b‖) in the largest norm, over all sides.
static double backward_error(const tbCsr* A, int nrhs, const double* x, const double* b)
{
  double worst = 0;
  for (int c = 0; c < nrhs; c++) {
    double residual = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (int i = 0; i < A->rows; i++) {
      double sum = -b[i * nrhs + c], absolute = 0;
      for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        sum += A->val[p] * x[A->idx[p] * nrhs + c];
        absolute += fabs(A->val[p]);
      }
      residual = fmax(residual, fabs(sum));
      norm_a = fmax(norm_a, absolute);
      norm_x = fmax(norm_x, fabs(x[i * nrhs + c]));
      norm_b = fmax(norm_b, fabs(b[i * nrhs + c]));
      if (!(fabs(sum) <= DBL_MAX)) return INFINITY;
    }
    double error = A->rows ? residual / (norm_a * norm_x + norm_b) : 0;
    worst = fmax(worst, error);
  }
  return worst;
}

static double* random_sides(tbRandom* r, int n, int nrhs)
{
  double* b = malloc(((size_t)n * nrhs + 1) * sizeof *b);
  for (int i = 0; i < n * nrhs; i++) b[i] = test_uniform(r, -1, 1);
  return b;
}

// Solves part by part, in place; returns how many parts there are.
static int solve_parts(tbContext* ctx, const tbCholesky* f, int nrhs, double* b)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbCholeskyParts parts;
  CHECK_OK(ctx, tb_cholesky_cut(&arena, f, &parts));
  tb_cholesky_load_parts(ctx->threads, f, &parts);
  double* scratch = malloc((tb_cholesky_parts_scratch(f, &parts) + 1) * sizeof *scratch);
  tb_cholesky_solve_parts(ctx->threads, f, &parts, nrhs, b, b, scratch);
  free(scratch);
  tb_arena_free(&arena);
  return parts.count;
}

// Analyses, factors, solves for several numbers of sides, and checks every solution.
static void check_solves(tbContext* ctx, tbCsr A, tbOrdering ordering)
{
  static const int sides[] = {1, 3, 2, 4, 5, 8, 13};
  tbRandom r = test_random(99);
  tbCholesky* f = NULL;
  tbCholeskyOptions options = {.ordering = ordering};
  CHECK_OK(ctx, tb_cholesky_analyze(ctx, A.rows, A.ptr, A.idx, &options, &f));
  REQUIRE(f);
  CHECK(is_permutation(A.rows, tb_cholesky_permutation(f)));
  CHECK_OK(ctx, tb_cholesky_factor(ctx, f, A.val));
  for (int k = 0; k < 7; k++) {
    double *b = random_sides(&r, A.rows, sides[k]), *x = random_sides(&r, A.rows, sides[k]);
    double* scratch = malloc((tb_cholesky_scratch(f, sides[k]) + 1) * sizeof *scratch);
    CHECK_OK(ctx, tb_cholesky_solve(ctx, f, sides[k], b, x, scratch));
    double error = backward_error(&A, sides[k], x, b);
    CHECK_NEAR(error, 0, 1e-13);
    if (sides[k] <= 4) {
      memcpy(x, b, (size_t)A.rows * (size_t)sides[k] * sizeof *x);
      solve_parts(ctx, f, sides[k], x);
      CHECK_NEAR(backward_error(&A, sides[k], x, b), 0, 1e-13);
    }
    free(b);
    free(x);
    free(scratch);
  }
  tb_cholesky_free(ctx, f);
}

static void check_all_orderings(tbContext* ctx, tbCsr A)
{
  for (tbOrdering o = TB_ORDERING_AUTO; o < TB_ORDERING_COUNT; o++)
    if (tb_ordering_present(o)) check_solves(ctx, A, o);
  tb_csr_free(ctx, &A);
}

LONG_TEST(cholesky_solves_matrices_of_every_shape)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(3);
  for (int n = 0; n <= 3; n++) check_all_orderings(&ctx, make_dense(&ctx, &r, n));
  check_all_orderings(&ctx, make_random(&ctx, &r, 50, 0));  // diagonal
  check_all_orderings(&ctx, make_random(&ctx, &r, 60, 25)); // many pieces
  check_all_orderings(&ctx, make_random(&ctx, &r, 200, 700));
  check_all_orderings(&ctx, make_blocks(&ctx, &r, 20, 9));
  check_all_orderings(&ctx, make_arrow(&ctx, 300, false));
  check_all_orderings(&ctx, make_arrow(&ctx, 300, true));
  check_all_orderings(&ctx, make_grid(&ctx, 300, 1, 1)); // a path
  check_all_orderings(&ctx, make_grid(&ctx, 30, 25, 1));
  check_all_orderings(&ctx, make_grid(&ctx, 9, 8, 10));
  check_all_orderings(&ctx, make_cloth(&ctx, &r, 12));
}

// Every entry of A has one in the selected inverse, and whatever has one is what a solve gives.
static void check_selected_inverse(tbContext* ctx, tbCsr A)
{
  tbCholesky* f = NULL;
  tbArena arena;
  tbSelectedInverse inverse;
  int n = A.rows;
  double *x = malloc(((size_t)n + 1) * sizeof *x), *scratch = NULL;
  tb_arena_init(&arena, ctx);
  CHECK_OK(ctx, tb_cholesky_analyze(ctx, n, A.ptr, A.idx, NULL, &f));
  REQUIRE(f);
  CHECK_OK(ctx, tb_cholesky_factor(ctx, f, A.val));
  CHECK_OK(ctx, tb_selected_inverse(ctx, &arena, f, &inverse));
  scratch = malloc((tb_cholesky_scratch(f, 1) + 1) * sizeof *scratch);
  for (int i = 0; i < n; i++) {
    double value, largest = 0, error = 0;
    for (int k = 0; k < n; k++) x[k] = k == i;
    CHECK_OK(ctx, tb_cholesky_solve(ctx, f, 1, x, x, scratch));
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(x[k]));
    for (int e = A.ptr[i]; e < A.ptr[i + 1]; e++)
      CHECK(tb_selected_inverse_at(&inverse, i, A.idx[e], &value));
    for (int k = 0; k < n; k++)
      if (tb_selected_inverse_at(&inverse, i, k, &value)) error = fmax(error, fabs(value - x[k]));
    CHECK_NEAR(error, 0, 1e-12 * largest);
  }
  free(x);
  free(scratch);
  tb_arena_free(&arena);
  tb_cholesky_free(ctx, f);
  tb_csr_free(ctx, &A);
}

TEST(selected_entries_of_the_inverse_are_those_of_solves)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(31);
  for (int n = 0; n <= 3; n++) check_selected_inverse(&ctx, make_dense(&ctx, &r, n));
  check_selected_inverse(&ctx, make_dense(&ctx, &r, 40));
  check_selected_inverse(&ctx, make_random(&ctx, &r, 60, 25));
  check_selected_inverse(&ctx, make_random(&ctx, &r, 150, 400));
  check_selected_inverse(&ctx, make_arrow(&ctx, 100, false));
  check_selected_inverse(&ctx, make_grid(&ctx, 200, 1, 1));
  check_selected_inverse(&ctx, make_grid(&ctx, 6, 5, 7));
  check_selected_inverse(&ctx, make_cloth(&ctx, &r, 8));
}

// Of a matrix that falls apart into blocks, what lies between them is known, and zero.
TEST(selected_entries_between_trees_are_zero)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(32);
  tbArena arena;
  tbSelectedInverse inverse;
  tbCholesky* f = NULL;
  tbCsr A = make_blocks(&ctx, &r, 3, 7);
  tb_arena_init(&arena, &ctx);
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, A.rows, A.ptr, A.idx, NULL, &f));
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
  CHECK_OK(&ctx, tb_selected_inverse(&ctx, &arena, f, &inverse));
  for (int i = 0; i < A.rows; i++)
    for (int k = 0; k < A.rows; k++) {
      double value = -1;
      CHECK(tb_selected_inverse_at(&inverse, i, k, &value) && (value == 0) == (i / 7 != k / 7));
    }
  tb_arena_free(&arena);
  tb_cholesky_free(&ctx, f);
  tb_csr_free(&ctx, &A);
}

TEST(cholesky_solves_small_random_matrices)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(4);
  for (int trial = 0; trial < 150; trial++) {
    int n = 1 + test_below(&r, 40);
    check_all_orderings(&ctx, make_random(&ctx, &r, n, test_below(&r, 4 * n)));
  }
}

LONG_TEST(cholesky_solves_fronts_large_enough_to_pack)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(5);
  tbCsr dense = make_dense(&ctx, &r, 331), grid = make_grid(&ctx, 16, 15, 14);
  check_solves(&ctx, dense, TB_ORDERING_NATURAL);
  check_solves(&ctx, grid, TB_ORDERING_AUTO);
  check_solves(&ctx, grid, TB_ORDERING_DEGREE);
  tb_csr_free(&ctx, &dense);
  tb_csr_free(&ctx, &grid);
}

TEST(cholesky_does_not_mind_bad_scaling)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(6);
  check_all_orderings(&ctx, scale_badly(make_random(&ctx, &r, 150, 500), &r));
  check_all_orderings(&ctx, scale_badly(make_grid(&ctx, 20, 20, 1), &r));
  check_all_orderings(&ctx, scale_badly(make_dense(&ctx, &r, 30), &r));
}

// L of the dense P A Pᵀ, row-major.
static double* dense_factor(const tbCsr* A, const int* perm)
{
  int n = A->rows, *inverse = malloc(((size_t)n + 1) * sizeof *inverse);
  double* L = calloc((size_t)n * n + 1, sizeof *L);
  for (int k = 0; k < n; k++) inverse[perm[k]] = k;
  for (int i = 0; i < n; i++)
    for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++) L[inverse[i] * n + inverse[A->idx[p]]] = A->val[p];
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      double sum = L[i * n + j];
      for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
  free(inverse);
  return L;
}

TEST(half_solves_apply_the_dense_factor)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(7);
  for (int trial = 0; trial < 20; trial++) {
    int n = 1 + test_below(&r, 60), nrhs = 1 + test_below(&r, 12);
    tbCsr A = make_random(&ctx, &r, n, 3 * n);
    tbCholesky* f = NULL;
    CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, n, A.ptr, A.idx, NULL, &f));
    CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
    const int* perm = tb_cholesky_permutation(f);
    double *L = dense_factor(&A, perm), *b = random_sides(&r, n, nrhs), *y = random_sides(&r, n, nrhs),
           *x = random_sides(&r, n, nrhs), *whole = random_sides(&r, n, nrhs),
           *scratch = malloc(tb_cholesky_scratch(f, nrhs) * sizeof *scratch);
    for (int i = 0; i < n * nrhs; i++) // mostly zero, so that some columns are skipped
      if (test_below(&r, 8)) b[i] = 0;
    CHECK_OK(&ctx, tb_cholesky_forward(&ctx, f, nrhs, b, y, scratch));
    for (int k = 0; k < n; k++)
      for (int c = 0; c < nrhs; c++) {
        double sum = 0;
        for (int j = 0; j <= k; j++) sum += L[k * n + j] * y[j * nrhs + c];
        CHECK_NEAR(sum, b[perm[k] * nrhs + c], 1e-12);
      }
    CHECK_OK(&ctx, tb_cholesky_backward(&ctx, f, nrhs, y, x, scratch));
    CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, nrhs, b, whole, scratch));
    CHECK(memcmp(x, whole, (size_t)(n * nrhs) * sizeof *x) == 0);
    CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, nrhs, b, b, scratch)); // in place
    CHECK(memcmp(b, whole, (size_t)(n * nrhs) * sizeof *x) == 0);
    free(L), free(b), free(y), free(x), free(whole), free(scratch);
    tb_cholesky_free(&ctx, f);
    tb_csr_free(&ctx, &A);
  }
}

TEST(sides_solved_together_get_the_bits_they_get_alone)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(8);
  tbCsr A = make_grid(&ctx, 9, 9, 9);
  int n = A.rows;
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, n, A.ptr, A.idx, NULL, &f));
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
  double *b = random_sides(&r, n, 11), *x = random_sides(&r, n, 11), *one = random_sides(&r, n, 1);
  double* scratch = malloc(tb_cholesky_scratch(f, 11) * sizeof *scratch);
  CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, 11, b, x, scratch));
  for (int c = 0; c < 11; c++) {
    for (int i = 0; i < n; i++) one[i] = b[i * 11 + c];
    CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, 1, one, one, scratch));
    for (int i = 0; i < n; i++) REQUIRE(memcmp(&one[i], &x[i * 11 + c], sizeof *x) == 0);
  }
  free(b), free(x), free(one), free(scratch);
  tb_cholesky_free(&ctx, f);
  tb_csr_free(&ctx, &A);
}

typedef struct {
  const tbCholesky* f;
  int n;
  double *b, *x; // one row of sides per solve
} Concurrent;

TEST(solves_between_a_few_rows_get_the_bits_of_whole_ones)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(31);
  for (int trial = 0; trial < 12; trial++) {
    tbCsr A = trial % 3 == 0 ? make_grid(&ctx, 7, 6, 5) : make_random(&ctx, &r, 150, 60 * trial);
    tbCholesky* f = NULL;
    REQUIRE(tb_cholesky_analyze(&ctx, A.rows, A.ptr, A.idx, NULL, &f) == TB_OK);
    REQUIRE(tb_cholesky_factor(&ctx, f, A.val) == TB_OK);
    int rows[20], count = 0, sides = 1 + trial;
    for (int i = trial; i < A.rows && count < 20; i += 1 + trial + i % 4) rows[count++] = i;
    size_t n = (size_t)A.rows * (size_t)sides;
    double *b = calloc(n, sizeof *b), *x = malloc(n * sizeof *x), *few = random_sides(&r, count, sides);
    double* scratch = malloc(tb_cholesky_scratch(f, sides) * sizeof *scratch);
    for (int i = 0; i < count; i++) memcpy(b + rows[i] * sides, few + i * sides, (size_t)sides * sizeof *b);
    CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, sides, b, x, scratch));
    tbArena arena;
    tb_arena_init(&arena, &ctx);
    tbCholeskyReach reach;
    CHECK_OK(&ctx, tb_cholesky_reach(&arena, f, count, rows, &reach));
    CHECK(reach.supernodes <= tb_cholesky_stats(f).supernodes);
    tb_cholesky_solve_reach(f, &reach, sides, few, few, scratch);
    for (int i = 0; i < count; i++)
      for (int c = 0; c < sides; c++) CHECK(few[i * sides + c] == x[rows[i] * sides + c]);
    tb_arena_free(&arena);
    free(b), free(x), free(few), free(scratch);
    tb_cholesky_free(&ctx, f);
    tb_csr_free(&ctx, &A);
  }
}

static void solve_one(void* user, int begin, int end, int piece)
{
  (void)piece;
  Concurrent* c = user;
  for (int k = begin; k < end; k++) {
    tbContext own = tb_default_context();
    double* scratch = malloc(tb_cholesky_scratch(c->f, 3) * sizeof *scratch);
    CHECK_OK(&own, tb_cholesky_solve(&own, c->f, 3, c->b, c->x + (size_t)k * 3 * c->n, scratch));
    free(scratch);
  }
}

TEST(solves_may_run_at_the_same_time)
{
  enum { SOLVES = 12 };
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(18);
  tbCsr A = make_grid(&ctx, 20, 20, 3);
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_threads_create(&ctx, 4, &ctx.threads));
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, A.rows, A.ptr, A.idx, NULL, &f));
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
  size_t bytes = (size_t)A.rows * 3 * sizeof(double);
  Concurrent c = {f, A.rows, random_sides(&r, A.rows, 3), malloc(SOLVES * bytes)};
  tb_parallel_for(ctx.threads, SOLVES, 1, solve_one, &c);
  for (int k = 1; k < SOLVES; k++) CHECK(memcmp(c.x, c.x + (size_t)k * 3 * A.rows, bytes) == 0);
  CHECK_NEAR(backward_error(&A, 3, c.x, c.b), 0, 1e-14);
  free(c.b), free(c.x);
  tb_cholesky_free(&ctx, f);
  tb_threads_destroy(&ctx, ctx.threads);
  tb_csr_free(&ctx, &A);
}

// Solves 3 sides after factoring with a pool of threads and hashes the answer.
static uint64_t solve_hash(const tbCsr* A, int threads, tbOrdering ordering, bool parts)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(9);
  CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, A->rows, A->ptr, A->idx,
                                     &(tbCholeskyOptions){.ordering = ordering}, &f));
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A->val));
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A->val)); // again, on used memory
  double *b = random_sides(&r, A->rows, 3), *scratch = malloc(tb_cholesky_scratch(f, 3) * sizeof *scratch);
  if (parts) CHECK((solve_parts(&ctx, f, 3, b) > 1) == (tb_cholesky_stats(f).supernodes > 1));
  else CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, 3, b, b, scratch));
  uint64_t hash = test_hash(b, (size_t)A->rows * 3 * sizeof *b);
  free(b), free(scratch);
  tb_cholesky_free(&ctx, f);
  tb_threads_destroy(&ctx, ctx.threads);
  return hash;
}

LONG_TEST(cholesky_gives_the_same_bits_for_any_number_of_threads)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(10);
  tbCsr matrices[] = {make_grid(&ctx, 13, 14, 15), make_grid(&ctx, 60, 60, 1), make_cloth(&ctx, &r, 24),
                      make_dense(&ctx, &r, 300)};
  for (int k = 0; k < 8; k++) {
    bool parts = k % 2 == 1;
    uint64_t expected = solve_hash(&matrices[k / 2], 1, TB_ORDERING_AUTO, parts);
    for (int threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1)
      CHECK(solve_hash(&matrices[k / 2], threads, TB_ORDERING_AUTO, parts) == expected);
    if (parts) tb_csr_free(&ctx, &matrices[k / 2]);
  }
}

TEST(cholesky_gives_the_same_bits_on_every_machine)
{
  if (strcmp(tb_cholesky_backend_name(), "tribo") != 0) SKIP("CHOLMOD promises no such thing");
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(11);
  tbCsr grid = make_grid(&ctx, 10, 11, 12), dense = make_dense(&ctx, &r, 230),
        cloth = make_cloth(&ctx, &r, 16);
  uint64_t hash[] = {solve_hash(&grid, 1, TB_ORDERING_DEGREE, false),
                     solve_hash(&dense, 1, TB_ORDERING_NATURAL, false),
                     solve_hash(&cloth, 1, TB_ORDERING_DEGREE, false)};
  static const uint64_t expected[] = {0x0878f60484a63aa4, 0x57b26e163ad161df, 0xf0e3a245ef985e24};
  for (int i = 0; i < 3; i++)
    if (hash[i] != expected[i])
      test_failed(__FILE__, __LINE__, "matrix %d: 0x%016llx", i, (unsigned long long)hash[i]);
  tb_csr_free(&ctx, &grid);
  tb_csr_free(&ctx, &dense);
  tb_csr_free(&ctx, &cloth);
}

TEST(cholesky_refactors_with_new_values)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(12);
  tbCsr A = make_grid(&ctx, 12, 12, 4);
  int n = A.rows;
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, n, A.ptr, A.idx, NULL, &f));
  double *b = random_sides(&r, n, 3), *x = random_sides(&r, n, 3),
         *scratch = malloc(tb_cholesky_scratch(f, 3) * sizeof *scratch);
  CHECK(tb_cholesky_solve(&ctx, f, 3, b, x, scratch) == TB_ERROR_ARGUMENT); // not factored yet
  for (int round = 0; round < 4; round++) {
    CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
    CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, 3, b, x, scratch));
    CHECK_NEAR(backward_error(&A, 3, x, b), 0, 1e-14);
    for (int i = 0; i < n; i++)
      for (int p = A.ptr[i]; p < A.ptr[i + 1]; p++) A.val[p] *= A.idx[p] == i ? 3 : 0.5;
  }
  free(b), free(x), free(scratch);
  tb_cholesky_free(&ctx, f);
  tb_csr_free(&ctx, &A);
}

static double* diagonal_entry(tbCsr* A, int i)
{
  for (int p = A->ptr[i]; p < A->ptr[i + 1]; p++)
    if (A->idx[p] == i) return &A->val[p];
  return NULL;
}

TEST(a_bad_pivot_is_named_and_the_factor_lives_on)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(13);
  tbCsr A = make_cloth(&ctx, &r, 14);
  int n = A.rows;
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_threads_create(&ctx, 3, &ctx.threads));
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, n, A.ptr, A.idx, NULL, &f));
  double *b = random_sides(&r, n, 1), *x = random_sides(&r, n, 1),
         *scratch = malloc(tb_cholesky_scratch(f, 1) * sizeof *scratch);
  const double bad[] = {-1, 0, NAN, INFINITY, -INFINITY};
  for (int trial = 0; trial < 30; trial++) {
    int row = test_below(&r, n);
    double *entry = diagonal_entry(&A, row), good = *entry;
    *entry = bad[trial % 5];
    CHECK(tb_cholesky_factor(&ctx, f, A.val) == TB_ERROR_NUMERIC);
    char expected[80];
    snprintf(expected, sizeof expected, "not positive definite: pivot at row %d", row);
    CHECK(strcmp(ctx.error.message, expected) == 0);
    CHECK(tb_cholesky_solve(&ctx, f, 1, b, x, scratch) == TB_ERROR_ARGUMENT);
    *entry = good;
  }
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
  CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, 1, b, x, scratch));
  CHECK_NEAR(backward_error(&A, 1, x, b), 0, 1e-14);
  free(b), free(x), free(scratch);
  tb_cholesky_free(&ctx, f);
  tb_threads_destroy(&ctx, ctx.threads);
  tb_csr_free(&ctx, &A);
}

TEST(bad_patterns_are_refused_by_name)
{
  tbContext ctx = tb_default_context();
  tbCholesky* f = NULL;
  CHECK(tb_cholesky_analyze(&ctx, 2, (int[]){0, 1, 4}, (int[]){0, 0, 1, 0}, NULL, &f) == TB_ERROR_INPUT &&
        !f);
  CHECK(strcmp(ctx.error.message, "row 1 has column 0 twice") == 0);
  CHECK(tb_cholesky_analyze(&ctx, 2, (int[]){0, 1, 2}, (int[]){0, 2}, NULL, &f) == TB_ERROR_INPUT && !f);
  CHECK(tb_cholesky_analyze(&ctx, 2, (int[]){0, 2, 1}, (int[]){0, 1}, NULL, &f) == TB_ERROR_INPUT && !f);
  CHECK(tb_cholesky_analyze(&ctx, 2, (int[]){1, 1, 1}, (int[]){0, 1}, NULL, &f) == TB_ERROR_INPUT && !f);
  CHECK(tb_cholesky_analyze(&ctx, -1, (int[]){0}, NULL, NULL, &f) == TB_ERROR_ARGUMENT && !f);
  CHECK(tb_cholesky_analyze(&ctx, 1, (int[]){0, 1}, (int[]){0},
                            &(tbCholeskyOptions){.ordering = TB_ORDERING_COUNT}, &f) == TB_ERROR_ARGUMENT &&
        !f);
  // A missing diagonal is a matrix, but not a positive definite one.
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, 2, (int[]){0, 1, 1}, (int[]){0}, NULL, &f));
  CHECK(tb_cholesky_factor(&ctx, f, (double[]){1}) == TB_ERROR_NUMERIC);
  CHECK(strcmp(ctx.error.message, "not positive definite: pivot at row 1") == 0);
  tb_cholesky_free(&ctx, f);
}

TEST(the_lower_triangle_alone_will_do)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(14);
  tbCsr A = make_random(&ctx, &r, 80, 250);
  Maker m = {.n = 80};
  for (int i = 0; i < 80; i++)
    for (int p = A.ptr[i]; p < A.ptr[i + 1]; p++)
      if (A.idx[p] <= i) put(&m, i, A.idx[p], A.val[p]);
  tbCsr lower = finish(&ctx, &m, 0);
  CHECK(solve_hash(&A, 1, TB_ORDERING_AUTO, false) == solve_hash(&lower, 1, TB_ORDERING_AUTO, false));
  tb_csr_free(&ctx, &A);
  tb_csr_free(&ctx, &lower);
}

static tbStatus whole_life(tbContext* ctx, const tbCsr* A, tbOrdering ordering)
{
  tbCholesky* f = NULL;
  tbStatus status =
      tb_cholesky_analyze(ctx, A->rows, A->ptr, A->idx, &(tbCholeskyOptions){.ordering = ordering}, &f);
  if (status == TB_OK) {
    long before = ((tbFailingAllocator*)ctx->allocator.user)->total;
    double *b = malloc((size_t)A->rows * sizeof *b),
           *scratch = malloc(tb_cholesky_scratch(f, 1) * sizeof *scratch);
    for (int i = 0; i < A->rows; i++) b[i] = 1;
    CHECK_OK(ctx, tb_cholesky_factor(ctx, f, A->val));
    CHECK_OK(ctx, tb_cholesky_solve(ctx, f, 1, b, b, scratch));
    CHECK(((tbFailingAllocator*)ctx->allocator.user)->total == before); // only the analysis allocates
    free(b), free(scratch);
  }
  tb_cholesky_free(ctx, f);
  return status;
}

TEST(cholesky_survives_every_failed_allocation)
{
  tbContext plain = tb_default_context();
  tbCsr A = make_grid(&plain, 14, 14, 2);
  for (tbOrdering o = TB_ORDERING_AUTO; o < TB_ORDERING_COUNT; o++) {
    if (!tb_ordering_present(o)) continue;
    for (long k = 0;; k++) {
      tbFailingAllocator state = {.countdown = k};
      tbContext ctx = test_failing_context(&state);
      tbStatus status = whole_life(&ctx, &A, o);
      CHECK(state.alive == 0);
      if (status == TB_OK) break;
      REQUIRE(status == TB_ERROR_MEMORY && k < 1000);
    }
  }
  tb_csr_free(&plain, &A);
}

TEST(orderings_are_permutations_and_repeat_themselves)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(15);
  for (int trial = 0; trial < 60; trial++) {
    int n = 1 + test_below(&r, 300), perm[2][300];
    tbCsr A = make_random(&ctx, &r, n, test_below(&r, 5 * n));
    for (tbOrdering o = TB_ORDERING_AUTO; o < TB_ORDERING_COUNT; o++) {
      if (!tb_ordering_present(o)) {
        CHECK(tb_order(&ctx, n, A.ptr, A.idx, o, perm[0]) == TB_ERROR_UNSUPPORTED);
        continue;
      }
      for (int k = 0; k < 2; k++) CHECK_OK(&ctx, tb_order(&ctx, n, A.ptr, A.idx, o, perm[k]));
      CHECK(is_permutation(n, perm[0]));
      CHECK(memcmp(perm[0], perm[1], (size_t)n * sizeof(int)) == 0);
    }
    tb_csr_free(&ctx, &A);
  }
}

static int64_t fill(const tbCsr* A, tbOrdering ordering)
{
  tbContext ctx = tb_default_context();
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, A->rows, A->ptr, A->idx,
                                     &(tbCholeskyOptions){.ordering = ordering}, &f));
  int64_t entries = tb_cholesky_stats(f).entries;
  tb_cholesky_free(&ctx, f);
  return entries;
}

TEST(the_built_in_ordering_fills_about_as_little_as_amd)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(16);
  tbCsr matrices[] = {make_grid(&ctx, 50, 50, 1), make_grid(&ctx, 12, 12, 12), make_cloth(&ctx, &r, 20),
                      make_arrow(&ctx, 2000, false), make_random(&ctx, &r, 600, 1500)};
  for (int k = 0; k < 5; k++) {
    double natural = (double)fill(&matrices[k], TB_ORDERING_NATURAL),
           ours = (double)fill(&matrices[k], TB_ORDERING_DEGREE);
    CHECK(ours < 0.75 * natural);
    if (tb_ordering_present(TB_ORDERING_AMD))
      CHECK(ours < 1.15 * (double)fill(&matrices[k], TB_ORDERING_AMD));
    tb_csr_free(&ctx, &matrices[k]);
  }
}

#ifdef TB_HAVE_CHOLMOD
// The solution of A x = b by CHOLMOD, its own way.
static double* oracle(const tbCsr* A, double* b)
{
  cholmod_common common;
  cholmod_start(&common);
  size_t n = (size_t)A->rows;
  cholmod_sparse sparse = {.nrow = n,
                           .ncol = n,
                           .nzmax = (size_t)A->ptr[n],
                           .p = A->ptr,
                           .i = A->idx,
                           .x = A->val,
                           .stype = 1,
                           .itype = CHOLMOD_INT,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE,
                           .sorted = 1,
                           .packed = 1};
  cholmod_dense rhs = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = b, .xtype = CHOLMOD_REAL};
  cholmod_factor* L = cholmod_analyze(&sparse, &common);
  cholmod_factorize(&sparse, L, &common);
  cholmod_dense* x = cholmod_solve(CHOLMOD_A, L, &rhs, &common);
  double* copy = malloc(n * sizeof *copy);
  memcpy(copy, x->x, n * sizeof *copy);
  cholmod_free_dense(&x, &common);
  cholmod_free_factor(&L, &common);
  cholmod_finish(&common);
  return copy;
}

TEST(cholesky_agrees_with_cholmod)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(17);
  tbCsr matrices[] = {make_grid(&ctx, 40, 40, 1), make_grid(&ctx, 10, 12, 9), make_cloth(&ctx, &r, 18),
                      make_random(&ctx, &r, 900, 2500), make_dense(&ctx, &r, 120)};
  for (int k = 0; k < 5; k++) {
    tbCsr A = matrices[k];
    int n = A.rows;
    tbCholesky* f = NULL;
    CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, n, A.ptr, A.idx, NULL, &f));
    CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
    double *b = random_sides(&r, n, 1), *x = random_sides(&r, n, 1), *expected = oracle(&A, b), largest = 0;
    double* scratch = malloc(tb_cholesky_scratch(f, 1) * sizeof *scratch);
    CHECK_OK(&ctx, tb_cholesky_solve(&ctx, f, 1, b, x, scratch));
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < n; i++) CHECK_NEAR(x[i], expected[i], 1e-11 * largest);
    free(b), free(x), free(expected), free(scratch);
    tb_cholesky_free(&ctx, f);
    tb_csr_free(&ctx, &matrices[k]);
  }
}
#endif
