// SPDX-License-Identifier: Apache-2.0
// The nonsmooth Newton methods: their equations, the cases by hand, the hard ones, and what must not happen.
#include "solve/cases.h"
#include "solve/contact_map.h"
#include "solve/methods.h"
#include "tribo/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const methods[] = {"newton-ac", "newton-fb", "newton-min", "prox-newton",
                                      "newton-surface"};
enum { METHODS = 5, PROX = 3 };

static tbSolveResult solve(const char* solver, const tbProblem* p, double tolerance, int iterations,
                           double* lambda, double* u)
{
  tbSolveOptions o = cases_options(solver, TB_MODEL_CONE, iterations);
  o.tolerance = tolerance;
  return cases_solve_from(p, &o, lambda, u);
}

// ---- the equations ----

// One contact of every law, at a random λ and u; map 0 … 3.
static void check_derivatives(const tbProblem* p, int k, tbModel model, tbMap map, tbRandom* r, double* worst)
{
  int rows = p->row_adr[k + 1] - p->row_adr[k];
  double D[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, lambda[TB_MAX_ROWS], u[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) D[i * rows + i] = test_uniform(r, 0.5, 2);
  tbFrictionSet f;
  tb_friction_make(p, k, model, 7, &f);
  tbContactMap m = {p, &f, k, rows, map, D, 1, 0};
  for (int i = 0; i < rows; i++) lambda[i] = test_uniform(r, -1, 1), u[i] = test_uniform(r, -1, 1);
  lambda[0] = test_uniform(r, 0, 1);
  tbContactStep here, there;
  double merit = tb_contact_map(&m, lambda, u, &here);
  CHECK_NEAR(merit, tb_contact_map(&m, lambda, u, NULL), 1e-14);
  const double h = 1e-7;
  for (int side = 0; side < 2; side++)
    for (int j = 0; j < rows; j++) {
      double *x = side ? u : lambda, keep = x[j], change[TB_MAX_ROWS];
      x[j] = keep + h;
      tb_contact_map(&m, lambda, u, &there);
      memcpy(change, there.phi, sizeof change);
      x[j] = keep - h;
      tb_contact_map(&m, lambda, u, &there);
      x[j] = keep;
      for (int i = 0; i < rows; i++) {
        double slope = (change[i] - there.phi[i]) / (2 * h);
        double error = fabs(slope - (side ? here.B : here.A)[i * rows + j]);
        *worst = fmax(*worst, error);
      }
    }
}

TEST(derivatives_of_the_equations_are_their_slopes)
{
  static const tbModel models[] = {TB_MODEL_CONE, TB_MODEL_BOX, TB_MODEL_POLYHEDRAL, TB_MODEL_CCP,
                                   TB_MODEL_FRICTIONLESS};
  tbRandom r = test_random(12);
  int kinks = 0, checks = 0;
  for (int seed = 0; seed < 40; seed++) {
    Case c;
    tbManufacture spec = cases_harsh(7 * seed + 2);
    spec.all_laws = true, spec.tensors = seed % 3 == 1, spec.polygons = seed % 3 == 2;
    REQUIRE(cases_make(&c, &spec));
    for (int k = 0; k < c.p->ncontact; k++)
      for (int model = 0; model < 5; model++)
        for (int map = TB_MAP_AC; map <= TB_MAP_SURFACE; map++) {
          double worst = 0;
          tbFrictionSet f;
          tb_friction_make(c.p, k, models[model], 7, &f);
          if (map >= TB_MAP_MIN && f.kind != TB_SET_BOX && f.kind != TB_SET_POLYGON)
            continue; // off its zeros, sliding on curved sets turns as if it were at one
          check_derivatives(c.p, k, models[model], (tbMap)map, &r, &worst);
          kinks += worst > 1e-5, checks++;
        }
    cases_drop(&c);
  }
  printf("[%d of %d off, at kinks] ", kinks, checks);
  CHECK(checks > 3000 && kinks < checks / 500); // a kink lies between λ ± h once in a great while
}

// Fischer–Burmeister, the minimum map and the limit surface solve every set by equations that are not Alart
// and Curnier's: these vanish at the answer as theirs do, and lead elsewhere from anywhere else.
TEST(friction_sets_have_equations_of_every_kind)
{
  int seen[TB_SET_TENSOR + 1] = {0};
  for (int seed = 0; seed < 90; seed++) {
    Case c;
    tbManufacture spec = cases_harsh_laws(seed);
    spec.mass_ratio = 10, spec.tensors = seed % 3 == 1, spec.polygons = seed % 3 == 2;
    REQUIRE(cases_make(&c, &spec));
    tbJudge* judge = NULL;
    tbResidual residual;
    double u[200];
    REQUIRE(c.p->nrow <= 200 && tb_judge_create(&c.ctx, c.p, &judge) == TB_OK);
    tb_judge_measure(judge, c.exact, TB_MODEL_CONE, 8, &residual, u, NULL);
    for (int k = 0; k < c.p->ncontact; k++) {
      int first = c.p->row_adr[k], rows = c.p->row_adr[k + 1] - first;
      tbFrictionSet f;
      tb_friction_make(c.p, k, TB_MODEL_CONE, 8, &f);
      if (f.kind == TB_SET_NONE || !tb_contact_map_owns(TB_MAP_MIN, &f)) continue; // flat: they take AC
      seen[f.kind]++;
      double D[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, lambda[TB_MAX_ROWS], slip[TB_MAX_ROWS], size = 0;
      for (int i = 0; i < rows; i++) { // λ presses and slides, harder than friction allows
        D[i * rows + i] = 1, size += fabs(c.exact[first + i]) + fabs(u[first + i]);
        lambda[i] = i == 0 ? 1 : 100.0 / i, slip[i] = i == 0 ? 0 : -lambda[i] / 10;
      }
      if (!(tb_friction_support(&f, lambda + 1, NULL) > 1e-6))
        continue; // no friction that way: λ_F = 0 to all
      tbContactStep ac, own;
      tb_contact_map(&(tbContactMap){c.p, &f, k, rows, TB_MAP_AC, D, 1, 0}, lambda, slip, &ac);
      for (int map = TB_MAP_FB; map <= TB_MAP_SURFACE; map++) {
        tbContactMap m = {c.p, &f, k, rows, (tbMap)map, D, 1, 0};
        CHECK(tb_contact_map_owns((tbMap)map, &f));
        tb_contact_map(&m, c.exact + first, u + first, &own);
        for (int i = 0; i < rows; i++) CHECK_NEAR(own.phi[i], 0, 1e-7 * (1 + size));
        tb_contact_map(&m, lambda, slip, &own);
        double apart = 0;
        for (int i = 0; i < rows * rows; i++) apart += fabs(own.A[i] - ac.A[i]) + fabs(own.B[i] - ac.B[i]);
        if (!(apart > 1e-6))
          test_failed(__FILE__, __LINE__, "set %d, map %d: equations of another", f.kind, map);
      }
    }
    tb_judge_free(&c.ctx, judge);
    cases_drop(&c);
  }
  for (int kind = TB_SET_BALL; kind <= TB_SET_TENSOR; kind++) CHECK(seen[kind] > 10);
}

// Moving an impulse or a velocity away from the answer leaves no equation of a map at zero that the law does
// not: the law's own natural map says which.
TEST(equations_have_no_zeros_but_the_laws)
{
  tbRandom r = test_random(5);
  int far = 0;
  for (int seed = 0; seed < 60; seed++) {
    Case c;
    tbManufacture spec = cases_harsh_laws(seed);
    spec.mass_ratio = 10, spec.tensors = seed % 3 == 1, spec.polygons = seed % 3 == 2;
    REQUIRE(cases_make(&c, &spec));
    for (int k = 0; k < c.p->ncontact; k++) {
      int rows = c.p->row_adr[k + 1] - c.p->row_adr[k];
      double D[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, lambda[TB_MAX_ROWS], u[TB_MAX_ROWS];
      for (int i = 0; i < rows; i++) D[i * rows + i] = 1;
      tbFrictionSet f;
      tb_friction_make(c.p, k, TB_MODEL_CONE, 8, &f);
      if (f.kind == TB_SET_NONE) continue;
      for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < rows; i++) lambda[i] = test_uniform(&r, -1, 1), u[i] = test_uniform(&r, -1, 1);
        if (trial % 2) lambda[0] = fabs(lambda[0]), u[0] = 0; // in contact, as most zeros are
        if (trial % 4 == 3)                                   // with an impulse that friction allows
          tb_friction_closest(&f, lambda[0], (double[TB_MAX_ROWS]){lambda[1], lambda[2]}, lambda + 1);
        double law = tb_contact_map(&(tbContactMap){c.p, &f, k, rows, TB_MAP_AC, D, 1, 0}, lambda, u, NULL);
        if (!(law > 1e-4)) continue;
        far++;
        for (int map = TB_MAP_FB; map <= TB_MAP_SURFACE; map++) {
          tbContactStep own;
          tb_contact_map(&(tbContactMap){c.p, &f, k, rows, (tbMap)map, D, 1, 0}, lambda, u, &own);
          double sum = 0;
          for (int i = 0; i < rows; i++) sum += own.phi[i] * own.phi[i];
          if (!(sum > 1e-8))
            test_failed(__FILE__, __LINE__, "set %d, map %d: %g where the law misses by %g", f.kind, map, sum,
                        law);
        }
      }
    }
    cases_drop(&c);
  }
  CHECK(far > 3000);
}

TEST(equations_vanish_at_solutions_and_nowhere_near)
{
  for (int seed = 0; seed < 60; seed++) {
    Case c;
    tbManufacture spec = cases_harsh_laws(seed);
    spec.mass_ratio = 10, spec.tensors = seed % 3 == 1, spec.polygons = seed % 3 == 2;
    REQUIRE(cases_make(&c, &spec));
    const tbProblem* p = c.p;
    const double* exact = c.exact;
    tbJudge* judge = NULL;
    tbResidual residual;
    double u[200];
    REQUIRE(p->nrow <= 200 && tb_judge_create(&c.ctx, p, &judge) == TB_OK);
    tb_judge_measure(judge, exact, TB_MODEL_CONE, 8, &residual, u, NULL);
    for (int k = 0; k < p->ncontact; k++)
      for (int map = TB_MAP_AC; map <= TB_MAP_SURFACE; map++) {
        int first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
        double D[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, moved[TB_MAX_ROWS], size = 0;
        for (int i = 0; i < rows; i++)
          D[i * rows + i] = 1, size += fabs(exact[first + i]) + fabs(u[first + i]);
        tbFrictionSet f;
        tb_friction_make(p, k, TB_MODEL_CONE, 8, &f);
        tbContactMap m = {p, &f, k, rows, (tbMap)map, D, 1, 0};
        CHECK(sqrt(tb_contact_map(&m, exact + first, u + first, NULL)) <= 1e-7 * (1 + size));
        memcpy(moved, u + first, (size_t)rows * sizeof *moved);
        moved[0] = -1; // approaches: never a solution, unless a motor is at its bound
        if (p->law[k] != TB_LAW_BOX) CHECK(tb_contact_map(&m, exact + first, moved, NULL) > 1e-6);
      }
    tb_judge_free(&c.ctx, judge);
    cases_drop(&c);
  }
}

TEST(newton_finds_the_velocity_that_was_made)
{
  for (int seed = 0; seed < 20; seed++)
    for (int i = 0; i < METHODS; i++) {
      Case c;
      tbManufacture spec = tb_default_manufacture();
      spec.seed = (uint64_t)seed;
      spec.contacts = spec.bodies = 3 + seed;
      spec.mu_max = 0.5;
      REQUIRE(cases_make(&c, &spec) && c.p->nrow <= 80);
      double u[80], expected[80];
      CHECK(solve(methods[i], c.p, 1e-11, 1000, c.lambda, u).outcome == TB_CONVERGED);
      CHECK(solve(methods[i], c.p, 1e-11, 0, c.exact, expected).outcome == TB_CONVERGED);
      for (int k = 0; k < c.p->nrow; k++) CHECK_NEAR(u[k], expected[k], 1e-7);
      cases_drop(&c);
    }
}

// ---- hard ----

TEST(repeated_contacts_do_not_stop_newton)
{
  static const double mus[] = {0, 0.3, 5};
  for (int m = 0; m < 3; m++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = cases_box(&ctx, 10, mus[m], 0);
    REQUIRE(p && p->nrow == 120);
    for (int i = 0; i < METHODS; i++) {
      double lambda[120] = {0};
      tbSolveResult r = solve(methods[i], p, 1e-9, 1000, lambda, NULL);
      if (r.outcome != TB_CONVERGED)
        test_failed(__FILE__, __LINE__, "%s, mu %g: %g", methods[i], mus[m], r.residual.fclib);
    }
    tb_problem_free(p);
  }
}

// A contact whose row of W is empty and that is pushed: nothing it does helps, the others are solved.
TEST(an_empty_row_of_w_spoils_nothing_else)
{
  const int ptr[] = {0, 1, 1}, col[] = {0};
  const double val[] = {2}, bias[] = {-1, 0.5};
  for (int i = 0; i < METHODS; i++) {
    tbContext ctx = tb_default_context();
    tbBuilder* b = NULL;
    tbProblem* p = NULL;
    REQUIRE(tb_builder_create(&ctx, "empty row", &b) == TB_OK);
    tb_builder_explicit(b, 2, ptr, col, val);
    tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, bias, NULL);
    tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, bias + 1, NULL);
    CHECK_OK(&ctx, tb_builder_finish(b, &p));
    double lambda[2] = {0, 3};
    CHECK(solve(methods[i], p, 1e-10, 200, lambda, NULL).outcome == TB_CONVERGED);
    CHECK_NEAR(lambda[0], 0.5, 1e-9);
    CHECK_NEAR(lambda[1], 0, 1e-9);
    tb_problem_free(p);
  }
}

