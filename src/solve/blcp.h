// SPDX-License-Identifier: Apache-2.0
// A contact problem as a boxed linear complementarity problem (course §1.7, eqs. 41 and 45; §3.1, eqs.
// 111–114), and what the methods that pivot on its index sets share.
//
//   v = W x + q,     lo ≤ x ≤ hi,     x_i = lo_i where v_i > 0,  hi_i where v_i < 0,  v_i = 0 between
//
// Rows and columns are scaled by powers of two so that W has diagonal near 1. The bounds of a friction row
// follow the normal impulse of its contact, lo·x_n ≤ x ≤ hi·x_n. They are either frozen at some x_n, which
// leaves a BLCP whose matrix is W's, or kept coupled: a friction row at its bound then moves with x_n, and
// column n of the matrix is W_n + Σ bound_t W_t.
//
// Redundant contacts make W singular. Every method therefore works on W + ε and q − ε c with a proximal
// centre c, which is moved to the solution until nothing changes: the solution of the problem itself, by
// matrices that are always positive definite when W is semidefinite (Rockafellar 1976). Where the constraints
// contradict each other x runs away like 1/ε; then the method gives up.
#ifndef TB_SOLVE_BLCP_H
#define TB_SOLVE_BLCP_H

#include "math/ldu.h"
#include "solve/run.h"

typedef enum tbIndexSet { TB_BETWEEN, TB_LOWER, TB_UPPER, TB_WAITING } tbIndexSet;

typedef struct tbBlcp {
  tbRun* run;
  int n;
  bool follows;                // some bounds follow a normal impulse
  double* W;                   // scaled, with ε on the diagonal (n²)
  double* scale;               // λ = scale · x (n)
  double* q;                   // scaled, as the problem has it (n)
  double* shifted;             // q − ε c (n)
  int* normal;                 // row whose impulse the bounds follow; −1: none (n)
  double *bound_lo, *bound_hi; // scaled bounds, or what multiplies x_normal (n)
  double *lo, *hi;             // frozen (n)
  double *x, *v, *centre;      // v = W x + shifted (n)
  uint8_t* set;                // tbIndexSet (n)

  tbLdu factor;         // of W over the rows between their bounds, in the order of `member`
  int* member;          // row at a place of the factor (n)
  int* place;           // of a row in the factor; −1: not in it (n)
  int removals;         // since the factor was built afresh
  double *column, *row; // workspace (n)

  double* system; // coupled matrix (n²)
  int* swap;
  double *y, *vy; // its solution and the velocity (n)

  double noise_x, noise_v; // what rounding leaves of x and v, as the last refinement shows it
  double size;             // largest |q|, of frozen bounds and of x: the unit of tolerances
  int iteration;
  double* lambda;
} tbBlcp;

void tb_blcp_layout(tbBlcp* b, tbScratch* s, const tbDelassus* W);
void tb_blcp_begin(tbBlcp* b, tbRun* run, double* lambda);

// Counts an iteration and shows x to the judge; `sure` asks it at once. True: the run is over.
bool tb_blcp_done(tbBlcp* b, const double* x, const double* v, bool sure);

void tb_blcp_move_centre(tbBlcp* b, const double* x);
// The bounds that x_n gives row i.
void tb_blcp_bounds(const tbBlcp* b, const double* x, int i, double* lo, double* hi);
void tb_blcp_freeze(tbBlcp* b, const double* x); // lo, hi from x

// The factor follows the index sets: a row enters the set between the bounds, or leaves it for another.
bool tb_blcp_enter(tbBlcp* b, int i); // false: no pivot; nothing has changed
void tb_blcp_leave(tbBlcp* b, int i, tbIndexSet to);
void tb_blcp_factor_sets(tbBlcp* b); // from scratch
// x and v of the index sets, bounds frozen.
void tb_blcp_values(tbBlcp* b);
// y and vy of the index sets, bounds coupled. False: the system is singular.
bool tb_blcp_coupled(tbBlcp* b);

// Largest violation of the law with bounds that follow, by the natural map in scaled units; ∞ when x has run
// away.
double tb_blcp_violation(const tbBlcp* b, const double* x, const double* v);
// The set row i belongs into, judged from where it is: its own when it violates nothing (course eq. 120).
tbIndexSet tb_blcp_belongs(const tbBlcp* b, const double* x, const double* v, int i, double lo, double hi,
                           double tolerance);

// Fixed point on frozen bounds: `solve` finds the BLCP's solution for lo, hi and the centre as they stand,
// from the previous one; true: the run is over. Between its calls the bounds move to the normal impulses
// found, by way of the coupled system of the same index sets where that is nearer to the law.
void tb_blcp_fixed_point(tbBlcp* b, bool (*solve)(tbBlcp* b, void* user), void* user);

// Least-index pivoting on the frozen BLCP, from factored sets, until at most `enough` rows violate theirs.
// True: the run is over.
bool tb_murty_frozen(tbBlcp* b, int enough);

#endif
