// SPDX-License-Identifier: Apache-2.0
// Merit functions, the rules that end runs by them, and frozen limits of friction.
#include "solve/cases.h"
#include "solve/merit.h"

#include <math.h>
#include <string.h>

static double merit_of(const Case* c, tbMerit merit, const double* lambda)
{
  tbContext ctx = tb_default_context();
  tbSolveOptions o = tb_default_solve_options();
  tbRun run = {.p = c->p, .o = &o};
  tbDelassus* W = NULL;
  double u[400], theta = INFINITY;
  o.merit = merit;
  CHECK(c->p->nrow <= 400);
  CHECK_OK(&ctx, tb_delassus_create(&ctx, c->p, 0, &W));
  CHECK_OK(&ctx, tb_judge_create(&ctx, c->p, &run.judge));
  run.W = W;
  if (W && run.judge && c->p->nrow <= 400) theta = tb_merit(&run, lambda, u);
  tb_judge_free(&ctx, run.judge);
  tb_delassus_free(&ctx, W);
  return theta;
}

TEST(merit_functions_vanish_at_solutions_and_only_there)
{
  for (int seed = 0; seed < 24; seed++) {
    tbManufacture spec = tb_default_manufacture();
    spec.seed = 300 + (uint64_t)seed, spec.contacts = 12, spec.compliant = seed % 2;
    spec.all_laws = seed % 3 == 1, spec.tensors = seed % 3 == 2;
    Case c;
    if (!cases_make(&c, &spec)) return;
    for (int m = 0; m < TB_MERIT_COUNT; m++) {
      if (m == TB_MERIT_ITERATE) continue;
      double at = merit_of(&c, (tbMerit)m, c.exact), none = merit_of(&c, (tbMerit)m, c.lambda);
      if (!(at < 1e-9 * none))
        test_failed(__FILE__, __LINE__, "%s, seed %d: %g at the solution, %g without impulses",
                    tb_merit_name((tbMerit)m), seed, at, none);
      for (int i = 0; i < c.p->nrow; i += 5) {
        double kept = c.exact[i];
        c.exact[i] += 0.01 * (1 + fabs(kept));
        if (!(merit_of(&c, (tbMerit)m, c.exact) > 1e3 * at + 1e-9 * none))
          test_failed(__FILE__, __LINE__, "%s, seed %d: does not see row %d", tb_merit_name((tbMerit)m), seed,
                      i);
        c.exact[i] = kept;
      }
    }
    cases_drop(&c);
  }
}

// ‖λ‖_∞ is that of the iterate, and nothing else.
TEST(the_merit_of_the_iterate_is_its_largest_impulse)
{
  tbManufacture spec = tb_default_manufacture();
  Case c;
  if (!cases_make(&c, &spec)) return;
  double most = 0;
  for (int i = 0; i < c.p->nrow; i++) most = fmax(most, fabs(c.exact[i]));
  CHECK(merit_of(&c, TB_MERIT_ITERATE, c.exact) == most);
  cases_drop(&c);
}

static tbSolveResult run(const tbProblem* p, const tbSolveOptions* o) { return cases_solve(p, o, NULL); }

TEST(rules_end_runs_and_only_the_judge_calls_them_converged)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 12);
  REQUIRE(p);
  tbSolveOptions o = cases_options("pgs", TB_MODEL_CONE, 5000);
  tbSolveResult full = run(p, &o);
  CHECK(full.outcome == TB_CONVERGED && full.merit == 0);
  for (int m = 0; m < TB_MERIT_COUNT; m++) {
    tbSolveOptions early = o;
    early.merit = (tbMerit)m;
    if (m != TB_MERIT_ITERATE) {
      early.merit_tolerance = 1e-2;
      tbSolveResult r = run(p, &early);
      CHECK(r.outcome == TB_MAX_ITERATIONS && r.iterations < full.iterations / 2);
      CHECK(r.merit <= 1e-2 && r.merit > 0);
      early.merit_tolerance = 1e-14; // the judge is satisfied before
      CHECK(run(p, &early).outcome == TB_CONVERGED);
      early.merit_tolerance = 0;
    }
    early.merit_change = 0.05;
    tbSolveResult r = run(p, &early);
    CHECK(r.outcome == TB_MAX_ITERATIONS && r.iterations < full.iterations && r.iterations > 1);
  }
  tb_problem_free(p);
}

// ‖λ‖_∞ grows when λ starts at zero: with it, growth is no sign of divergence, but it is what was asked for.
TEST(a_merit_that_grows_ends_a_run_as_failed)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 12);
  REQUIRE(p);
  tbSolveOptions o = cases_options("pgs", TB_MODEL_CONE, 5000);
  o.merit = TB_MERIT_ITERATE, o.merit_growth = 1.01;
  tbSolveResult r = run(p, &o);
  CHECK(r.outcome == TB_FAILED && r.iterations < 5);
  o.merit = TB_MERIT_NATURAL_MAP, o.merit_growth = 10; // which falls, but for a little
  CHECK(run(p, &o).outcome == TB_CONVERGED);
  tb_problem_free(p);
}

// ---- frozen limits ----

// A particle whose normal and tangent are coupled by a second contact: the BLCP of frozen bounds by itself.
TEST(frozen_limits_are_those_of_normal_impulses_without_friction)
{
  static const char* const methods[] = {"murty", "bpp"};
  tbContext ctx = tb_default_context();
  for (int m = 0; m < 2; m++)
    for (int seed = 0; seed < 20; seed++) {
      tbManufacture spec = tb_default_manufacture();
      spec.seed = 40 + (uint64_t)seed, spec.contacts = 6, spec.mu_max = 0.6;
      Case c;
      if (!cases_make(&c, &spec)) return;
      tbSolveOptions o = cases_options(methods[m], TB_MODEL_FRICTIONLESS, 1000);
      double normal[18] = {0}, frozen[18] = {0}, u[18];
      tbSolveResult r;
      o.tolerance = 1e-12;
      REQUIRE(c.p->nrow == 18);
      CHECK_OK(&ctx, tb_solve(&ctx, c.p, &o, normal, &r));
      CHECK(r.outcome == TB_CONVERGED);
      o.model = TB_MODEL_BOX, o.limits = TB_LIMITS_FROZEN;
      CHECK_OK(&ctx, tb_solve(&ctx, c.p, &o, frozen, &r));
      tbJudge* judge = NULL;
      CHECK_OK(&ctx, tb_judge_create(&ctx, c.p, &judge));
      tbResidual residual;
      tb_judge_measure(judge, frozen, TB_MODEL_BOX, 8, &residual, u, NULL);
      tb_judge_free(&ctx, judge);
      CHECK((r.outcome == TB_CONVERGED) == (residual.model <= o.tolerance));
      double size = fmax(residual.norm_lambda, residual.norm_u);
      for (int k = 0; k < 6 && r.outcome != TB_CONVERGED; k++) {
        double most = c.p->param[c.p->param_adr[k]] * fmax(normal[3 * k], 0);
        for (int i = 0; i < 3; i++) { // x − clamp(x − u) = 0
          double lo = i ? -most : 0, hi = i ? most : INFINITY, x = frozen[3 * k + i];
          CHECK_NEAR(x, fmin(fmax(x - u[3 * k + i], lo), hi), 1e-6 * size);
        }
      }
      cases_drop(&c);
    }
}
