// One run of one method: what it may touch, and the one call that every iteration makes.
//
//   for (int k = 0; !tb_run_done(run, k, lambda); k++) { … one iteration … }
//
// tb_run_done counts, asks the judge now and then, keeps the best iterate it judged, traces, and watches the
// budgets and the caller's wish to cancel. The first call judges the warm start. After the run λ is the best
// judged iterate.
#ifndef TB_SOLVE_RUN_H
#define TB_SOLVE_RUN_H

#include "base/memory.h"
#include "tribo/solver.h"

typedef struct tbRun {
  const tbProblem* p;
  const tbDelassus* W;
  const tbSolveOptions* o;
  tbThreads* threads;
  tbScratch scratch;
  void* prepared; // what the method's prepare made, or null

  // contacts grouped by colour, when the order asks for it
  int ncolour;
  const int* colour_ptr;     // (ncolour+1)
  const int* colour_contact; // (ncontact)

  // kept by tb_run_done
  tbJudge* judge;
  double* best; // (nrow)
  tbResidual best_residual;
  double best_number; // the judge's number for the model
  int iterations, next_check;
  double started, excluded, finished; // seconds; excluded: judging for the trace only
  tbOutcome outcome;
} tbRun;

bool tb_run_done(tbRun* run, int iteration, const double* lambda);

// The method cannot go on: ends the run as failed.
void tb_run_give_up(tbRun* run);

static inline int tb_rows(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

#endif
