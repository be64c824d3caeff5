// SPDX-License-Identifier: Apache-2.0
#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tbSolveOptions cases_options(const char* solver, tbModel model, int max_iterations)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = solver;
  o.model = model;
  o.max_iterations = max_iterations;
  return o;
}

tbSolveResult cases_solve_from(const tbProblem* p, const tbSolveOptions* o, double* lambda, double* u)
{
  tbContext ctx = tb_default_context();
  tbJudge* judge = NULL;
  tbSolveResult r = {.outcome = TB_FAILED};
  tbResidual again;
  CHECK_OK(&ctx, tb_solve(&ctx, p, o, lambda, &r));
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
  if (!judge) return r;
  bool finite = true;
  for (int i = 0; i < p->nrow; i++) finite = finite && isfinite(lambda[i]);
  tb_judge_measure(judge, lambda, o->model, o->directions, &again, u, NULL);
  double number = o->model == TB_MODEL_CONE ? again.fclib : again.model;
  bool honest = memcmp(&again, &r.residual, sizeof again) == 0 &&
                (number <= o->tolerance) == (r.outcome == TB_CONVERGED);
  if (!finite || !honest)
    test_failed(__FILE__, __LINE__, "%s on %s, model %s: %s, said %g, is %g", o->solver, p->name,
                tb_model_name(o->model), finite ? tb_outcome_name(r.outcome) : "not finite",
                o->model == TB_MODEL_CONE ? r.residual.fclib : r.residual.model, number);
  tb_judge_free(&ctx, judge);
  return r;
}

tbSolveResult cases_solve(const tbProblem* p, const tbSolveOptions* o, double* u)
{
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  tbSolveResult r = cases_solve_from(p, o, lambda, u);
  free(lambda);
  return r;
}

// ---- manufactured ----

bool cases_make(Case* c, const tbManufacture* spec)
{
  *c = (Case){.ctx = tb_default_context()};
  CHECK_OK(&c->ctx, tb_problem_manufacture(&c->ctx, spec, &c->p, &c->exact));
  if (c->p) c->lambda = calloc((size_t)c->p->nrow + 1, sizeof *c->lambda);
  return c->p;
}

void cases_drop(Case* c)
{
  tb_manufacture_free(&c->ctx, c->exact);
  tb_problem_free(c->p);
  free(c->lambda);
}

tbManufacture cases_mild(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = s.bodies = 2 + seed % 19;
  s.dimension = seed % 3 == 0 ? 2 : 3;
  s.mu_max = 0.8;
  s.metric = seed % 5;
  s.compliant = seed % 7 == 0;
  return s;
}

tbManufacture cases_mild_laws(int seed)
{
  tbManufacture s = cases_mild(seed);
  s.all_laws = seed % 2;
  return s;
}

tbManufacture cases_metrics(int seed)
{
  tbManufacture s = cases_mild(seed);
  s.metric = seed / 2 % 3;
  return s;
}

tbManufacture cases_harsh(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 2 + seed % 25;
  s.bodies = 1 + s.contacts / (1 + seed % 3);
  s.dimension = seed % 4 == 3 ? 2 : 3;
  s.mu_max = seed % 7 == 0 ? 0 : seed % 7 == 1 ? 5 : 1;
  s.metric = seed % 5;
  s.redundant = seed % 3 == 0;
  s.mass_ratio = seed % 6 == 5 ? 1e8 : 10;
  s.compliant = seed % 11 == 0;
  return s;
}

tbManufacture cases_harsh_laws(int seed)
{
  tbManufacture s = cases_harsh(seed);
  s.all_laws = seed % 2;
  return s;
}

