// SPDX-License-Identifier: Apache-2.0
// Sparse metric blocks that belong to the caller, with a factor and without.
#include "test.h"

#include "base/threads.h"
#include "fem/body.h"
#include "problem/borrowed.h"
#include "problem/metric.h"
#include "tribo/solver.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  tbFemBody* body;
  tbCholesky* factor;
  double *A, *v;
  int n;
} Soft;

// A cube of 27 nodes, falling. Its lowest nodes are 0 … 8.
static bool make_soft(tbContext* ctx, Soft* s)
{
  tbTetMesh* mesh = NULL;
  *s = (Soft){0};
  CHECK_OK(ctx, tb_tet_box(ctx, tb_vec3(1, 1, 1), (const int[3]){2, 2, 2}, 5, &mesh));
  tbSoftDef def = tb_soft_def();
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &s->body));
  tb_tet_mesh_free(ctx, mesh);
  if (!s->body) return false;
  s->n = 3 * s->body->nnode;
  size_t n = (size_t)s->n;
  double *f = calloc(n, sizeof *f), *rhs = calloc(n, sizeof *rhs);
  tbVec3* still = calloc(n, sizeof *still);
  s->A = calloc((size_t)s->body->K.ptr[n], sizeof *s->A);
  s->v = calloc(n, sizeof *s->v);
  for (size_t i = 0; i < n; i++) s->v[i] = i % 3 == 2 ? -1 : 0.1 * (double)(i % 7);
  tb_fem_evaluate(s->body, NULL, s->body->rest, TB_TANGENT_POSITIVE, f);
  tb_fem_step(s->body, NULL, 0.01, tb_vec3(0, 0, -10), f, still, NULL, s->A, NULL, rhs);
  free(f), free(rhs), free(still);
  CHECK_OK(ctx, tb_cholesky_analyze(ctx, s->n, s->body->K.ptr, s->body->K.idx, NULL, &s->factor));
  CHECK_OK(ctx, tb_cholesky_factor(ctx, s->factor, s->A));
  return s->factor;
}

static void drop_soft(tbContext* ctx, Soft* s)
{
  tb_cholesky_free(ctx, s->factor);
  tb_fem_free(ctx, s->body);
  free(s->A), free(s->v);
}

typedef enum { COPIED, KEPT, UNFACTORED } How;

// A particle, the soft cube, another particle, and contacts of the cube with the ground and both of them.
static tbStatus make_problem(tbContext* ctx, const Soft* s, How how, int contacts, tbProblem** out)
{
  tbBuilder* b = NULL;
  double v[3] = {0.1, 0.2, -0.3}, mu = 0.5, J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, minus[9];
  const int *ptr = s->body->K.ptr, *col = s->body->K.idx;
  int dof = 0, last = 0;
  *out = NULL;
  for (int i = 0; i < 9; i++) minus[i] = -J[i];
  TB_TRY(tb_builder_create(ctx, "soft", &b));
  tb_builder_particle(b, 3, 2, v, NULL);
  if (how == COPIED) tb_builder_sparse(b, s->n, ptr, col, s->A, s->v, &dof);
  else tb_builder_borrowed(b, s->n, ptr, col, s->A, s->v, how == KEPT ? s->factor : NULL, NULL, NULL, &dof);
  tb_builder_particle(b, 3, 3, v, &last);
  for (int k = 0; k < contacts; k++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, dof + 3 * (k % 9), 3, J);
    if (k % 4 == 1) tb_builder_jacobian(b, 0, 3, minus);
    if (k % 4 == 2) tb_builder_jacobian(b, last, 3, minus);
    if (k % 4 == 3) tb_builder_jacobian(b, dof + s->n - 3, 3, minus); // the last node
  }
  return tb_builder_finish(b, out);
}

