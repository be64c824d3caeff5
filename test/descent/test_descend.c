// SPDX-License-Identifier: Apache-2.0
// Descent on relaxed problems: gradients and Hessians against differences, and one minimum for all ways.
#include "descent/ascend.h"
#include "descent/coordinate.h"
#include "descent/coupled.h"
#include "problem/metric.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { COULOMB_ALONE = 100 }; // seeds from here on

typedef struct {
  tbContext ctx;
  tbArena arena;
  tbProblem* problem;
  double* exact;
  tbRelaxed relaxed;
  tbCells cells;
} Bench;

static bool bench_open(Bench* b, uint64_t seed, int metric, tbRelaxedFriction model, bool turning)
{
  b->ctx = tb_default_context();
  tb_arena_init(&b->arena, &b->ctx);
  tbManufacture make = tb_default_manufacture();
  make.seed = seed, make.contacts = 12, make.metric = metric, make.all_laws = seed < COULOMB_ALONE,
  make.mu_max = 0.8;
  CHECK_OK(&b->ctx, tb_problem_manufacture(&b->ctx, &make, &b->problem, &b->exact));
  tbRelaxation how = {.h = 0.01,
                      .contact_stiffness = 1e6,
                      .friction_stiffness = 1e4,
                      .joint_stiffness = 1e6,
                      .exponent = 2,
                      .model = model,
                      .turning = turning};
  CHECK_OK(&b->ctx, tb_relaxed_begin(&b->arena, b->problem, &how, TB_MODEL_CONE, 8, &b->relaxed));
  CHECK_OK(&b->ctx, tb_cells_begin(&b->arena, b->problem, &b->cells));
  return b->problem != NULL;
}

static void bench_close(Bench* b)
{
  tb_manufacture_free(&b->ctx, b->exact);
  tb_problem_free(b->problem);
  tb_arena_free(&b->arena);
}

// λ = −∂ψ/∂u with friction's limit held, D = −∂λ/∂u, and what D leaves out.
TEST(impulses_are_the_slopes_of_their_potentials)
{
  for (int m = 0; m < TB_RELAX_COUNT; m++) {
    Bench b;
    if (!bench_open(&b, 5 + (uint64_t)m, TB_MAKE_RIGID, (tbRelaxedFriction)m, true)) return;
    const tbProblem* p = b.problem;
    for (int k = 0; k < p->ncontact; k++) {
      int rows = p->row_adr[k + 1] - p->row_adr[k];
      tbSetKind kind = (tbSetKind)b.relaxed.set[k].kind;
      bool radial =
          kind == TB_SET_NONE || kind == TB_SET_BALL || kind == TB_SET_ELLIPSOID || kind == TB_SET_BALLS;
      double u[TB_MAX_ROWS], l[TB_MAX_ROWS], D[36], c[TB_MAX_ROWS], up[TB_MAX_ROWS], down[TB_MAX_ROWS],
          e = 1e-7;
      for (int i = 0; i < rows; i++) u[i] = i == 0 ? -0.02 : 0.003 * (k % 5 - 2) * (i + 1) + 0.0017;
      tb_relaxed_contact(&b.relaxed, k, u, -1, l, D, c);
      for (int j = 0; j < rows; j++) {
        double v[TB_MAX_ROWS];
        memcpy(v, u, sizeof v);
        v[j] = u[j] + e;
        double above = tb_relaxed_contact(&b.relaxed, k, v, l[0], up, NULL, NULL);
        v[j] = u[j] - e;
        double below = tb_relaxed_contact(&b.relaxed, k, v, l[0], down, NULL, NULL);
        if (radial) CHECK_NEAR(-(above - below) / (2 * e), l[j], 1e-5 * (1 + fabs(l[j])));
        for (int i = 0; radial && i < rows; i++)
          CHECK_NEAR(-(up[i] - down[i]) / (2 * e), D[i * rows + j], 1e-4 * (1 + fabs(D[i * rows + j])));
      }
      tb_relaxed_contact(&b.relaxed, k, u, l[0] * (1 + 1e-6), up, NULL, NULL);
      for (int i = 1; i < rows && radial && kind != TB_SET_NONE; i++)
        CHECK_NEAR((up[i] - l[i]) / (1e-6 * l[0]), c[i], 1e-4);
    }
    bench_close(&b);
  }
}