int cases_failed(const tbSolveOptions* options, CasesSpec* spec, int count)
{
  int solved = 0, iterations = 0;
  if (test_quick()) count /= 5;
  for (int seed = 0; seed < count; seed++) {
    Case c;
    tbManufacture made = spec(seed);
    if (!cases_make(&c, &made)) return count;
    tbSolveOptions o = *options;
    o.tolerance = 1e-8;
    tbSolveResult r = cases_solve_from(c.p, &o, c.lambda, NULL);
    solved += r.outcome == TB_CONVERGED;
    iterations += r.iterations;
    cases_drop(&c);
  }
  printf("[%s, %s: %d/%d, %.1f iterations each] ", options->solver, tb_model_name(options->model), solved,
         count, (double)iterations / count);
  return count - solved;
}

void cases_take_every_law(const tbSolveOptions* o)
{
  int taken = 0, solved = 0;
  for (int seed = 0; seed < 40; seed++) {
    Case c;
    tbManufacture spec = cases_metrics(seed);
    spec.all_laws = true;
    spec.contacts = spec.bodies = 2 + seed % 6; // 3-D: before the turn of the polyhedral law comes
    REQUIRE(cases_make(&c, &spec));
    if (!tb_solver_refuses(tb_solver_find(o->solver), c.p, TB_MODEL_CONE)) {
      taken++;
      solved += cases_solve_from(c.p, o, c.lambda, NULL).outcome == TB_CONVERGED;
    }
    cases_drop(&c);
  }
  printf("[%d of %d] ", solved, taken);
  CHECK(taken >= 30 && solved >= taken - 1);
}

// ---- by hand ----

// Closes the builder.
static tbProblem* finish(tbContext* ctx, tbBuilder* b)
{
  tbProblem* p = NULL;
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

static tbBuilder* begin(tbContext* ctx, const char* name)
{
  tbBuilder* b = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, name, &b));
  return b;
}

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

void cases_one_contact(const tbSolveOptions* options)
{
  // W = I/2. Velocities without contact, and impulses by hand: λ_n = −2 u_n without the lift.
  static const struct {
    double q[3], lambda[3];
  } cases[] = {{{1, 3, 0}, {0, 0, 0}}, {{-1, 0.3, 0.4}, {2, -0.6, -0.8}}, {{-1, 3, 4}, {2, -0.6, -0.8}}};
  for (int i = 0; i < 3; i++) {
    tbContext ctx = tb_default_context();
    tbBuilder* b = begin(&ctx, "one contact");
    double mu = 0.5, lambda[3] = {0};
    REQUIRE(b);
    tb_builder_particle(b, 3, 2, cases[i].q, NULL);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 3, identity);
    tbProblem* p = finish(&ctx, b);
    REQUIRE(p);
    tbSolveOptions o = *options;
    o.tolerance = 1e-11;
    if (cases_solve_from(p, &o, lambda, NULL).outcome != TB_CONVERGED)
      test_failed(__FILE__, __LINE__, "%s, case %d", o.solver, i);
    for (int j = 0; j < 3; j++) CHECK_NEAR(lambda[j], cases[i].lambda[j], 1e-9);
    tb_problem_free(p);
  }
}

tbProblem* cases_tower(tbContext* ctx, int n)
{
  double down[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1}, mu = 0.5, falling[3] = {-1, 0.02, 0.01};
  tbBuilder* b = begin(ctx, "tower");
  if (!b) return NULL;
  for (int i = 0; i < n; i++) tb_builder_particle(b, 3, 1, falling, NULL);
  for (int i = 0; i < n; i++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    if (i > 0) tb_builder_jacobian(b, 3 * i - 3, 3, down);
    tb_builder_jacobian(b, 3 * i, 3, identity);
  }
  return finish(ctx, b);
}

