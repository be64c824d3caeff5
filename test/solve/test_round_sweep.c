// SPDX-License-Identifier: Apache-2.0
// Sweeps where all contacts are alike do what contacts solved one by one do.
#include "solve/round_sweep.h"
#include "tribo/solver.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { CONTACTS = 7, MOST = 3 * CONTACTS };

// Contacts of `rows` rows each that all push on each other; every third block of the diagonal is unsymmetric.
static tbProblem* make(tbContext* ctx, tbRandom* r, int rows, double mu)
{
  int n = rows * CONTACTS, ptr[MOST + 1], col[MOST * MOST];
  double B[MOST * MOST], W[MOST * MOST], q[3];
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  for (int i = 0; i < n * n; i++) B[i] = test_uniform(r, -1, 1), col[i] = i % n;
  for (int i = 0; i <= n; i++) ptr[i] = i * n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = i == j;
      for (int k = 0; k < n; k++) sum += B[i * n + k] * B[j * n + k];
      W[i * n + j] = sum;
    }
  for (int k = 0; k < CONTACTS; k += 3)
    W[(rows * k + 1) * n + rows * k] += 0.2 * W[(rows * k) * n + rows * k];
  tb_builder_create(ctx, "alike", &b);
  tb_builder_explicit(b, n, ptr, col, W);
  for (int k = 0; k < CONTACTS; k++) {
    q[0] = test_uniform(r, -1, 0.5);
    for (int i = 1; i < rows; i++) q[i] = test_uniform(r, -1, 1);
    tb_builder_contact(b, TB_LAW_COULOMB, rows, &mu, q, NULL);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static void velocity(const tbDelassus* W, int rows, int k, const double* lambda, double* u)
{
  for (int i = 0; i < rows; i++) u[i] = W->q[rows * k + i];
  for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++)
        u[i] += W->val[W->val_adr[e] + (size_t)(rows * i + j)] * lambda[rows * W->col[e] + j];
}

static void general(void* user, int k, const double* u, double* lambda)
{
  tb_local_solve((tbLocal*)user + k, u, lambda);
}

static void move_rows(const double* D, int rows, double mu, const double* at, double* lambda)
{
  double u[3], size = 0, length = 0, before = lambda[0];
  lambda[0] = fmax(0, lambda[0] - at[0] / D[0]);
  for (int i = 1; i < rows; i++) {
    double sum = 0;
    for (int j = 1; j < rows; j++) sum += fabs(D[rows * i + j]);
    size = fmax(size, sum);
    u[i] = at[i] + D[rows * i] * (lambda[0] - before);
  }
  for (int i = 1; i < rows; i++) lambda[i] -= u[i] / size, length = hypot(length, lambda[i]);
  for (int i = 1; i < rows && length > mu * lambda[0]; i++) lambda[i] *= mu * lambda[0] / length;
}

static void sweep_both(tbRandom* r, const tbProblem* p, const tbDelassus* W, int rows, double mu, bool exact)
{
  double fast[MOST] = {0}, slow[MOST] = {0}, u[3];
  tbFrictionSet friction[CONTACTS];
  tbLocal local[CONTACTS], other[CONTACTS];
  tbRoundRows row[CONTACTS];
  int visit[CONTACTS];
  for (int k = 0; k < CONTACTS; k++) {
    const double* D = W->diag + W->diag_adr[k];
    double size = 0;
    visit[k] = k;
    tb_friction_make(p, k, TB_MODEL_CONE, 8, &friction[k]);
    tb_local_prepare(p, k, &friction[k], D, &local[k]);
    other[k] = local[k];
    for (int i = 1; i < rows; i++)
      size = fmax(size, fabs(D[rows * i + 1]) + (rows == 3 ? fabs(D[rows * i + 2]) : 0));
    row[k] = (tbRoundRows){1 / D[0], 1 / size, mu};
    fast[rows * k] = slow[rows * k] = test_uniform(r, 0, 1);
  }
  tbRoundSweep s = {.rows = tb_round_rows(W, TB_MODEL_CONE),
                    .W = W,
                    .lambda = fast,
                    .local = exact ? local : NULL,
                    .row = row,
                    .otherwise = general,
                    .user = local};
  CHECK(s.rows == rows);
  for (int sweep = 0; sweep < 4; sweep++) {
    tb_round_sweep(&s, visit, 0, CONTACTS, 1);
    for (int k = 0; k < CONTACTS; k++) {
      velocity(W, rows, k, slow, u);
      if (exact) tb_local_solve(&other[k], u, slow + rows * k);
      else move_rows(W->diag + W->diag_adr[k], rows, mu, u, slow + rows * k);
    }
    for (int i = 0; i < rows * CONTACTS; i++)
      if (!(fabs(fast[i] - slow[i]) <= 1e-12))
        test_failed(__FILE__, __LINE__, "row %d of %d, sweep %d: %.17g, not %.17g", i, rows, sweep, fast[i],
                    slow[i]);
  }
}

TEST(sweeps_of_like_contacts_solve_them_one_by_one)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(21);
  for (int trial = 0; trial < 60; trial++) {
    int rows = 2 + trial % 2;
    double mu = trial % 5 ? test_uniform(&r, 0, 1) : 0;
    tbProblem* p = make(&ctx, &r, rows, mu);
    tbDelassus* W = NULL;
    CHECK_OK(&ctx, tb_delassus_create(&ctx, p, TB_FORM_BLOCKS, &W));
    sweep_both(&r, p, W, rows, mu, trial % 4 < 2);
    CHECK(tb_round_rows(W, TB_MODEL_BOX) == 0);
    tb_delassus_free(&ctx, W);
    tb_problem_free(p);
  }
}

TEST(one_contact_takes_auto_one_iteration)
{
  tbContext ctx = tb_default_context();
  const int ptr[] = {0, 3, 6, 9}, col[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  const double W[] = {2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 1}, mu = 0.4;
  const double q[][3] = {{-1, 0.1, 0.05}, {-1, 2, -1}, {1, 2, 3}}; // sticks, slips, opens
  for (int i = 0; i < 3; i++) {
    double lambda[3] = {0};
    tbBuilder* b = NULL;
    tbProblem* p = NULL;
    tbSolveResult result;
    tbSolveOptions o = tb_default_solve_options();
    tb_builder_create(&ctx, "one contact", &b);
    tb_builder_explicit(b, 3, ptr, col, W);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, q[i], NULL);
    CHECK_OK(&ctx, tb_builder_finish(b, &p));
    o.solver = "auto", o.tolerance = 1e-12;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &result));
    CHECK(result.outcome == TB_CONVERGED && result.iterations == 1);
    CHECK(strcmp(result.used, "bgs") == 0);
    tb_problem_free(p);
  }
}
