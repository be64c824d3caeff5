// SPDX-License-Identifier: Apache-2.0
// Iterative constraint anticipation.
#include "solve/cases.h"

#include <string.h>

TEST(ica_solves_one_contact_exactly)
{
  tbSolveOptions o = cases_options("ica", TB_MODEL_CONE, 200);
  cases_one_contact(&o);
}

static tbManufacture metrics_laws(int seed)
{
  tbManufacture s = cases_metrics(seed);
  s.all_laws = seed % 2;
  return s;
}

static tbManufacture soft_chain(int seed)
{
  tbManufacture s = cases_mild(seed);
  s.metric = TB_MAKE_SPARSE;
  s.redundant = seed % 2;
  return s;
}

TEST(ica_solves_problems_of_every_metric)
{
  tbSolveOptions o = cases_options("ica", TB_MODEL_CONE, 5000);
  CHECK(cases_failed(&o, metrics_laws, 60) <= 1);
  CHECK(cases_failed(&o, soft_chain, 60) <= 1);
}

// Without sparse blocks W_D is W, and four sweeps are an iteration.
TEST(ica_on_rigid_bodies_is_blocked_gauss_seidel)
{
  for (int seed = 0; seed < 10; seed++) {
    Case c;
    tbManufacture spec = cases_mild(seed);
    spec.metric = seed % 2 ? TB_MAKE_RIGID : TB_MAKE_PARTICLES;
    REQUIRE(cases_make(&c, &spec));
    tbSolveOptions o = cases_options("ica", TB_MODEL_CONE, 2);
    double by_ica[64] = {0}, by_bgs[64] = {0};
    REQUIRE(c.p->nrow <= 64);
    tbSolveResult r;
    o.tolerance = 0;
    CHECK_OK(&c.ctx, tb_solve(&c.ctx, c.p, &o, by_ica, &r));
    o.solver = "bgs", o.max_iterations = 8;
    CHECK_OK(&c.ctx, tb_solve(&c.ctx, c.p, &o, by_bgs, &r));
    for (int i = 0; i < c.p->nrow; i++) CHECK_NEAR(by_ica[i], by_bgs[i], 1e-12);
    cases_drop(&c);
  }
}

TEST(ica_agrees_with_gauss_seidel_on_a_soft_block)
{
  tbSolveOptions o = cases_options("ica", TB_MODEL_CONE, 20000);
  cases_agree_on_soft_blocks(&o, (double[]){0.1, 1, 10});
}

// Verschoor and Jalba 2019, §6.2.5: conjugate residuals need 2 to 8 times fewer iterations, and the stiffer
// the body the more so.
TEST(ica_falls_behind_conjugate_residuals_as_bodies_stiffen)
{
  tbContext ctx = tb_default_context();
  double ratio[2];
  for (int stiff = 0; stiff < 2; stiff++) {
    tbProblem* p = cases_lattice(&ctx, 5, stiff ? 300 : 3);
    REQUIRE(p);
    tbSolveOptions o = cases_options("ica", TB_MODEL_CONE, 50000);
    o.tolerance = 5e-5; // theirs
    tbSolveResult ica = cases_solve(p, &o, NULL);
    o.solver = "cr";
    tbSolveResult cr = cases_solve(p, &o, NULL);
    CHECK(ica.outcome == TB_CONVERGED && cr.outcome == TB_CONVERGED);
    ratio[stiff] = (double)ica.iterations / cr.iterations;
    printf("[%d, cr %d] ", ica.iterations, cr.iterations);
    tb_problem_free(p);
  }
  CHECK(ratio[1] > 2 && ratio[1] > 2 * ratio[0]);
}