TEST(krylov_goes_where_the_factor_goes)
{
  for (int seed = 0; seed < 30; seed++)
    for (int i = 0; i < METHODS; i += PROX) {
      Case c;
      tbManufacture spec = cases_harsh_laws(seed);
      spec.mass_ratio = 10;
      REQUIRE(cases_make(&c, &spec));
      tbSolveOptions o = cases_options(methods[i], TB_MODEL_CONE, 500);
      o.factor_bytes = 1; // none fits
      tbSolveResult r = cases_solve_from(c.p, &o, c.lambda, NULL);
      if (i == PROX && r.outcome != TB_CONVERGED)
        test_failed(__FILE__, __LINE__, "seed %d: %g", seed, r.residual.fclib);
      cases_drop(&c);
    }
}

// Which blocks were asked for, and how large the largest was.
static void* watched_alloc(void* user, size_t size, size_t alignment)
{
  size_t* largest = user;
  if (size > *largest) *largest = size;
  return aligned_alloc(alignment, size);
}

static void watched_free(void* user, void* pointer)
{
  (void)user;
  free(pointer);
}

TEST(without_w_newton_finds_the_same_velocity)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_UNSYMMETRIC; metric++)
    for (int i = 0; i < METHODS; i++) {
      tbContext ctx = tb_default_context();
      tbManufacture spec = tb_default_manufacture();
      spec.seed = 5;
      spec.contacts = 30, spec.bodies = 20;
      spec.mu_max = 0.3;
      spec.metric = metric;
      tbProblem* p = NULL;
      double* exact = NULL;
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
      double u[2][200], *lambda = calloc((size_t)p->nrow, sizeof *lambda);
      REQUIRE(p->nrow <= 200);
      tbJudge* judge = NULL;
      CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
      for (int matrix_free = 0; matrix_free < 2; matrix_free++) {
        tbSolveOptions o = tb_default_solve_options();
        tbSolveResult r = {0};
        tbForm form;
        o.solver = methods[i];
        o.tolerance = 1e-10;
        o.max_iterations = 500;
        o.factor_bytes = matrix_free; // 0: as much as it likes
        CHECK_OK(&ctx, tb_solver_find(o.solver)->form(&ctx, p, &o, &form));
        bool by_velocity = i == PROX && tb_newton_by_velocity(p, &o);
        CHECK(by_velocity == (i == PROX && metric <= TB_MAKE_PARTICLES && p->nrow >= p->ndof) ||
              metric == TB_MAKE_SPARSE);
        bool products = matrix_free || by_velocity || (metric == TB_MAKE_SPARSE && i != PROX);
        CHECK(form == (products ? TB_FORM_FREE : TB_FORM_BLOCKS));
        memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
        CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
        CHECK(r.outcome == TB_CONVERGED);
        tbResidual residual;
        tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &residual, u[matrix_free], NULL);
      }
      for (int row = 0; row < p->nrow; row++) CHECK_NEAR(u[0][row], u[1][row], 1e-6);
      free(lambda);
      tb_judge_free(&ctx, judge);
      tb_manufacture_free(&ctx, exact);
      tb_problem_free(p);
    }
}

