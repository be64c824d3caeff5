// SPDX-License-Identifier: Apache-2.0
// Reverse derivatives as they go back: what adjoint.c, adjoint_numbers.c and adjoint_local.c share.
#ifndef TB_GRADIENT_ADJOINT_H
#define TB_GRADIENT_ADJOINT_H

#include "gradient/objective.h"
#include "gradient/state.h"
#include "step/relaxed_held.h"

#define TB_REVERSE_REACH 1e-5 // ε of a step's first differences, in units; of each further one a tenth
#define TB_REVERSE_KINK  5e-5 // of the largest derivative: two sides of one that differ by more are two
enum { TB_REVERSE_LEVELS = 4 };

// A number of the scene, and worlds with others in its place.
typedef struct tbReverseNumber {
  double reach;
  bool allowed[2];                      // by the format: more of it; less
  tbScene beside[TB_REVERSE_LEVELS][2]; // stepped with the run; made when they are first asked for
  double most;                          // of what it does in a step
} tbReverseNumber;

typedef struct tbReverse {
  const tbObjective* o;
  const double* values;
  tbStepOptions how; // tolerances of steps
  tbScene base, near;
  tbReverseNumber* number; // (size)
  tbArray kept, piece;     // tbStateAt*: of every so many steps; of the steps of one piece
  int n;                   // room of the vectors
  double* adjoint;         // a                                                          (n)
  double* before;          // F_sᵀ a⁺                                                     (n)
  double *ahead, *behind, *unit, *direction; // (n)
  double* sides; // how far the two of a number are apart                                          (n)
  bool* settled; // whether its derivative is known                                                 (n)
  double most;   // of derivatives, times units
  int* island;   // of a number of the state; −1: none of a body that moves    (n)
  int* column;   // the difference that it is part of                          (n)
  int columns;
  double* gradient; // (size)
  tbTape tape;
  tbExact exact;
  bool local;         // steps are taken apart (adjoint_local.c) where they can be
  tbRelaxedHeld held; // the step that is gone back
  tbGradientReport* report;
} tbReverse;

// before = F_sᵀ a⁺ number by number. Each is sought at smaller and smaller ε: two sides that agree say what
// it is. Where they differ two ε have to agree, and the sides less at the smaller one, as F is curved, or
// more, as rounding has begun. Sides that differ as much at any ε are two derivatives.
void tb_reverse_begin_step(tbReverse* reverse);
void tb_reverse_seek(tbReverse* reverse, int i);
// One more ε, with the derivative by a unit of number i on either side. False: another is to be looked at.
bool tb_reverse_settle(tbReverse* reverse, int i, double ahead, double behind);
bool tb_reverse_is_settled(const tbReverse* reverse, int i);
double tb_reverse_bent(const tbReverse* reverse, int i);   // by how much its two sides differ; 0: they do not
bool tb_reverse_end_step(tbReverse* reverse, double bent); // false: two sides differ, and the mean was taken

// The same of a value of any kind: one more ε, with the mean of two sides and by how much they differ. sides:
// ∞ at first, then those of `value`. most: what errors are measured by. False: another is to be looked at.
bool tb_settle(double most, double central, double differ, double* value, double* sides);

tbStatus tb_reverse_step(tbContext* ctx, tbReverse* reverse, bool replay, tbWorld* world);

// Numbers that act beyond the start (adjoint_numbers.c). What they do in the step from s, to the gradient:
// F_pᵀ a⁺; same: false: what one does differs by the side, and the mean was taken. What the loss says of them
// by itself, where the run ends. And what the start is made of: (ds₀/dp)ᵀ a, of all numbers.
tbStatus tb_reverse_numbers_begin(tbContext* ctx, tbReverse* reverse);
void tb_reverse_numbers_end(tbContext* ctx, tbReverse* reverse);
tbStatus tb_reverse_ask_numbers(tbContext* ctx, tbReverse* reverse, const tbStateAt* s, bool* same);
tbStatus tb_reverse_ask_end(tbContext* ctx, tbReverse* reverse, const tbStateAt* end);
tbStatus tb_reverse_ask_start(tbContext* ctx, tbReverse* reverse);

// Whether steps of the scene can be taken apart at all: rigid bodies, their joints, solids and cloth under a
// scheme that ends at a minimum.
bool tb_reverse_is_local(const tbReverse* reverse);

// before = F_sᵀ a⁺ of the step that was recorded from the state s. done: false: it cannot be taken apart.
// stable: false: the two sides of a derivative differ, and the mean was taken.
tbStatus tb_reverse_transpose(tbContext* ctx, tbReverse* reverse, const tbStateAt* s, bool* done,
                              bool* stable);

#endif
