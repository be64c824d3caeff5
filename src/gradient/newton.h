// SPDX-License-Identifier: Apache-2.0
// The equations of the contact law on its states: what newton.c iterates, and newton_rows.c writes down.
#ifndef TB_GRADIENT_NEWTON_H
#define TB_GRADIENT_NEWTON_H

#include "gradient/answer.h"

// One island's equations, factored as M P = Q [T 0; 0 0] Z (tb_dense_qr), rows and columns scaled.
typedef struct tbExactIsland {
  int rows, rank;
  const int *row, *swap;
  const double *M, *tau, *scale;
  const double* unseen; // impulses that the equations do not see, the largest as large as the velocities
                        // ask for; null: the rank is full
} tbExactIsland;

typedef enum tbHeld { TB_FREE, TB_HELD, TB_HELD_HIGH } tbHeld; // at 0 or the lower bound; at the upper

typedef struct tbNewton {
  const tbProblem* p;
  tbModel model;
  const double *W, *q; // dense; W null where products alone are asked for
  double* lambda;
  double* u;        // W λ + q                                            (nrow)
  const double* r;  // 1/w_k                                              (ncontact)
  uint8_t* held;    // tbHeld: whether λ_i is given, and no unknown       (nrow)
  double* equation; // what is left of row i's, m/s                       (nrow)
  const int* island;
  int islands;
  // of one island
  int* row;   // its unknowns                                             (nrow)
  int* place; // of a row among them; −1: held, or elsewhere              (nrow)
  double *M, *b, *x, *work, *tau, *scale;
  int* swap;
} tbNewton;

// Which rows have a given λ at the states of now: those of open contacts, of bounds that are reached, and
// friction that the model or a half axis of zero leaves out. Whether a λ is another for that.
bool tb_newton_hold(tbNewton* s);
void tb_newton_hold_as(tbNewton* s, const uint8_t* held); // those, whatever λ and u say
// How far λ and u are past the states that are held, as a share of the velocities.
double tb_newton_past(const tbNewton* s);
// What is left of the equations of contact k and, with m > 0, their derivative by the m unknowns.
void tb_newton_rows(tbNewton* s, int m, int k);
double tb_newton_velocities(const tbNewton* s); // the largest
// The largest that is left of all equations, as a share of the velocities.
double tb_newton_left(tbNewton* s);

#endif