LONG_TEST(on_a_sparse_metric_newton_never_holds_w)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 200;
  spec.mu_max = 0.3;
  spec.metric = TB_MAKE_SPARSE;
  tbProblem* p = NULL;
  double* exact = NULL;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  size_t largest = 0;
  tbContext watched = ctx;
  watched.allocator = (tbAllocator){watched_alloc, watched_free, &largest};
  tbSolveOptions o = cases_options("newton-ac", TB_MODEL_CONE, 500);
  tbSolveResult r = {0};
  CHECK_OK(&watched, tb_solve(&watched, p, &o, lambda, &r));
  CHECK(r.outcome == TB_CONVERGED);
  CHECK(largest < (size_t)p->nrow * (size_t)p->nrow * sizeof(double) / 2);
  free(lambda);
  tb_manufacture_free(&ctx, exact);
  tb_problem_free(p);
}

LONG_TEST(problems_that_defeat_gauss_seidel_are_solved)
{
  static const char* const names[] = {"OneObject-i100000-316", "BoxesStack1-i100000-32", "RockPile_tob1"};
  const char* shared = test_shared_folder();
  if (!shared) SKIP("no shared folder beside the checkout");
  if (!tb_have_fclib()) SKIP("built without HDF5");
  for (int i = 0; i < 3; i++) {
    tbContext ctx = tb_default_context();
    char path[600];
    snprintf(path, sizeof path, "%s/fclib/%s.hdf5", shared, names[i]);
    tbProblem* p = NULL;
    double* guess = NULL;
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &p, &guess));
    REQUIRE(p);
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveResult r = solve("prox-newton", p, 1e-10, 2000, lambda, NULL);
    CHECK(r.outcome == TB_CONVERGED && r.residual.natural_map <= 1e-9);
    printf("[%d] ", r.iterations);
    free(lambda);
    tb_guess_free(&ctx, guess);
    tb_problem_free(p);
  }
}