TEST(a_borrowed_block_gives_the_bits_of_a_copied_one)
{
  tbContext ctx = tb_default_context();
  Soft s;
  REQUIRE(make_soft(&ctx, &s));
  tbProblem *copied = NULL, *kept = NULL;
  CHECK_OK(&ctx, make_problem(&ctx, &s, COPIED, 12, &copied));
  CHECK_OK(&ctx, make_problem(&ctx, &s, KEPT, 12, &kept));
  REQUIRE(copied && kept);
  CHECK(kept->block[1].value == s.A && kept->block[1].factor == s.factor);
  CHECK(copied->block[1].value != s.A && copied->block[1].factor != s.factor);
  CHECK(kept->block[1].unit == 3 && copied->block[1].unit == 3);
  tbDelassus *W = NULL, *V = NULL;
  CHECK_OK(&ctx, tb_delassus_create(&ctx, copied, TB_FORM_DENSE, &W));
  CHECK_OK(&ctx, tb_delassus_create(&ctx, kept, TB_FORM_DENSE, &V));
  REQUIRE(W && V);
  CHECK(memcmp(W->dense, V->dense, (size_t)(kept->nrow * kept->nrow) * sizeof(double)) == 0);
  tb_delassus_free(&ctx, W);
  tb_delassus_free(&ctx, V);
  tb_problem_free(copied);
  tb_problem_free(kept);
  CHECK(tb_cholesky_solve(&ctx, s.factor, 0, s.v, s.v, NULL) == TB_OK); // it is still there
  drop_soft(&ctx, &s);
}

TEST(a_borrowed_block_survives_every_failed_allocation)
{
  tbContext whole = tb_default_context();
  Soft s;
  REQUIRE(make_soft(&whole, &s));
  for (long n = 0; n < 200; n++) {
    tbFailingAllocator allocator = {.countdown = n, .for_good = n % 2};
    tbContext ctx = test_failing_context(&allocator);
    tbProblem* p = NULL;
    tbStatus status = make_problem(&ctx, &s, n % 3 ? KEPT : UNFACTORED, 5, &p);
    CHECK((status == TB_OK) == (p != NULL));
    CHECK(p || status == TB_ERROR_MEMORY);
    tb_problem_free(p);
    CHECK(allocator.alive == 0);
    if (allocator.countdown > 0) break;
  }
  drop_soft(&whole, &s);
}

// All forms of W, by the factor and by conjugate gradients; with more rows than degrees of freedom, and
// fewer.
TEST(W_without_a_factor_is_the_same)
{
  tbContext ctx = tb_default_context();
  Soft s;
  REQUIRE(make_soft(&ctx, &s));
  for (int contacts = 4; contacts <= 24; contacts += 20)
    for (int form = 0; form <= TB_FORM_DENSE; form = form ? 2 * form : 1) {
      tbProblem* p[2] = {NULL};
      tbDelassus* W[2] = {NULL};
      for (int i = 0; i < 2; i++) {
        CHECK_OK(&ctx, make_problem(&ctx, &s, i ? UNFACTORED : KEPT, contacts, &p[i]));
        REQUIRE(p[i]);
        CHECK_OK(&ctx, tb_delassus_create(&ctx, p[i], (unsigned)form, &W[i]));
        REQUIRE(W[i]);
      }
      CHECK(!p[1]->block[1].factor);
      int n = p[0]->nrow;
      double size = 0;
      for (size_t i = 0; i < W[0]->diag_adr[contacts]; i++) size = fmax(size, fabs(W[0]->diag[i]));
      for (size_t i = 0; i < W[0]->diag_adr[contacts]; i++)
        CHECK_NEAR(W[1]->diag[i], W[0]->diag[i], 1e-11 * size);
      for (int i = 0; form == TB_FORM_DENSE && i < n * n; i++)
        CHECK_NEAR(W[1]->dense[i], W[0]->dense[i], 1e-11 * size);
      for (int k = 0; form && k < n; k++) {
        double x[72] = {0}, y[2][72];
        x[k] = 1;
        for (int i = 0; i < 2; i++) {
          double* room = calloc(tb_delassus_workspace(W[i]) + 1, sizeof *room);
          tb_delassus_apply(W[i], NULL, x, y[i], room);
          free(room);
        }
        for (int i = 0; i < n; i++) CHECK_NEAR(y[1][i], y[0][i], 1e-11 * size);
      }
      for (int i = 0; i < 2; i++) tb_delassus_free(&ctx, W[i]), tb_problem_free(p[i]);
    }
  drop_soft(&ctx, &s);
}

