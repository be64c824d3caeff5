// SPDX-License-Identifier: Apache-2.0
// Staggered projections by conjugate residuals: the same answers as on W and as `cr`, without W.
#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbSolveOptions options(tbPreconditioner preconditioner, int max_iterations)
{
  tbSolveOptions o = cases_options("staggered-cr", TB_MODEL_CONE, max_iterations);
  o.preconditioner = preconditioner;
  return o;
}

static tbManufacture gentle(int seed) // friction so small that the velocity is unique
{
  tbManufacture s = cases_metrics(seed);
  s.mu_max = 0.2;
  return s;
}

static tbManufacture repeated(int seed)
{
  tbManufacture s = gentle(seed);
  s.redundant = true;
  return s;
}

static tbManufacture rough(int seed)
{
  tbManufacture s = cases_metrics(seed);
  s.mu_max = 3;
  return s;
}

TEST(staggered_cr_solves_problems_of_every_metric)
{
  for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++) {
    tbSolveOptions o = options((tbPreconditioner)i, 80000);
    cases_one_contact(&o);
    CHECK(cases_failed(&o, gentle, 18) == 0);
    CHECK(cases_failed(&o, repeated, 18) == 0);
  }
  tbSolveOptions o = options(TB_PRECONDITIONER_SCHUR, 20000);
  CHECK(cases_failed(&o, rough, 18) <= 1);
}

// The largest difference from another method's velocities.
static double difference(const tbProblem* p, const tbSolveOptions* o, const char* other)
{
  double *u = calloc((size_t)p->nrow + 1, sizeof *u), *v = calloc((size_t)p->nrow + 1, sizeof *v), worst = 0;
  tbSolveOptions reference = *o;
  reference.solver = other;
  CHECK(cases_solve(p, o, u).outcome == TB_CONVERGED);
  CHECK(cases_solve(p, &reference, v).outcome == TB_CONVERGED);
  for (int i = 0; i < p->nrow; i++) worst = fmax(worst, fabs(u[i] - v[i]));
  free(u), free(v);
  return worst;
}

LONG_TEST(staggered_cr_agrees_with_staggered_and_cr)
{
  for (int seed = 0; seed < 12; seed++) {
    Case c;
    tbManufacture spec = gentle(seed);
    tbSolveOptions o = options(TB_PRECONDITIONER_SCHUR, 20000);
    REQUIRE(cases_make(&c, &spec));
    CHECK(difference(c.p, &o, "staggered") <= 1e-5);
    CHECK(difference(c.p, &o, "cr") <= 1e-5);
    cases_drop(&c);
  }
  for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++) {
    tbSolveOptions o = options((tbPreconditioner)i, 80000);
    cases_agree_on_soft_blocks(&o, (double[]){0.1, 3, 100});
  }
}

TEST(staggered_cr_takes_bounds_joints_and_every_smooth_law)
{
  tbSolveOptions o = options(TB_PRECONDITIONER_SCHUR, 20000);
  cases_take_every_law(&o);
}

// Two nodes of a soft bar, a rigid box that lies on them and slides, a motor that pushes it, and a row that
// holds the bar: sparse and dense blocks, normal rows, friction, bounds and a joint in one problem.
static tbProblem* box_on_a_bar(tbContext* ctx, double mu, double compliance)
{
  static const double inertia[9] = {0.3, 0, 0, 0, 0.4, 0, 0, 0, 0.5}, v_bar[6] = {0, 0, -0.1, 0.2, 0, -0.1},
                      v_box[6] = {1, 0.2, -2, 0, 0.3, 0.1}, held[3] = {1, 0, 0}, limits[2] = {-0.3, 0.3};
  static const int ptr[7] = {0, 2, 4, 6, 8, 10, 12}, col[12] = {0, 3, 1, 4, 2, 5, 0, 3, 1, 4, 2, 5};
  static const double val[12] = {3, -2, 3, -2, 3, -2, -2, 3, -2, 3, -2, 3};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  int bar, box;
  CHECK_OK(ctx, tb_builder_create(ctx, "box on a bar", &b));
  tb_builder_sparse(b, 6, ptr, col, val, v_bar, &bar);
  tb_builder_rigid(b, 2, inertia, v_box, &box);
  for (int k = 0; k < 2; k++) {
    double x = k ? 0.5 : -0.5, y = 0.1, z = -0.2, R[3] = {compliance, 0, 0};
    double on_box[18] = {0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x};
    double on_bar[9] = {0, 0, -1, -1, 0, 0, 0, -1, 0}, ground[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, R);
    tb_builder_jacobian(b, bar + 3 * k, 3, on_bar);
    tb_builder_jacobian(b, box, 6, on_box);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, bar + 3 * k, 3, ground);
  }
  tb_builder_contact(b, TB_LAW_BILATERAL, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, bar, 3, held);
  tb_builder_contact(b, TB_LAW_BOX, 1, limits, NULL, NULL);
  tb_builder_jacobian(b, box, 6, (double[6]){0, 1, 0, 0, 0, 0});
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

