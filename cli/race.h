// SPDX-License-Identifier: Apache-2.0
// One problem, several solvers, the same start: who gets there, and how fast.
#ifndef TB_CLI_RACE_H
#define TB_CLI_RACE_H

#include "cli/curve.h"

typedef struct {
  const tbSolver* solver;
  int lane;          // its place in the list of solvers: the same in every race of a report
  char why_not[240]; // why it did not run; empty when it did
  bool refused;      // … because it does not take the problem's law or model: it was not in this race
  // The run of the median time (of an even number the faster of the middle two), or one that ran out of time.
  tbSolveResult result;
  int runs;
  double fastest_s, slowest_s; // of all runs
  double residual;             // what the tolerance applies to
  int borrowed;                // contacts it solved by another method's equations: tb_solver_borrowed
  bool untrue;                 // its residual or its status is not what the judge says of its λ
  CurvePoint* curve;           // judged iterates, at most CURVE_POINTS; null unless asked for
  int points;
} Entry;

typedef struct {
  const char* path; // of the file, or what stands for one
  char name[32];    // behind path, where there is no file
  tbProblem* problem;
  double* start; // λ every solver starts from                                        (nrow)
  bool warm;     // it is a guess, not zero
  tbResidual start_residual;
  bool start_suffices; // it meets the tolerance: there is nothing to race for
  Entry* entry;        // ranked: converged by time, then the others by residual, then those that did not run
  int entries, ran;
} Race;

typedef struct {
  const tbSolver* const* solver;
  int solvers;
  tbSolveOptions options; // of every solver; `solver` and the trace are set by the race
  bool curves;            // run each solver again, judged at every iteration
  int repeat;             // runs of each solver; 0: RACE_SHORT_RUNS of those too short to time, one of others
  void (*progress)(const Race* race, const tbSolver* solver, int index); // null, or called before each solver
} RaceRules;

enum { RACE_SHORT_RUNS = 5, RACE_MOST_RUNS = 1000 };
static const double race_short_s = 0.02;

// What to start from: zero, a guess where there is one, or the default: the guess that a problem file brings,
// but zero for a scene, whose own warm start is often the answer already.
typedef enum { START_DEFAULT, START_COLD, START_WARM } RaceStart;

// step: of a scene, how many steps come before the problem.
tbStatus race_load(tbContext* ctx, const char* path, int step, RaceStart start, Race* out);
// The index-th of a set of problems with known answers: sizes, metrics, masses and friction of many kinds,
// and for the exact law every kind of law. Solvers start from zero.
tbStatus race_manufacture(tbContext* ctx, int seed, int index, tbModel model, Race* out);
// Ends early when the caller cancels.
tbStatus race_run(tbContext* ctx, const RaceRules* rules, Race* race);
const Entry* race_entry(const Race* race, int lane); // of those that ran; null: none
void race_free(tbContext* ctx, Race* race);          // takes a race of zeros

#endif
