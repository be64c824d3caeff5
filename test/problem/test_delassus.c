// SPDX-License-Identifier: Apache-2.0
// W in all its forms against the definition, J A⁻¹ Jᵀ + R, formed densely by the test itself.
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A as a dense matrix over all degrees of freedom.
static double* dense_metric(const tbProblem* p)
{
  size_t n = (size_t)p->ndof;
  double* A = calloc(n * n + 1, sizeof *A);
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* k = &p->block[b];
    for (int i = 0; i < k->size; i++) {
      double* row = A + (size_t)(k->dof + i) * n + k->dof;
      if (k->kind == TB_METRIC_PARTICLE) row[i] = k->value[0];
      for (int j = 0; k->kind == TB_METRIC_DENSE && j < k->size; j++) row[j] = k->value[i * k->size + j];
      for (int e = k->kind == TB_METRIC_SPARSE ? k->ptr[i] : 0;
           k->kind == TB_METRIC_SPARSE && e < k->ptr[i + 1]; e++)
        row[k->col[e]] = k->value[e];
    }
  }
  return A;
}

static double* dense_jacobian(const tbProblem* p)
{
  double* J = calloc((size_t)p->nrow * (size_t)p->ndof + 1, sizeof *J);
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = 0; i < p->row_adr[k + 1] - p->row_adr[k]; i++)
        for (int j = 0; j < p->jac_width[c]; j++)
          J[(p->row_adr[k] + i) * p->ndof + p->jac_dof[c] + j] +=
              p->jac[p->jac_val_adr[c] + (size_t)(i * p->jac_width[c] + j)];
  return J;
}

// Solves A X = B in place by Gauss–Jordan with partial pivoting; B is n × m.
static void gauss_jordan(int n, double* A, int m, double* B)
{
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int i = c; i < n; i++)
      if (fabs(A[i * n + c]) > fabs(A[pivot * n + c])) pivot = i;
    for (int j = 0; j < n; j++) {
      double t = A[c * n + j];
      A[c * n + j] = A[pivot * n + j], A[pivot * n + j] = t;
    }
    for (int j = 0; j < m; j++) {
      double t = B[c * m + j];
      B[c * m + j] = B[pivot * m + j], B[pivot * m + j] = t;
    }
    for (int i = 0; i < n; i++) {
      double f = i == c ? 0 : A[i * n + c] / A[c * n + c];
      for (int j = 0; j < n && f != 0; j++) A[i * n + j] -= f * A[c * n + j];
      for (int j = 0; j < m && f != 0; j++) B[i * m + j] -= f * B[c * m + j];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) B[i * m + j] /= A[i * n + i];
}

// W by its definition.
static double* reference(const tbProblem* p)
{
  int n = p->ndof, m = p->nrow;
  double *W = calloc((size_t)(m * m) + 1, sizeof *W), *A = dense_metric(p), *J = dense_jacobian(p);
  double* Y = malloc(sizeof *Y * ((size_t)(n * m) + 1));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) Y[i * m + j] = J[j * n + i];
  gauss_jordan(n, A, m, Y);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++) W[i * m + j] += J[i * n + k] * Y[k * m + j];
  for (int i = 0; p->W_ptr && i < m; i++)
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) W[i * m + p->W_col[e]] = p->W_val[e];
  for (int i = 0; i < m; i++) W[i * m + i] += p->compliance[i];
  free(A), free(J), free(Y);
  return W;
}

