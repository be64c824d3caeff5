// SPDX-License-Identifier: Apache-2.0
// The same λ for any number of threads, bit for bit, for every solver and order.
#include "solving.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 400 };

// Every solver on one problem, those that sweep in some of the orders too, the other orders with the other
// metrics; the hash of each answer, 0 for what does not run.
static int hash_all(tbContext* ctx, const tbProblem* p, int metric, uint64_t* hash)
{
  int runs = 0;
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  for (int i = 0; i < tb_solver_count(); i++)
    for (int order = 0; order < TB_ORDER_COUNT; order++) {
      const tbSolver* solver = tb_solver_at(i);
      tbSolveOptions o = tb_default_solve_options();
      o.solver = solver->name;
      o.order = (tbOrder)order;
      o.max_iterations = 3;
      hash[runs++] = 0;
      if (order > 0 && (solver->needs != TB_FORM_SWEEP || (order + metric) % 5)) continue;
      if (!test_pick_model(solver, p, &o.model)) continue;
      memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
      tbSolveResult r = {0};
      CHECK_OK(ctx, tb_solve(ctx, p, &o, lambda, &r));
      hash[runs - 1] =
          test_hash(lambda, (size_t)p->nrow * sizeof *lambda) ^ test_hash(&r.residual, sizeof r.residual);
    }
  free(lambda);
  return runs;
}

LONG_TEST(lambda_has_the_same_bits_for_any_number_of_threads)
{
  for (int metric = 0; metric < 5; metric += test_quick() ? 3 : 1) {
    int counts[] = {1, metric % 2 ? 3 : 8};
    uint64_t reference[MAX_RUNS], hash[MAX_RUNS];
    for (int t = 0; t < 2; t++) {
      tbContext ctx = tb_default_context();
      CHECK_OK(&ctx, tb_threads_create(&ctx, counts[t], &ctx.threads));
      tbManufacture spec = tb_default_manufacture();
      spec.contacts = test_quick() ? 70 : 270; // 270: more than one piece of every loop
      spec.bodies = spec.contacts * 2 / 3;
      spec.metric = metric;
      spec.all_laws = true;
      tbProblem* p = NULL;
      double* exact = NULL;
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
      int runs = hash_all(&ctx, p, metric, t == 0 ? reference : hash);
      for (int i = 0; t > 0 && i < runs; i++)
        if (hash[i] != reference[i])
          test_failed(__FILE__, __LINE__, "%s, order %s, metric %d: %d threads differ",
                      tb_solver_at(i / TB_ORDER_COUNT)->name, tb_order_name((tbOrder)(i % TB_ORDER_COUNT)),
                      metric, counts[t]);
      tb_manufacture_free(&ctx, exact);
      tb_problem_free(p);
      tb_threads_destroy(&ctx, ctx.threads);
    }
  }
}
