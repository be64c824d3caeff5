#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tbSolveResult cases_solve(const tbProblem* p, const tbSolveOptions* o, double* u)
{
  tbContext ctx = tb_default_context();
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  tbJudge* judge = NULL;
  tbSolveResult r = {.outcome = TB_FAILED};
  tbResidual again;
  CHECK_OK(&ctx, tb_solve(&ctx, p, o, lambda, &r));
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
  for (int i = 0; i < p->nrow; i++) CHECK(isfinite(lambda[i]));
  tb_judge_measure(judge, lambda, o->model, o->directions, &again, u, NULL);
  double number = o->model == TB_MODEL_CONE ? again.fclib : again.model;
  CHECK(memcmp(&again, &r.residual, sizeof again) == 0);
  CHECK((number <= o->tolerance) == (r.outcome == TB_CONVERGED));
  tb_judge_free(&ctx, judge);
  free(lambda);
  return r;
}

// ---- one contact ----

void cases_one_contact(const tbSolveOptions* options)
{
  // W = I/2. Velocities without contact, and impulses by hand: λ_n = −2 u_n without the lift.
  static const struct {
    double q[3], lambda[3];
  } cases[] = {{{1, 3, 0}, {0, 0, 0}}, {{-1, 0.3, 0.4}, {2, -0.6, -0.8}}, {{-1, 3, 4}, {2, -0.6, -0.8}}};
  for (int i = 0; i < 3; i++) {
    tbContext ctx = tb_default_context();
    tbBuilder* b = NULL;
    tbProblem* p = NULL;
    double J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5, lambda[3] = {0};
    REQUIRE(tb_builder_create(&ctx, "one contact", &b) == TB_OK);
    tb_builder_particle(b, 3, 2, cases[i].q, NULL);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 3, J);
    CHECK_OK(&ctx, tb_builder_finish(b, &p));
    REQUIRE(p);
    tbSolveOptions o = *options;
    o.tolerance = 1e-12;
    tbSolveResult r;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_CONVERGED);
    for (int j = 0; j < 3; j++) CHECK_NEAR(lambda[j], cases[i].lambda[j], 1e-10);
    tb_problem_free(p);
  }
}

// ---- manufactured ----

int cases_manufactured(const tbSolveOptions* options, int count)
{
  int converged = 0;
  for (int seed = 0; seed < count; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed;
    spec.contacts = 2 + seed % 19;
    spec.bodies = spec.contacts;
    spec.mu_max = 0.8;
    spec.metric = seed % 5;
    spec.dimension = seed % 3 == 0 ? 2 : 3;
    spec.all_laws = seed % 2 && options->model == TB_MODEL_CONE;
    spec.compliant = seed % 7 == 0;
    tbProblem* p = NULL;
    double* exact = NULL;
    CHECK_OK(&ctx, tb_problem_manufacture(&ctx, &spec, &p, &exact));
    if (!p) return converged;
    tbSolveOptions o = *options;
    o.tolerance = 1e-8;
    converged += cases_solve(p, &o, NULL).outcome == TB_CONVERGED;
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
  return converged;
}

// ---- hard ----

tbProblem* cases_tower(tbContext* ctx, int n)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double up[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, down[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1}, mu = 0.5;
  double falling[3] = {-1, 0.02, 0.01};
  if (tb_builder_create(ctx, "tower", &b) != TB_OK) return NULL;
  for (int i = 0; i < n; i++) tb_builder_particle(b, 3, 1, falling, NULL);
  for (int i = 0; i < n; i++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    if (i > 0) tb_builder_jacobian(b, 3 * i - 3, 3, down);
    tb_builder_jacobian(b, 3 * i, 3, up);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

// A unit cube of 1 kg, falling and pushed sideways, on its four corners.
static tbProblem* box_with_copies(tbContext* ctx, int copies, double mu)
{
  static const double inertia[9] = {1 / 6., 0, 0, 0, 1 / 6., 0, 0, 0, 1 / 6.};
  double v[6] = {0.3, 0.1, -1, 0.2, 0, 0};
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  if (tb_builder_create(ctx, "box", &b) != TB_OK) return NULL;
  tb_builder_rigid(b, 1, inertia, v, NULL);
  for (int i = 0; i < 4 * copies; i++) {
    double x = i & 1 ? 0.5 : -0.5, y = i & 2 ? 0.5 : -0.5, z = -0.5; // n = e_z, t = e_x, b = e_y
    double J[18] = {0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 6, J);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static tbProblem* heavy_on_light(tbContext* ctx, double ratio)
{
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 8, spec.bodies = 8, spec.mass_ratio = ratio, spec.mu_max = 0.5;
  tbProblem* p = NULL;
  double* exact = NULL;
  CHECK_OK(ctx, tb_problem_manufacture(ctx, &spec, &p, &exact));
  tb_manufacture_free(ctx, exact);
  return p;
}

static tbProblem* squeezed(tbContext* ctx)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double up[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, down[9] = {-1, 0, 0, 0, 1, 0, 0, 0, -1}, mu = 0.5;
  double v[3] = {0, 0.3, 0}, closing[3] = {-1, 0, 0};
  if (tb_builder_create(ctx, "squeezed", &b) != TB_OK) return NULL;
  tb_builder_particle(b, 3, 1, v, NULL);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, closing, NULL);
  tb_builder_jacobian(b, 0, 3, up);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, closing, NULL);
  tb_builder_jacobian(b, 0, 3, down);
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

void cases_hard(const tbSolveOptions* options, bool solved[4])
{
  tbContext ctx = tb_default_context();
  tbProblem* p[5] = {box_with_copies(&ctx, 10, 0.5), heavy_on_light(&ctx, 1e8), box_with_copies(&ctx, 1, 0),
                     box_with_copies(&ctx, 1, 5), squeezed(&ctx)};
  for (int i = 0; i < 5; i++) {
    REQUIRE(p[i]);
    tbSolveOptions o = *options;
    o.tolerance = 1e-8;
    o.max_iterations = 3000;
    tbSolveResult r = cases_solve(p[i], &o, NULL);
    if (i < 4) solved[i] = r.outcome == TB_CONVERGED;
    if (i == 4) CHECK(isfinite(r.residual.fclib) && r.residual.penetration > 0.5);
    tb_problem_free(p[i]);
  }
}
