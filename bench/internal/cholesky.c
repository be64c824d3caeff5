// SPDX-License-Identifier: Apache-2.0
// Tribo's sparse Cholesky beside CHOLMOD's supernodal one: one thread each, the same permutation, in turns.
//
//   build-bench/bench_cholesky [name…]      the cases whose names contain an argument, or all
//
// CHOLMOD is only as fast as its BLAS, so the BLAS is named. Its threads are counted to make sure it has one.
#include "bench.h"
#include "tribo/tools/memory.h"
#include "math/cholesky.h"
#include "math/sparse.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TB_HAVE_CHOLMOD
#include <cholmod.h>
#endif

static void stop(const char* what)
{
  fprintf(stderr, "bench_cholesky: %s\n", what);
  exit(1);
}

static void check(tbContext* ctx, tbStatus status)
{
  if (status != TB_OK) stop(ctx->error.message);
}

// A growing list of entries.
typedef struct {
  size_t count, room;
  int *row, *col;
  double* val;
} Triplets;

static void push(Triplets* t, int i, int j, double v)
{
  if (t->count == t->room) {
    t->room = t->room ? 2 * t->room : 1024;
    t->row = realloc(t->row, t->room * sizeof *t->row);
    t->col = realloc(t->col, t->room * sizeof *t->col);
    t->val = realloc(t->val, t->room * sizeof *t->val);
    if (!t->row || !t->col || !t->val) stop("out of memory");
  }
  t->row[t->count] = i;
  t->col[t->count] = j;
  t->val[t->count++] = v;
}

// Stiffness of a spring between i and j in every pair of `dofs` directions, along d.
static void spring(Triplets* t, int dofs, int i, int j, const double d[3], double k)
{
  for (int a = 0; a < dofs; a++)
    for (int b = 0; b < dofs; b++) {
      double v = dofs == 1 ? k : k * (d[a] * d[b] + 0.1 * (a == b));
      push(t, i * dofs + a, i * dofs + b, v);
      push(t, j * dofs + a, j * dofs + b, v);
      push(t, i * dofs + a, j * dofs + b, -v);
      push(t, j * dofs + a, i * dofs + b, -v);
    }
}

static tbCsr finish(tbContext* ctx, Triplets* t, int n)
{
  tbCsr A;
  for (int i = 0; i < n; i++) push(t, i, i, 1);
  check(ctx, tb_csr_from_triplets(ctx, n, n, t->count, t->row, t->col, t->val, &A));
  free(t->row);
  free(t->col);
  free(t->val);
  return A;
}

// I + Laplacian of a k × k × k grid, seven points.
static tbCsr grid3(tbContext* ctx, int k, int dofs)
{
  (void)dofs;
  Triplets t = {0};
  const double d[3] = {1, 0, 0};
  for (int z = 0; z < k; z++)
    for (int y = 0; y < k; y++)
      for (int x = 0; x < k; x++) {
        int i = (z * k + y) * k + x;
        if (x + 1 < k) spring(&t, 1, i, i + 1, d, 1);
        if (y + 1 < k) spring(&t, 1, i, i + k, d, 1);
        if (z + 1 < k) spring(&t, 1, i, i + k * k, d, 1);
      }
  return finish(ctx, &t, k * k * k);
}

// M + h²K of a k × k sheet: edges and diagonals stretch and shear, every second vertex bends.
static tbCsr cloth(tbContext* ctx, int k, int dofs)
{
  static const int step[6][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}, {2, 0}, {0, 2}};
  Triplets t = {0};
  for (int y = 0; y < k; y++)
    for (int x = 0; x < k; x++)
      for (int e = 0; e < 6; e++) {
        int u = x + step[e][0], v = y + step[e][1];
        if (u < 0 || u >= k || v >= k) continue;
        double length = hypot(step[e][0], step[e][1]);
        double d[3] = {step[e][0] / length, step[e][1] / length, 0};
        spring(&t, dofs, y * k + x, v * k + u, d, e < 4 ? 100 / length : 1);
      }
  return finish(ctx, &t, k * k * dofs);
}

typedef struct {
  tbContext* ctx;
  tbCsr A;
  tbCholesky* ours;
  double *b, *x, *scratch; // n × 3
#ifdef TB_HAVE_CHOLMOD
  cholmod_common common;
  cholmod_sparse sparse;
  cholmod_factor* theirs;
  cholmod_dense *rhs[2], *solution, *work_y, *work_e; // 1 and 3 sides
#endif
} Case;

static void our_factor(void* user)
{
  Case* c = user;
  check(c->ctx, tb_cholesky_factor(c->ctx, c->ours, c->A.val));
}

static void our_solve_3(void* user)
{
  Case* c = user;
  check(c->ctx, tb_cholesky_solve(c->ctx, c->ours, 3, c->b, c->x, c->scratch));
}

