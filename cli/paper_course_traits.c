// SPDX-License-Identifier: Apache-2.0
// Table 2: the benefits and disadvantages of the methods, measured.
#include "cli/paper_course.h"

#include <math.h>

// A stack of four under a heavy box: what mass ratios do to a method. Residuals of the boxed model, after at
// most 1000 iterations (500 of NNCG, which the table charges double).

enum { RATIOS = 3, HEAVY_METHODS = 5, BPP = 0, MURTY, DANTZIG, PGS, NNCG };
static const double ratios[RATIOS] = {1, 1e3, 1e6};
static const char* const heavy_methods[HEAVY_METHODS] = {"bpp", "murty", "dantzig", "pgs", "nncg"};

static tbStatus measure_ratios(Paper* p, double residual[HEAVY_METHODS][RATIOS])
{
  tbOut* table = paper_table(p, "table-2-mass-ratio.csv", "method,mass_ratio,iterations,residual");
  for (int r = 0; r < RATIOS; r++) {
    tbProblem* problem = NULL;
    tbStatus status = structure_make(p, (Structure){"stack", TB_GENERATE_STACK, 4, 4, ratios[r]}, &problem);
    for (int m = 0; m < HEAVY_METHODS && status == TB_OK; m++) {
      tbSolveResult result;
      Trial trial = {heavy_methods[m], TB_MODEL_BOX, TB_ORDER_GIVEN, 1e-12, m == NNCG ? 500 : 1000, 0};
      status = trial_run(p, problem, trial, 1, &result);
      if (status != TB_OK) break;
      residual[m][r] = result.residual.model;
      out_format(table, "%s,%g,%d,%.3e\n", heavy_methods[m], ratios[r], result.iterations, residual[m][r]);
    }
    tb_problem_free(problem);
    TB_TRY(status);
  }
  return TB_OK;
}

static tbStatus judge_ratios(Paper* p)
{
  double e[HEAVY_METHODS][RATIOS], pivoting = 0;
  TB_TRY(measure_ratios(p, e));
  bool better = true;
  for (int r = 0; r < RATIOS; r++) {
    for (int m = BPP; m <= DANTZIG; m++) pivoting = fmax(pivoting, e[m][r]);
    better &= e[NNCG][r] < e[PGS][r];
  }
  paper_claim(p, pivoting < 1e-7, "pivoting: high accuracy, supports large mass ratios",
              "residual at most %.1e for mass ratios 1 to 1e6 (bpp, murty, dantzig)", pivoting);
  paper_claim(p, e[PGS][1] > 100 * e[PGS][0] && e[PGS][2] > 1e3 * pivoting,
              "splitting: inaccurate, poor large mass ratio handling",
              "PGS after 1000 sweeps: %.1e, %.1e, %.1e for mass ratios 1, 1e3, 1e6", e[PGS][0], e[PGS][1],
              e[PGS][2]);
  paper_claim(p, better, "NNCG: better handling of large mass ratios",
              "after 500 iterations: %.1e, %.1e, %.1e for the same", e[NNCG][0], e[NNCG][1], e[NNCG][2]);
  return TB_OK;
}

// Cost. Counted where the methods count their operations; else timed: then the methods take turns and the
// fastest of many runs counts, so that a busy machine slows all alike.

enum { ROUNDS = 25 };

typedef struct {
  double sweep, pivoting, newton;                                // seconds; pivoting: of the whole solve
  double sweep_operations, nncg_operations, subspace_operations; // of an iteration
} Costs;

static tbStatus measure_costs(Paper* p, int size, Costs* c)
{
  *c = (Costs){INFINITY, INFINITY, INFINITY, 0, 0, 0};
  const struct {
    const char* solver;
    tbModel model;
    int iterations;
    double *seconds, *operations; // null: not measured
  } trials[] = {{"pgs", TB_MODEL_BOX, 100, &c->sweep, &c->sweep_operations},
                {"bpp", TB_MODEL_BOX, 1000, &c->pivoting, NULL},
                {"newton-fb", TB_MODEL_CONE, 4, &c->newton, NULL},
                {"nncg", TB_MODEL_BOX, 100, NULL, &c->nncg_operations},
                {"pgs-sm", TB_MODEL_BOX, 1, NULL, &c->subspace_operations}};
  enum { TRIALS = sizeof trials / sizeof *trials, TIMED = 3 };
  tbProblem* problem = NULL;
  tbStatus status = structure_make(p, (Structure){"stack", TB_GENERATE_STACK, size, size, 1}, &problem);
  for (int i = 0; i < TRIALS + TIMED * (ROUNDS - 1) && status == TB_OK; i++) {
    tbSolveResult r;
    int t = i < TRIALS ? i : (i - TRIALS) % TIMED;
    Trial trial = {trials[t].solver, trials[t].model, TB_ORDER_GIVEN, 1e-10, trials[t].iterations, 0};
    status = trial_run(p, problem, trial, 1, &r);
    if (status != TB_OK) break;
    double iterations = trials[t].seconds == &c->pivoting ? 1 : fmax(r.iterations, 1);
    if (trials[t].seconds) *trials[t].seconds = fmin(*trials[t].seconds, r.time_s / iterations);
    if (trials[t].operations) *trials[t].operations = r.operations / iterations;
  }
  tb_problem_free(problem);
  return status;
}