// A pyramid's impulses, off by a little: the start that a step at rest has.
static tbProblem* nearly_solved(tbContext* ctx, double** lambda)
{
  tbGenerate spec = tb_default_generate(TB_GENERATE_PYRAMID);
  spec.size = 6;
  tbProblem* p = NULL;
  if (tb_problem_generate(ctx, &spec, &p) != TB_OK) return NULL;
  *lambda = calloc((size_t)p->nrow, sizeof **lambda);
  if (solve("prox-newton", p, 1e-10, 500, *lambda, NULL).outcome != TB_CONVERGED)
    test_failed(__FILE__, __LINE__, "no start");
  for (int i = 0; i < p->nrow; i++) (*lambda)[i] *= 1 + 1e-7 * (i % 7 - 3);
  return p;
}

TEST(a_start_that_is_near_takes_newton_one_step_and_auto_no_sweep)
{
  static const char* const names[] = {"prox-newton", "auto"};
  for (int i = 0; i < 2; i++) {
    tbContext ctx = tb_default_context();
    double* lambda = NULL;
    tbProblem* p = nearly_solved(&ctx, &lambda);
    REQUIRE(p);
    tbSolveResult r = solve(names[i], p, 1e-8, 500, lambda, NULL);
    printf("[%d] ", r.iterations);
    CHECK(r.outcome == TB_CONVERGED && r.iterations == 1);
    CHECK(strcmp(r.used, "prox-newton") == 0);
    free(lambda);
    tb_problem_free(p);
  }
}

