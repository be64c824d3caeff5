// SPDX-License-Identifier: Apache-2.0
// `auto` leaves out contacts that stay open, and finds those that do not.
#include "problem/judge.h"
#include "test.h"
#include "tribo/solver.h"

#include <math.h>
#include <string.h>

enum { LEVERS = 8, ABOVE = 12, CONTACTS = LEVERS * (2 + ABOVE) };

// A contact on a lever along x, at x, with the plane that is `gap` below it (or, up: above).
static void add_contact(tbBuilder* b, int dof, double x, bool up, double gap, double h)
{
  double n = up ? -1 : 1, bias[3] = {gap / h, 0, 0}, mu = 0.5;
  double jac[18] = {0, 0, n, 0, -x * n, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, x};
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
  tb_builder_jacobian(b, dof, 6, jac);
}

// Levers that fall. The end at −½ is at the floor; the other is a little above it, so that the free motion
// does not reach the floor there, but what stops the first end does: it turns. Far above it are contacts that
// nothing reaches. Levers hang together by the last of them, `joined` by pairs.
static tbProblem* levers(tbContext* ctx, bool joined)
{
  const double h = 0.01, inertia[9] = {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  int dof[LEVERS];
  CHECK_OK(ctx, tb_builder_create(ctx, "levers", &b));
  for (int i = 0; i < LEVERS; i++) {
    double v[6] = {0.3, 0.02 * i, -1, 0, 0, 0};
    tb_builder_rigid(b, 1 + i, inertia, v, &dof[i]);
  }
  for (int i = 0; i < LEVERS; i++) {
    add_contact(b, dof[i], -0.5, false, 0, h);
    add_contact(b, dof[i], 0.5, false, 0.011, h);
    for (int k = 0; k < ABOVE; k++) {
      add_contact(b, dof[i], 0.05 * k, true, 0.2, h);
      double jac[18] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
      if (joined && k == ABOVE - 1 && i + 1 < LEVERS) tb_builder_jacobian(b, dof[i + 1], 6, jac);
    }
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static tbSolveResult solve(tbContext* ctx, const tbProblem* p, const char* solver, double* lambda)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {0};
  o.solver = solver, o.velocity_tolerance = 1e-10, o.max_iterations = 100000;
  CHECK_OK(ctx, tb_solve(ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED && r.residual.velocity <= 1e-10);
  return r;
}

// The second ends are not seen to approach before the first ones push; the impulses are those of sweeps over
// all contacts, as levers on two contacts have but one answer.
TEST(contacts_that_approach_later_come_into_play)
{
  for (int joined = 0; joined < 2; joined++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = levers(&ctx, joined);
    REQUIRE(p && p->ncontact == CONTACTS);
    double one[3 * CONTACTS] = {0}, other[3 * CONTACTS] = {0};
    for (int i = 0; i < LEVERS; i++) one[3 * (2 + ABOVE) * i] = 0.1; // a warm start: it knows one end
    solve(&ctx, p, "auto", one);
    solve(&ctx, p, "bgs", other);
    int pushing = 0;
    for (int k = 0; k < CONTACTS; k++) {
      pushing += one[3 * k] > 0;
      for (int i = 0; i < 3; i++) CHECK_NEAR(one[3 * k + i], other[3 * k + i], 1e-7);
      if (k % (2 + ABOVE) >= 2)
        for (int i = 0; i < 3; i++) CHECK(one[3 * k + i] == 0); // never touched, to the bit
    }
    CHECK(pushing == 2 * LEVERS);
    tb_problem_free(p);
  }
}

// From the answer on there is nothing to do; and a budget of iterations is the whole run's.
TEST(leaving_contacts_out_keeps_budgets_and_warm_starts)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = levers(&ctx, true);
  double lambda[3 * CONTACTS] = {0.1}, again[3 * CONTACTS];
  solve(&ctx, p, "auto", lambda);
  memcpy(again, lambda, sizeof again);
  CHECK(solve(&ctx, p, "auto", again).iterations == 0);
  CHECK(memcmp(again, lambda, sizeof again) == 0);
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r;
  for (int most = 0; most < 12; most++) {
    memset(again, 0, sizeof again), again[0] = 0.1;
    o.solver = "auto", o.velocity_tolerance = 1e-13, o.max_iterations = most;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, again, &r));
    CHECK(r.iterations <= most);
    CHECK((r.outcome == TB_CONVERGED) == (r.residual.velocity <= 1e-13));
  }
  tb_problem_free(p);
}

// A table of eight degrees of freedom, frame and two fields, lands on four feet of many vertices each.
// Without any start, few of these come into play, and what they do obeys the laws of all.
TEST(feet_of_many_vertices_land_on_few_of_them)
{
  enum { SIDE = 6, COUNT = 4 * SIDE * SIDE, SIZE = 8 };
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  int dof, pushing = 0;
  double A[SIZE * SIZE] = {0}, v[SIZE] = {0.4, 0.1, -1, 0.2, -0.1, 0, 0, 0}, mu = 0.5, bias[3] = {0};
  for (int i = 0; i < SIZE; i++) A[i * (SIZE + 1)] = i < 3 ? 1 : i < 6 ? 0.1 : 0.5;
  CHECK_OK(&ctx, tb_builder_create(&ctx, "a table", &b));
  tb_builder_dense(b, SIZE, A, v, &dof);
  for (int k = 0; k < COUNT; k++) {
    int foot = k / (SIDE * SIDE), at = k % (SIDE * SIDE);
    double x = (foot % 2 ? 0.5 : -0.5) + 0.01 * (at % SIDE), y = (foot / 2 ? 0.4 : -0.4) + 0.01 * (at / SIDE);
    double jac[3 * SIZE] = {0, 0, 1, y, -x, 0, x * y, x * x, 1, 0, 0, 0, 0, -y, 0, 0, 0, 1, 0, 0, 0, x, 0, 0};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
    tb_builder_jacobian(b, dof, SIZE, jac);
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  double lambda[3 * COUNT] = {0}, other[3 * COUNT] = {0};
  solve(&ctx, p, "auto", lambda);
  solve(&ctx, p, "bgs", other);
  for (int k = 0; k < COUNT; k++) pushing += lambda[3 * k] > 0;
  CHECK(pushing >= 4 && pushing <= 16);
  double pushed[2][SIZE] = {{0}}; // Jᵀλ: the motion has but one answer
  for (int c = 0; c < p->ncol; c++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < p->jac_width[c]; j++) {
        double J = p->jac[p->jac_val_adr[c] + (size_t)(i * p->jac_width[c] + j)];
        pushed[0][p->jac_dof[c] + j] += J * lambda[3 * c + i],
            pushed[1][p->jac_dof[c] + j] += J * other[3 * c + i];
      }
  for (int i = 0; i < SIZE; i++) CHECK_NEAR(pushed[0][i], pushed[1][i], 1e-7);
  tb_problem_free(p);
}
