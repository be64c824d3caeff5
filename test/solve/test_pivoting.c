// SPDX-License-Identifier: Apache-2.0
// Lemke, Dantzig, Murty and block pivoting: cases by hand, the LCP files, and problems made to break them.
#include "test.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[] = {"lemke", "dantzig", "murty", "bpp"};
enum { LEMKE, DANTZIG, MURTY, BPP, METHODS };

static tbSolveOptions options_for(int method, tbModel model)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = names[method];
  o.model = model;
  return o;
}

// Solves from zero (λ is cleared) and checks that the status says what the judge says.
static tbSolveResult solve(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, double* lambda)
{
  tbSolveResult r = {.outcome = TB_FAILED};
  memset(lambda, 0, (size_t)p->nrow * sizeof *lambda);
  CHECK_OK(ctx, tb_solve(ctx, p, o, lambda, &r));
  CHECK((r.residual.model <= o->tolerance) == (r.outcome == TB_CONVERGED));
  for (int i = 0; i < p->nrow; i++) CHECK(isfinite(lambda[i]));
  return r;
}

// ---- by hand ----

// One particle of mass 2 above the plane, planar friction.
static tbProblem* particle_on_plane(tbContext* ctx, double vn, double vt, double mu)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tb_builder_create(ctx, "particle", &b);
  tb_builder_particle(b, 2, 2, (double[]){vn, vt}, NULL);
  tb_builder_contact(b, TB_LAW_COULOMB, 2, &mu, NULL, NULL);
  tb_builder_jacobian(b, 0, 2, (double[]){1, 0, 0, 1});
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(pivoting_slides_sticks_and_lifts_off_by_hand)
{
  static const struct {
    double vn, vt, mu, n, t;
  } cases[] = {
      {-1, 3, 0.5, 2, -1},      // slides: λ_t = −μ λ_n
      {-1, 0.25, 0.5, 2, -0.5}, // sticks
      {-1, -3, 0.5, 2, 1},      // slides the other way
      {1, 3, 0.5, 0, 0},        // lifts off
      {-1, 3, 0, 2, 0},         // no friction
      {-1, 30, 10, 2, -20},     // μ = 10
  };
  tbContext ctx = tb_default_context();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int m = 0; m < METHODS; m++) {
      tbProblem* p = particle_on_plane(&ctx, cases[c].vn, cases[c].vt, cases[c].mu);
      tbSolveOptions o = options_for(m, TB_MODEL_CONE);
      double lambda[2];
      o.tolerance = 1e-12;
      CHECK(solve(&ctx, p, &o, lambda).outcome == TB_CONVERGED);
      CHECK_NEAR(lambda[0], cases[c].n, 1e-10);
      CHECK_NEAR(lambda[1], cases[c].t, 1e-10);
      tb_problem_free(p);
    }
}

TEST(lemke_slides_against_the_corners_of_the_polygon)
{
  tbContext ctx = tb_default_context();
  for (int k = 3; k <= 12; k++) {
    tbBuilder* b = NULL;
    tbProblem* p = NULL;
    double mu = 0.5, lambda[3];
    tb_builder_create(&ctx, "particle", &b);
    tb_builder_particle(b, 3, 1, (double[]){-1, 4, 0.01}, NULL);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 3, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
    CHECK_OK(&ctx, tb_builder_finish(b, &p));
    tbSolveOptions o = options_for(LEMKE, TB_MODEL_POLYHEDRAL);
    o.directions = k;
    CHECK(solve(&ctx, p, &o, lambda).outcome == TB_CONVERGED);
    // a corner opposes the sliding when k is even; else an edge does, along which it sticks
    CHECK_NEAR(lambda[0], 1, 1e-12);
    CHECK_NEAR(lambda[1], k % 2 ? -mu * cos(M_PI / k) : -mu, 1e-12);
    CHECK_NEAR(lambda[2], k % 2 ? -0.01 : 0, 1e-12);
    tb_problem_free(p);
  }
}

