// SPDX-License-Identifier: Apache-2.0
// The parts of `auto`.
#ifndef TB_SOLVE_AUTO_H
#define TB_SOLVE_AUTO_H

#include "solve/run.h"

// Contacts up to which a problem is solved sooner together: fewer where each is wide.
int tb_islands_worth_it(const tbProblem* p);

// Solves a problem of many islands part by part from run->best on; over: the judge is satisfied with the
// whole, or a budget is spent. Does nothing where there is but one island, or little to gain.
tbStatus tb_auto_islands(tbContext* ctx, tbRun* run, double* lambda, bool* over);

// Solves for the contacts that push or approach from run->best on, the rest left out while it stays open;
// over: as above. Does nothing where most contacts are in play, or velocities are expensive. (auto_open.c)
tbStatus tb_auto_open(tbContext* ctx, tbRun* run, double* lambda, bool* over);

// What the sparse metric blocks of a problem mean for the order of methods. (auto_soft.c)
typedef struct tbAutoSoft {
  bool soft;        // `cr` and `ica` go first
  int worth;        // of their iterations: what W and a dozen steps of Newton on it cost; 0: none pays
  bool W_too_large; // methods that need W are left out
} tbAutoSoft;

tbStatus tb_auto_soft(tbContext* ctx, const tbRun* run, tbAutoSoft* out);

#endif
