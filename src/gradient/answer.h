// SPDX-License-Identifier: Apache-2.0
// Contact problems answered to rounding, for derivatives.
#ifndef TB_GRADIENT_ANSWER_H
#define TB_GRADIENT_ANSWER_H

#include "base/array.h"
#include "scene/cache.h"
#include "tribo/solver.h"

// The equations of the contact law at an answer, on its states, factored (newton.c). Answers close to it, of
// problems with the same states, are found with them.
typedef struct tbExactStates {
  int islands;
  const struct tbExactIsland* island; // (islands); null: not kept
  const uint8_t* held;                // (nrow)
  const double* r;                    // (ncontact)
} tbExactStates;

// The answers of one step, in the order its problems came up: what the same step from a neighbouring state
// starts from.
typedef struct tbTape {
  tbArray lambda; // double: of all problems
  tbArray rows;   // int: of each
  tbArray states; // tbExactStates: of each
  tbArena arena;  // theirs
} tbTape;

typedef struct tbExact {
  tbAnswers answers; // hangs on a world's cache
  tbContext* memory; // the tape's: steps bring contexts of their own
  tbTape* tape;
  bool by_solver;    // Newton's method starts from what the solver finds from its own warm start
  bool thorough;     // which goes as far as its options say
  bool replay;       // start from the tape; else write it
  int problem;       // of the step, from 0
  size_t at;         // in the tape
  int64_t count;     // problems answered
  int64_t ambiguous; // written ones whose velocities the contact law leaves open
  int64_t open;      // replayed ones whose velocities depend on which impulses the written one has
  int64_t rough;     // among them those that no more than the solver answered
  bool strayed;      // a problem of the step has other rows than the tape's
} tbExact;

void tb_exact_init(tbContext* ctx, tbExact* exact, tbTape* tape);
void tb_exact_step(tbExact* exact, bool replay); // before every step; one that writes empties the tape
void tb_tape_init(tbContext* ctx, tbTape* tape);
void tb_tape_free(tbContext* ctx, tbTape* tape);

// λ of the contact law to rounding, from a start that is close; exact: Newton's method got there, else λ is
// the best it saw. Laws it takes: tb_exact_takes. keep (may be null): the states of an exact answer, in
// `memory`; unique, then: whether velocities follow from them.
tbStatus tb_exact_newton(tbContext* ctx, const tbProblem* problem, tbModel model, double* lambda, bool* exact,
                         bool* unique, tbArena* memory, tbExactStates* keep);
// The same with the states of an answer close by. exact: false: λ is as it was. open: set where velocities
// here depend on which of several impulses the answer has, although its own do not: as of a box that slides
// on four corners and begins to turn.
tbStatus tb_exact_follow(tbContext* ctx, const tbProblem* problem, tbModel model, const tbExactStates* states,
                         double* lambda, bool* exact, bool* open);
bool tb_exact_takes(const tbProblem* problem, tbModel model);

#endif
