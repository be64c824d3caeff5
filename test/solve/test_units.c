// SPDX-License-Identifier: Apache-2.0
// Verdicts do not depend on the units of a problem: every solver, every law, velocities and impulses by
// powers of ten that no square survives.
#include "cases.h"
#include "solving.h"

#include <math.h>
#include <stdlib.h>

// The same problem with velocities times `speed` and masses times `mass`; impulses grow by both.
static tbProblem* in_units(tbContext* ctx, const tbProblem* p, double speed, double mass)
{
  tbBuilder* b = NULL;
  tbProblem* out = NULL;
  double values[4096];
  tb_builder_create(ctx, p->name, &b);
  for (int i = 0; i < p->nblock; i++) {
    const tbMetricBlock* block = &p->block[i];
    double v[64];
    int count = block->kind == TB_METRIC_PARTICLE ? 1
                : block->kind == TB_METRIC_SPARSE ? block->ptr[block->size]
                                                  : block->size * block->size;
    if (!(block->size <= 64 && count <= 4096)) {
      tb_builder_abandon(b);
      return NULL;
    }
    for (int j = 0; j < block->size; j++) v[j] = speed * p->v_free[block->dof + j];
    for (int j = 0; j < count; j++) values[j] = mass * block->value[j];
    if (block->kind == TB_METRIC_PARTICLE) tb_builder_particle(b, block->size, values[0], v, NULL);
    else if (block->kind == TB_METRIC_SPARSE)
      tb_builder_sparse(b, block->size, block->ptr, block->col, values, v, NULL);
    else tb_builder_dense(b, block->size, values, v, NULL);
  }
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], rows = p->row_adr[k + 1] - first,
        count = p->param_adr[k + 1] - p->param_adr[k];
    double bias[TB_MAX_ROWS], compliance[TB_MAX_ROWS], param[16];
    for (int r = 0; r < rows; r++)
      bias[r] = speed * p->bias[first + r], compliance[r] = p->compliance[first + r] / mass;
    for (int r = 0; r < count; r++)
      param[r] = p->param[p->param_adr[k] + r] * (p->law[k] == TB_LAW_BOX ? speed * mass : 1);
    tb_builder_contact(b, (tbLaw)p->law[k], rows, param, bias, compliance);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      tb_builder_jacobian(b, p->jac_dof[c], p->jac_width[c], p->jac + p->jac_val_adr[c]);
  }
  if (p->W_ptr) {
    double* W = malloc((size_t)p->W_ptr[p->nrow] * sizeof *W);
    for (int e = 0; e < p->W_ptr[p->nrow]; e++) W[e] = p->W_val[e] / mass;
    tb_builder_explicit(b, p->nrow, p->W_ptr, p->W_col, W);
    free(W);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &out));
  return out;
}

static const struct {
  double speed, mass;
} units[] = {{1e100, 1}, {1e-100, 1}, {1, 1e100}, {1, 1e-100}, {1e100, 1e-100}, {1e-170, 1}, {1e155, 1}};
enum { UNITS = sizeof units / sizeof *units, WITH_ENERGIES = UNITS - 1 }; // of the last, energies overflow

static tbSolveResult solve_in(tbContext* ctx, const tbProblem* p, const char* solver, tbModel model,
                              double tolerance)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = solver, o.model = model, o.tolerance = tolerance, o.max_iterations = 2000;
  tbSolveResult r = {.outcome = TB_FAILED};
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  CHECK_OK(ctx, tb_solve(ctx, p, &o, lambda, &r));
  free(lambda);
  return r;
}

