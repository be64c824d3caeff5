// SPDX-License-Identifier: Apache-2.0
// Reverse derivatives as they go back: what adjoint.c and adjoint_local.c share.
#ifndef TB_GRADIENT_ADJOINT_H
#define TB_GRADIENT_ADJOINT_H

#include "gradient/objective.h"
#include "gradient/state.h"
#include "step/relaxed_held.h"

typedef struct tbReverse {
  const tbObjective* o;
  const double* values;
  tbScene base, near;
  tbScene* beside;     // with each number a little more, and a little less           (2 size)
  tbArray kept, piece; // tbStateAt*: of every so many steps; of the steps of one piece
  int n;               // room of the vectors
  double* adjoint;     // a                                                          (n)
  double* before;      // F_sᵀ a⁺                                                     (n)
  double *ahead, *behind, *unit, *direction, *change, *bend; // (n)
  int* island; // of a number of the state; −1: none of a body that moves    (n)
  int* column; // the difference that it is part of                          (n)
  int columns;
  double* gradient; // (size)
  tbTape tape;
  tbExact exact;
  bool local;         // steps are taken apart (adjoint_local.c) where they can be
  tbRelaxedHeld held; // the step that is gone back
  tbGradientReport* report;
} tbReverse;

tbStatus tb_reverse_step(tbContext* ctx, tbReverse* reverse, bool replay, tbWorld* world);

// Whether steps of the scene can be taken apart at all: rigid bodies without joints, under a scheme that ends
// at a minimum.
bool tb_reverse_is_local(const tbReverse* reverse);

// before = F_sᵀ a⁺ of the step that was recorded from the state s. done: false: it cannot be taken apart.
// stable: false: the two sides of a derivative differ, and the mean was taken.
tbStatus tb_reverse_transpose(tbContext* ctx, tbReverse* reverse, const tbStateAt* s, bool* done,
                              bool* stable);

#endif
