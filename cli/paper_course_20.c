// SPDX-License-Identifier: Apache-2.0
// Figures 20, 21 and 22: PGS by itself, PGS with subspace minimisation, and NNCG, on walls, stacks and
// arches.
//
// Equal work. An iteration of NNCG is one sweep and two vector updates; the course puts it at two sweeps, and
// so does this comparison, to be on the safe side. An iteration of PGS-SM is charged the
// operations it takes on average, in sweeps of PGS: counted, not timed, so that the comparison repeats.
#include "cli/paper_course.h"

#include <math.h>
#include <stdio.h>

enum { STRUCTURES = 7, METHODS = 3, PGS = 0, NNCG = 1, SM = 2 };
static const Structure structures[STRUCTURES] = {
    {"small stack", TB_GENERATE_STACK, 3, 2, 1}, {"stack", TB_GENERATE_STACK, 10, 5, 1},
    {"arch", TB_GENERATE_ARCH, 15, 7, 1},        {"wall", TB_GENERATE_WALL, 6, 4, 1},
    {"pyramid", TB_GENERATE_PYRAMID, 6, 4, 1},   {"cards", TB_GENERATE_CARDS, 4, 2, 1},
    {"pile", TB_GENERATE_PILE, 40, 15, 1}};
static const char* const plots[STRUCTURES] = {
    "figure-22-small-stack.svg", "figure-22-stack.svg", "figure-22-arch.svg", "figure-22-wall.svg",
    "figure-22-pyramid.svg",     "figure-22-cards.svg", "figure-22-pile.svg"};
static const char* const methods[METHODS] = {"pgs", "nncg", "pgs-sm"};
static const double goal = 1e-12, accurate = 1e-10, similar = 1e-6;

typedef struct {
  Trace trace[METHODS];
  double work[METHODS]; // of an iteration, in sweeps
} Case;

static int count_methods(void) { return tb_solver_find(methods[SM]) ? METHODS : METHODS - 1; }

// Whether method m is ahead of PGS at equal work: where both get there, by less work; else by its residual.
static bool ahead(const Case* c, int m, int sweeps)
{
  int k = trace_reach(&c->trace[m], accurate), pgs = trace_reach(&c->trace[PGS], accurate);
  if (pgs >= 0) return k >= 0 && k * c->work[m] < pgs;
  return trace_at(&c->trace[m], (int)(sweeps / c->work[m])) < trace_at(&c->trace[PGS], sweeps);
}

static tbStatus run_case(Paper* p, int which, int sweeps, tbOut* table, Case* c)
{
  tbProblem* problem = NULL;
  tbStatus status = structure_make(p, structures[which], &problem);
  for (int m = 0; m < count_methods() && status == TB_OK; m++) {
    status = trace_run(p, problem, (Trial){methods[m], TB_MODEL_BOX, TB_ORDER_GIVEN, goal, sweeps, 0},
                       &c->trace[m]);
    if (status != TB_OK) break;
    trace_table(table, structures[which].name, methods[m], &c->trace[m]);
    double sweep = trace_work(&c->trace[PGS]);
    c->work[m] = m == PGS ? 1 : m == NNCG ? 2 : trace_work(&c->trace[m]) / sweep;
  }
  tb_problem_free(problem);
  if (status != TB_OK) return status;
  return trace_plot(p, plots[which], structures[which].name, count_methods(), c->trace, methods, c->work);
}

static void judge_linear(Paper* p, const Case* cases)
{
  paper_section(
      p, "Figure 20: PGS converges linearly",
      "Projected Gauss–Seidel on the boxed model. A straight line is fitted to the later half of log₁₀ "
      "residual against iterations; R² is the share of the variation that the line explains.");
  tbOut* table =
      paper_table(p, "figure-20.csv", "structure,iterations,residual,decades_per_iteration,r_squared");
  double slowest = INFINITY, fastest = 0, worst = 1;
  const char* bent = "";
  for (int i = 0; i < STRUCTURES; i++) {
    double slope, explained;
    const Trace* t = &cases[i].trace[PGS];
    trace_rate(t, &slope, &explained);
    out_format(table, "%s,%d,%.3e,%.3e,%.4f\n", structures[i].name, t->result.iterations,
               trace_at(t, t->result.iterations), -slope, explained);
    slowest = fmin(slowest, -slope);
    fastest = fmax(fastest, -slope);
    if (explained < worst) worst = explained, bent = structures[i].name;
  }
  paper_claim(p, slowest > 0 && worst > 0.9, "a linear convergence rate in every configuration",
              "R² of at least %.4f (%s) in %d structures", worst, bent, STRUCTURES);
  paper_claim(p, fastest > 5 * slowest, "the convergence constant varies a lot across simulations",
              "from one decade in %.0f iterations to one in %.0f", 1 / fastest, 1 / slowest);
  paper_section_end(p);
}