static void our_solve_1(void* user)
{
  Case* c = user;
  check(c->ctx, tb_cholesky_solve(c->ctx, c->ours, 1, c->b, c->x, c->scratch));
}

#ifdef TB_HAVE_CHOLMOD
static void their_factor(void* user)
{
  Case* c = user;
  if (!cholmod_factorize(&c->sparse, c->theirs, &c->common) || c->common.status != CHOLMOD_OK)
    stop("CHOLMOD failed to factor");
}

static void their_solve(Case* c, int which)
{
  if (!cholmod_solve2(CHOLMOD_A, c->theirs, c->rhs[which], NULL, &c->solution, NULL, &c->work_y, &c->work_e,
                      &c->common))
    stop("CHOLMOD failed to solve");
}
static void their_solve_1(void* user) { their_solve(user, 0); }
static void their_solve_3(void* user) { their_solve(user, 1); }

static void open_cholmod(Case* c)
{
  cholmod_common* m = &c->common;
  cholmod_start(m);
  m->supernodal = CHOLMOD_SUPERNODAL;
  m->nmethods = 1;
  m->method[0].ordering = CHOLMOD_GIVEN;
  m->postorder = 1;
  m->print = 0;
  int n = c->A.rows;
  // A full symmetric CSR matrix is its own CSC; CHOLMOD reads the upper triangle.
  c->sparse = (cholmod_sparse){.nrow = (size_t)n,
                               .ncol = (size_t)n,
                               .nzmax = (size_t)c->A.ptr[n],
                               .p = c->A.ptr,
                               .i = c->A.idx,
                               .x = c->A.val,
                               .stype = 1,
                               .itype = CHOLMOD_INT,
                               .xtype = CHOLMOD_REAL,
                               .dtype = CHOLMOD_DOUBLE,
                               .sorted = 1,
                               .packed = 1};
  c->theirs = cholmod_analyze_p(&c->sparse, (int*)tb_cholesky_permutation(c->ours), NULL, 0, m);
  if (!c->theirs || !c->theirs->is_super) stop("CHOLMOD failed to analyse");
  for (int which = 0; which < 2; which++) {
    size_t sides = which ? 3 : 1;
    c->rhs[which] = cholmod_allocate_dense((size_t)n, sides, (size_t)n, CHOLMOD_REAL, m);
    double* to = c->rhs[which]->x;
    for (size_t s = 0; s < sides; s++)
      for (int i = 0; i < n; i++) to[s * (size_t)n + (size_t)i] = c->b[(size_t)i * sides + s];
  }
}

static void close_cholmod(Case* c)
{
  cholmod_common* m = &c->common;
  cholmod_free_factor(&c->theirs, m);
  cholmod_free_dense(&c->rhs[0], m);
  cholmod_free_dense(&c->rhs[1], m);
  cholmod_free_dense(&c->solution, m);
  cholmod_free_dense(&c->work_y, m);
  cholmod_free_dense(&c->work_e, m);
  cholmod_finish(m);
}
#endif

// Largest difference of the two solutions over the largest entry.
static double disagreement(const Case* c)
{
  double worst = 0, largest = 0;
#ifdef TB_HAVE_CHOLMOD
  const double* theirs = c->solution->x;
  for (int i = 0; i < c->A.rows; i++)
    for (int s = 0; s < 3; s++) {
      double mine = c->x[3 * (size_t)i + s];
      worst = fmax(worst, fabs(mine - theirs[(size_t)s * c->A.rows + i]));
      largest = fmax(largest, fabs(mine));
    }
#endif
  return largest > 0 ? worst / largest : 0;
}

// What a case leaves for the next, larger one of its kind to be compared with.
typedef struct {
  double rows, factor, solve;
} Result;

