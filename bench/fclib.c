// SPDX-License-Identifier: Apache-2.0
// Every solver on every shared FCLIB problem: milliseconds to reach a residual of 1e-6, or how far it got.
//
//   bench_fclib [FOLDER] [SECONDS] [SOLVERS]     default ../shared/fclib, 2 s each, all (else: auto,bgs,…)
//
// `T` and the residual: not reached in the time given. The last line counts what each solver reached. Where
// Siconos is installed, the fastest of its solvers that reached the tolerance follows, measured in the same
// run, each judged by Tribo's judge; the ratio is its time over that of `auto`. Neither side is charged for
// putting W into the form it works on.
#include "bench.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#ifdef TB_HAVE_SICONOS
#include "peers/siconos.h"
#endif

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static int list_problems(const char* folder, char*** out)
{
  DIR* dir = opendir(folder);
  int count = 0;
  char** names = NULL;
  for (struct dirent* e; dir && (e = readdir(dir));) {
    size_t length = strlen(e->d_name);
    if (length < 5 || strcmp(e->d_name + length - 5, ".hdf5") != 0) continue;
    names = realloc(names, sizeof *names * (size_t)(count + 1));
    names[count] = malloc(strlen(folder) + length + 2);
    sprintf(names[count++], "%s/%s", folder, e->d_name);
  }
  if (dir) closedir(dir);
  if (count) qsort(names, (size_t)count, sizeof *names, by_name);
  *out = names;
  return count;
}

// The same problem with W given. Takes the problem over.
static tbProblem* give_W(tbContext* ctx, tbProblem* p)
{
  tbDelassus* W = NULL;
  tbBuilder* b = NULL;
  tbProblem* made = NULL;
  if (p->W_ptr || tb_delassus_create(ctx, p, TB_FORM_DENSE, &W) != TB_OK ||
      tb_builder_create(ctx, p->name, &b) != TB_OK)
    return p;
  int n = p->nrow, entries = 0, *ptr = calloc((size_t)n + 1, sizeof *ptr),
      *col = malloc(sizeof *col * (size_t)n * (size_t)n);
  double* val = malloc(sizeof *val * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      if (W->dense[(size_t)i * (size_t)n + (size_t)j] != 0)
        col[entries] = j, val[entries++] = W->dense[(size_t)i * (size_t)n + (size_t)j];
    ptr[i + 1] = entries;
  }
  tb_builder_explicit(b, n, ptr, col, val);
  for (int k = 0; k < p->ncontact; k++)
    tb_builder_contact(b, (tbLaw)p->law[k], p->row_adr[k + 1] - p->row_adr[k], p->param + p->param_adr[k],
                       W->q + p->row_adr[k], NULL);
  tb_builder_finish(b, &made);
  tb_delassus_free(ctx, W);
  free(ptr), free(col), free(val);
  if (!made) return p;
  tb_problem_free(p);
  return made;
}

// Best time of a few solves, in seconds; INFINITY when the tolerance was not reached. residual: the last
// one's.
static double race(const tbProblem* p, const char* solver, double seconds, double* residual)
{
  double best = INFINITY, spent = 0, *lambda = malloc(sizeof *lambda * ((size_t)p->nrow + 1));
  *residual = NAN;
  for (int repeat = 0; repeat < 20 && spent < 0.05; repeat++) {
    tbContext ctx = tb_default_context();
    tbSolveOptions o = tb_default_solve_options();
    o.solver = solver;
    o.tolerance = 1e-6;
    o.max_iterations = 2000000000;
    o.time_budget_s = seconds;
    memset(lambda, 0, sizeof *lambda * (size_t)p->nrow);
    tbSolveResult r;
    if (tb_solve(&ctx, p, &o, lambda, &r) != TB_OK) break;
    *residual = r.residual.fclib;
    spent += r.time_s;
    if (r.outcome == TB_CONVERGED && r.time_s < best) best = r.time_s;
  }
  free(lambda);
  return best;
}

