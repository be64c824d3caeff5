// SPDX-License-Identifier: Apache-2.0
// What solves of one problem leave for the next (tribo/workspace.h): operators, the judge, what methods have
// prepared, groups of contacts, islands. Everything here follows from the problem and from options, so that a
// solve that finds it has the bits of one that does not.
//
// A run asks through these functions whether or not anything is kept; where run->kept is null, what they make
// is the run's own and goes with it.
#ifndef TB_SOLVE_KEPT_H
#define TB_SOLVE_KEPT_H

#include "solve/run.h"

// How often values have changed: what is kept remembers the moment it was computed.
typedef struct tbMoment {
  unsigned sides;  // bias, v_free, parameters
  unsigned matrix; // A, J, R, W
  unsigned zeros;  // which entries of a given W are 0
} tbMoment;

enum { TB_KEPT_OPERATORS = 16, TB_KEPT_METHODS = 32 };

// Whole islands that `auto` solves together, and the problem they are.
typedef struct tbKeptBatch {
  const int* contact;
  int count;
  bool made; // the problem
  tbProblem problem;
  tbArena arena; // of its arrays
  struct tbSolveKept* kept;
} tbKeptBatch;

typedef struct tbSolveKept {
  const tbProblem* p;
  tbMoment now;
  tbJudge* judge;
  tbMoment judge_at;
  int operators;
  struct {
    unsigned forms; // as asked for
    tbInverse inverse;
    tbDelassus* W;
    tbMoment at;
  } op[TB_KEPT_OPERATORS];
  int methods;
  struct {
    const tbSolver* solver;
    const tbDelassus* W;
    double factor_bytes;
    void* prepared;
    unsigned zeros;
    bool symmetric; // W was
  } method[TB_KEPT_METHODS];
  tbArena groups; // of contacts by colour and by layer
  struct {
    int count;
    const int *ptr, *contact; // null: not known
  } group[TB_ORDER_COUNT];
  tbArena islands;
  int batches; // −1: not known
  tbKeptBatch* batch;
} tbSolveKept;

void tb_kept_init(tbSolveKept* kept, const tbProblem* problem);
void tb_kept_free(tbContext* ctx, tbSolveKept* kept);

// The judge of the run's problem, as newly made.
tbStatus tb_run_judge_get(tbContext* ctx, tbRun* run);
void tb_run_judge_done(tbContext* ctx, tbRun* run);

// W in the forms asked for.
tbStatus tb_run_operator(tbContext* ctx, const tbRun* run, unsigned forms, tbInverse inverse,
                         tbDelassus** out);
void tb_run_operator_done(tbContext* ctx, const tbRun* run, tbDelassus* W); // takes null

// run->prepared, by the solver's prepare, or by its renew from what an earlier run prepared. failed: the run
// has; nothing of it is kept.
tbStatus tb_run_prepare(tbContext* ctx, const tbSolver* solver, tbRun* run);
void tb_run_release(tbContext* ctx, const tbSolver* solver, tbRun* run, bool failed);

// Groups the contacts by colour or by layer: in each group by number.
tbStatus tb_run_group(tbContext* ctx, tbArena* arena, tbRun* run);

// tb_solve with what is kept; kept may be null.
tbStatus tb_solve_kept(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                       tbSolveKept* kept, double* lambda, tbSolveResult* result);
// The same of a part, where E ≤ enough will do.
tbStatus tb_solve_part(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, tbPartOf part,
                       double enough, tbSolveKept* kept, double* lambda, tbSolveResult* result);

#endif
