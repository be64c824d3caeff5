// SPDX-License-Identifier: Apache-2.0
// The experiments of Ly et al. 2020: their scenes, at the paper's sizes, and what was published of them.
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

typedef struct {
  const char *name, *what;
  int vertices;                           // the paper's
  double density, stretch, bend, air, dt; // table 1: kg/m², N/m, N·m, N·s/m of a node, s
  int iterations;
  double settle;  // seconds until contacts are there
  double quality; // cells across, of the paper's size
  int ways;       // coefficients of friction
  LyPublished published[2];
  // Adds what the scene is made of; cells: `quality`, or less.
  tbStatus (*build)(tbContext* ctx, tbWorld* world, int cells, tbClothDef cloth);
} LySetup;

extern const LySetup ly_setups[];
extern const int ly_setup_count;

// A world with friction μ everywhere and the scene in it (paper_ly_scenes.c).
tbStatus ly_world(tbContext* ctx, const LySetup* setup, int cells, double mu, tbWorld** out);
tbStepOptions ly_options(const LySetup* setup);

// Means of a step, ms of the processor; a step's parts are shares of it by the clock. wall: by the clock,
// without the judge.
typedef struct {
  int vertices, steps;
  double contacts, iterations, step, wall, judge, detect, rhs, sweep, solve, sorting;
  double residual, speed; // mean; and the fastest body
} LyMeasured;

// Steps for some time, and so many steps with what they take. (paper_ly.c)
tbStatus ly_run(tbContext* ctx, tbWorld* world, const tbStepOptions* options, double seconds);
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

// A square of so many cells over a turning ball, after a time.
tbStatus ly_square(tbContext* ctx, tbWorld* world, int cells, int sheets, tbClothDef cloth);

#endif