static void print_cell(double time, double residual)
{
  if (isfinite(time)) printf(" %11.3f", 1e3 * time);
  else if (isnan(residual)) printf(" %11s", "-");
  else printf("   T %7.1e", residual);
  fflush(stdout);
}

// The fastest of Siconos' solvers; INFINITY where none reached the tolerance.
static double siconos_fastest(const tbProblem* p, double seconds, const char** name)
{
  double best = INFINITY;
  *name = "none";
#ifdef TB_HAVE_SICONOS
  int rows = p->ncontact ? p->row_adr[1] : 0;
  for (int k = 0; k < p->ncontact; k++)
    if (p->law[k] != TB_LAW_COULOMB || p->row_adr[k + 1] - p->row_adr[k] != rows) return best;
  for (int s = 0; s < (rows == 2 ? 1 : SICONOS_SOLVERS); s++) {
    double time, residual;
    siconos_solve(p, s, 1e-6, seconds, &time, &residual);
    if (residual <= 1e-6 && time < best) best = time, *name = siconos_names[s];
  }
#else
  (void)p, (void)seconds;
#endif
  return best;
}

static bool wanted(const char* list, const char* name)
{
  size_t length = strlen(name);
  for (const char* at = list; at && (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return !list;
}

int main(int argc, char** argv)
{
  const char* list = argc > 3 ? argv[3] : NULL;
  const char* folder = argc > 1 ? argv[1] : "../shared/fclib";
  double seconds = argc > 2 ? atof(argv[2]) : 2;
  char** paths;
  int count = list_problems(folder, &paths), reached[64] = {0}, siconos_reached = 0, ratios = 0, slower = 0;
  double logs = 0;
  bool has_auto = tb_solver_find("auto") != NULL;
  if (!count || !tb_have_fclib()) {
    printf("fclib: skipped: %s\n",
           count ? "built without HDF5" : "no problems in the folder (shared/fclib beside the checkout)");
    return 0;
  }
  printf("milliseconds to E/max ≤ 1e-6, %g s at most\n%-40s %8s", seconds, "problem", "contacts");
  for (int i = 0; i < tb_solver_count(); i++)
    if (wanted(list, tb_solver_at(i)->name)) printf(" %11s", tb_solver_at(i)->name);
  printf("  siconos: fastest%s\n", has_auto ? ", ratio to auto" : "");
  for (int f = 0; f < count; f++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    if (tb_problem_load(&ctx, paths[f], &p, NULL) != TB_OK) {
      printf("%s\n", ctx.error.message);
      continue;
    }
    p = give_W(&ctx, p);
    double by_auto = INFINITY, residual;
    printf("%-40.40s %8d", strrchr(paths[f], '/') + 1, p->ncontact);
    for (int i = 0; i < tb_solver_count(); i++) {
      const tbSolver* solver = tb_solver_at(i);
      if (!wanted(list, solver->name)) continue;
      double time = race(p, solver->name, seconds, &residual);
      print_cell(time, residual);
      reached[i] += isfinite(time);
      if (strcmp(solver->name, "auto") == 0) by_auto = time;
    }
    const char* name;
    double theirs = siconos_fastest(p, seconds, &name);
    siconos_reached += isfinite(theirs);
    printf("  %9.3f %-7s", 1e3 * theirs, name);
    if (has_auto && isfinite(theirs)) {
      printf(" %8.2f", theirs / by_auto);
      logs += log(theirs / by_auto), ratios++, slower += !(theirs > by_auto);
    }
    printf("\n");
    tb_problem_free(p);
    free(paths[f]);
  }
  free(paths);
  printf("%-40s %8d", "reached, of", count);
  for (int i = 0; i < tb_solver_count(); i++)
    if (wanted(list, tb_solver_at(i)->name)) printf(" %11d", reached[i]);
  printf("  %9d\n", siconos_reached);
  if (ratios)
    printf("geometric mean of the ratios over %d problems: %.2f; slower than Siconos on %d\n", ratios,
           exp(logs / ratios), slower);
  return 0;
}
