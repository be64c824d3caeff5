// Every solver on 300 problems with a known answer, in every model it solves: how many it solves to 1e-8, how
// it ends on the others, and what a solve costs.
//
//   bench_manufactured [SECONDS]     default 0.5 s for each problem
#include "bench.h"
#include "tribo/solver.h"

#include <stdlib.h>

enum { PROBLEMS = 300 };

static tbManufacture spec_for(int seed, tbModel model)
{
  static const double ratios[] = {1, 1e2, 1e4, 1e6}, frictions[] = {0, 0.3, 1, 5};
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed + 1000;
  s.contacts = 2 + seed % 40;
  s.dimension = seed % 6 == 0 ? 2 : 3;
  s.mass_ratio = ratios[seed % 4];
  s.mu_max = frictions[seed / 4 % 4];
  s.metric = seed % 5;
  s.redundant = seed % 3 == 0;
  s.all_laws = model == TB_MODEL_CONE && seed % 2 == 0;
  return s;
}

typedef struct {
  int taken, solved, outcomes[TB_FAILED + 1];
  double time;
} Score;

static void play(const tbSolver* solver, tbModel model, double seconds, Score* score)
{
  for (int seed = 0; seed < PROBLEMS; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = spec_for(seed, model);
    tbProblem* p = NULL;
    double* exact = NULL;
    if (tb_problem_manufacture(&ctx, &spec, &p, &exact) != TB_OK) continue;
    double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
    tbSolveOptions o = tb_default_solve_options();
    o.solver = solver->name;
    o.model = model;
    o.max_iterations = 100000;
    o.time_budget_s = seconds;
    tbSolveResult r;
    if (!tb_solver_refuses(solver, p, model) && tb_solve(&ctx, p, &o, lambda, &r) == TB_OK) {
      score->taken++;
      score->outcomes[r.outcome]++;
      score->solved += r.outcome == TB_CONVERGED;
      if (r.outcome == TB_CONVERGED) score->time += r.time_s;
    }
    free(lambda);
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}

int main(int argc, char** argv)
{
  double seconds = argc > 1 ? atof(argv[1]) : 0.5;
  printf("%d manufactured problems to 1e-8, %g s at most; `taken`: laws and sizes the solver does not "
         "refuse\n\n",
         PROBLEMS, seconds);
  printf("%-12s %-13s %6s %7s %11s %6s %7s %10s\n", "solver", "model", "taken", "solved", "iterations",
         "time", "failed", "mean ms");
  for (int i = 0; i < tb_solver_count(); i++)
    for (int m = 0; m < TB_MODEL_COUNT; m++) {
      const tbSolver* solver = tb_solver_at(i);
      if (!(solver->models & 1u << m)) continue;
      Score s = {0};
      play(solver, (tbModel)m, seconds, &s);
      printf("%-12s %-13s %6d %7d %11d %6d %7d %10.3f\n", solver->name, tb_model_name((tbModel)m), s.taken,
             s.solved, s.outcomes[TB_MAX_ITERATIONS], s.outcomes[TB_TIME], s.outcomes[TB_FAILED],
             s.solved ? 1e3 * s.time / s.solved : 0);
      fflush(stdout);
    }
  return 0;
}
