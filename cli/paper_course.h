// SPDX-License-Identifier: Apache-2.0
// The parts of the course, and what they share: structures, runs over them, and reading a curve.
#ifndef TB_CLI_PAPER_COURSE_H
#define TB_CLI_PAPER_COURSE_H

#include "cli/curve.h"
#include "cli/paper.h"

tbStatus course_figure_16(Paper* paper);
tbStatus course_figure_17(Paper* paper);
tbStatus course_figures_20_to_22(Paper* paper);
tbStatus course_table_2(Paper* paper);
tbStatus course_table_4(Paper* paper);
tbStatus course_chapter_5(Paper* paper);          // barriers beside the exact law
tbStatus course_published_barriers(Paper* paper); // and beside published times
tbStatus course_chapter_6(Paper* paper);
tbStatus course_table_2_cone(Paper* paper); // its rows on the friction cone

typedef struct {
  const char* name;
  tbGenerateKind kind;
  int size, quick_size;
  double mass_ratio;
} Structure;

tbStatus structure_make(Paper* paper, Structure structure, tbProblem** out);

// One method on one structure, from zero, judged at every iteration.
typedef struct {
  const char* solver;
  tbModel model; // the course works on the boxed model (BLCP) unless it says otherwise
  tbOrder order;
  double tolerance;
  int max_iterations;
  tbRFactor r_factor;
} Trial;

typedef struct {
  tbArray points; // CurvePoint
  tbSolveResult result;
} Trace;

tbStatus trace_run(Paper* paper, const tbProblem* problem, Trial trial, Trace* out);
void trace_free(Paper* paper, Trace* trace);
// Without a trace; of `runs` the fastest counts.
tbStatus trial_run(Paper* paper, const tbProblem* problem, Trial trial, int runs, tbSolveResult* out);

int trace_reach(const Trace* trace, double tolerance); // the first iteration that good; −1: none
double trace_at(const Trace* trace, int iteration);    // the best residual up to then
double trace_work(const Trace* trace);                 // operations per iteration
// A straight line through log₁₀ residual against iterations, over its later half until rounding: its slope,
// and how much of the variation it explains (R²).
void trace_rate(const Trace* trace, double* slope, double* explained);

// A plot of several traces; `work` is what an iteration of each costs in sweeps (null: one each).
tbStatus trace_plot(Paper* paper, const char* file, const char* caption, int count, const Trace* trace,
                    const char* const* name, const double* work);
void trace_table(tbOut* out, const char* structure, const char* name, const Trace* trace); // CSV rows

#endif