// A motor that may push with at most 1 and pull with at most 2, a joint, and a limit, on one particle.
TEST(pivoting_holds_motors_joints_and_limits)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tb_builder_create(&ctx, "motor", &b);
  tb_builder_particle(b, 3, 1, (double[]){-5, 3, -1}, NULL);
  tb_builder_contact(b, TB_LAW_BOX, 1, (double[]){-2, 1}, NULL, NULL);
  tb_builder_jacobian(b, 0, 3, (double[]){1, 0, 0});
  tb_builder_contact(b, TB_LAW_BILATERAL, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 0, 3, (double[]){0, 1, 0});
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 0, 3, (double[]){0, 0, 1});
  tb_builder_contact(b, TB_LAW_BOX, 1, (double[]){-INFINITY, 0.25}, NULL, NULL); // pulls as much as it takes
  tb_builder_jacobian(b, 0, 3, (double[]){0, 0, 1});
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (int m = 0; m < METHODS; m++) {
    tbSolveOptions o = options_for(m, TB_MODEL_CONE);
    double lambda[4];
    CHECK(solve(&ctx, p, &o, lambda).outcome == TB_CONVERGED);
    CHECK_NEAR(lambda[0], 1, 1e-7);             // at its bound
    CHECK_NEAR(lambda[1], -3, 1e-7);            // stops the particle
    CHECK_NEAR(lambda[2] + lambda[3], 1, 1e-7); // share the load
    CHECK(lambda[2] >= 0 && lambda[3] <= 0.25);
  }
  tb_problem_free(p);
}

// ---- the LCP files ----

static double entry(const tbProblem* p, int i, int j)
{
  for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++)
    if (p->W_col[e] == j) return p->W_val[e];
  return 0;
}

// A row of w = M z + q that is negative for every z ≥ 0: nothing positive in M, q < 0.
static bool has_no_solution(const tbProblem* p)
{
  for (int i = 0; i < p->nrow; i++) {
    bool negative = p->bias[i] < 0;
    for (int j = 0; j < p->nrow; j++) negative = negative && entry(p, i, j) <= 0;
    if (negative) return true;
  }
  return false;
}

TEST(every_lcp_file_is_solved_or_has_no_solution)
{
  char folder[400], path[700];
  if (!test_shared_folder()) SKIP("no shared/fclib beside the checkout");
  snprintf(folder, sizeof folder, "%s/fclib/lcp", test_shared_folder());
  DIR* listing = opendir(folder);
  if (!listing) SKIP("no %s", folder);
  int files = 0, unsolvable = 0, solved[METHODS] = {0};
  for (const struct dirent* e; (e = readdir(listing));) {
    if (e->d_name[0] == '.') continue;
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &p, NULL));
    if (!p) continue;
    double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
    bool any = false, none = has_no_solution(p);
    for (int m = 0; m < METHODS; m++) {
      tbSolveOptions o = options_for(m, TB_MODEL_CONE);
      tbSolveResult r = solve(&ctx, p, &o, lambda);
      bool good = r.outcome == TB_CONVERGED && r.residual.natural_map < 1e-6;
      CHECK(good || r.outcome != TB_CONVERGED); // nothing large and wrong passes for converged
      solved[m] += good;
      any = any || good;
    }
    if (any == none) test_failed(__FILE__, __LINE__, "%s: %s", e->d_name, none ? "solved?" : "not solved");
    unsolvable += none;
    files++;
    free(lambda);
    tb_problem_free(p);
  }
  closedir(listing);
  printf("[%d files, %d without solution; lemke %d, dantzig %d, murty %d, bpp %d] ", files, unsolvable,
         solved[LEMKE], solved[DANTZIG], solved[MURTY], solved[BPP]);
  CHECK(solved[LEMKE] == files - unsolvable && solved[DANTZIG] >= 16 && solved[MURTY] >= 16 &&
        solved[BPP] >= 17);
}

// ---- manufactured ----

static tbManufacture spec_for(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 1 + seed % 17;
  s.dimension = seed % 3 ? 3 : 2;
  s.mass_ratio = seed % 5 == 1 ? 1e8 : seed % 5 == 2 ? 1e3 : 1;
  s.mu_max = seed % 7 == 0 ? 5 : seed % 7 == 1 ? 0 : 1;
  s.metric = seed % 11 < 5 ? seed % 11 : TB_MAKE_RIGID;
  s.redundant = seed % 4 == 1;
  s.all_laws = seed % 6 == 5;
  s.compliant = seed % 9 == 3;
  return s;
}