LONG_TEST(staggered_cr_takes_soft_and_rigid_bodies_with_and_without_friction)
{
  tbContext ctx = tb_default_context();
  for (int soft = 0; soft < 2; soft++)
    for (int rough = 0; rough < 3; rough++)
      for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++) {
        tbProblem* p = box_on_a_bar(&ctx, 0.25 * rough, soft ? 0.05 : 0);
        REQUIRE(p);
        tbSolveOptions o = options((tbPreconditioner)i, 5000);
        CHECK(difference(p, &o, "staggered") <= 1e-6);
        CHECK(difference(p, &o, "cr") <= 1e-6);
        o.model = TB_MODEL_FRICTIONLESS;
        CHECK(difference(p, &o, "cr") <= 1e-6);
        CHECK(rough > 0 || cases_solve(p, &o, NULL).iterations < 100);
        tb_problem_free(p);
      }
}

LONG_TEST(staggered_cr_does_without_a_factor_of_soft_bodies)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_lattice(&ctx, 5, 10);
  REQUIRE(p && p->nblock == 1);
  tbMetricBlock bare = p->block[0];
  bare.factor = NULL;
  tbProblem twin = *p;
  twin.block = &bare;
  for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++) {
    tbSolveOptions o = options((tbPreconditioner)i, 80000);
    CHECK(difference(&twin, &o, "cr") <= 1e-5);
  }
  tb_problem_free(p);
}

// The same row with biases that differ: as equations they contradict each other.
TEST(staggered_cr_lets_go_of_rows_that_contradict_each_other)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double v[3] = {0.1, 0, -1}, frame[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, mu = 0.5;
  REQUIRE(tb_builder_create(&ctx, "three floors", &b) == TB_OK);
  tb_builder_particle(b, 3, 1, v, NULL);
  for (int k = 0; k < 3; k++) {
    double bias[3] = {(double[]){0.2, 0.1, 0.3}[k]};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
    tb_builder_jacobian(b, 0, 3, frame);
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++) {
    tbSolveOptions o = options((tbPreconditioner)i, 500);
    double start[9] = {0.3, 0, 0, 0.3, 0, 0, 0.3, 0, 0};
    CHECK(cases_solve_from(p, &o, start, NULL).outcome == TB_CONVERGED);
    CHECK_NEAR(start[0], 0, 1e-7);
    CHECK_NEAR(start[3], 0.9, 1e-7); // the highest floor bears it
    CHECK_NEAR(start[6], 0, 1e-7);
    CHECK_NEAR(start[4], -0.1, 1e-7); // and stops it
  }
  tb_problem_free(p);
}

typedef struct {
  int events, last;
} Count;

static void count(void* user, const tbTraceEvent* event)
{
  Count* c = user;
  c->events++;
  c->last = event->iteration;
}

static bool after_40(void* user) { return ((Count*)user)->last >= 40; }

// Inside the programs: every iteration of conjugate residuals is one, traced, and may be the last.
TEST(staggered_cr_counts_the_iterations_inside_its_programs)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_lattice(&ctx, 4, 10);
  REQUIRE(p);
  Count c = {0};
  tbSolveOptions o = options(TB_PRECONDITIONER_FULL, 20000);
  o.trace = count, o.trace_user = &c;
  tbSolveResult r = cases_solve(p, &o, NULL);
  CHECK(r.outcome == TB_CONVERGED && c.events == r.iterations + 1 && c.last == r.iterations);
  tbSolveOptions on_W = cases_options("staggered", TB_MODEL_CONE, 20000);
  tbSolveResult projections = cases_solve(p, &on_W, NULL);
  printf("[%d in %d] ", r.iterations, projections.iterations);
  CHECK(r.iterations > 10 * projections.iterations);
  o.trace = NULL;
  o.max_iterations = 37;
  r = cases_solve(p, &o, NULL);
  CHECK(r.outcome == TB_MAX_ITERATIONS && r.iterations == 37);
  o.max_iterations = 20000;
  o.trace = count, o.cancelled = after_40, o.cancelled_user = &c, c = (Count){0};
  r = cases_solve(p, &o, NULL);
  CHECK(r.outcome == TB_CANCELLED && r.iterations <= 41);
  tb_problem_free(p);
}

TEST(a_warm_start_saves_iterations_of_staggered_cr)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = cases_lattice(&ctx, 5, 10);
  REQUIRE(p && p->nrow == 75);
  double lambda[75] = {0};
  tbSolveOptions o = options(TB_PRECONDITIONER_SCHUR, 20000);
  int cold = cases_solve_from(p, &o, lambda, NULL).iterations;
  for (int i = 0; i < p->nrow; i++) lambda[i] *= 1 + 1e-4 * (i % 3);
  CHECK(2 * cases_solve_from(p, &o, lambda, NULL).iterations < cold);
  tb_problem_free(p);
}

LONG_TEST(staggered_cr_has_the_same_bits_for_any_number_of_threads)
{
  enum { NODES = 12, ROWS = 3 * NODES * NODES };
  double lambda[2][ROWS] = {{0}};
  for (int t = 0; t < 2; t++) {
    tbContext ctx = tb_default_context();
    REQUIRE(tb_threads_create(&ctx, t ? 4 : 1, &ctx.threads) == TB_OK);
    tbProblem* p = cases_lattice(&ctx, NODES, 5); // more than one piece of every vector
    tbSolveOptions o = options(TB_PRECONDITIONER_SCHUR, 150);
    tbSolveResult r;
    REQUIRE(p && p->nrow == ROWS);
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda[t], &r));
    tb_problem_free(p);
    tb_threads_destroy(&ctx, ctx.threads);
  }
  CHECK(memcmp(lambda[0], lambda[1], sizeof lambda[0]) == 0);
}
