// The same λ for any number of threads, bit for bit, for every solver and order.
#include "test.h"
#include "tribo/solver.h"

#include <stdlib.h>

TEST(lambda_has_the_same_bits_for_any_number_of_threads)
{
  static const int counts[] = {1, 2, 3, 8};
  for (int metric = 0; metric < 5; metric++)
    for (int i = 0; i < tb_solver_count(); i++)
      for (int order = 0; order < TB_ORDER_COUNT; order++) {
        uint64_t reference = 0;
        for (int t = 0; t < 4; t++) {
          tbContext ctx = tb_default_context();
          CHECK_OK(&ctx, tb_threads_create(&ctx, counts[t], &ctx.threads));
          tbManufacture spec = tb_default_manufacture();
          spec.contacts = 700;
          spec.bodies = 400;
          spec.metric = metric;
          spec.all_laws = true;
          tbProblem* p = NULL;
          double *exact = NULL, *lambda = NULL;
          REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
          lambda = calloc((size_t)p->nrow, sizeof *lambda);
          tbSolveOptions o = tb_default_solve_options();
          o.solver = tb_solver_at(i)->name;
          o.order = (tbOrder)order;
          o.max_iterations = 5;
          tbSolveResult r;
          CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
          uint64_t hash =
              test_hash(lambda, (size_t)p->nrow * sizeof *lambda) ^ test_hash(&r.residual, sizeof r.residual);
          if (t == 0) reference = hash;
          if (hash != reference)
            test_failed(__FILE__, __LINE__, "%s, order %s, metric %d: %d threads differ", o.solver,
                        tb_order_name(o.order), metric, counts[t]);
          free(lambda);
          tb_manufacture_free(&ctx, exact);
          tb_problem_free(p);
          tb_threads_destroy(&ctx, ctx.threads);
        }
      }
}
