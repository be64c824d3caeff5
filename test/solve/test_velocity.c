// SPDX-License-Identifier: Apache-2.0
// Systems in velocity space: A + Jᵀ C J, entry by entry, with every kind of metric block and law.
#include "solve/velocity.h"
#include "math/dense.h"
#include "problem/metric.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// K = A + Jᵀ C J, dense.
static double* dense_matrix(const tbProblem* p, const tbDelassus* W, const double* C)
{
  size_t n = (size_t)p->ndof;
  double *K = calloc(n * n, sizeof *K), *unit = calloc(n, sizeof *unit);
  for (int b = 0; b < p->nblock; b++)
    for (int j = 0; j < p->block[b].size; j++) { // A is symmetric: its columns are its rows
      memset(unit, 0, n * sizeof *unit);
      unit[j] = 1;
      tb_metric_multiply_add(&p->block[b], unit, K + (size_t)(p->block[b].dof + j) * n + p->block[b].dof);
    }
  for (int k = 0; k < p->ncontact; k++) {
    int rows = p->row_adr[k + 1] - p->row_adr[k];
    double* J = calloc((size_t)rows * n, sizeof *J);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < p->jac_width[c]; j++)
          J[(size_t)i * n + (size_t)(p->jac_dof[c] + j)] +=
              p->jac[p->jac_val_adr[c] + (size_t)(i * p->jac_width[c] + j)];
    for (int i = 0; i < rows; i++)
      for (int l = 0; l < rows; l++)
        for (size_t a = 0; a < n; a++)
          for (size_t b = 0; b < n && J[(size_t)i * n + a] != 0; b++)
            K[a * n + b] +=
                J[(size_t)i * n + a] * C[W->diag_adr[k] + (size_t)(i * rows + l)] * J[(size_t)l * n + b];
    free(J);
  }
  free(unit);
  return K;
}

static double noise(uint64_t* state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

// C: positive, not symmetric; 0 for every contact that `closed` leaves out.
static void fill(const tbProblem* p, const tbDelassus* W, int closed, uint64_t seed, double* C)
{
  for (int k = 0; k < p->ncontact; k++) {
    int rows = p->row_adr[k + 1] - p->row_adr[k];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++)
        C[W->diag_adr[k] + (size_t)(i * rows + j)] =
            k % closed ? 0 : (i == j ? 3 + noise(&seed) : 0.5 * noise(&seed));
  }
}

// The worst entry of K x − b with x from the factor, over the largest of b.
static double left_over(const tbProblem* p, const tbDelassus* W, tbVelocity* v, const double* C)
{
  size_t n = (size_t)p->ndof;
  double *K = dense_matrix(p, W, C), *x = calloc(n, sizeof *x), *b = calloc(n, sizeof *b), worst = 0;
  uint64_t seed = 7;
  for (size_t i = 0; i < n; i++) x[i] = b[i] = noise(&seed);
  tb_velocity_factor(v, NULL, C);
  tb_velocity_solve(v, x);
  for (size_t i = 0; i < n; i++) {
    double sum = -b[i];
    for (size_t j = 0; j < n; j++) sum += K[i * n + j] * x[j];
    worst = fmax(worst, fabs(sum));
  }
  free(K), free(x), free(b);
  return worst;
}

TEST(velocities_solve_the_metric_with_contacts_of_every_law_on_every_block)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_SPARSE; metric++)
    for (int dimension = 2; dimension <= 3; dimension++) {
      tbContext ctx = tb_default_context();
      tbManufacture spec = tb_default_manufacture();
      spec.contacts = 25, spec.bodies = 8, spec.metric = metric, spec.dimension = dimension;
      spec.all_laws = dimension == 3;
      tbProblem* p = NULL;
      double* exact = NULL;
      tbDelassus* W = NULL;
      tbVelocity* v = NULL;
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
      CHECK_OK(&ctx, tb_delassus_create(&ctx, p, TB_FORM_FREE, &W));
      CHECK_OK(&ctx, tb_velocity_create(&ctx, p, W->diag_adr, 0, &v));
      REQUIRE(W && v);
      double* C = calloc(W->diag_adr[p->ncontact], sizeof *C);
      for (int closed = 1; closed < 4; closed++) {
        fill(p, W, closed, (uint64_t)closed, C);
        double left = left_over(p, W, v, C);
        if (!(left < 1e-10)) test_failed(__FILE__, __LINE__, "metric %d: %g is left", metric, left);
      }
      free(C);
      tb_velocity_free(&ctx, v);
      tb_delassus_free(&ctx, W);
      tb_manufacture_free(&ctx, exact);
      tb_problem_free(p);
    }
}

