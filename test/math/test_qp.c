// SPDX-License-Identifier: Apache-2.0
// Quadratic programs: small ones by the dual active set, large ones by projected gradients. The optimality
// conditions are the judge.
#include "base/memory.h"
#include "math/qp_dual.h"
#include "math/qp_projected.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 40, MAX_M = 160 };

typedef struct {
  int n, m, ptr[MAX_M + 1], col[MAX_M * 4];
  double G[MAX_N * MAX_N], g[MAX_N], val[MAX_M * 4], bound[MAX_M];
  tbQpRows rows;
} Program;

// G = BBᵀ + shift; the constraints hold at a random point, so that there is a solution.
static void make(Program* p, tbRandom* r, int n, int m, int rank, double shift)
{
  double B[MAX_N * MAX_N], inside[MAX_N];
  p->n = n, p->m = m;
  for (int i = 0; i < n * rank; i++) B[i] = test_uniform(r, -1, 1);
  for (int i = 0; i < n; i++) {
    p->g[i] = test_uniform(r, -3, 3);
    inside[i] = test_uniform(r, -1, 1);
    for (int j = 0; j < n; j++) {
      p->G[i * n + j] = i == j ? shift : 0;
      for (int k = 0; k < rank; k++) p->G[i * n + j] += B[i * rank + k] * B[j * rank + k];
    }
  }
  int used = p->ptr[0] = 0;
  for (int c = 0; c < m; c++) {
    if (c > 0 && c % 5 == 0) { // a copy of the one before: redundant
      for (int e = p->ptr[c - 1]; e < p->ptr[c]; e++, used++)
        p->col[used] = p->col[e], p->val[used] = 2 * p->val[e];
      p->bound[c] = 2 * p->bound[c - 1];
    } else {
      int first = test_below(r, n), count = 1 + test_below(r, n < 3 ? n : 3);
      double at = 0;
      for (int e = 0; e < count; e++, used++) {
        p->col[used] = (first + e) % n;
        p->val[used] = test_uniform(r, -1, 1);
        at += p->val[used] * inside[p->col[used]];
      }
      p->bound[c] = at - (c % 3 ? test_uniform(r, 0, 0.5) : 0);
    }
    p->ptr[c + 1] = used;
  }
  p->rows = (tbQpRows){m, p->ptr, p->col, p->val, p->bound};
}

// The worst of the conditions of Karush, Kuhn and Tucker.
static double violation(const Program* p, const double* x, const double* y)
{
  double worst = 0;
  for (int i = 0; i < p->n; i++) {
    double sum = p->g[i];
    for (int j = 0; j < p->n; j++) sum += p->G[i * p->n + j] * x[j];
    for (int c = 0; c < p->m; c++)
      for (int e = p->ptr[c]; e < p->ptr[c + 1]; e++)
        if (p->col[e] == i) sum -= p->val[e] * y[c];
    worst = fmax(worst, fabs(sum));
  }
  for (int c = 0; c < p->m; c++) {
    double slack = -p->bound[c];
    for (int e = p->ptr[c]; e < p->ptr[c + 1]; e++) slack += p->val[e] * x[p->col[e]];
    worst = fmax(worst, fmax(fmax(-slack, -y[c]), fabs(slack * y[c])));
  }
  return worst;
}

static void* workspace(tbQpDual* q, int n, int m)
{
  tbScratch counting = {0};
  tb_qp_dual_layout(q, &counting, n, m);
  tbScratch real = {.base = aligned_alloc(64, (counting.used + 63) / 64 * 64), .size = counting.used};
  tb_qp_dual_layout(q, &real, n, m);
  return real.base;
}

TEST(dual_active_set_meets_the_optimality_conditions)
{
  tbRandom r = test_random(11);
  tbQpDual q;
  void* memory = workspace(&q, MAX_N, MAX_M);
  static Program p;
  int solved = 0;
  for (int trial = 0; trial < 300; trial++) {
    int n = 1 + test_below(&r, 30), m = test_below(&r, 4 * n);
    double x[MAX_N], y[MAX_M];
    make(&p, &r, n, m, n, 0.01);
    REQUIRE(tb_qp_dual_factor(&q, n, p.G, n));
    solved += tb_qp_dual_solve(&q, p.g, &p.rows, x, y) == TB_QP_SOLVED;
    CHECK_NEAR(violation(&p, x, y), 0, 1e-7);
  }
  CHECK(solved == 300);
  free(memory);
}