TEST(pivoting_solves_manufactured_problems)
{
  static const struct {
    int method;
    tbModel model;
    int percent;
  } runs[] = {
      {LEMKE, TB_MODEL_POLYHEDRAL, 98},
      {LEMKE, TB_MODEL_BOX, 98},
      {LEMKE, TB_MODEL_FRICTIONLESS, 100},
      {DANTZIG, TB_MODEL_BOX, 97},
      {MURTY, TB_MODEL_BOX, 96},
      {BPP, TB_MODEL_BOX, 95},
      {DANTZIG, TB_MODEL_FRICTIONLESS, 99},
      {BPP, TB_MODEL_FRICTIONLESS, 97},
  };
  int problems = test_quick() ? 60 : 300;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    int converged = 0, total = 0;
    for (int seed = 0; seed < problems; seed++) {
      tbContext ctx = tb_default_context();
      tbManufacture spec = spec_for(seed);
      tbProblem* p = NULL;
      double* exact = NULL;
      REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK);
      tbSolveOptions o = options_for(runs[i].method, runs[i].model);
      if (!tb_solver_refuses(tb_solver_find(o.solver), p, o.model)) {
        tbSolveResult r = solve(&ctx, p, &o, exact);
        CHECK(r.outcome == TB_CONVERGED || r.outcome == TB_FAILED || r.outcome == TB_MAX_ITERATIONS);
        converged += r.outcome == TB_CONVERGED;
        total++;
      }
      tb_manufacture_free(&ctx, exact);
      tb_problem_free(p);
    }
    printf("[%s %s %d/%d] ", names[runs[i].method], tb_model_name(runs[i].model), converged, total);
    CHECK(3 * total >= 2 * problems && 100 * converged >= runs[i].percent * total);
  }
}

// Without friction the velocity is unique, whatever the impulses.
TEST(pivoting_agrees_with_gauss_seidel_on_the_velocity)
{
  for (int seed = 0; seed < 20; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(5 * seed); // mass ratio 1
    spec.metric = TB_MAKE_RIGID;
    spec.redundant = seed % 2;
    tbProblem* p = NULL;
    double *exact = NULL, u[200], expected[200];
    tbJudge* judge = NULL;
    tbResidual ignored;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &exact) == TB_OK && p->nrow <= 200);
    REQUIRE(tb_judge_create(&ctx, p, &judge) == TB_OK);
    tbSolveOptions o = options_for(LEMKE, TB_MODEL_FRICTIONLESS);
    o.solver = "bgs";
    o.tolerance = 1e-10;
    CHECK(solve(&ctx, p, &o, exact).outcome == TB_CONVERGED);
    tb_judge_measure(judge, exact, o.model, 8, &ignored, expected, NULL);
    for (int m = 0; m < METHODS; m++) {
      o.solver = names[m];
      CHECK(solve(&ctx, p, &o, exact).outcome == TB_CONVERGED);
      tb_judge_measure(judge, exact, o.model, 8, &ignored, u, NULL);
      for (int i = 0; i < p->nrow; i++) CHECK_NEAR(u[i], expected[i], 1e-7);
    }
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}

// ---- made to break them ----

typedef struct {
  double normal[2]; // of every second contact; (0, 1) and this one in turn
  int contacts;
  double mass[2], mu;
} Heap;