static Result run_case(tbContext* ctx, const char* name, tbCsr A, tbOrdering ordering)
{
  Case c = {.ctx = ctx, .A = A};
  tbCholeskyOptions options = {.ordering = ordering};
  double begin = bench_now();
  check(ctx, tb_cholesky_analyze(ctx, A.rows, A.ptr, A.idx, &options, &c.ours));
  double analysis = bench_now() - begin;
  size_t sides = 3 * (size_t)A.rows;
  c.b = TB_NEW(ctx, double, sides);
  c.x = TB_NEW(ctx, double, sides);
  c.scratch = TB_NEW(ctx, double, tb_cholesky_scratch(c.ours, 3));
  for (size_t i = 0; i < sides; i++) c.b[i] = sin((double)i);

  BenchEntry factor[2] = {{our_factor, &c, 0}}, solve_3[2] = {{our_solve_3, &c, 0}},
             solve_1[2] = {{our_solve_1, &c, 0}};
#ifdef TB_HAVE_CHOLMOD
  open_cholmod(&c);
  factor[1] = (BenchEntry){their_factor, &c, 0};
  solve_3[1] = (BenchEntry){their_solve_3, &c, 0};
  solve_1[1] = (BenchEntry){their_solve_1, &c, 0};
#endif
  tbCholeskyStats stats = tb_cholesky_stats(c.ours);
  printf("%s, %s: n %d, nnz(L) %.2f M, %.1f Mflop, %d supernodes, %.1f MB, analysis %.0f ms\n", name,
         tb_ordering_name(ordering), A.rows, 1e-6 * (double)stats.entries, 1e-6 * stats.flops,
         stats.supernodes, 1e-6 * (double)stats.bytes, 1e3 * analysis);
  bench_race(factor, 2, 4, 1.0);
  bench_race(solve_1, 2, 4, 0.4);
  bench_race(solve_3, 2, 4, 0.4);
  bench_print_pair("factor", &factor[0], &factor[1]);
  bench_print_pair("solve, 1 side", &solve_1[0], &solve_1[1]);
  bench_print_pair("solve, 3 sides", &solve_3[0], &solve_3[1]);
  printf("  %.1f Gflop/s; solutions differ by %.1e\n", 1e-9 * stats.flops / factor[0].best, disagreement(&c));
  Result result = {A.rows, factor[0].best, solve_3[0].best};
#ifdef TB_HAVE_CHOLMOD
  close_cholmod(&c);
#endif
  tb_free(ctx, c.b);
  tb_free(ctx, c.x);
  tb_free(ctx, c.scratch);
  tb_cholesky_free(ctx, c.ours);
  tb_csr_free(ctx, &c.A);
  return result;
}

static void print_growth(const Result* small, const Result* large)
{
  double n = log(large->rows / small->rows);
  printf("  from n = %.0f on, factor grows as n^%.2f, solve as n^%.2f\n", small->rows,
         log(large->factor / small->factor) / n, log(large->solve / small->solve) / n);
}

static int thread_count(void)
{
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  for (struct dirent* e; (e = readdir(tasks));) count += e->d_name[0] != '.';
  closedir(tasks);
  return count;
}

// BLAS reads its number of threads when it is loaded: start again with it set. An OpenBLAS older than the
// processor takes it for the oldest it knows, so it is told which kernels to use.
static void insist_on_one_thread(char** argv)
{
  const char* set = getenv("OPENBLAS_NUM_THREADS");
  if (set && strcmp(set, "1") == 0 && getenv("OMP_THREAD_LIMIT")) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OMP_THREAD_LIMIT", "1", 1);
  if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  else if (__builtin_cpu_supports("avx2")) setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  execv("/proc/self/exe", argv);
  stop("cannot restart with one BLAS thread");
}

static void print_rival(void)
{
#ifdef TB_HAVE_CHOLMOD
  Dl_info info;
  void* gemm = dlsym(RTLD_DEFAULT, "dgemm_");
  if (!gemm || !dladdr(gemm, &info)) stop("no BLAS behind CHOLMOD");
  char* (*config)(void) = (char* (*)(void))dlsym(RTLD_DEFAULT, "openblas_get_config");
  int (*threads)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
  printf("CHOLMOD %d.%d.%d, BLAS %s (%s, %d thread), %d thread in the process\n", CHOLMOD_MAIN_VERSION,
         CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION, info.dli_fname, config ? config() : "not OpenBLAS",
         threads ? threads() : 0, thread_count());
#else
  printf("built without CHOLMOD: Tribo alone\n");
#endif
  printf("%-24s %13s %13s\n", "", tb_cholesky_backend_name(), "CHOLMOD");
}

static const struct {
  const char* name;
  tbCsr (*make)(tbContext*, int, int);
  int size, dofs;
} cases[] = {
    {"grid-16", grid3, 16, 1},    {"grid-25", grid3, 25, 1},      {"grid-40", grid3, 40, 1},
    {"cloth-2k", cloth, 45, 1},   {"cloth-6k", cloth, 78, 1},     {"cloth-50k", cloth, 224, 1},
    {"cloth-6k×3", cloth, 78, 3}, {"cloth-50k×3", cloth, 224, 3},
};

int main(int argc, char** argv)
{
  insist_on_one_thread(argv);
  tbContext ctx = tb_default_context();
  print_rival();
  Result previous = {0};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bool wanted = argc == 1;
    for (int a = 1; a < argc; a++) wanted |= strstr(cases[k].name, argv[a]) != NULL;
    if (!wanted) continue;
    bool related = k > 0 && cases[k].make == cases[k - 1].make && cases[k].dofs == cases[k - 1].dofs;
    Result result =
        run_case(&ctx, cases[k].name, cases[k].make(&ctx, cases[k].size, cases[k].dofs), TB_ORDERING_AUTO);
    if (related && previous.rows > 0) print_growth(&previous, &result);
    previous = result;
  }
  if (thread_count() > 1) printf("more than one thread ran: the comparison is not fair\n");
  return 0;
}