// Jᵀλ − A x, entry by entry from J's columns and A's; *left, *momentum as tb_velocity_defect has them.
static void defect(const tbProblem* p, const double* A, const double* lambda, const double* x, double* r,
                   double* left, double* momentum)
{
  int n = p->ndof;
  memset(r, 0, (size_t)n * sizeof *r);
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = 0; i < p->row_adr[k + 1] - p->row_adr[k]; i++)
        for (int j = 0; j < p->jac_width[c]; j++)
          r[p->jac_dof[c] + j] +=
              p->jac[p->jac_val_adr[c] + (size_t)(i * p->jac_width[c] + j)] * lambda[p->row_adr[k] + i];
  *left = *momentum = 0;
  for (int i = 0; i < n; i++) {
    *momentum += r[i] * r[i] / A[(size_t)i * (size_t)n + (size_t)i];
    for (int j = 0; j < n; j++) r[i] -= A[(size_t)i * (size_t)n + (size_t)j] * x[j];
    *left += r[i] * r[i] / A[(size_t)i * (size_t)n + (size_t)i];
  }
}

TEST(velocities_tell_how_far_they_are_from_what_impulses_make)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_SPARSE; metric++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.contacts = 25, spec.bodies = 8, spec.metric = metric, spec.all_laws = true;
    tbProblem* p = NULL;
    double* exact = NULL;
    tbDelassus* W = NULL;
    tbVelocity* v = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    CHECK_OK(&ctx, tb_delassus_create(&ctx, p, TB_FORM_FREE, &W));
    CHECK_OK(&ctx, tb_velocity_create(&ctx, p, W->diag_adr, 0, &v));
    REQUIRE(W && v);
    size_t n = (size_t)p->ndof;
    double *zero = calloc(W->diag_adr[p->ncontact], sizeof *zero), *A = dense_matrix(p, W, zero);
    double *lambda = calloc((size_t)p->nrow, sizeof *lambda), *x = calloc(n, sizeof *x);
    double *r = calloc(n, sizeof *r), *other = calloc(n, sizeof *other), left, momentum, expected, scale;
    uint64_t seed = 11;
    for (int i = 0; i < p->nrow; i++) lambda[i] = noise(&seed);
    for (size_t i = 0; i < n; i++) x[i] = noise(&seed);
    left = tb_velocity_defect(v, lambda, x, r, &momentum);
    defect(p, A, lambda, x, other, &expected, &scale);
    for (size_t i = 0; i < n; i++)
      CHECK(fabs(r[i] - other[i]) <= 1e-11 * sqrt(scale + expected) * sqrt(A[i * n + i]));
    CHECK(fabs(left - expected) <= 1e-10 * expected && fabs(momentum - scale) <= 1e-10 * scale);
    tb_velocity_factor(v, NULL, zero); // A alone: its solve leaves nothing
    memset(x, 0, n * sizeof *x);
    tb_velocity_gather(v, lambda, x);
    tb_velocity_solve(v, x);
    CHECK(tb_velocity_defect(v, lambda, x, r, &momentum) <= 1e-20 * momentum);
    free(zero), free(A), free(lambda), free(x), free(r), free(other);
    tb_velocity_free(&ctx, v);
    tb_delassus_free(&ctx, W);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}

LONG_TEST(open_contacts_leave_no_trace_in_a_large_factor)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 400, spec.bodies = 60; // every body touches a dozen others
  tbProblem* p = NULL;
  double* exact = NULL;
  tbDelassus* W = NULL;
  tbVelocity* v = NULL;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
  CHECK_OK(&ctx, tb_delassus_create(&ctx, p, TB_FORM_FREE, &W));
  CHECK_OK(&ctx, tb_velocity_create(&ctx, p, W->diag_adr, 0, &v));
  REQUIRE(W && v);
  double *C = calloc(W->diag_adr[p->ncontact], sizeof *C), all = tb_velocity_stats(v).flops;
  static const int closed[] = {1, 8, 4, 16, 1}; // fewer, more, far fewer, all again
  for (int i = 0; i < 5; i++) {
    fill(p, W, closed[i], 3, C);
    CHECK(left_over(p, W, v, C) < 1e-9);
    double flops = tb_velocity_stats(v).flops;
    if (closed[i] == 1) CHECK(flops > 0.5 * all);
    else CHECK(flops < 0.5 * all);
  }
  free(C);
  tb_velocity_free(&ctx, v);
  tb_delassus_free(&ctx, W);
  tb_manufacture_free(&ctx, exact);
  tb_problem_free(p);
}

TEST(velocities_need_a_metric_and_memory)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 20, spec.bodies = 6;
  for (int given = 0; given < 2; given++) {
    spec.metric = given ? TB_MAKE_EXPLICIT : TB_MAKE_RIGID;
    tbProblem* p = NULL;
    double* exact = NULL;
    tbDelassus* W = NULL;
    tbVelocity* v = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    CHECK_OK(&ctx, tb_delassus_create(&ctx, p, TB_FORM_FREE, &W));
    CHECK(tb_velocity_create(&ctx, p, W->diag_adr, given ? 0 : 100, &v) == TB_ERROR_UNSUPPORTED && !v);
    tb_delassus_free(&ctx, W);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}
