// `auto` on problems other people's simulators produced, and on those that no solver likes.
#include "test.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#include <dirent.h>
#include <math.h>
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
  tbSolveResult r = solve_file(path, 1e-8, 1e-6, 60);
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

static void lcp_is_solved(const char* path, const char* name)
{
  // This one has no solution: its first row is −z₂ − z₃ − 1e-4 < 0 for every z ≥ 0.
  bool solvable = strcmp(name, "lcp_Pang_isolated_sol_perturbed.dat") != 0;
  tbSolveResult r = solve_file(path, 1e-8, 1e-6, solvable ? 60 : 0.1);
  if ((r.outcome == TB_CONVERGED) != solvable)
    test_failed(__FILE__, __LINE__, "%s: %s by %s, E/max %g", name, tb_outcome_name(r.outcome), r.used,
                r.residual.fclib);
}

TEST(auto_solves_every_shared_lcp_that_has_a_solution)
{
  if (!test_shared_folder()) SKIP("no shared folder beside the checkout");
  CHECK(each_file("fclib/lcp", ".dat", lcp_is_solved) > 0);
}

// A block pressed on the ground at `copies` contacts per corner, perhaps from above too.
static tbProblem* block(tbContext* ctx, double mass, double mu, int copies, bool squeezed, double tilt)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  double inertia[9] = {mass / 6, 0, 0, 0, mass / 6, 0, 0, 0, mass / 6}, v[6] = {0.3, 0.1, -0.0981, 0, 0, 0.2};
  tb_builder_create(ctx, "block", &b);
  tb_builder_rigid(b, mass, inertia, v, NULL);
  for (int i = 0; i < 4 * copies * (squeezed ? 2 : 1); i++) {
    double side = i / (4 * copies) ? -1 : 1; // from below, from above
    double r[3] = {i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, -0.5 * side}, s = tilt * i;
    double d[9] = {s, 0, side, 1, 0, -s * side, 0, 1, 0}, J[18];
    for (int k = 0; k < 3; k++) {
      const double* e = d + 3 * k;
      double row[6] = {
          e[0], e[1], e[2], r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]};
      memcpy(J + 6 * k, row, sizeof row);
    }
    double bias[3] = {squeezed ? -0.2 : 0, 0, 0}; // both planes move inwards: nothing can give way
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
    tb_builder_jacobian(b, 0, 6, J);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(hard_cases_end_in_time_with_a_truthful_answer_from_every_solver)
{
  static const struct {
    const char* name;
    double mass, mu, tilt;
    int copies;
    bool squeezed;
  } cases[] = {{"ten times the same contacts", 1, 0.5, 0, 10, false},
               {"heavy", 1e8, 0.5, 0, 1, false},
               {"light", 1e-8, 0.5, 0, 1, false},
               {"no friction", 1, 0, 0, 2, false},
               {"much friction", 1, 5, 0, 2, false},
               {"nearly parallel normals", 1, 0.5, 1e-9, 2, false},
               {"squeezed: no solution", 1, 0.5, 0, 1, true}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int i = 0; i < tb_solver_count(); i++) {
      tbContext ctx = tb_default_context();
      tbProblem* p =
          block(&ctx, cases[c].mass, cases[c].mu, cases[c].copies, cases[c].squeezed, cases[c].tilt);
      REQUIRE(p && p->nrow <= 200);
      tbSolveOptions o = tb_default_solve_options();
      o.solver = tb_solver_at(i)->name;
      o.max_iterations = 100000000;
      o.time_budget_s = 0.02;
      double lambda[200] = {0};
      tbSolveResult r = {0};
      if (!tb_solver_refuses(tb_solver_at(i), p, o.model)) {
        CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
        bool finite = true;
        for (int k = 0; k < p->nrow; k++) finite = finite && isfinite(lambda[k]);
        bool lies = (r.outcome == TB_CONVERGED) != (r.residual.fclib <= o.tolerance) ||
                    (cases[c].squeezed && r.outcome == TB_CONVERGED);
        if (!finite || r.time_s > 10 || lies)
          test_failed(__FILE__, __LINE__, "%s, %s: %s, E/max %g, %g s", o.solver, cases[c].name,
                      tb_outcome_name(r.outcome), r.residual.fclib, r.time_s);
        if (strcmp(o.solver, "auto") == 0 && !cases[c].squeezed && r.outcome != TB_CONVERGED)
          test_failed(__FILE__, __LINE__, "auto, %s: %s, E/max %g", cases[c].name, tb_outcome_name(r.outcome),
                      r.residual.fclib);
      }
      tb_problem_free(p);
    }
}
