// The judge against problems whose answer is known, and against perturbations of it.
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbManufacture spec_for(int seed)
{
  static const double ratios[] = {1, 1e2, 1e4, 1e6}, frictions[] = {0, 0.3, 1, 10};
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 1 + seed % 23;
  s.dimension = seed % 7 == 0 ? 2 : 3;
  s.mass_ratio = ratios[seed % 4];
  s.mu_max = frictions[seed / 4 % 4];
  s.metric = seed % 5;
  s.all_laws = seed % 3 != 0;
  s.redundant = seed % 2 == 0;
  s.compliant = seed % 11 == 0 && s.metric < TB_MAKE_EXPLICIT;
  return s;
}

TEST(judge_accepts_the_exact_solution_of_500_manufactured_problems)
{
  double worst = 0;
  for (int seed = 0; seed < 500; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed);
    tbProblem* p = NULL;
    double* lambda = NULL;
    tbJudge* judge = NULL;
    CHECK_OK(&ctx, tb_problem_manufacture(&ctx, &spec, &p, &lambda));
    REQUIRE(p);
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
    tbResidual r;
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
    if (!(r.fclib <= 1e-12)) test_failed(__FILE__, __LINE__, "seed %d: residual %g", seed, r.fclib);
    if (r.fclib > worst) worst = r.fclib;
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
  CHECK(worst > 0); // a judge that always says zero is no judge
}

// A perturbation that moves λ_i within a face of the solution set is no error; the bias then shows it in u.
TEST(judge_grows_when_any_impulse_moves)
{
  for (int seed = 0; seed < 500; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed);
    spec.redundant = false;
    spec.bodies = spec.contacts; // few constraints per body: W is positive definite on most of them
    tbProblem* p = NULL;
    double* lambda = NULL;
    tbJudge* judge = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    REQUIRE(tb_judge_create(&ctx, p, &judge) == TB_OK);
    tbResidual exact, moved;
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &exact, NULL, NULL);
    for (int i = 0; i < p->nrow; i++) {
      double keep = lambda[i];
      for (int sign = -1; sign <= 1; sign += 2) {
        lambda[i] = keep + sign * 1e-3;
        tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &moved, NULL, NULL);
        if (!(moved.absolute > exact.absolute + 1e-12))
          test_failed(__FILE__, __LINE__, "seed %d row %d: %g does not grow from %g", seed, i, moved.absolute,
                      exact.absolute);
      }
      lambda[i] = keep;
    }
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}
