// SPDX-License-Identifier: Apache-2.0
// Work that is counted instead of timed.
#include "solve/cases.h"

static double operations(const tbProblem* p, const char* solver, tbOrder order, int iterations)
{
  tbSolveOptions o = cases_options(solver, TB_MODEL_CONE, iterations);
  o.tolerance = 0;
  o.order = order;
  return cases_solve(p, &o, NULL).operations;
}

// In a tower a contact meets itself and the ones above and below: 3 × 3 blocks of W, a multiplication and an
// addition for each entry.
TEST(a_sweep_counts_the_entries_of_w_it_visits)
{
  enum { BOXES = 8, BLOCKS = 3 * BOXES - 2 };
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, BOXES);
  REQUIRE(p);
  double sweep = operations(p, "pgs", TB_ORDER_GIVEN, 1);
  CHECK_NEAR(sweep, 2 * 9 * BLOCKS, 0);
  CHECK_NEAR(operations(p, "pgs", TB_ORDER_GIVEN, 20), 20 * sweep, 0);
  CHECK_NEAR(operations(p, "pgs", TB_ORDER_SYMMETRIC, 20), 40 * sweep, 0);
  CHECK_NEAR(operations(p, "spgs", TB_ORDER_GIVEN, 20), 40 * sweep, 0);
  double nncg = operations(p, "nncg", TB_ORDER_GIVEN, 20);
  CHECK(nncg > 20 * sweep && nncg < 40 * sweep);
  CHECK(operations(p, "pgs-sm", TB_ORDER_GIVEN, 1) > 5 * sweep); // five sweeps, and a factor
  tb_problem_free(p);
}

TEST(who_counts_operations_counts_some_and_the_others_say_nothing)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 4);
  REQUIRE(p);
  int counting = 0;
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    if (tb_solver_refuses(s, p, TB_MODEL_CONE)) continue;
    double count = operations(p, s->name, TB_ORDER_GIVEN, 3),
           again = operations(p, s->name, TB_ORDER_GIVEN, 3);
    if (s->counts != (count > 0) || count != again) printf("%s counts %g, then %g\n", s->name, count, again);
    CHECK(s->counts == (count > 0) && count == again);
    counting += s->counts;
  }
  CHECK(counting == 6);
  tb_problem_free(p);
}