TEST(rows_in_triples_multiply_like_entries_one_by_one)
{
  tbContext ctx = tb_default_context();
  Soft s;
  tbProblem* p = NULL;
  REQUIRE(make_soft(&ctx, &s));
  CHECK_OK(&ctx, make_problem(&ctx, &s, KEPT, 1, &p));
  REQUIRE(p);
  const tbMetricBlock* b = &p->block[1];
  double *x = malloc((size_t)s.n * sizeof *x), *y = calloc((size_t)s.n, sizeof *y),
         *z = calloc((size_t)s.n, sizeof *z); // exactly as long: what reads on is seen by a sanitizer
  tbRandom random = test_random(1);
  for (int i = 0; i < s.n; i++) x[i] = test_uniform(&random, -1, 1);
  tb_metric_multiply_add(b, x, y);
  tb_metric_rows(b, 0, 30, x, z);
  tb_metric_rows(b, 30, s.n, x, z);
  for (int i = 0; i < s.n; i++) CHECK_NEAR(z[i], y[i], 1e-13 * s.A[0]);
  free(x), free(y), free(z);
  tb_problem_free(p);
  drop_soft(&ctx, &s);
}

// A string of springs between masses that differ by 1e6, of odd length: κ is some 1e7.
static tbMetricBlock chain(int n, int* ptr, int* col, double* val)
{
  int at = 0;
  for (int i = 0; i < n; i++) {
    double before = i > 0 ? 100 : 0, after = i + 1 < n ? 100 : 0;
    if (i > 0) col[at] = i - 1, val[at++] = -before;
    col[at] = i, val[at++] = before + after + (i % 2 ? 1e-3 : 1e3);
    if (i + 1 < n) col[at] = i + 1, val[at++] = -after;
    ptr[i + 1] = at;
  }
  tbMetricBlock b = {.kind = TB_METRIC_SPARSE, .size = n, .value = val, .ptr = ptr, .col = col};
  tb_metric_measure(&b);
  return b;
}

enum { CHAIN = 2000 };

TEST(conjugate_gradients_solve_what_is_ill_conditioned_tiny_or_huge)
{
  static int ptr[CHAIN + 1], col[3 * CHAIN];
  static double val[3 * CHAIN], x[CHAIN], y[CHAIN], b[CHAIN];
  tbMetricBlock block = chain(CHAIN - 1, ptr, col, val);
  CHECK(block.unit == 1);
  double* room = calloc(tb_metric_workspace(&block), sizeof *room);
  static const double scales[] = {1, 1e-300, 1e300, 4e-320};
  tbRandom random = test_random(2);
  for (int i = 0; i < block.size; i++) b[i] = test_uniform(&random, -1, 1);
  for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
    double left = 0, size = 0;
    for (int i = 0; i < block.size; i++) x[i] = scales[k] * b[i];
    memset(y, 0, sizeof y);
    tb_metric_solve(&block, NULL, x, room);
    tb_metric_multiply_add(&block, x, y);
    for (int i = 0; i < block.size; i++) {
      left += fabs(y[i] - scales[k] * b[i]) / scales[k];
      size += fabs(b[i]);
    }
    if (scales[k] > DBL_MIN) CHECK(left < 1e-11 * size);
    else CHECK(left < 0.1 * size); // as well as so few bits can say it
  }
  memset(x, 0, sizeof x);
  tb_metric_solve(&block, NULL, x, room);
  for (int i = 0; i < block.size; i++) CHECK(x[i] == 0);
  free(room);
}

