// SPDX-License-Identifier: Apache-2.0
// All joints of a problem as one block of blocked Gauss–Seidel, by a direct solve (course §3.2.4: blocks as
// one sees fit).
//
//   (W_bb + ε) Δλ_b = −u_b        b: the rows of bilateral laws, compliant ones, too
//
// after every sweep over contacts. ε is a 1e-10 of W's mean diagonal: joints that say the same twice make
// W_bb singular, and as sweeps go on the solution is that of the problem without ε.
//
// Cost      at the start one product with W per row of a joint and n³/3 for the factor; n² per sweep.
// Limits    2000 rows of joints; beyond them each joint is a block by itself. A contact by itself does not
// know
//           what joints make of its impulse: where they hold it stiffly, it takes as many sweeps as before.
#ifndef TB_SOLVE_JOINT_BLOCK_H
#define TB_SOLVE_JOINT_BLOCK_H

#include "solve/run.h"

typedef struct tbJointSolve {
  tbRun* run;
  int n;           // rows; 0: there are none, or too many
  int *row, *swap; // (n)
  double* factor;  // LU of W_bb + ε (n²)
  double *x, *u;   // (n), (nrow)
  double* workspace;
} tbJointSolve;

void tb_joint_solve_layout(tbJointSolve* j, tbScratch* scratch, const tbDelassus* W, const tbSolveOptions* o);
void tb_joint_solve_begin(tbJointSolve* j, tbRun* run);
bool tb_joint_solve(tbJointSolve* j, double* lambda); // false: there is nothing to do

#endif
