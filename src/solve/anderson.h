// SPDX-License-Identifier: Apache-2.0
// Safeguarded Anderson mixing of a fixed-point iteration x ← G(x).
//
//   for (…) { compute f = G(x) − x; tb_anderson_step(&a, x, f); }
//
// The next x is the combination of the last few G(x) whose residuals, combined alike, are smallest in the
// weighted norm (Anderson 1965; Walker and Ni 2011). Where G is smooth this turns a linear rate into that of
// GMRES; projections make kinks, so a mixed x is only kept while it lowers the smallest ‖f‖ seen. Else the
// plain step from the x before it is taken instead, and a few more, which leaves the convergence of G intact.
//
// Cost      memory + 3 dot products and as many vector updates per step.
#ifndef TB_SOLVE_ANDERSON_H
#define TB_SOLVE_ANDERSON_H

#include "base/memory.h"

enum { TB_ANDERSON_MAX = 16 };

typedef struct tbAnderson {
  int n, memory;        // memory ≤ TB_ANDERSON_MAX
  const double* weight; // of the norm (n); null: ones
  double *dx, *df;      // differences of G(x) and of f, in a ring (memory × n)
  double *last_x, *last_f;
  double gram[TB_ANDERSON_MAX * TB_ANDERSON_MAX]; // df · df
  int count, next;                                // of the ring
  int plain;                                      // plain steps still to take
  bool mixed, started;                            // the current x came from mixing; last_x and last_f are set
  double best;                                    // smallest ‖f‖ seen
} tbAnderson;

void tb_anderson_layout(tbAnderson* a, tbScratch* scratch, int n, int memory);
void tb_anderson_reset(tbAnderson* a); // G has changed: forget everything

// x ← the next iterate, given f = G(x) − x. False when the mixed x was thrown away: x is then the plain step
// from the one before.
bool tb_anderson_step(tbAnderson* a, double* x, const double* f);

#endif