TEST(conjugate_gradients_give_the_same_bits_for_any_number_of_threads)
{
  static int ptr[CHAIN + 1], col[3 * CHAIN];
  static double val[3 * CHAIN], x[3][CHAIN];
  tbMetricBlock block = chain(CHAIN, ptr, col, val);
  double* room = calloc(tb_metric_workspace(&block), sizeof *room);
  for (int k = 0; k < 3; k++) {
    tbContext ctx = tb_default_context();
    tbThreads* threads = NULL;
    if (k > 0) CHECK_OK(&ctx, tb_threads_create(&ctx, 1 + k, &threads));
    for (int i = 0; i < CHAIN; i++) x[k][i] = i % 3 - 1;
    tb_metric_solve(&block, threads, x[k], room);
    CHECK(memcmp(x[0], x[k], sizeof x[0]) == 0);
    tb_threads_destroy(&ctx, threads);
  }
  free(room);
}

// A matrix is said to be positive definite and is not: nothing is certified.
TEST(the_judge_refuses_a_metric_that_cannot_be_solved_with)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tbJudge* judge = NULL;
  int ptr[4] = {0, 2, 4, 5}, col[5] = {0, 1, 0, 1, 2};
  double A[5] = {1, 2, 2, 1, 1}, v[3] = {-1, 0, 0}, J[3] = {1, -1, 0}, lambda = 1;
  CHECK_OK(&ctx, tb_builder_create(&ctx, "indefinite", &b));
  tb_builder_borrowed(b, 3, ptr, col, A, v, NULL, NULL, NULL, NULL);
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 0, 3, J);
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  tbResidual r;
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
  tb_judge_measure(judge, &lambda, TB_MODEL_CONE, 0, &r, NULL, NULL);
  CHECK(isinf(r.fclib));
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult result;
  o.max_iterations = 300;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, &lambda, &result));
  CHECK(result.outcome != TB_CONVERGED);
  tb_judge_free(&ctx, judge);
  tb_problem_free(p);
}

// Small bodies are factored at every step; large ones, and those whose factor does not fit, are not.
TEST(a_factor_is_worth_it_until_it_is_too_large)
{
  tbCholeskyStats small = {.rows = 600, .entries = 60000, .flops = 1e7, .bytes = 1000000};
  tbCholeskyStats medium = {.rows = 7644, .entries = 4000000, .flops = 5.6e8, .bytes = 40700000};
  tbCholeskyStats large = {.rows = 300000, .entries = 500000000, .flops = 5e12, .bytes = 5000000000};
  tbCholeskyStats flat = {.rows = 300000, .entries = 100000000, .flops = 1e10, .bytes = 900000000};
  CHECK(tb_metric_should_factor(&small) && tb_metric_should_factor(&medium));
  CHECK(tb_metric_should_factor(&flat) && !tb_metric_should_factor(&large));
  flat.bytes = 1100000000;
  CHECK(!tb_metric_should_factor(&flat));
}

// The nodes of a box of a × b × c, each beside all around it.
static void box_pattern(const int n[3], int* ptr, int* col)
{
  int at = 0;
  for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
    int x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
    for (int k = z - 1; k <= z + 1; k++)
      for (int j = y - 1; j <= y + 1; j++)
        for (int l = x - 1; l <= x + 1; l++)
          if (k >= 0 && k < n[2] && j >= 0 && j < n[1] && l >= 0 && l < n[0])
            col[at++] = (k * n[1] + j) * n[0] + l;
    ptr[i + 1] = at;
  }
}

TEST(a_bulky_body_is_told_from_a_flat_one_without_an_analysis)
{
  enum { NODES = 36 * 36 * 36 };
  tbContext ctx = tb_default_context();
  const int size[2][3] = {{36, 36, 36}, {152, 152, 2}};
  int *ptr = calloc(NODES + 1, sizeof *ptr), *col = malloc(27 * NODES * sizeof *col);
  for (int k = 0; k < 2; k++) {
    bool bulky = k;
    box_pattern(size[k], ptr, col);
    CHECK_OK(&ctx, tb_metric_is_too_large(&ctx, size[k][0] * size[k][1] * size[k][2], ptr, col, &bulky));
    CHECK(bulky == (k == 0));
  }
  free(ptr), free(col);
}

