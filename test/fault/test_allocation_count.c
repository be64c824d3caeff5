// SPDX-License-Identifier: Apache-2.0
// No solver allocates in its loop: what a solve takes does not grow with its iterations.
#include "solving.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

// Allocations of one solve that can never be satisfied; −1 where the solver takes none of the models.
static long count_allocations(const tbProblem* p, const tbSolver* solver, int iterations)
{
  tbFailingAllocator all = {.countdown = -1};
  tbContext ctx = test_failing_context(&all);
  tbSolveOptions o = tb_default_solve_options();
  o.solver = solver->name;
  o.tolerance = 0;
  o.max_iterations = iterations;
  if (!test_pick_model(solver, p, &o.model)) return -1;
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveResult r;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(all.alive == 0);
  free(lambda);
  return all.total;
}

TEST(no_solver_allocates_in_its_loop)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_UNSYMMETRIC; metric += test_quick() ? 2 : 1) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.contacts = 12, spec.bodies = 5, spec.metric = metric; // singular: nothing ends early
    spec.dimension = metric % 2 ? 2 : 3;
    tbProblem* p = NULL;
    double* exact = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    long stages = 0;
    for (int i = 0; i < tb_solver_count(); i++) {
      const tbSolver* solver = tb_solver_at(i);
      long few = count_allocations(p, solver, 5),
           many = count_allocations(p, solver, test_quick() ? 50 : 500);
      if (!solver->drive) stages += few > 0 ? few : 0;
      if (solver->drive ? many > stages : few != many)
        test_failed(__FILE__, __LINE__, "%s, metric %d: %ld allocations in 5 iterations, %ld in many more",
                    solver->name, metric, few, many);
    }
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}
