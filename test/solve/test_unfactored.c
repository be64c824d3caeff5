// SPDX-License-Identifier: Apache-2.0
// Problems whose sparse metric blocks have no factor: every method solves them as it does with one.
#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The same problem, but A is not factored.
static tbProblem without_factors(const tbProblem* p, tbMetricBlock* block)
{
  tbProblem twin = *p;
  memcpy(block, p->block, (size_t)p->nblock * sizeof *block);
  for (int i = 0; i < p->nblock; i++) block[i].factor = NULL;
  twin.block = block;
  return twin;
}

// Whether it converged, both ways.
static bool compare(const tbProblem* p, const tbSolver* solver, tbModel model, tbPreconditioner kind)
{
  tbMetricBlock block[4];
  tbSolveOptions o = cases_options(solver->name, model, 3000);
  o.preconditioner = kind;
  CHECK(p->nblock <= 4);
  tbProblem twin = without_factors(p, block);
  double *u = calloc((size_t)p->nrow + 1, sizeof *u), *v = calloc((size_t)p->nrow + 1, sizeof *v), worst = 0;
  tbSolveResult with = cases_solve(p, &o, u), without = cases_solve(&twin, &o, v);
  for (int i = 0; i < p->nrow; i++) worst = fmax(worst, fabs(u[i] - v[i]));
  if (with.outcome != without.outcome || (with.outcome == TB_CONVERGED && !(worst <= 1e-5)))
    test_failed(__FILE__, __LINE__,
                "%s on %s: %s after %d with the factor, %s after %d without, u differs by %g", solver->name,
                p->name, tb_outcome_name(with.outcome), with.iterations, tb_outcome_name(without.outcome),
                without.iterations, worst);
  free(u), free(v);
  return with.outcome == TB_CONVERGED;
}

TEST(every_method_does_without_the_factor)
{
  int compared = 0, converged = 0;
  for (int seed = 0; seed < 6; seed++) {
    Case c;
    tbManufacture spec = cases_mild(seed);
    spec.metric = TB_MAKE_SPARSE;
    spec.mu_max = 0.4;
    spec.all_laws = false;
    REQUIRE(cases_make(&c, &spec));
    for (int i = 0; i < tb_solver_count(); i++) {
      const tbSolver* solver = tb_solver_at(i);
      for (int model = 0; model < TB_MODEL_COUNT; model++)
        if (!tb_solver_refuses(solver, c.p, (tbModel)model)) {
          compared++;
          converged += compare(c.p, solver, (tbModel)model, TB_PRECONDITIONER_FULL);
          break;
        }
    }
    cases_drop(&c);
  }
  printf("[%d of %d converged] ", converged, compared);
  CHECK(compared > 100 && 10 * converged > 9 * compared);
}

LONG_TEST(every_method_does_without_the_factor_of_a_soft_block)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_lattice(&ctx, 4, 5);
  REQUIRE(p);
  for (int i = 0; i < tb_solver_count(); i++)
    if (!tb_solver_refuses(tb_solver_at(i), p, TB_MODEL_CONE))
      compare(p, tb_solver_at(i), TB_MODEL_CONE, TB_PRECONDITIONER_FULL);
  for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++)
    CHECK(compare(p, tb_solver_find("cr"), TB_MODEL_CONE, (tbPreconditioner)i));
  CHECK(compare(p, tb_solver_find("ica"), TB_MODEL_CONE, TB_PRECONDITIONER_FULL));
  tb_problem_free(p);
}

// Through a sparse block W is dense; `auto` begins with methods that do not need it, and stays with them
// where it would be too large.
TEST(auto_takes_soft_bodies_without_W_where_it_is_too_large)
{
  tbContext ctx = tb_default_context();
  tbMetricBlock block[4];
  tbProblem* p = cases_lattice(&ctx, 5, 5);
  REQUIRE(p);
  tbProblem twin = without_factors(p, block);
  for (int tight = 0; tight < 2; tight++) {
    tbSolveOptions o = cases_options("auto", TB_MODEL_CONE, 20000);
    o.factor_bytes = tight ? 1 : 0;
    tbSolveResult with = cases_solve(p, &o, NULL), without = cases_solve(&twin, &o, NULL);
    const tbSolver *one = tb_solver_find(with.used), *other = tb_solver_find(without.used);
    CHECK(with.outcome == TB_CONVERGED && (one->metric || !tight) && with.iterations < 500);
    CHECK(without.outcome == TB_CONVERGED && (other->metric || !tight) && without.iterations < 500);
  }
  // polygons are nothing for `cr`: then with W, or without
  tbSolveOptions o = cases_options("auto", TB_MODEL_POLYHEDRAL, 20000);
  CHECK(cases_solve(&twin, &o, NULL).outcome == TB_CONVERGED);
  o.factor_bytes = 1;
  tbSolveResult r = cases_solve(&twin, &o, NULL);
  CHECK(r.outcome == TB_CONVERGED && strcmp(r.used, "ica") == 0);
  tb_problem_free(p);
}