// Two particles, the second on the first, the first on the ground, each contact repeated.
static tbProblem* make_heap(tbContext* ctx, const Heap* h)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  tb_builder_create(ctx, "heap", &b);
  for (int i = 0; i < 2; i++) tb_builder_particle(b, 2, h->mass[i], (double[]){0.3, -1}, NULL);
  for (int k = 0; k < h->contacts; k++) {
    double nx = k % 2 ? h->normal[0] : 0, ny = k % 2 ? h->normal[1] : 1;
    tb_builder_contact(b, TB_LAW_COULOMB, 2, &h->mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 2, (double[]){-nx, -ny, -ny, nx});
    tb_builder_jacobian(b, 2, 2, (double[]){nx, ny, ny, -nx});
    tb_builder_contact(b, TB_LAW_COULOMB, 2, &h->mu, NULL, NULL);
    tb_builder_jacobian(b, 0, 2, (double[]){nx, ny, ny, -nx});
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(pivoting_takes_repeated_contacts_mass_ratios_and_any_friction)
{
  static const Heap heaps[] = {
      {{0, 1}, 10, {1, 1}, 0.5},       {{0, 1}, 10, {1, 1e8}, 0.5}, {{0, 1}, 10, {1e8, 1}, 0.5},
      {{0, 1}, 10, {1, 1}, 0},         {{0, 1}, 10, {1, 1}, 5},     {{0.6, 0.8}, 10, {1, 1}, 0.3},
      {{0.6, 0.8}, 10, {1, 1e8}, 0.3}, {{0.6, 0.8}, 10, {1, 1}, 5}, {{-1, 0}, 10, {1, 1}, 0.2},
  };
  tbContext ctx = tb_default_context();
  for (size_t h = 0; h < sizeof heaps / sizeof *heaps; h++)
    for (int m = 0; m < METHODS; m++) {
      tbProblem* p = make_heap(&ctx, &heaps[h]);
      double lambda[100];
      REQUIRE(p && p->nrow <= 100);
      tbSolveOptions o = options_for(m, TB_MODEL_CONE);
      if (solve(&ctx, p, &o, lambda).outcome != TB_CONVERGED)
        test_failed(__FILE__, __LINE__, "%s: heap %zu", names[m], h);
      tb_problem_free(p);
    }
}

// A particle between two planes that both move onto it: nothing can satisfy both.
TEST(pivoting_says_so_when_constraints_contradict)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double mu = 0.4, towards[2] = {-1, 0}, lambda[6];
  tb_builder_create(&ctx, "squeezed", &b);
  tb_builder_particle(b, 2, 1, (double[]){0, 0.5}, NULL);
  for (int side = -1; side <= 1; side += 2) {
    tb_builder_contact(b, TB_LAW_COULOMB, 2, &mu, towards, NULL);
    tb_builder_jacobian(b, 0, 2, (double[]){side, 0, 0, side});
  }
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, (double[]){-1}, NULL); // a row that no body feels
  tb_builder_jacobian(b, 0, 2, (double[]){0, 0});
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  for (int m = 0; m < METHODS; m++) {
    tbSolveOptions o = options_for(m, TB_MODEL_CONE);
    tbSolveResult r = solve(&ctx, p, &o, lambda);
    CHECK(r.outcome == TB_FAILED && r.residual.natural_map > 1e-3 && isfinite(r.residual.absolute));
  }
  tb_problem_free(p);
}

TEST(pivoting_leaves_open_contacts_open)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.open = 1, spec.slip = 0, spec.dimension = 2;
  tbProblem* p = NULL;
  double* lambda = NULL;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
  for (int m = 0; m < METHODS; m++) {
    tbSolveOptions o = options_for(m, TB_MODEL_CONE);
    tbSolveResult r = solve(&ctx, p, &o, lambda);
    CHECK(r.outcome == TB_CONVERGED && r.iterations == 0);
  }
  tb_manufacture_free(&ctx, lambda);
  tb_problem_free(p);
}

TEST(pivoting_refuses_curved_cones_and_large_problems)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = 1100;
  tbProblem *large = NULL, *small = NULL;
  double *exact_large = NULL, *exact = NULL;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &large, &exact_large) == TB_OK);
  spec.contacts = 120;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &small, &exact) == TB_OK);
  for (int m = 0; m < METHODS; m++) {
    tbSolveOptions o = options_for(m, TB_MODEL_CONE);
    tbSolveResult r;
    CHECK(tb_solve(&ctx, small, &o, exact, &r) == TB_ERROR_UNSUPPORTED);
    o.model = m == LEMKE ? TB_MODEL_POLYHEDRAL : TB_MODEL_BOX;
    CHECK(tb_solve(&ctx, large, &o, exact_large, &r) == TB_ERROR_UNSUPPORTED);
    o.directions = 64; // 120 contacts × 66 variables, few without friction
    CHECK(tb_solve(&ctx, small, &o, exact, &r) == (m == LEMKE ? TB_ERROR_UNSUPPORTED : TB_OK));
  }
  tb_manufacture_free(&ctx, exact_large), tb_manufacture_free(&ctx, exact);
  tb_problem_free(large), tb_problem_free(small);
}