// Sparse blocks of 6 and 9 and a particle, and contacts between any two of them, named in either order.
static tbProblem* sparse_pairs(tbContext* ctx)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double v[9] = {0}, mu = 0.5, J[9];
  int dof[3], width[3] = {6, 3, 9};
  tbRandom random = test_random(11);
  tb_builder_create(ctx, "pairs", &b);
  for (int k = 0; k < 3; k++) {
    int ptr[10] = {0}, col[27], n = 0;
    double A[27];
    for (int i = 0; i < width[k]; i++, ptr[i] = n)
      for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < width[k]; j++, n++)
        col[n] = j, A[n] = i == j ? 3 + i : -1;
    if (k == 1) tb_builder_particle(b, 3, 2, v, &dof[k]);
    else tb_builder_sparse(b, width[k], ptr, col, A, v, &dof[k]);
  }
  for (int k = 0; k < 18; k++) {
    int first = k % 3, second = (first + 1 + k / 3 % 2) % 3;
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    for (int side = 0; side < 2; side++) {
      int block = side ? second : first;
      for (int i = 0; i < 9; i++) J[i] = test_uniform(&random, -1, 1);
      tb_builder_jacobian(b, dof[block] + 3 * (k % (width[block] / 3)), 3, J);
    }
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(contacts_between_sparse_blocks_see_both)
{
  static const unsigned forms[] = {0, TB_FORM_FREE, TB_FORM_BLOCKS, TB_FORM_DENSE, TB_FORM_SWEEP};
  tbContext ctx = tb_default_context();
  tbProblem* p = sparse_pairs(&ctx);
  REQUIRE(p);
  int m = p->nrow;
  double *W = reference(p), x[54], y[54];
  tbRandom random = test_random(12);
  for (int i = 0; i < m; i++) x[i] = test_uniform(&random, -1, 1);
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    tbDelassus* D = NULL;
    CHECK_OK(&ctx, tb_delassus_create(&ctx, p, forms[f], &D));
    REQUIRE(D);
    for (int k = 0; k < p->ncontact; k++)
      for (int i = 0; i < 9; i++)
        CHECK_NEAR(D->diag[D->diag_adr[k] + (size_t)i], W[(3 * k + i / 3) * m + 3 * k + i % 3], 1e-12);
    double* room = malloc(sizeof *room * (tb_delassus_workspace(D) + 1));
    if (forms[f]) tb_delassus_apply(D, NULL, x, y, room);
    for (int i = 0; forms[f] && i < m; i++) {
      double sum = 0;
      for (int j = 0; j < m; j++) sum += W[i * m + j] * x[j];
      CHECK_NEAR(y[i], sum, 1e-12);
    }
    free(room);
    tb_delassus_free(&ctx, D);
  }
  free(W);
  tb_problem_free(p);
}

TEST(every_form_of_W_agrees_with_its_definition)
{
  static const unsigned forms[] = {
      0, TB_FORM_FREE, TB_FORM_BLOCKS, TB_FORM_DENSE, TB_FORM_SWEEP, TB_FORM_FREE | TB_FORM_DENSE};
  tbRandom random = test_random(3);
  for (int seed = 0; seed < 60; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    spec.contacts = 1 + seed % 17;
    spec.dimension = seed % 6 == 0 ? 2 : 3;
    spec.metric = seed % 5;
    spec.mass_ratio = seed % 2 ? 1e3 : 1;
    spec.all_laws = true;
    spec.compliant = seed % 3 == 0 && spec.metric < TB_MAKE_EXPLICIT;
    tbProblem* p = NULL;
    double* lambda = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    int m = p->nrow;
    double *W = reference(p), largest = 0, *x = malloc(sizeof *x * (size_t)m),
           *y = malloc(sizeof *y * (size_t)m);
    for (int i = 0; i < m * m; i++) largest = fmax(largest, fabs(W[i]));
    for (int i = 0; i < m; i++) x[i] = test_uniform(&random, -1, 1);

    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
      tbDelassus* D = NULL;
      CHECK_OK(&ctx, tb_delassus_create(&ctx, p, forms[f], &D));
      REQUIRE(D);
      for (int k = 0; k < p->ncontact; k++)
        for (int i = 0, rows = p->row_adr[k + 1] - p->row_adr[k]; i < rows; i++)
          for (int j = 0; j < rows; j++)
            CHECK_NEAR(D->diag[D->diag_adr[k] + (size_t)(i * rows + j)],
                       W[(p->row_adr[k] + i) * m + p->row_adr[k] + j], 1e-12 * largest);
      CHECK(D->symmetric == (spec.metric != TB_MAKE_UNSYMMETRIC || m == 1) || seed < 30);
      if (forms[f]) {
        double* room = malloc(sizeof *room * (tb_delassus_workspace(D) + 1));
        tb_delassus_apply(D, NULL, x, y, room);
        for (int i = 0; i < m; i++) {
          double sum = 0;
          for (int j = 0; j < m; j++) sum += W[i * m + j] * x[j];
          CHECK_NEAR(y[i], sum, 1e-12 * largest * m);
        }
        free(room);
      }
      for (int i = 0; D->dense && i < m * m; i++) CHECK_NEAR(D->dense[i], W[i], 1e-12 * largest);
      tb_delassus_free(&ctx, D);
    }
    free(W), free(x), free(y);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}

// W with a diagonal in place of A, which is one sparse block here.
static double* lumped_reference(const tbProblem* p, tbInverse inverse)
{
  int n = p->ndof, m = p->nrow;
  double *A = dense_metric(p), *J = dense_jacobian(p), *W = calloc((size_t)(m * m) + 1, sizeof *W);
  for (int k = 0; k < n; k++) {
    double sum = 0, moduli = 0, D = A[k * n + k];
    for (int j = 0; j < n; j++) sum += A[k * n + j], moduli += fabs(A[k * n + j]);
    if (inverse == TB_INVERSE_LUMPED) D = sum;
    if (inverse == TB_INVERSE_JACOBI) D = fmax(D, moduli / 2);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++) W[i * m + j] += J[i * n + k] * J[j * n + k] / D;
  }
  for (int i = 0; i < m; i++) W[i * m + i] += p->compliance[i];
  free(A), free(J);
  return W;
}

