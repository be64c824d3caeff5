// SPDX-License-Identifier: Apache-2.0
// Velocities eliminated from global problems whose M is not symmetric, and the file that asks for it.
#include "io/problem/eliminate.h"
#include "test.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 5, SIZE = 4, DOFS = BODIES * SIZE, ROWS = 9 };

typedef struct {
  tbArena arena;
  tbCsr M, J;
} Global;

// Components of M lie across each other: body b has the degrees of freedom b, b + BODIES, …
static tbStatus make(tbContext* ctx, tbRandom* r, double skew, Global* g)
{
  int row[BODIES * SIZE * SIZE], col[BODIES * SIZE * SIZE], count = 0;
  double val[BODIES * SIZE * SIZE];
  tb_arena_init(&g->arena, ctx);
  for (int b = 0; b < BODIES; b++)
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++, count++) {
        row[count] = b + BODIES * i, col[count] = b + BODIES * j;
        val[count] = i == j ? test_uniform(r, 3, 5) : i < j ? skew : 0.5;
      }
  TB_TRY(tb_csr_take_triplets(&g->arena, DOFS, DOFS, count, row, col, val, &g->M));
  count = 0;
  for (int k = 0; k < ROWS; k++)
    for (int e = 0; e < 4; e++, count++) {
      row[count] = k, col[count] = (k * 7 + e * 3) % DOFS;
      val[count] = test_uniform(r, -1, 1);
    }
  return tb_csr_take_triplets(&g->arena, ROWS, DOFS, count, row, col, val, &g->J);
}

// f = M v − Jᵀλ for any v and λ: then W λ + q has to be J v + b.
TEST(eliminated_velocities_leave_the_same_contact_velocities)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(31);
  for (int trial = 0; trial < 20; trial++) {
    Global g;
    CHECK_OK(&ctx, make(&ctx, &r, trial % 2 ? 0.4999 : -1, &g));
    double v[DOFS], lambda[ROWS], f[DOFS], pushed[DOFS], b[ROWS], q[ROWS], u[ROWS], Wl[ROWS];
    for (int i = 0; i < DOFS; i++) v[i] = test_uniform(&r, -1, 1);
    for (int i = 0; i < ROWS; i++) lambda[i] = test_uniform(&r, -1, 1), b[i] = test_uniform(&r, -1, 1);
    tb_csr_multiply(&g.M, v, f);
    tb_csr_multiply_transposed(&g.J, lambda, pushed);
    for (int i = 0; i < DOFS; i++) f[i] -= pushed[i];
    bool yes = false;
    CHECK_OK(&ctx, tb_eliminates(&g.arena, &g.M, &g.J, &yes));
    CHECK(yes);
    tbCsr W;
    memcpy(q, b, sizeof q);
    CHECK_OK(&ctx, tb_eliminate(&g.arena, &g.M, &g.J, f, q, &W));
    tb_csr_multiply(&W, lambda, Wl);
    tb_csr_multiply(&g.J, v, u);
    for (int i = 0; i < ROWS; i++) CHECK_NEAR(Wl[i] + q[i], u[i] + b[i], 1e-13);
    tb_arena_free(&g.arena);
  }
}

TEST(velocities_of_a_symmetric_mass_matrix_stay)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(32);
  Global g;
  CHECK_OK(&ctx, make(&ctx, &r, 0.5, &g));
  bool yes = true;
  CHECK_OK(&ctx, tb_eliminates(&g.arena, &g.M, &g.J, &yes));
  CHECK(!yes);
  tb_arena_free(&g.arena);
}

TEST(a_singular_mass_matrix_is_named_by_its_row)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(33);
  Global g;
  double f[DOFS] = {0}, q[ROWS] = {0};
  tbCsr W;
  CHECK_OK(&ctx, make(&ctx, &r, -1, &g));
  for (int e = g.M.ptr[3]; e < g.M.ptr[4]; e++) g.M.val[e] = 0; // the first row of the fourth body
  for (int i = 0; i < DOFS; i++)
    for (int e = g.M.ptr[i]; e < g.M.ptr[i + 1]; e++)
      if (g.M.idx[e] == 3) g.M.val[e] = 0;
  CHECK(tb_eliminate(&g.arena, &g.M, &g.J, f, q, &W) == TB_ERROR_NUMERIC);
  CHECK(strstr(ctx.error.message, "singular at row 3"));
  tb_arena_free(&g.arena);
}

// Five rows per contact, and inertias that differ from their transpose by 7e-4.
TEST(a_file_with_unsymmetric_inertias_is_solved)
{
  tbContext ctx = tb_default_context();
  char path[600];
  tbProblem* p = NULL;
  if (!test_shared_folder()) SKIP("no folder shared/ beside the checkout");
  snprintf(path, sizeof path, "%s/fclib-more/rolling-Chute.hdf5", test_shared_folder());
  tbStatus status = tb_problem_load(&ctx, path, &p, NULL);
  if (status == TB_ERROR_UNSUPPORTED) SKIP("%s", ctx.error.message); // built without HDF5
  CHECK_OK(&ctx, status);
  REQUIRE(p);
  CHECK(p->W_ptr != NULL && p->ncontact == 4 && p->nrow == 20);
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveOptions options = tb_default_solve_options();
  tbSolveResult result;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &options, lambda, &result));
  CHECK(result.outcome == TB_CONVERGED && result.residual.fclib <= 1e-8);
  free(lambda);
  tb_problem_free(p);
}