// Steps of Newton on piles of boxes, each of which falls at up to `speed` m/s.
static int steps_on_piles(int size, double speed)
{
  int steps = 0;
  for (int i = 0; i < 6; i++) {
    tbContext ctx = tb_default_context();
    tbGenerate spec = tb_default_generate(TB_GENERATE_PILE);
    spec.size = size, spec.seed = (uint64_t)i + 1;
    tbProblem* p;
    CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &p));
    for (int b = 0; b < p->nblock; b++) ((double*)p->v_free)[p->block[b].dof + 1] -= speed * (b % 5) / 4;
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    o.solver = "prox-newton", o.tolerance = 0, o.velocity_tolerance = 1e-5;
    tbSolveResult r;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK(r.outcome == TB_CONVERGED && r.residual.velocity <= 1e-5);
    steps += r.iterations;
    free(lambda);
    tb_problem_free(p);
  }
  printf("[%d] ", steps);
  return steps;
}

// Boxes that touch in more points than hold them: W is singular, and where Newton waits for exact proximal
// points it takes half as many steps more.
LONG_TEST(redundant_contacts_of_piles_take_few_newton_steps) { CHECK(steps_on_piles(120, 0) <= 190); }

// Where they land, points of one pair of bodies open and slip by little, at the price of large impulses: so
// many steps, and more than half as many again where pairs are not solved by themselves.
LONG_TEST(piles_that_land_take_few_newton_steps) { CHECK(steps_on_piles(120, 3) <= 130); }
