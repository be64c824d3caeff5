// SPDX-License-Identifier: Apache-2.0
// Gauss–Seidel on contacts, shared by every method that sweeps: by rows (pgs.c) or by contacts (bgs.c).
#ifndef TB_SOLVE_GAUSS_SEIDEL_H
#define TB_SOLVE_GAUSS_SEIDEL_H

#include "solve/local.h"
#include "solve/sweep.h"

typedef struct tbGaussSeidel {
  tbRun* run;
  double omega;            // of the rows
  tbFrictionSet* friction; // (ncontact)
  tbLocal* local;          // (ncontact), when going by contacts
  tbRoundRows* row;        // (ncontact), when going by rows of contacts that are all alike
  tbSweep sweep;
} tbGaussSeidel;

void tb_gauss_seidel_layout(tbGaussSeidel* g, tbScratch* scratch, const tbDelassus* W);

// Gets ready to sweep over λ; then tb_sweep(&g->sweep).
//   rows      each row of a contact by itself, friction projected after the normal impulse
//   contacts  each contact solved exactly (local.h)
void tb_gauss_seidel_by_rows(tbGaussSeidel* g, tbRun* run, double omega, tbOrder order, double* lambda);
void tb_gauss_seidel_by_contacts(tbGaussSeidel* g, tbRun* run, tbOrder order, double* lambda);

#endif