static tbStatus judge_costs(Paper* p)
{
  int small = p->quick ? 8 : 12, large = p->quick ? 24 : 48;
  Costs a, b;
  TB_TRY(measure_costs(p, small, &a));
  TB_TRY(measure_costs(p, large, &b));
  double span = log((double)large / small);
  double power = log(b.pivoting / a.pivoting) / span, sweep_power = log(b.sweep / a.sweep) / span;
  tbOut* table = paper_table(p, "table-2-cost.csv",
                             "boxes,pgs_sweep_s,pivoting_s,newton_iteration_s,pgs_sweep_operations,"
                             "nncg_iteration_operations,subspace_iteration_operations");
  for (int i = 0; i < 2; i++) {
    const Costs* c = i ? &b : &a;
    out_format(table, "%d,%.3e,%.3e,%.3e,%.0f,%.0f,%.0f\n", i ? large : small, c->sweep, c->pivoting,
               c->newton, c->sweep_operations, c->nncg_operations, c->subspace_operations);
  }
  paper_claim_timed(p, power > 1.5 && power > sweep_power + 0.5, "pivoting: computationally expensive",
                    "from %d to %d boxes the time of a solve grows as n^%.1f, of a sweep of PGS as n^%.1f",
                    small, large, power, sweep_power);
  paper_claim_timed(p, b.pivoting > 50 * b.sweep, "splitting: fast performance",
                    "%.0f sweeps of PGS in the time of one pivoting solve of %d boxes", b.pivoting / b.sweep,
                    large);
  double nncg = b.nncg_operations / b.sweep_operations, subspace = b.subspace_operations / b.sweep_operations;
  paper_claim(p, nncg > 1 && nncg < 2, "NNCG: at (no more than) two times the cost of PGS",
              "%.2f times the operations", nncg);
  paper_claim_timed(p, b.newton > 5 * b.sweep,
                    "nonsmooth Newton: assembling and solving a linear system is expensive",
                    "an iteration takes the time of %.0f sweeps of PGS", b.newton / b.sweep);
  paper_claim(p, subspace > 5, "subspace minimisation: solving the linear subsystem can be expensive",
              "an iteration takes the operations of %.0f sweeps of PGS", subspace);
  return TB_OK;
}

// Robustness: random piles with a mass ratio of 1000, a hundred sweeps.
static tbStatus judge_robust(Paper* p)
{
  static const char* const splitting[] = {"jacobi", "pgs", "psor"};
  int piles = p->quick ? 5 : 20, good = 0;
  double worst = 0;
  for (int i = 0; i < piles; i++) {
    tbGenerate spec = tb_default_generate(TB_GENERATE_PILE);
    spec.size = 30;
    spec.mass_ratio = 1000;
    spec.seed = (uint64_t)i + 1;
    tbProblem* problem = NULL;
    tbStatus status = tb_problem_generate(p->ctx, &spec, &problem);
    for (int m = 0; m < 3 && status == TB_OK; m++) {
      Trace t;
      status = trace_run(p, problem, (Trial){splitting[m], TB_MODEL_BOX, TB_ORDER_GIVEN, 0, 100, 0}, &t);
      if (status != TB_OK) break;
      const CurvePoint* point = t.points.data;
      double ratio = point[t.points.count - 1].residual / point[0].residual;
      good += ratio < 1;
      worst = fmax(worst, ratio);
      trace_free(p, &t);
    }
    tb_problem_free(problem);
    TB_TRY(status);
  }
  paper_claim(
      p, good == 3 * piles, "splitting: very robust",
      "jacobi, pgs and psor end below their start on %d of %d runs over random piles; worst ratio %.2f", good,
      3 * piles, worst);
  return TB_OK;
}

// When NNCG, charged double, is ahead of PGS for good.
static tbStatus judge_onset(Paper* p)
{
  static const Structure structures[] = {{"stack", TB_GENERATE_STACK, 10, 5, 1},
                                         {"wall", TB_GENERATE_WALL, 6, 4, 1},
                                         {"arch", TB_GENERATE_ARCH, 15, 7, 1}};
  int latest = 0, sweeps = 1000;
  const char* where = "";
  for (int i = 0; i < 3; i++) {
    tbProblem* problem = NULL;
    Trace pgs = {0}, nncg = {0};
    tbStatus status = structure_make(p, structures[i], &problem);
    if (status == TB_OK)
      status = trace_run(p, problem, (Trial){"pgs", TB_MODEL_BOX, TB_ORDER_GIVEN, 0, sweeps, 0}, &pgs);
    if (status == TB_OK)
      status = trace_run(p, problem, (Trial){"nncg", TB_MODEL_BOX, TB_ORDER_GIVEN, 0, sweeps / 2, 0}, &nncg);
    for (int k = 1; k <= sweeps / 2 && status == TB_OK; k++)
      if (trace_at(&nncg, k) > trace_at(&pgs, 2 * k) && k > latest) latest = k, where = structures[i].name;
    trace_free(p, &pgs);
    trace_free(p, &nncg);
    tb_problem_free(problem);
    TB_TRY(status);
  }
  paper_claim(p, latest >= 10, "NNCG: may need many iterations before its benefit kicks in",
              "still behind PGS, at equal work, after %d iterations (%s)", latest, where);
  return TB_OK;
}

tbStatus course_table_2(Paper* p)
{
  paper_section(p, "Table 2: benefits and disadvantages",
                "On stacks, walls, arches, houses of cards and piles; times are of this machine.");
  TB_TRY(judge_ratios(p));
  TB_TRY(judge_costs(p));
  TB_TRY(judge_robust(p));
  TB_TRY(judge_onset(p));
  TB_TRY(course_table_2_cone(p));
  paper_section_end(p);
  return TB_OK;
}
