// Every solver on every shared FCLIB problem: milliseconds to reach a residual of 1e-6, or how far it got.
//
//   bench_fclib [FOLDER] [SECONDS]     default ../shared/fclib and 2 s each
//
// `T` and the residual: not reached in the time given. The last line counts what each solver reached.
#include "tribo/io.h"
#include "tribo/solver.h"

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

int main(int argc, char** argv)
{
  const char* folder = argc > 1 ? argv[1] : "../shared/fclib";
  double seconds = argc > 2 ? atof(argv[2]) : 2;
  char** paths;
  int count = list_problems(folder, &paths), reached[64] = {0};
  if (!count || !tb_have_fclib()) {
    printf("fclib: skipped: %s\n", count ? "built without HDF5" : "no problems in the folder (shared/fclib beside the checkout)");
    return 0;
  }
  printf("milliseconds to E/max ≤ 1e-6, %g s at most\n%-40s %8s", seconds, "problem", "contacts");
  for (int i = 0; i < tb_solver_count(); i++) printf(" %11s", tb_solver_at(i)->name);
  printf("\n");
  for (int f = 0; f < count; f++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    if (tb_problem_load(&ctx, paths[f], &p, NULL) != TB_OK) {
      printf("%s\n", ctx.error.message);
      continue;
    }
    printf("%-40.40s %8d", strrchr(paths[f], '/') + 1, p->ncontact);
    for (int i = 0; i < tb_solver_count(); i++) {
      tbSolveOptions o = tb_default_solve_options();
      o.solver = tb_solver_at(i)->name;
      o.tolerance = 1e-6;
      o.max_iterations = 2000000000;
      o.time_budget_s = seconds;
      double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
      tbSolveResult r;
      if (tb_solver_refuses(tb_solver_at(i), p, o.model) || tb_solve(&ctx, p, &o, lambda, &r) != TB_OK) {
        printf(" %11s", "-");
      } else if (r.outcome == TB_CONVERGED) {
        printf(" %11.3f", 1e3 * (r.setup_s + r.time_s));
        reached[i]++;
      } else {
        printf("   T %7.1e", r.residual.fclib);
      }
      fflush(stdout);
      free(lambda);
    }
    printf("\n");
    tb_problem_free(p);
    free(paths[f]);
  }
  free(paths);
  printf("%-40s %8d", "reached, of", count);
  for (int i = 0; i < tb_solver_count(); i++) printf(" %11d", reached[i]);
  printf("\n");
  return 0;
}
