// SPDX-License-Identifier: Apache-2.0
// Gauss–Seidel sweeps: visit the contacts in some order, each with its current velocity.
//
// The velocity of one contact, u_k = q_k + (W λ)_k, comes from the assembled row of W, or, when every metric
// block is small, from the bodies: w = A⁻¹Jᵀλ is kept up to date, so a visit costs two products with J_k
// whatever the number of neighbours (Erleben 2007).
//
// The order does not change the answer, only how soon it comes. Layers from the ground up, as shock
// propagation has them (Guendelman, Bridson and Fedkiw 2003; Erleben 2007; course §3.2.4), take what the
// ground holds to the top in one sweep: the best start where sweeps are few. To small tolerances a random
// order is ahead, which favours no side of a body for long.
#ifndef TB_SOLVE_SWEEP_H
#define TB_SOLVE_SWEEP_H

#include "solve/round_sweep.h"
#include "solve/run.h"

typedef struct tbSweep {
  tbRun* run;
  tbOrder sequence;
  double* w;      // A⁻¹Jᵀλ (ndof), when sweeping through the bodies
  double* packed; // else, when every contact has three rows: blocks of W by columns, each padded to four
  bool by_packed; // from the third sweep on, when packing has paid off
  int sweeps;
  double operations; // multiplications and additions of one visit to every contact
  int* visit;        // contacts in the order of the sweep
  double* change;    // energy norm of each contact's last change, for the greedy order
  int age;           // sweeps since w was computed afresh
  uint64_t random;

  void (*update)(void* user, int k, const double* u, double* lambda); // moves λ_k, given u at the current λ
  void* user;
  double* lambda;
  tbRoundSweep round; // where contacts are all alike, in place of update
} tbSweep;

size_t tb_sweep_bodies(const tbDelassus* W); // entries of w: 0 when the sweep goes by rows of W
void tb_sweep_layout(tbSweep* sweep, tbScratch* scratch, const tbDelassus* W);
void tb_sweep_begin(tbSweep* sweep, tbRun* run, tbOrder sequence, double* lambda);
void tb_sweep_layers(tbSweep* sweep,
                     int times);       // layer by layer, each so often before the next; order layers
void tb_sweep_refresh(tbSweep* sweep); // λ has changed otherwise than by sweeps
void tb_sweep(tbSweep* sweep);         // every contact once; twice, there and back, for the symmetric order

#endif