// Found from a wrong start as from none, and sooner from a good one.
TEST(conjugate_gradients_take_a_start)
{
  static int ptr[CHAIN + 1], col[3 * CHAIN];
  static double val[3 * CHAIN], b[CHAIN], exact[CHAIN], x[CHAIN];
  tbMetricBlock block = chain(CHAIN, ptr, col, val);
  double* room = calloc(tb_metric_workspace(&block), sizeof *room);
  for (int i = 0; i < CHAIN; i++) b[i] = exact[i] = i % 5 - 2;
  tb_metric_solve(&block, NULL, exact, room);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < CHAIN; i++) x[i] = k == 0 ? 0 : k == 1 ? exact[i] * (1 + 1e-6 * (i % 3)) : 1e9;
    tb_metric_cg_from((tbInterrupt){0}, &block, NULL, TB_METRIC_EXACT, b, x, room);
    double left = 0, size = 0;
    for (int i = 0; i < CHAIN; i++)
      left = fmax(left, fabs(x[i] - exact[i])), size = fmax(size, fabs(exact[i]));
    CHECK(left < 1e-7 * size);
  }
  free(room);
}

// Floats that say little (a stiffness that drowns the mass), nothing (too small for them) or nonsense (too
// large): the answer has all digits anyway.
TEST(conjugate_gradients_trust_rounded_numbers_no_further_than_they_go)
{
  tbContext ctx = tb_default_context();
  Soft s;
  REQUIRE(make_soft(&ctx, &s));
  const tbPackedPattern* h = &s.body->packed;
  int entries = s.body->K.ptr[s.n];
  double *A = calloc((size_t)entries, sizeof *A), *value = calloc(tb_packed_values(h), sizeof *value);
  float* rounded = calloc(tb_packed_values(h), sizeof *rounded);
  double *x = calloc((size_t)s.n, sizeof *x), *y = calloc((size_t)s.n, sizeof *y);
  static const double scales[] = {1, 1e-60, 1e60};
  for (int k = 0; k < 6; k++) {
    double scale = scales[k % 3];
    for (int i = 0; i < entries; i++) A[i] = scale * s.A[i];
    for (int i = 0; i < s.n; i++)
      for (int e = s.body->K.ptr[i]; k >= 3 && e < s.body->K.ptr[i + 1]; e++) {
        // the same without most of its mass: rows nearly add up to zero
        double sum = 0;
        for (int f = s.body->K.ptr[i]; f < s.body->K.ptr[i + 1]; f++)
          if (s.body->K.idx[f] % 3 == i % 3) sum += scale * s.A[f];
        if (s.body->K.idx[e] == i) A[e] -= 0.999 * sum;
      }
    tb_packed_pack(h, NULL, s.body->K.ptr, A, value);
    tb_packed_round(h, NULL, value, rounded);
    tbPacked packed = {.pattern = h, .value = value, .rounded = rounded};
    tbMetricBlock block = {.kind = TB_METRIC_SPARSE,
                           .size = s.n,
                           .value = A,
                           .ptr = s.body->K.ptr,
                           .col = s.body->K.idx,
                           .unit = 3,
                           .packed = &packed};
    double *room = calloc(tb_metric_workspace(&block), sizeof *room), left = 0;
    for (int i = 0; i < s.n; i++) x[i] = i % 5 - 2, y[i] = -x[i];
    tb_metric_solve(&block, NULL, x, room);
    tb_metric_multiply_add(&block, x, y);
    for (int i = 0; i < s.n; i++) left = fmax(left, fabs(y[i]));
    if (!(left < 1e-10)) test_failed(__FILE__, __LINE__, "case %d leaves %g", k, left);
    free(room);
  }
  free(A), free(value), free(rounded), free(x), free(y);
  drop_soft(&ctx, &s);
}