TEST(hessian_solves_undo_its_products)
{
  static const int metrics[] = {TB_MAKE_RIGID, TB_MAKE_PARTICLES, TB_MAKE_SPARSE};
  for (int m = 0; m < 3; m++)
    for (int way = 0; way < 2; way++) {
      Bench b;
      if (!bench_open(&b, 11, metrics[m], TB_RELAX_STICK_SLIP, false)) return;
      int n = b.problem->ndof;
      tbDescent d = {0};
      CHECK_OK(&b.ctx, tb_descent_begin(&b.arena, &b.relaxed, &b.cells, &d));
      memcpy(d.v, b.problem->v_free, (size_t)n * sizeof *d.v);
      tb_descent_evaluate(&d, NULL);
      double* x = TB_TAKE(&b.arena, double, (size_t)n);
      double* y = TB_TAKE(&b.arena, double, (size_t)n);
      double* work = TB_TAKE(&b.arena, double, (size_t)(b.problem->nrow + n));
      for (int i = 0; i < n; i++) x[i] = sin(i + 1.0);
      tb_relaxed_multiply(&b.relaxed, NULL, d.D, x, work, y);
      tbHessian h;
      CHECK_OK(&b.ctx, tb_hessian_begin(&b.ctx, &b.arena, &b.relaxed, &b.cells, &h));
      tbCholesky* factor = h.factor;
      if (way) h.factor = NULL; // conjugate gradients
      CHECK_OK(&b.ctx, tb_hessian_update(&b.ctx, &h, d.D));
      CHECK_OK(&b.ctx, tb_hessian_solve(&b.ctx, &h, y, y));
      for (int i = 0; i < n; i++) CHECK_NEAR(y[i], x[i], 1e-6);
      h.factor = factor;
      tb_hessian_end(&b.ctx, &h);
      bench_close(&b);
    }
}

// Every preconditioner and acceleration ends where Newton's method does.
TEST(all_ways_of_descent_end_at_one_minimum)
{
  static const struct {
    tbDescentPreconditioner preconditioner;
    tbAcceleration acceleration;
    double relaxation;
    int iterations;
  } ways[] = {{TB_DESCENT_NEWTON, TB_ACCELERATE_NONE, 0, 5000},
              {TB_DESCENT_BLOCK, TB_ACCELERATE_NONE, 0.5, 20000},
              {TB_DESCENT_BLOCK, TB_ACCELERATE_NONE, 0, 20000},
              {TB_DESCENT_DIAGONAL, TB_ACCELERATE_NONE, 0.3, 60000},
              {TB_DESCENT_BLOCK, TB_ACCELERATE_CHEBYSHEV, 0.5, 20000},
              {TB_DESCENT_BLOCK, TB_ACCELERATE_NESTEROV, 0.5, 20000},
              {TB_DESCENT_BLOCK, TB_ACCELERATE_CG, 0, 20000}};
  Bench b;
  if (!bench_open(&b, 3, TB_MAKE_RIGID, TB_RELAX_PSEUDO_HUBER, false)) return;
  int n = b.problem->ndof, used[7];
  double* minimum = TB_TAKE(&b.arena, double, (size_t)n);
  for (int w = 0; w < 7; w++) {
    tbDescent d = {.options = {.preconditioner = ways[w].preconditioner,
                               .acceleration = ways[w].acceleration,
                               .relaxation = ways[w].relaxation},
                   .iterations = ways[w].iterations,
                   .still = 1e-11};
    CHECK_OK(&b.ctx, tb_descent_begin(&b.arena, &b.relaxed, &b.cells, &d));
    memcpy(d.v, b.problem->v_free, (size_t)n * sizeof *d.v);
    CHECK_OK(&b.ctx, tb_descent_run(&b.ctx, &b.arena, &d));
    used[w] = d.used;
    if (d.used >= ways[w].iterations)
      test_failed(__FILE__, __LINE__, "way %d: not at rest after %d", w, d.used);
    for (int i = 0; i < n && w == 0; i++) minimum[i] = d.v[i];
    double apart = 0;
    for (int i = 0; i < n; i++) apart = fmax(apart, fabs(d.v[i] - minimum[i]));
    if (!(apart < 1e-6)) test_failed(__FILE__, __LINE__, "way %d ends %g m/s from Newton's", w, apart);
  }
  CHECK(used[0] < used[1] && used[6] < used[1]);
  bench_close(&b);
}