LONG_TEST(units_change_no_verdict)
{
  tbContext ctx = tb_default_context();
  for (int seed = 0; seed < (test_quick() ? 3 : 8); seed++) {
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed + 1, spec.contacts = 3 + seed, spec.all_laws = seed % 2;
    spec.metric = seed % 4 == 3 ? TB_MAKE_EXPLICIT : seed % 4 == 2 ? TB_MAKE_PARTICLES : TB_MAKE_RIGID;
    Case c;
    if (!cases_make(&c, &spec)) continue;
    for (int u = 0; u < WITH_ENERGIES; u++) {
      tbProblem* p = in_units(&ctx, c.p, units[u].speed, units[u].mass);
      for (int i = 0; p && i < tb_solver_count(); i++) {
        const char* name = tb_solver_at(i)->name;
        tbModel model;
        if (!test_pick_model(tb_solver_at(i), p, &model)) continue;
        tbSolveResult plain = solve_in(&ctx, c.p, name, model, 1e-7),
                      odd = solve_in(&ctx, p, name, model, 1e-7);
        if ((plain.outcome == TB_CONVERGED) != (odd.outcome == TB_CONVERGED))
          test_failed(__FILE__, __LINE__,
                      "%s, seed %d: %s; with velocities × %g and masses × %g %s, %g, %g m/s", name, seed,
                      tb_outcome_name(plain.outcome), units[u].speed, units[u].mass,
                      tb_outcome_name(odd.outcome), odd.residual.fclib, odd.residual.velocity);
      }
      tb_problem_free(p);
    }
    cases_drop(&c);
  }
}

// Masses in another unit, larger by a power of two, are no other problem: after as many iterations `cr` has
// the same impulses in it, to the bit.
TEST(a_unit_of_mass_changes_no_iteration_of_cr)
{
  tbContext ctx = tb_default_context();
  for (int seed = 0; seed < 6; seed++) {
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed + 21, spec.contacts = 8,
    spec.metric = seed % 2 ? TB_MAKE_SPARSE : TB_MAKE_PARTICLES;
    Case c;
    REQUIRE(cases_make(&c, &spec));
    tbProblem* p[] = {c.p, in_units(&ctx, c.p, 1, 0x1p10)};
    REQUIRE(p[1]);
    double* lambda[] = {calloc((size_t)c.p->nrow, sizeof(double)), calloc((size_t)c.p->nrow, sizeof(double))};
    for (int k = 0; k < 2; k++) {
      tbSolveOptions o = tb_default_solve_options();
      tbSolveResult r;
      o.solver = "cr", o.tolerance = 1e-300, o.max_iterations = 15;
      CHECK_OK(&ctx, tb_solve(&ctx, p[k], &o, lambda[k], &r));
    }
    for (int i = 0; i < c.p->nrow; i++)
      if (lambda[0][i] != 0x1p-10 * lambda[1][i]) {
        test_failed(__FILE__, __LINE__, "seed %d, row %d: %.17g and %.17g", seed, i, lambda[0][i],
                    0x1p-10 * lambda[1][i]);
        break;
      }
    free(lambda[0]), free(lambda[1]);
    tb_problem_free(p[1]);
    cases_drop(&c);
  }
}

// A start that is finite, and infinite in the units that the problem is solved in, is no start.
TEST(a_start_beyond_all_numbers_is_no_start)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  Case c;
  REQUIRE(cases_make(&c, &spec));
  tbProblem* p = in_units(&ctx, c.p, 1e-100, 1e-60);
  REQUIRE(p);
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult r = {.outcome = TB_FAILED};
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  for (int i = 0; i < p->nrow; i++) lambda[i] = 8e307;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED);
  for (int i = 0; i < p->nrow; i++) CHECK(fabs(lambda[i]) < 1);
  free(lambda);
  tb_problem_free(p);
  cases_drop(&c);
}

