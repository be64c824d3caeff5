// SPDX-License-Identifier: Apache-2.0
// All joints as one block of blocked Gauss–Seidel.
#include "solve/cases.h"

// A chain of particles from the world down, each hung on the one above, the last one heavy and dragged over a
// plane. `twice`: every joint is there two times.
static tbProblem* chain(tbContext* ctx, int n, double load, double compliance, bool twice)
{
  static const double own[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, other[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1};
  double soft[3] = {compliance, compliance, compliance}, mu = 0.4;
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tb_builder_create(ctx, "chain", &b);
  for (int i = 0; i < n; i++)
    tb_builder_particle(b, 3, i == n - 1 ? load : 1, (double[]){-0.1, 0.3 + 0.01 * i, 0.2}, NULL);
  for (int i = 0; i < n; i++)
    for (int copy = 0; copy < (twice ? 2 : 1); copy++) {
      tb_builder_contact(b, TB_LAW_BILATERAL, 3, NULL, NULL, compliance > 0 ? soft : NULL);
      tb_builder_jacobian(b, 3 * i, 3, own);
      if (i > 0) tb_builder_jacobian(b, 3 * (i - 1), 3, other);
    }
  for (int i = n / 2; i < n; i += n / 2 - 1) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 3 * i, 3, own);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(joints_as_one_block_make_a_chain_as_quick_as_a_contact)
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < 3; i++) {
    tbProblem* p = chain(&ctx, 60, i == 1 ? 1e4 : 1, i == 2 ? 0.5 : 0, false);
    REQUIRE(p);
    tbSolveOptions o = cases_options("bgs", TB_MODEL_CONE, 2000);
    tbSolveResult alone = cases_solve(p, &o, NULL);
    o.blocks = TB_BLOCKS_JOINTS;
    tbSolveResult together = cases_solve(p, &o, NULL);
    CHECK(together.outcome == TB_CONVERGED);
    if (!((i < 2 ? 20 : 1) * together.iterations < alone.iterations))
      test_failed(__FILE__, __LINE__, "chain %d: %d sweeps, %d without the block", i, together.iterations,
                  alone.iterations);
    tb_problem_free(p);
  }
}

TEST(joints_that_say_the_same_twice_are_solved_as_one_block)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = chain(&ctx, 30, 100, 0, true);
  REQUIRE(p);
  tbSolveOptions o = cases_options("bgs", TB_MODEL_CONE, 400);
  o.blocks = TB_BLOCKS_JOINTS;
  CHECK(cases_solve(p, &o, NULL).outcome == TB_CONVERGED);
  tb_problem_free(p);
}

// Where there are no joints nothing changes.
TEST(contacts_without_joints_are_swept_as_before)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_tower(&ctx, 8);
  REQUIRE(p);
  tbSolveOptions o = cases_options("bgs", TB_MODEL_CONE, 2000);
  tbSolveResult alone = cases_solve(p, &o, NULL);
  o.blocks = TB_BLOCKS_JOINTS;
  tbSolveResult together = cases_solve(p, &o, NULL);
  CHECK(alone.outcome == TB_CONVERGED && together.iterations == alone.iterations);
  CHECK(alone.residual.absolute == together.residual.absolute);
  tb_problem_free(p);
}

// A wall: what a layer settles by itself, sweeps through all layers need not settle again and again.
TEST(layers_as_blocks_need_fewer_passes_through_a_wall)
{
  tbContext ctx = tb_default_context();
  tbGenerateKind kind;
  tbProblem* p = NULL;
  REQUIRE(tb_generate_from_name("wall", &kind));
  tbGenerate spec = tb_default_generate(kind);
  spec.size = 4;
  CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &p));
  REQUIRE(p);
  tbSolveOptions o = cases_options("bgs", TB_MODEL_CONE, 3000);
  o.order = TB_ORDER_LAYERS, o.tolerance = 1e-6;
  tbSolveResult swept = cases_solve(p, &o, NULL);
  o.blocks = TB_BLOCKS_LAYERS;
  tbSolveResult five = cases_solve(p, &o, NULL);
  o.sweeps = 1;
  tbSolveResult one = cases_solve(p, &o, NULL);
  CHECK(swept.outcome == TB_CONVERGED && five.outcome == TB_CONVERGED);
  if (!(2 * five.iterations < swept.iterations))
    test_failed(__FILE__, __LINE__, "%d passes, %d without blocks", five.iterations, swept.iterations);
  CHECK(one.iterations == swept.iterations && one.residual.absolute == swept.residual.absolute);
  tb_problem_free(p);
}
