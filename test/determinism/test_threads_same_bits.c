// The same λ for any number of threads, bit for bit, for every solver and order.
#include "solving.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 400 };

// Every solver and order on one problem; the hash of each answer.
static int hash_all(tbContext* ctx, const tbProblem* p, uint64_t* hash)
{
  int runs = 0;
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  for (int i = 0; i < tb_solver_count(); i++)
    for (int order = 0; order < TB_ORDER_COUNT; order++) {
      bool sweeps = tb_solver_at(i)->needs == TB_FORM_SWEEP;
      hash[runs] = 0;
      if (order > 0 && !sweeps) { // the order is nothing to it
        runs++;
        continue;
      }
      tbSolveOptions o = tb_default_solve_options();
      o.solver = tb_solver_at(i)->name;
      o.order = (tbOrder)order;
      o.max_iterations = sweeps ? 5 : 2;
      memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
      tbSolveResult r = {0};
      hash[runs] = 0;
      if (!test_pick_model(tb_solver_at(i), p, &o.model)) {
        runs++;
        continue;
      }
      CHECK_OK(ctx, tb_solve(ctx, p, &o, lambda, &r));
      hash[runs++] =
          test_hash(lambda, (size_t)p->nrow * sizeof *lambda) ^ test_hash(&r.residual, sizeof r.residual);
    }
  free(lambda);
  return runs;
}

TEST(lambda_has_the_same_bits_for_any_number_of_threads)
{
  static const int counts[] = {1, 2, 3, 8};
  for (int metric = 0; metric < 5; metric++) {
    uint64_t reference[MAX_RUNS], hash[MAX_RUNS];
    for (int t = 0; t < 4; t++) {
      tbContext ctx = tb_default_context();
      CHECK_OK(&ctx, tb_threads_create(&ctx, counts[t], &ctx.threads));
      tbManufacture spec = tb_default_manufacture();
      spec.contacts = metric >= TB_MAKE_SPARSE ? 270 : 600; // more than one piece of every loop
      spec.bodies = spec.contacts * 2 / 3;
      spec.metric = metric;
      spec.all_laws = true;
      tbProblem* p = NULL;
      double* exact = NULL;
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
      int runs = hash_all(&ctx, p, t == 0 ? reference : hash);
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