// Primal and dual are one problem: block by block over velocities, and contact by contact over impulses, all
// at once or one after the other, they end at the same velocities.
TEST(primal_and_dual_end_at_one_solution)
{
  Bench b;
  if (!bench_open(&b, COULOMB_ALONE, TB_MAKE_RIGID, TB_RELAX_STICK_SLIP, false)) return;
  const tbProblem* p = b.problem;
  size_t n = (size_t)p->ndof;
  enum { WAYS = 4 };
  double* end[WAYS];
  for (int way = 0; way < WAYS; way++) {
    tbDescent d = {.options = {.relaxation = 0.5}, .iterations = 20000, .still = 1e-12};
    CHECK_OK(&b.ctx, tb_descent_begin(&b.arena, &b.relaxed, &b.cells, &d));
    memcpy(d.v, p->v_free, n * sizeof *d.v);
    end[way] = d.v;
    if (way == 0) {
      CHECK_OK(&b.ctx, tb_coordinate_run(&b.ctx, &b.arena, &d, NULL));
      continue;
    }
    tbAscent a = {.relaxed = &b.relaxed,
                  .split = way == 2,
                  .jacobi = way == 3,
                  .length = 0.2,
                  .iterations = 200000,
                  .still = 1e-14,
                  .lambda = d.lambda};
    CHECK_OK(&b.ctx, tb_ascent_run(&b.ctx, &b.arena, &a));
    double* push = TB_TAKE(&b.arena, double, n);
    double* work = TB_TAKE(&b.arena, double, n);
    tb_relaxed_gradient(&b.relaxed, NULL, p->v_free, d.lambda, work, push);
    for (int k = 0; k < p->nblock; k++) tb_metric_solve(&p->block[k], NULL, push + p->block[k].dof, work);
    for (size_t i = 0; i < n; i++) d.v[i] = p->v_free[i] - push[i];
  }
  for (int way = 1; way < WAYS; way++)
    for (size_t i = 0; i < n; i++)
      if (!(fabs(end[way][i] - end[0][i]) < 1e-4)) {
        test_failed(__FILE__, __LINE__, "way %d: %g m/s at %zu, not %g", way, end[way][i], i, end[0][i]);
        break;
      }
  bench_close(&b);
}