tbProblem* cases_box(tbContext* ctx, int copies, double mu, double tilt)
{
  static const double inertia[9] = {1 / 6., 0, 0, 0, 1 / 6., 0, 0, 0, 1 / 6.};
  double v[6] = {0.3, 0.1, -1, 0.2, 0, 0};
  tbBuilder* b = begin(ctx, "box");
  if (!b) return NULL;
  tb_builder_rigid(b, 1, inertia, v, NULL);
  for (int i = 0; i < 4 * copies; i++) {
    double r[3] = {i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, -0.5}, s = tilt * i, J[18];
    double frame[9] = {s, 0, 1, 1, 0, -s, 0, 1, 0}; // n, t, b
    for (int k = 0; k < 3; k++) {
      const double* e = frame + 3 * k;
      memcpy(J + 6 * k, e, 3 * sizeof *e);
      for (int j = 0; j < 3; j++)
        J[6 * k + 3 + j] = r[(j + 1) % 3] * e[(j + 2) % 3] - r[(j + 2) % 3] * e[(j + 1) % 3];
    }
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 6, J);
  }
  return finish(ctx, b);
}

void cases_agree_on_soft_blocks(const tbSolveOptions* options, const double stiffness[3])
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < 3; i++) {
    tbProblem* p = cases_lattice(&ctx, 4, stiffness[i]);
    REQUIRE(p && p->nrow == 48);
    double u[48], of_bgs[48];
    tbSolveOptions o = *options;
    o.tolerance = 1e-10;
    CHECK(cases_solve(p, &o, u).outcome == TB_CONVERGED);
    o.solver = "bgs";
    CHECK(cases_solve(p, &o, of_bgs).outcome == TB_CONVERGED);
    for (int j = 0; j < 48; j++) CHECK_NEAR(u[j], of_bgs[j], 1e-6);
    tb_problem_free(p);
  }
}

tbProblem* cases_squeezed(tbContext* ctx)
{
  double down[9] = {-1, 0, 0, 0, 1, 0, 0, 0, -1}, mu = 0.5, v[3] = {0, 0.3, 0}, closing[3] = {-1, 0, 0};
  tbBuilder* b = begin(ctx, "squeezed");
  if (!b) return NULL;
  tb_builder_particle(b, 3, 1, v, NULL);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, closing, NULL);
  tb_builder_jacobian(b, 0, 3, identity);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, closing, NULL);
  tb_builder_jacobian(b, 0, 3, down);
  return finish(ctx, b);
}

// Planar Coulomb friction, state by state: u = q + W λ with λ_t = s μ λ_n while the tip slides against s.
static int planar_answers(const double W[3], const double q[2], double mu,
                          double answer[CASES_ROD_ANSWERS][3])
{
  double nn = W[0], nt = W[1], tt = W[2], det = nn * tt - nt * nt;
  double stick_n = (nt * q[1] - tt * q[0]) / det, stick_t = (nt * q[0] - nn * q[1]) / det;
  int count = 0;
  memset(answer, 0, CASES_ROD_ANSWERS * sizeof *answer);
  if (q[0] >= 0) count++; // open: λ = 0
  if (stick_n >= 0 && fabs(stick_t) <= mu * stick_n) answer[count][0] = stick_n, answer[count++][1] = stick_t;
  for (int s = -1; s <= 1; s += 2) {
    double n = -q[0] / (nn + s * mu * nt), u_t = q[1] + (nt + s * mu * tt) * n;
    if (n > 0 && s * u_t < 0) answer[count][0] = n, answer[count++][1] = s * mu * n;
  }
  return count;
}

int cases_rod(tbContext* ctx, int dimension, double approach, tbProblem** out,
              double answer[CASES_ROD_ANSWERS][3])
{
  // from the centre to the end that touches; x along the ground, y up; inertia ml²/3
  const double x = 1 / sqrt(5), y = -2 / sqrt(5), mu = 2, about = 1 / 3., axis = 0.01;
  const double W[3] = {1 + x * x / about, -x * y / about, 1 + y * y / about}, q[2] = {-approach, 1};
  tbBuilder* b = begin(ctx, "rod");
  *out = NULL;
  if (!b) return 0;
  if (dimension == 2) {
    double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, about}, v[3] = {q[1], q[0], 0}, J[6] = {0, 1, x, 1, 0, -y};
    tb_builder_dense(b, 3, A, v, NULL);
    tb_builder_contact(b, TB_LAW_COULOMB, 2, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 3, J);
  } else {
    // about · (I − e eᵀ) + axis · e eᵀ for the unit vector e = (x, y, 0) along the rod
    double k = axis - about, v[6] = {q[1], q[0]};
    double inertia[9] = {about + k * x * x, k * x * y, 0, k * x * y, about + k * y * y, 0, 0, 0, about};
    double J[18] = {0, 1, 0, 0, 0, x, 1, 0, 0, 0, 0, -y, 0, 0, 1, y, -x, 0};
    tb_builder_rigid(b, 1, inertia, v, NULL);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 6, J);
  }
  *out = finish(ctx, b);
  return planar_answers(W, q, mu, answer);
}