static void judge_subspace(Paper* p, const Case* cases, int sweeps)
{
  static const char beats[] = "PGS-SM beats PGS on small configurations at equal work";
  static const char larger[] = "on larger configurations its convergence is similar to that of PGS";
  paper_section(
      p, "Figure 21: PGS with subspace minimisation",
      "PGS-SM against PGS. An iteration of it is charged the operations that it may take at most, in "
      "sweeps of PGS.");
  if (!tb_solver_find(methods[SM])) {
    paper_skip(p, beats, "this build has no pgs-sm");
    paper_skip(p, larger, "this build has no pgs-sm");
    paper_section_end(p);
    return;
  }
  const Case* small = &cases[0];
  paper_claim(p, ahead(small, SM, sweeps), beats,
              "%s, %.0f sweeps an iteration: residual %.1e against %.1e after the work of %d sweeps",
              structures[0].name, small->work[SM],
              trace_at(&small->trace[SM], (int)(sweeps / small->work[SM])),
              trace_at(&small->trace[PGS], sweeps), sweeps);
  const Case* large = &cases[STRUCTURES - 1];
  int sm = trace_reach(&large->trace[SM], similar), pgs = trace_reach(&large->trace[PGS], similar);
  double ratio = sm * large->work[SM] / pgs;
  if (p->quick) paper_skip(p, larger, "the quick variant has no larger configuration");
  else
    paper_claim(p, sm > 0 && pgs > 0 && ratio > 0.1 && ratio < 10, larger,
                "%s: %.2f times the work of PGS to %g", structures[STRUCTURES - 1].name, ratio, similar);
  int won = 0;
  for (int i = 0; i < STRUCTURES; i++) won += ahead(&cases[i], SM, sweeps);
  paper_claim(p, won > STRUCTURES / 2, "the method behaves rather well",
              "ahead of PGS on %d of %d structures", won, STRUCTURES);
  paper_section_end(p);
}

static void judge_nncg(Paper* p, const Case* cases, int sweeps)
{
  int won = 0, finer = 0;
  double gain = INFINITY;
  tbOut* table =
      paper_table(p, "figure-22-summary.csv", "structure,method,iterations_to_1e-10,residual_at_end");
  for (int i = 0; i < STRUCTURES; i++) {
    const Case* c = &cases[i];
    won += ahead(c, NNCG, sweeps);
    finer += trace_at(&c->trace[NNCG], sweeps) < trace_at(&c->trace[PGS], sweeps);
    int k = trace_reach(&c->trace[NNCG], accurate), pgs = trace_reach(&c->trace[PGS], accurate);
    if (k > 0 && pgs > 0) gain = fmin(gain, (double)pgs / k);
    for (int m = 0; m < count_methods(); m++)
      out_format(table, "%s,%s,%d,%.3e\n", structures[i].name, methods[m],
                 trace_reach(&c->trace[m], accurate), trace_at(&c->trace[m], sweeps));
  }
  paper_claim(p, won == STRUCTURES, "NNCG clearly converges faster than PGS",
              "ahead on %d of %d structures after %d sweeps of PGS and half as many iterations of NNCG", won,
              STRUCTURES, sweeps);
  paper_claim(p, finer > 0, "and often to a higher accuracy", "lower residual at the end on %d of %d", finer,
              STRUCTURES);
  if (isfinite(gain))
    paper_claim(p, gain > 1, "a dramatic change in convergence behaviour",
                "where both reach %g, NNCG in at most 1/%.1f of the iterations", accurate, gain);
}

tbStatus course_figures_20_to_22(Paper* p)
{
  Case cases[STRUCTURES] = {0};
  int sweeps = p->quick ? 1000 : 5000;
  tbStatus status = TB_OK;
  paper_section(
      p, "Figure 22: NNCG against PGS",
      "Up to 5000 iterations on the boxed model, in the order the problem gives. An iteration of NNCG is "
      "drawn as two sweeps of PGS, which is what the course charges for it.");
  tbOut* table = paper_table(p, "figures-20-22.csv", "structure,method,iteration,residual");
  for (int i = 0; i < STRUCTURES && status == TB_OK; i++) status = run_case(p, i, sweeps, table, &cases[i]);
  if (status == TB_OK) {
    judge_nncg(p, cases, sweeps);
    paper_section_end(p);
    judge_linear(p, cases);
    judge_subspace(p, cases, sweeps);
  }
  for (int i = 0; i < STRUCTURES; i++)
    for (int m = 0; m < METHODS; m++) trace_free(p, &cases[i].trace[m]);
  return status;
}