// Impulses that no number can hold are not handed out, and nothing is called converged.
TEST(an_answer_beyond_all_numbers_is_no_answer)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  const double v[3] = {1e119, 0, -1e120}, mu = 0.5, bias[3] = {0}, J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  CHECK_OK(&ctx, tb_builder_create(&ctx, "heavy and fast", &b));
  CHECK_OK(&ctx, tb_builder_particle(b, 3, 1e200, v, NULL)); // λ_n would be 1e320
  CHECK_OK(&ctx, tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL));
  CHECK_OK(&ctx, tb_builder_jacobian(b, 0, 3, J));
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (int i = 0; i < tb_solver_count(); i++) {
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r = {.outcome = TB_CONVERGED};
    double lambda[3] = {0};
    o.solver = tb_solver_at(i)->name, o.max_iterations = 20;
    if (tb_solver_refuses(tb_solver_at(i), p, o.model)) continue;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    if (r.outcome == TB_CONVERGED || !isfinite(lambda[0]) || !isfinite(lambda[1]) || !isfinite(lambda[2]))
      test_failed(__FILE__, __LINE__, "%s: %s, λ = %g %g %g", o.solver, tb_outcome_name(r.outcome), lambda[0],
                  lambda[1], lambda[2]);
  }
  tb_problem_free(p);
}

typedef struct {
  const tbProblem* p;
  double scale, first, last; // of the impulses; residuals in m/s
  int events;
} Watched;

static void watch(void* user, const tbTraceEvent* e)
{
  Watched* w = user;
  if (w->events++ == 0) w->first = e->residual->velocity;
  w->last = e->residual->velocity;
  for (int i = 0; i < w->p->nrow; i++) w->scale = fmax(w->scale, fabs(e->lambda[i]));
}

// A trace sees impulses and residuals in the units that the problem came in, of sparse metrics, too.
TEST(traces_are_in_the_units_of_the_problem)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 12, spec.metric = TB_MAKE_SPARSE;
  Case c;
  REQUIRE(cases_make(&c, &spec));
  Watched seen[2] = {{0}};
  for (int k = 0; k < 2; k++) {
    double speed = k ? 1e100 : 1, mass = k ? 1e-30 : 1;
    tbProblem* p = in_units(&ctx, c.p, speed, mass);
    REQUIRE(p);
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    o.solver = "pgs", o.model = TB_MODEL_BOX, o.max_iterations = 30, o.tolerance = 1e-9,
    o.velocity_tolerance = 0;
    o.trace = watch, o.trace_user = &seen[k];
    seen[k].p = p;
    double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    seen[k].scale /= speed * mass, seen[k].first /= speed, seen[k].last /= speed;
    free(lambda);
    tb_problem_free(p);
  }
  CHECK(seen[0].events > 3 && seen[1].events > 3);
  CHECK_NEAR(seen[1].first, seen[0].first, 1e-9 * seen[0].first);
  CHECK_NEAR(seen[1].scale, seen[0].scale, 1e-3 * seen[0].scale);
  CHECK(seen[0].last < seen[0].first && seen[1].last < seen[1].first);
  cases_drop(&c);
}

// No impulses are no answer to bodies that approach each other, however slowly; nor are wrong ones, however
// large.
TEST(the_judge_sees_at_every_scale)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 6;
  Case c;
  if (!cases_make(&c, &spec)) return;
  for (int u = 0; u < UNITS; u++) {
    tbProblem* p = in_units(&ctx, c.p, units[u].speed, units[u].mass);
    tbJudge* judge = NULL;
    if (!p || tb_judge_create(&ctx, p, &judge) != TB_OK) continue;
    tbSolveOptions o = tb_default_solve_options();
    for (int wrong = 0; wrong < 3; wrong++) {
      double lambda[64];
      tbResidual r;
      for (int i = 0; i < p->nrow; i++)
        lambda[i] = units[u].speed * units[u].mass * c.exact[i] * (wrong == 0 ? 1 : wrong == 1 ? 0 : 1.1);
      tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
      bool accepted = tb_residual_excess(&r, &o) <= 1;
      if (accepted != (wrong == 0))
        test_failed(__FILE__, __LINE__, "velocities × %g, masses × %g, %s: fclib %g, %g m/s", units[u].speed,
                    units[u].mass,
                    wrong == 0   ? "exact"
                    : wrong == 1 ? "no impulses"
                                 : "a tenth too much",
                    r.fclib, r.velocity);
    }
    tb_judge_free(&ctx, judge);
    tb_problem_free(p);
  }
  cases_drop(&c);
}
