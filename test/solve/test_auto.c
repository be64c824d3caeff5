// SPDX-License-Identifier: Apache-2.0
// `auto` on problems other people's simulators produced.
#include "test.h"
#include "tribo/io.h"
#include "solve/auto.h"
#include "tribo/solver.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static tbSolveResult solve_file(const char* path, double tolerance, double tolerance_q, double seconds)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  tbSolveResult r = {.outcome = TB_FAILED};
  CHECK_OK(&ctx, tb_problem_load(&ctx, path, &p, NULL));
  if (!p) return r;
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  tbSolveOptions o = tb_default_solve_options();
  o.tolerance = tolerance;
  o.tolerance_q = tolerance_q;
  o.max_iterations = 100000000;
  o.time_budget_s = seconds;
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
  free(lambda);
  tb_problem_free(p);
  return r;
}

// Calls `claim` for every file of the folder with the ending; returns how many there were.
static int each_file(const char* folder, const char* ending,
                     void (*claim)(const char* path, const char* name))
{
  const char* shared = test_shared_folder();
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", shared, folder);
  DIR* dir = opendir(path);
  int count = 0;
  for (struct dirent* e; dir && (e = readdir(dir));) {
    size_t length = strlen(e->d_name), tail = strlen(ending);
    if (length < tail || strcmp(e->d_name + length - tail, ending) != 0) continue;
    snprintf(path, sizeof path, "%s/%s/%s", shared, folder, e->d_name);
    claim(path, e->d_name);
    count++;
  }
  if (dir) closedir(dir);
  return count;
}

static void is_solved(const char* path, const char* name)
{
  tbSolveResult r = solve_file(path, 1e-8, 1e-6, 600);
  if (r.outcome != TB_CONVERGED || !(r.residual.fclib <= 1e-8) || !(r.residual.natural_map <= 1e-6))
    test_failed(__FILE__, __LINE__, "%s: %s by %s, E/max %g, E/‖q‖ %g", name, tb_outcome_name(r.outcome),
                r.used, r.residual.fclib, r.residual.natural_map);
}

TEST(auto_solves_every_shared_fclib_problem_by_both_scalings)
{
  if (!test_shared_folder()) SKIP("no shared folder beside the checkout");
  if (!tb_have_fclib()) SKIP("built without HDF5");
  CHECK(each_file("fclib", ".hdf5", is_solved) > 0);
}

// The half that methods are not tuned on.
LONG_TEST(auto_solves_the_other_shared_fclib_problems_too)
{
  if (!test_shared_folder()) SKIP("no shared folder beside the checkout");
  if (!tb_have_fclib()) SKIP("built without HDF5");
  if (!each_file("fclib-more", ".hdf5", is_solved)) SKIP("no shared/fclib-more");
}

static void lcp_is_solved(const char* path, const char* name)
{
  // This one has no solution: its first row is −z₂ − z₃ − 1e-4 < 0 for every z ≥ 0.
  bool solvable = strcmp(name, "lcp_Pang_isolated_sol_perturbed.dat") != 0;
  tbSolveResult r = solve_file(path, 1e-8, 1e-6, solvable ? 600 : 0.1);
  if ((r.outcome == TB_CONVERGED) != solvable)
    test_failed(__FILE__, __LINE__, "%s: %s by %s, E/max %g", name, tb_outcome_name(r.outcome), r.used,
                r.residual.fclib);
}

TEST(auto_solves_every_shared_lcp_that_has_a_solution)
{
  if (!test_shared_folder()) SKIP("no shared folder beside the checkout");
  CHECK(each_file("fclib/lcp", ".dat", lcp_is_solved) > 0);
}

// `count` nodes of a sheet in a row, each in contact with a fixed obstacle or all with one free body.
static int worth_of_residuals(int count, bool on_a_body)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  int n = 3 * count, sheet, body;
  int *ptr = calloc((size_t)n + 1, sizeof *ptr), *col = calloc((size_t)n, sizeof *col);
  double *mass = calloc((size_t)n, sizeof *mass), *v = calloc((size_t)n, sizeof *v);
  double inertia[36] = {0}, mu = 0.3, bias[3] = {0}, J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, K[18] = {0};
  for (int i = 0; i < n; i++) ptr[i + 1] = i + 1, col[i] = i, mass[i] = 1e-3;
  for (int i = 0; i < 6; i++) inertia[7 * i] = 1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) K[6 * i + j] = -J[3 * i + j];
  CHECK_OK(&ctx, tb_builder_create(&ctx, "sheet", &b));
  tb_builder_sparse(b, n, ptr, col, mass, v, &sheet);
  tb_builder_dense(b, 6, inertia, v, &body);
  for (int k = 0; k < count; k++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
    tb_builder_jacobian(b, sheet + 3 * k, 3, J);
    if (on_a_body) tb_builder_jacobian(b, body, 6, K);
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  tbSolveOptions o = tb_default_solve_options();
  tbAutoSoft soft;
  CHECK_OK(&ctx, tb_auto_soft(&ctx, &(tbRun){.p = p, .o = &o}, &soft));
  CHECK(soft.soft && !soft.W_too_large);
  tb_problem_free(p);
  free(ptr), free(col), free(mass), free(v);
  return soft.worth;
}

// A body on many nodes makes one dense block of the matrix that `cr` factors: Newton begins at once.
TEST(auto_leaves_a_body_on_many_nodes_to_newton)
{
  CHECK(worth_of_residuals(500, false) > 0);
  CHECK(worth_of_residuals(10, true) > 0);
  CHECK(worth_of_residuals(500, true) == 0);
}

// Sweeps creep where contacts are redundant, and Newton's systems are cheap there, in velocity space.
TEST(auto_leaves_redundant_contacts_to_newton_soon)
{
  const tbGenerateKind kinds[] = {TB_GENERATE_STACK, TB_GENERATE_WALL,  TB_GENERATE_PYRAMID,
                                  TB_GENERATE_ARCH,  TB_GENERATE_CARDS, TB_GENERATE_PILE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tbContext ctx = tb_default_context();
    tbGenerate spec = tb_default_generate(kinds[i]);
    tbProblem* p = NULL;
    CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &p));
    double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    o.tolerance = 0, o.velocity_tolerance = 1e-5;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    if (r.outcome != TB_CONVERGED || r.iterations > 90)
      test_failed(__FILE__, __LINE__, "%s: %s after %d iterations of %s", tb_generate_name(kinds[i]),
                  tb_outcome_name(r.outcome), r.iterations, r.used);
    free(lambda);
    tb_problem_free(p);
  }
}