TEST(dual_active_set_takes_nearly_singular_programs)
{
  tbRandom r = test_random(12);
  tbQpDual q;
  void* memory = workspace(&q, MAX_N, MAX_M);
  static Program p;
  for (int trial = 0; trial < 100; trial++) { // rank a third, a speck on the diagonal, bounds all around
    int n = 6 + test_below(&r, 20);
    double x[MAX_N], y[MAX_M];
    make(&p, &r, n, 0, n / 3, 1e-9);
    for (int i = 0; i < n; i++)
      for (int side = 0; side < 2; side++) {
        int c = 2 * i + side;
        p.ptr[c + 1] = c + 1, p.col[c] = i, p.val[c] = side ? -1 : 1, p.bound[c] = -1;
      }
    p.m = p.rows.count = 2 * n;
    REQUIRE(tb_qp_dual_factor(&q, n, p.G, n));
    CHECK(tb_qp_dual_solve(&q, p.g, &p.rows, x, y) == TB_QP_SOLVED);
    CHECK_NEAR(violation(&p, x, y), 0, 1e-5);
  }
  free(memory);
}

TEST(dual_active_set_says_when_constraints_contradict)
{
  tbQpDual q;
  void* memory = workspace(&q, 2, 2);
  const double G[4] = {1, 0, 0, 1}, g[2] = {0, 0}, val[2] = {1, -1}, bound[2] = {1, 0.5}; // x ≥ 1 and x ≤ −½
  const int ptr[3] = {0, 1, 2}, col[2] = {0, 0};
  double x[2], y[2];
  REQUIRE(tb_qp_dual_factor(&q, 2, G, 2));
  CHECK(tb_qp_dual_solve(&q, g, &(tbQpRows){2, ptr, col, val, bound}, x, y) == TB_QP_INFEASIBLE);
  CHECK(isfinite(x[0]) && isfinite(x[1]));
  free(memory);
}

// Bounds and discs on a chain of springs.
typedef struct {
  int n;
  bool discs;
} Chain;

static void chain_apply(void* user, const double* x, double* y)
{
  const Chain* c = user;
  for (int i = 0; i < c->n; i++) y[i] = 2 * x[i] - (i >= 2 ? x[i - 2] : 0) - (i + 2 < c->n ? x[i + 2] : 0);
}

static void chain_project(void* user, double* x)
{
  const Chain* c = user;
  for (int i = 0; i + 1 < c->n; i += 2) {
    double length = hypot(x[i], x[i + 1]);
    if (!c->discs) x[i] = fmax(x[i], 0), x[i + 1] = fmin(fmax(x[i + 1], -1), 2);
    else if (length > 1) x[i] /= length, x[i + 1] /= length;
  }
}

TEST(projected_gradients_find_the_fixed_point)
{
  enum { N = 400 };
  for (int discs = 0; discs < 2; discs++) {
    Chain chain = {N, discs};
    tbQpProjected q = {.n = N, .apply = chain_apply, .project = chain_project, .user = &chain};
    tbScratch counting = {0};
    tb_qp_projected_layout(&q, &counting, N);
    tbScratch real = {.base = aligned_alloc(64, (counting.used + 63) / 64 * 64), .size = counting.used};
    tb_qp_projected_layout(&q, &real, N);
    tbRandom r = test_random(5);
    double g[N], x[N] = {0}, y[N];
    for (int i = 0; i < N; i++) g[i] = test_uniform(&r, -0.2, 0.2);
    int used = tb_qp_projected_solve(&q, g, 1e-11, 20000, x);
    printf("[%s %d products] ", discs ? "discs" : "bounds", used);
    CHECK(used < 3000);
    chain_apply(&chain, x, y);
    for (int i = 0; i < N; i++) y[i] = x[i] - (y[i] + g[i]);
    chain_project(&chain, y);
    for (int i = 0; i < N; i++) CHECK_NEAR(y[i], x[i], 1e-8);
    free(real.base);
  }
}
