// SPDX-License-Identifier: Apache-2.0
// Contact problems answered to rounding, for derivatives.
#ifndef TB_GRADIENT_ANSWER_H
#define TB_GRADIENT_ANSWER_H

#include "base/array.h"
#include "scene/cache.h"
#include "tribo/solver.h"

// The answers of one step, in the order its problems came up: what the same step from a neighbouring state
// starts from.
typedef struct tbTape {
  tbArray lambda; // double: of all problems
  tbArray rows;   // int: of each
} tbTape;

typedef struct tbExact {
  tbAnswers answers; // hangs on a world's cache
  tbContext* memory; // the tape's: steps bring contexts of their own
  tbTape* tape;
  bool replay;       // start from the tape; else write it
  int problem;       // of the step, from 0
  size_t at;         // in the tape
  int64_t count;     // problems answered
  int64_t ambiguous; // written ones whose velocities the contact law leaves open
  int64_t rough;     // among them those that no more than the solver answered
  bool strayed;      // a problem of the step has other rows than the tape's
} tbExact;

void tb_exact_init(tbContext* ctx, tbExact* exact, tbTape* tape);
void tb_exact_step(tbExact* exact, bool replay); // before every step; one that writes empties the tape
void tb_tape_init(tbTape* tape);
void tb_tape_free(tbContext* ctx, tbTape* tape);

// λ of the contact law to rounding, from a start that is close; exact: Newton's method got there, else λ is
// the best it saw; unique (may be null): so are the velocities. Laws it takes: tb_exact_takes.
tbStatus tb_exact_newton(tbContext* ctx, const tbProblem* problem, tbModel model, double* lambda, bool* exact,
                         bool* unique);
bool tb_exact_takes(const tbProblem* problem, tbModel model);

#endif