// K is the derivative of ∇g with friction's limits following the normal impulses: K⁻¹ undoes differences of
// gradients, and K⁻ᵀ is its transpose.
TEST(coupled_solves_undo_changes_of_the_gradient)
{
  for (int m = 1; m < TB_RELAX_COUNT; m++) { // the smooth ones
    Bench b;
    if (!bench_open(&b, COULOMB_ALONE, TB_MAKE_RIGID, (tbRelaxedFriction)m, true)) return;
    const tbProblem* p = b.problem;
    size_t n = (size_t)p->ndof;
    tbDescent d = {0};
    tbHessian h;
    tbCoupled c;
    CHECK_OK(&b.ctx, tb_descent_begin(&b.arena, &b.relaxed, &b.cells, &d));
    CHECK_OK(&b.ctx, tb_hessian_begin(&b.ctx, &b.arena, &b.relaxed, &b.cells, &h));
    CHECK_OK(&b.ctx, tb_coupled_begin(&b.arena, &h, 1e-13, &c));
    double *x = TB_TAKE(&b.arena, double, n), *y = TB_TAKE(&b.arena, double, n);
    double *work = TB_TAKE(&b.arena, double, n), *end[2], e = 1e-6, sum = 0, same = 0;
    for (size_t i = 0; i < n; i++) x[i] = sin(i + 1.0);
    for (int side = 0; side < 2; side++) {
      end[side] = TB_TAKE(&b.arena, double, n);
      for (size_t i = 0; i < n; i++) d.v[i] = p->v_free[i] + (side ? -e : e) * x[i];
      tb_descent_evaluate(&d, NULL);
      tb_relaxed_gradient(&b.relaxed, NULL, d.v, d.lambda, work, end[side]);
    }
    for (size_t i = 0; i < n; i++) end[0][i] = (end[0][i] - end[1][i]) / (2 * e);
    memcpy(d.v, p->v_free, n * sizeof *d.v);
    tb_relaxed_velocities(&b.relaxed, NULL, d.v, d.u);
    tb_coupled_evaluate(&c, d.u, d.lambda, d.D);
    CHECK(c.any);
    CHECK_OK(&b.ctx, tb_hessian_update(&b.ctx, &h, d.D));
    CHECK_OK(&b.ctx, tb_coupled_solve(&b.ctx, &c, false, end[0], y));
    for (size_t i = 0; i < n; i++) CHECK_NEAR(y[i], x[i], 1e-4);
    CHECK_OK(&b.ctx, tb_coupled_solve(&b.ctx, &c, true, x, work));
    for (size_t i = 0; i < n; i++) sum += work[i] * end[0][i], same += x[i] * y[i];
    CHECK_NEAR(sum, same, 1e-9 * fabs(same));
    tb_hessian_end(&b.ctx, &h);
    bench_close(&b);
  }
}

// Balanced impulses are those of the minimum: their velocities leave no gradient.
TEST(balancing_ends_at_the_minimum)
{
  for (uint64_t seed = 0; seed < 12; seed++) {
    Bench b;
    if (!bench_open(&b, COULOMB_ALONE + seed, TB_MAKE_RIGID, TB_RELAX_STICK_SLIP, false)) return;
    const tbProblem* p = b.problem;
    size_t n = (size_t)p->ndof;
    tbDescent d = {.still = 1e-9};
    tbHessian h;
    CHECK_OK(&b.ctx, tb_descent_begin(&b.arena, &b.relaxed, &b.cells, &d));
    memcpy(d.v, p->v_free, n * sizeof *d.v);
    tb_descent_evaluate(&d, NULL);
    CHECK_OK(&b.ctx, tb_descent_balance(&b.ctx, &b.arena, &d));
    double *push = TB_TAKE(&b.arena, double, n), *work = TB_TAKE(&b.arena, double, n), most = 0;
    tb_relaxed_gradient(&b.relaxed, NULL, p->v_free, d.lambda, work, push);
    for (int k = 0; k < p->nblock; k++) tb_metric_solve(&p->block[k], NULL, push + p->block[k].dof, work);
    for (size_t i = 0; i < n; i++) d.v[i] = p->v_free[i] - push[i];
    tb_descent_evaluate(&d, NULL);
    tb_relaxed_gradient(&b.relaxed, NULL, d.v, d.lambda, work, push);
    CHECK_OK(&b.ctx, tb_hessian_begin(&b.ctx, &b.arena, &b.relaxed, &b.cells, &h));
    CHECK_OK(&b.ctx, tb_hessian_update(&b.ctx, &h, d.D));
    CHECK_OK(&b.ctx, tb_hessian_solve(&b.ctx, &h, push, push));
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(push[i]));
    if (!(most < 1e-7) || !(d.off < 1e-7))
      test_failed(__FILE__, __LINE__, "problem %d: %g m/s from the minimum, said to be %g", (int)seed, most,
                  d.off);
    tb_hessian_end(&b.ctx, &h);
    bench_close(&b);
  }
}
