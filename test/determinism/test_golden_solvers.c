// SPDX-License-Identifier: Apache-2.0
// What every solver makes of a few problems, bit for bit as when golden_solvers.txt was written: impulses and
// iterations, so that no path changes unseen, even where all paths lead to a solution. `make golden` writes
// the file anew; the commit that does so says why.
#include "solve/cases.h"
#include "solving.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = TB_SOURCE_FOLDER "/test/determinism/golden_solvers.txt";
enum { PROBLEMS = 7, LATTICE = 5, POLYGONS = 6, ITERATIONS = 60 };

// Mild and harsh ones, of every kind of metric and law, a soft block, and polygons that are not symmetric.
static tbProblem* problem_of(tbContext* ctx, int k, Case* c)
{
  *c = (Case){0};
  if (k == LATTICE) return cases_lattice(ctx, 4, 100);
  tbManufacture spec = k < 3 || k == POLYGONS ? cases_mild_laws(7 + k) : cases_harsh_laws(k);
  spec.polygons = k == POLYGONS;
  spec.contacts = 12, spec.metric = k % 4;
  return cases_make(c, &spec) ? c->p : NULL;
}

static uint64_t hash_of(const tbProblem* p, const tbSolver* solver, tbModel model, tbSolveResult* result)
{
  tbContext ctx = tb_default_context();
  tbSolveOptions o = tb_default_solve_options();
  o.solver = solver->name, o.model = model, o.max_iterations = ITERATIONS, o.tolerance = 1e-10;
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, result));
  for (int i = 0; i < p->nrow; i++) lambda[i] += 0.0; // which zero fmax takes of two is the compiler's choice
  uint64_t hash = test_hash(lambda, (size_t)p->nrow * sizeof *lambda);
  free(lambda);
  return hash;
}

// A line for every solver that takes the k-th problem.
static void say(FILE* out, int k)
{
  tbContext ctx = tb_default_context();
  Case c;
  tbProblem* p = problem_of(&ctx, k, &c);
  REQUIRE(p);
  for (int i = 0; i < tb_solver_count(); i++) {
    tbModel model;
    tbSolveResult r = {0};
    if (!test_pick_model(tb_solver_at(i), p, &model)) continue;
    uint64_t hash = hash_of(p, tb_solver_at(i), model, &r);
    fprintf(out, "%d %s %s %d %016" PRIx64 "\n", k, tb_solver_at(i)->name, tb_outcome_name(r.outcome),
            r.iterations, hash);
  }
  if (c.p) cases_drop(&c);
  else tb_problem_free(p);
}

LONG_TEST(solvers_take_the_paths_that_are_written_down)
{
  FILE *now = tmpfile(), *golden = NULL;
  REQUIRE(now);
  for (int k = 0; k < PROBLEMS; k++) say(now, k);
  rewind(now);
  if (getenv("TRIBO_WRITE_GOLDEN") && (golden = fopen(path, "w"))) {
    fprintf(golden, "# problem, solver, outcome, iterations, hash of the impulses; written by make golden\n");
    for (int c; (c = fgetc(now)) != EOF;) fputc(c, golden);
    fclose(golden);
    rewind(now);
  }
  char line[200], expected[200];
  int lines = 0;
  REQUIRE((golden = fopen(path, "r")));
  CHECK(fgets(expected, sizeof expected, golden) && expected[0] == '#');
  while (fgets(line, sizeof line, now)) {
    const char* was = fgets(expected, sizeof expected, golden) ? expected : "nothing\n";
    line[strcspn(line, "\n")] = 0, lines++;
    if (strncmp(line, was, strlen(line)) != 0) test_failed(__FILE__, __LINE__, "%s, was %s", line, was);
  }
  CHECK(!fgets(expected, sizeof expected, golden));
  CHECK(lines > 60);
  fclose(golden), fclose(now);
}