tbProblem* cases_lattice(tbContext* ctx, int nodes, double stiffness)
{
  int m = nodes, n = 3 * m * m * m, count = 0, step[3] = {3, 3 * m, 3 * m * m};
  int *ptr = calloc((size_t)n + 1, sizeof *ptr), *col = calloc(7 * (size_t)n, sizeof *col);
  double *val = calloc(7 * (size_t)n, sizeof *val), *v = calloc((size_t)n, sizeof *v), mu = 0.5;
  tbBuilder* b = begin(ctx, "lattice");
  if (!b) return NULL;
  for (int i = 0; i < n; i++) {
    int node = i / 3, at[3] = {node % m, node / m % m, node / m / m}, neighbours = 0;
    for (int a = 0; a < 3; a++) neighbours += (at[a] > 0) + (at[a] < m - 1);
    for (int a = 2; a >= 0; a--)
      if (at[a] > 0) col[count] = i - step[a], val[count++] = -stiffness;
    col[count] = i, val[count++] = 1 + stiffness * neighbours;
    for (int a = 0; a < 3; a++)
      if (at[a] < m - 1) col[count] = i + step[a], val[count++] = -stiffness;
    ptr[i + 1] = count;
    v[i] = i % 3 == 2   ? -0.1 - 0.02 * at[2]
           : i % 3 == 0 ? 0.03 + 0.004 * (at[1] - at[0])
                        : 0.01 * (at[0] - at[1]);
  }
  tb_builder_sparse(b, n, ptr, col, val, v, NULL);
  for (int k = 0; k < m * m; k++) {
    double bias[3] = {0.004 * (k % 5), 0, 0}, frame[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
    tb_builder_jacobian(b, 3 * k, 3, frame);
  }
  free(ptr), free(col), free(val), free(v);
  return finish(ctx, b);
}

void cases_converge(const tbSolver* solver, tbManufacture (*spec)(int seed), bool all, double share)
{
  int converged = 0, total = 0;
  for (int seed = 0; seed < 60; seed += test_quick() ? 7 : 1) {
    Case w;
    tbManufacture made = spec(seed);
    REQUIRE(cases_make(&w, &made));
    tbSolveOptions o = cases_options(solver->name, TB_MODEL_CONE, solver->costly ? 300 : 5000);
    bool refused = tb_solver_refuses(solver, w.p, o.model);
    CHECK(!all || !refused);
    total += !refused;
    converged += !refused && cases_solve_from(w.p, &o, w.lambda, NULL).outcome == TB_CONVERGED;
    cases_drop(&w);
  }
  printf("[%s %d/%d] ", solver->name, converged, total);
  if (converged < (int)(total * share + 1e-9))
    test_failed(__FILE__, __LINE__, "%s: %d of %d converged", solver->name, converged, total);
}

int cases_claim(tbLaw law, tbManufacture (*spec)(int seed), bool all)
{
  int claim = 0;
  for (int i = 0; i < tb_solver_count(); i++) {
    if (!(tb_solver_at(i)->laws & 1u << law)) continue;
    cases_converge(tb_solver_at(i), spec, all, 0.9);
    claim++;
  }
  return claim;
}