TEST(a_diagonal_may_stand_for_a_sparse_block_in_every_form)
{
  static const unsigned forms[] = {0, TB_FORM_FREE, TB_FORM_BLOCKS, TB_FORM_DENSE, TB_FORM_SWEEP};
  tbRandom random = test_random(5);
  for (int seed = 0; seed < 24; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    spec.contacts = 1 + seed;
    spec.dimension = seed % 2 ? 3 : 2;
    spec.metric = TB_MAKE_SPARSE;
    spec.compliant = seed % 3 == 0;
    tbInverse inverse = (tbInverse)(1 + seed % (TB_INVERSE_COUNT - 1));
    tbProblem* p = NULL;
    double *lambda = NULL, x[96], y[96];
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    int m = p->nrow;
    REQUIRE(m <= 96 && p->nblock == 1);
    double* W = lumped_reference(p, inverse);
    for (int i = 0; i < m; i++) x[i] = test_uniform(&random, -1, 1);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
      tbDelassus* D = NULL;
      CHECK_OK(&ctx, tb_delassus_create_with(&ctx, p, forms[f], inverse, &D));
      REQUIRE(D);
      CHECK(D->inverse == inverse && D->ainv_jac && D->lumped);
      for (int k = 0; k < p->ncontact; k++)
        for (int i = 0, rows = p->row_adr[k + 1] - p->row_adr[k]; i < rows; i++)
          for (int j = 0; j < rows; j++)
            CHECK_NEAR(D->diag[D->diag_adr[k] + (size_t)(i * rows + j)],
                       W[(p->row_adr[k] + i) * m + p->row_adr[k] + j], 1e-13);
      double* room = malloc(sizeof *room * (tb_delassus_workspace(D) + 1));
      if (forms[f]) tb_delassus_apply(D, NULL, x, y, room);
      for (int i = 0; forms[f] && i < m; i++) {
        double sum = 0;
        for (int j = 0; j < m; j++) sum += W[i * m + j] * x[j];
        CHECK_NEAR(y[i], sum, 1e-12);
      }
      free(room);
      tb_delassus_free(&ctx, D);
    }
    free(W);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}

TEST(inverses_have_names)
{
  for (int i = 0; i < TB_INVERSE_COUNT; i++) {
    tbInverse back;
    CHECK(tb_inverse_from_name(tb_inverse_name((tbInverse)i), &back) && back == (tbInverse)i);
  }
  tbInverse none;
  CHECK(!tb_inverse_from_name("magic", &none));
  CHECK(strcmp(tb_inverse_name(TB_INVERSE_COUNT), "unknown") == 0);
}

TEST(islands_and_colours_of_a_problem)
{
  for (int seed = 0; seed < 100; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    spec.contacts = 1 + seed;
    spec.bodies = 1 + seed * (seed % 3) / 2;
    spec.metric = seed % 5;
    tbProblem* p = NULL;
    double* lambda = NULL;
    tbDelassus* W = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    REQUIRE(tb_delassus_create(&ctx, p, TB_FORM_BLOCKS, &W) == TB_OK);
    int island[128], colour[128], islands = 0, colours = 0, seen = 0;
    CHECK_OK(&ctx, tb_problem_islands(&ctx, p, island, &islands));
    CHECK_OK(&ctx, tb_problem_colours(&ctx, p, colour, &colours));
    for (int k = 0; k < p->ncontact; k++) {
      CHECK(island[k] >= 0 && island[k] < islands && colour[k] >= 0 && colour[k] < colours);
      if (island[k] == seen) seen++; // numbered in the order of their first contact
      else CHECK(island[k] < seen);
      for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
        CHECK(island[W->col[e]] == island[k]);
        CHECK(W->col[e] == k || colour[W->col[e]] != colour[k]);
      }
    }
    CHECK(seen == islands);
    // islands are as small as they can be: flooding from one contact through W reaches all of its island
    int reached[128] = {0}, queue[128], tail = 0;
    reached[0] = 1, queue[tail++] = 0;
    for (int head = 0; head < tail; head++)
      for (int e = W->ptr[queue[head]]; e < W->ptr[queue[head] + 1]; e++)
        if (!reached[W->col[e]]) reached[W->col[e]] = 1, queue[tail++] = W->col[e];
    for (int k = 0; k < p->ncontact; k++) CHECK(reached[k] == (island[k] == island[0]));
    tb_delassus_free(&ctx, W);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}
