// SPDX-License-Identifier: Apache-2.0
// Gauss–Seidel where every contact obeys Coulomb's law in three rows, or every one in two, and W is given by
// blocks: what nearly all problems are, written out and compiled once per vector width.
//
// A visit does what the general sweep does (sweep.c, local.c, gauss_seidel.c) without calls between them.
// What it does not do, a block far from symmetric or a contact without a consistent state, it hands back to
// the general one.
#ifndef TB_SOLVE_ROUND_SWEEP_H
#define TB_SOLVE_ROUND_SWEEP_H

#include "solve/local.h"

// One contact as sweeps by rows see it.
typedef struct tbRoundRows {
  double normal, friction; // ω / D_nn; ω / ‖D_FF‖∞; 0 where those are not positive
  double mu;
} tbRoundRows;

typedef struct tbRoundSweep {
  int rows; // of every contact: 2 or 3; 0: the problem is another, and the rest is not used
  const tbDelassus* W;
  const double* packed;   // of three rows: blocks of W by columns, each padded to four; null: not yet
  double* lambda;         // (nrow)
  tbLocal* local;         // contacts solved exactly; null: row by row                          (ncontact)
  const tbRoundRows* row; // else                                                               (ncontact)
  void (*otherwise)(void* user, int k, const double* u, double* lambda); // the general update of contact k
  void* user;
} tbRoundSweep;

// The rows of every contact, where sweeps can go this way; else 0.
int tb_round_rows(const tbDelassus* W, tbModel model);

// Visits visit[i] for i = begin, begin + step, … before end.
void tb_round_sweep(const tbRoundSweep* sweep, const int* visit, int begin, int end, int step);

#endif
