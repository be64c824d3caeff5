// Staggered projections: what the paper promises of them.
#include "test.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbSolveResult solve(tbContext* ctx, const tbProblem* p, tbModel model, int iterations, double* lambda)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {.outcome = TB_FAILED};
  o.solver = "staggered";
  o.model = model;
  o.max_iterations = iterations;
  CHECK_OK(ctx, tb_solve(ctx, p, &o, lambda, &r));
  return r;
}

static tbManufacture spec_for(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 2 + seed % 25;
  s.bodies = 1 + s.contacts / (1 + seed % 3);
  s.dimension = seed % 4 == 3 ? 2 : 3;
  s.mu_max = seed % 7 == 0 ? 0 : 0.8;
  s.metric = seed % 4; // symmetric ones
  s.redundant = seed % 3 == 0;
  s.all_laws = seed % 5 == 4;
  return s;
}

TEST(staggered_projections_solve_manufactured_problems)
{
  int solved = 0, total = 300, iterations = 0;
  for (int seed = 0; seed < total; seed++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    double* exact = NULL;
    tbManufacture spec = spec_for(seed);
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveResult r = solve(&ctx, p, TB_MODEL_CONE, 400, lambda);
    solved += r.outcome == TB_CONVERGED;
    iterations += r.iterations;
    CHECK((r.outcome == TB_CONVERGED) == (r.residual.fclib <= 1e-8));
    free(lambda);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
  printf("[%d of %d, %.1f iterations each] ", solved, total, (double)iterations / total);
  CHECK(solved >= 285);
}

// However early it is stopped, a contact projection comes last: nothing penetrates.
TEST(staggered_projections_never_penetrate)
{
  for (int seed = 0; seed < 60; seed++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    double* exact = NULL;
    tbManufacture spec = spec_for(seed);
    spec.all_laws = false;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    o.solver = "staggered";
    o.tolerance = 1e-14;
    o.max_iterations = 6;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.iterations == 0 || r.residual.penetration <= 1e-3 * r.residual.norm_q);
    free(lambda);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}

// A block with many contacts under it: more contacts than velocities, so that these are solved for; the same
// problem with W given is solved in the impulses.
static tbProblem* slab(tbContext* ctx, int contacts, double mu, bool as_matrix, const double v[6])
{
  static const double inertia[9] = {0.3, 0, 0, 0, 0.4, 0, 0, 0, 0.5};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, "slab", &b));
  if (!as_matrix) tb_builder_rigid(b, 2, inertia, v, NULL);
  if (as_matrix) {
    tbProblem* by_metric = slab(ctx, contacts, mu, false, v);
    tbDelassus* W = NULL;
    CHECK_OK(ctx, tb_delassus_create(ctx, by_metric, TB_FORM_DENSE, &W));
    int n = by_metric->nrow, *ptr = malloc(((size_t)n + 1) * sizeof(int)),
        *col = malloc((size_t)(n * n) * sizeof(int));
    for (int i = 0; i <= n; i++) ptr[i] = i * n;
    for (int i = 0; i < n * n; i++) col[i] = i % n;
    tb_builder_explicit(b, n, ptr, col, W->dense);
    for (int k = 0; k < contacts; k++) tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, W->q + 3 * k, NULL);
    free(ptr);
    free(col);
    tb_delassus_free(ctx, W);
    tb_problem_free(by_metric);
  }
  for (int k = 0; k < contacts && !as_matrix; k++) {
    double x = cos(2.4 * k) * (0.5 + 0.02 * k), y = sin(2.4 * k) * (0.5 + 0.02 * k), z = -0.2;
    double J[18] = {0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 6, J);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static void velocity_of(tbContext* ctx, const tbProblem* p, const double* lambda, double* u)
{
  tbJudge* judge = NULL;
  tbResidual r;
  CHECK_OK(ctx, tb_judge_create(ctx, p, &judge));
  tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, u, NULL);
  tb_judge_free(ctx, judge);
}

// Sliding would leave the share of each contact, and with it the motion, open; sticking and no friction do
// not.
TEST(velocities_and_impulses_give_the_same_motion)
{
  enum { CONTACTS = 24 };
  const double gentle[6] = {0.1, 0.05, -2, 0.03, -0.02, 0.1};
  const tbModel models[] = {TB_MODEL_FRICTIONLESS, TB_MODEL_CONE, TB_MODEL_POLYHEDRAL, TB_MODEL_BOX};
  tbContext ctx = tb_default_context();
  for (int m = 0; m < 4; m++) {
    double lambda[2][3 * CONTACTS] = {{0}}, u[2][3 * CONTACTS];
    for (int form = 0; form < 2; form++) {
      tbProblem* p = slab(&ctx, CONTACTS, 0.6, form == 1, gentle);
      REQUIRE(p);
      CHECK(solve(&ctx, p, models[m], 200, lambda[form]).residual.model < 1e-7);
      velocity_of(&ctx, p, lambda[form], u[form]);
      tb_problem_free(p);
    }
    for (int i = 0; i < 3 * CONTACTS; i++) CHECK_NEAR(u[0][i], u[1][i], 1e-6);
  }
}

TEST(friction_as_warm_start_saves_iterations)
{
  enum { CONTACTS = 24 };
  const double v[6] = {1, 0.5, -2, 0.3, -0.2, 1};
  tbContext ctx = tb_default_context();
  double lambda[3 * CONTACTS] = {0};
  tbProblem* p = slab(&ctx, CONTACTS, 0.3, false, v);
  REQUIRE(p);
  int cold = solve(&ctx, p, TB_MODEL_CONE, 2000, lambda).iterations;
  for (int i = 0; i < 3 * CONTACTS; i += 3) lambda[i] = 0; // the normal impulses are not needed
  int warm = solve(&ctx, p, TB_MODEL_CONE, 2000, lambda).iterations;
  CHECK(warm <= 2 && cold > warm);
  tb_problem_free(p);
}

TEST(staggered_projections_survive_the_hard_cases)
{
  tbContext ctx = tb_default_context();
  // ten times the same contact, and two planes that close on a body
  for (int squeezed = 0; squeezed < 2; squeezed++)
    for (int heavy = 0; heavy < 2; heavy++) {
      const double up[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, down[9] = {0, 0, -1, 1, 0, 0, 0, -1, 0};
      const double mu = heavy ? 5 : 0.5, closing[3] = {squeezed ? -1 : 0, 0, 0}, v[3] = {3, 1, -4};
      tbBuilder* b = NULL;
      tbProblem* p = NULL;
      REQUIRE(tb_builder_create(&ctx, "hard", &b) == TB_OK);
      tb_builder_particle(b, 3, heavy ? 1e8 : 1, v, NULL);
      for (int i = 0; i < 10; i++) {
        tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, closing, NULL);
        tb_builder_jacobian(b, 0, 3, squeezed && i % 2 ? down : up);
      }
      CHECK_OK(&ctx, tb_builder_finish(b, &p));
      double lambda[30] = {0};
      tbSolveResult r = solve(&ctx, p, TB_MODEL_CONE, 200, lambda);
      CHECK(squeezed || r.outcome == TB_CONVERGED);
      for (int i = 0; i < 30; i++) CHECK(isfinite(lambda[i]));
      tb_problem_free(p);
    }
}
