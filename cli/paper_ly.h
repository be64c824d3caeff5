// SPDX-License-Identifier: Apache-2.0
// The experiments of Ly et al. 2020: the scenes of papers/ly, at the paper's sizes, and what was published of
// them.
#ifndef TB_CLI_PAPER_LY_H
#define TB_CLI_PAPER_LY_H

#include "cli/paper.h"
#include "tribo/step.h"

// Table 2, milliseconds: of an iteration the right-hand side, contacts (with obstacles and with itself) and
// the global solve; of a step detection of contacts and of self-contacts, sorting, and all of it; and ARGUS'
// step, 0: not published.
typedef struct {
  double mu;
  double ext, self; // contacts
  double rhs, contacts, solve, detect, detect_self, sorting, step, argus;
} LyPublished;

typedef enum { LY_RIBBON, LY_SQUARE, LY_DRESS } LyKind;

typedef struct {
  const char* name; // of its scene, papers/ly/NAME.json: weights, steps and iterations of table 1
  LyKind kind;
  int vertices, iterations; // the paper's
  double settle;            // seconds until contacts are there
  int cells;                // across, of the paper's size
  int ways;                 // coefficients of friction
  LyPublished published[2];
} LySetup;

extern const LySetup ly_setups[];
extern const int ly_setup_count;

// The scene with so many cells across and friction μ everywhere (paper_ly_published.c).
tbStatus ly_scene(const Paper* paper, const LySetup* setup, int cells, double mu, tbScene* out);

// Means of a step, ms of the processor; a step's parts are shares of it by the clock. wall: by the clock,
// without the judge.
typedef struct {
  int vertices, steps;
  double contacts, iterations, step, wall, judge, detect, rhs, sweep, solve, sorting;
  double residual, speed; // mean; and the fastest body
} LyMeasured;

// So many steps with what they take. (paper_ly.c)
tbStatus ly_measure(tbContext* ctx, tbWorld* world, const tbStepOptions* options, int steps, LyMeasured* out);
double ly_fastest_node(const tbWorld* world);

// The judge's number after one step from where the world stands, which is left alone; iterations by the
// paper's method, or with momentum. v: velocities of all nodes, body by body; may be null.
// (paper_ly_figures.c)
tbStatus ly_error_after(tbContext* ctx, tbWorld* world, const tbStepOptions* options, bool accelerated,
                        int iterations, double* out, tbVec3* v);

tbStatus ly_closed_form(Paper* paper);    // figure 5
tbStatus ly_iterations(Paper* paper);     // figure 2
tbStatus ly_errors(Paper* paper);         // figure 6
tbStatus ly_penalty(Paper* paper);        // section 5.3: a matrix that changes with its contacts
tbStatus ly_twenty_seconds(Paper* paper); // stacks of sheets and folds, for long (paper_ly_long.c)
tbStatus ly_growth(Paper* paper);

#endif
