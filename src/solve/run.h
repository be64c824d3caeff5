// SPDX-License-Identifier: Apache-2.0
// One run of one method: what it may touch, and the one call that every iteration makes.
//
//   for (int k = 0; !tb_run_done(run, k, lambda); k++) { … one iteration … }
//
// tb_run_done counts, asks the judge now and then, keeps the best iterate it judged, traces, and watches the
// budgets, divergence and the caller's wish to cancel. The start is judged before anything is built for the
// method: where a step goes on as the last one did, its warm start is the answer. After the run λ is the best
// judged iterate, whatever became of the last.
#ifndef TB_SOLVE_RUN_H
#define TB_SOLVE_RUN_H

#include "base/memory.h"
#include "base/stop.h"
#include "tribo/solver.h"

// All of a problem; its contacts in play, which may fall apart into islands; or some islands.
typedef enum tbPartOf { TB_PART_WHOLE, TB_PART_IN_PLAY, TB_PART_ISLANDS } tbPartOf;

struct tbRun {
  const tbProblem* p;
  const tbDelassus* W; // null while the start is judged
  const tbSolveOptions* o;
  tbPartOf part;            // what of a problem it is: how it may be taken apart
  double within;            // of the tolerances: a little less than all, while the judge is rough
  double enough;            // of a part: E that will do whatever the tolerances relative to norms say
  struct tbSolveKept* kept; // what earlier runs of the same problem left, and this one leaves; null: nothing
  tbThreads* threads;
  tbStop* stop; // the caller's wish to cancel, and the time budget
  int unasked;  // unknowns of the iterations since the clock was last asked
  tbScratch scratch;
  void* prepared;              // what the method's prepare made, or null
  const double* w_guess;       // the caller's estimate of v − v_free (ndof); null: it has none
  const double* w;             // the method's, for the judge to start from (ndof); null: it has none
  void (*publish)(void* user); // null, or brings λ up to date, which is asked for before λ is looked at
  void* publisher;

  // contacts grouped by colour or by layer, when the order asks for it; null when it does not
  int ngroup;
  const int* group_ptr;     // (ngroup+1)
  const int* group_contact; // (ncontact)

  // kept by tb_run_done
  tbJudge* judge;
  double* best; // (nrow)
  tbResidual best_residual;
  double best_number; // how far it is from the tolerances: a multiple of them; 1 is good enough
  int iterations, next_check, last_check;
  bool good;                      // the tolerances are reached, and the judge has said so
  int good_at;                    // the iteration, of all, at which they were
  double last_number;             // what the judge said at last_check, as a multiple of the tolerances
  double first_error, last_error; // E, unscaled, at the first look and at last_check
  double* merit_u;                // workspace (nrow); null: no rule asks for it
  double merit;                   // θ of the last iteration
  int rises;                      // looks in a row at which E had grown
  bool astray;                    // the warm start was so far off that the next one will be, too
  bool start_known;               // judged already, or not worth asking the judge about: λ = 0
  bool costly;                    // from the table
  int seldom;        // of methods that ask: iterations between two unasked measurements, doubled after each
  double operations; // multiplications and additions of the method, as far as it counts them
  const char* used;  // the method that is running, or ran last
  double started, excluded, finished; // seconds; excluded: judging for the trace only
  double judging_start;               // what that took, before the method was set up
  tbOutcome outcome;
  bool settled; // by tb_run_settle: only what penetrates no more takes its place
  bool lost;    // it ended because λ is no longer finite, or E grew beyond all bounds

  // when the run is one stage of several (auto.c): iterations before it, its own limit, and a look at every
  // judged number, which may end it
  int before, stage_cap;
  bool (*too_slow)(void* user, int iteration, double number);
  void* too_slow_user;
};

// The form of W that the method works on for this problem.
tbStatus tb_run_form(tbContext* ctx, const tbSolver* solver, const tbRun* run, tbForm* out);

// Sets the method up, gives it scratch and lets it loop from λ on; run->W must be in the form it needs.
tbStatus tb_run_method(tbContext* ctx, const tbSolver* solver, tbRun* run, double* lambda);

// The set-up is over: time counts from here on, and from the judging of the start. Nothing where it counts
// already.
void tb_run_begin(tbRun* run);

// The caller wants to stop, or the time is up: for loops inside of an iteration, and for set-ups. What they
// leave half done goes no further than the next tb_run_done, which ends the run.
static inline bool tb_run_stops(const tbRun* run) { return tb_stop_reason(run->stop) != TB_STOP_NOT; }

// Ends the run by a rule of the method's own: converged only where the judge has said so.
void tb_run_stop(tbRun* run, tbOutcome outcome);

// Of a method that alone is asked for, and whose answer, where it does not converge, has a property that the
// best judged iterate need not have, that it does not penetrate: λ takes its place, judged. The start and no
// impulses are still preferred where they are better and penetrate no more.
void tb_run_settle(tbRun* run, const double* lambda);

// Keeps λ if the judge finds it better than the best so far.
void tb_run_consider(tbRun* run, const double* lambda);

// The budgets, where no method runs: true ends the run, with what is used up as its outcome.
bool tb_run_spent(tbRun* run);

// The method believes it has an answer: the next tb_run_done asks the judge, whatever the schedule.
static inline void tb_run_judge_next(tbRun* run) { run->next_check = 0; }

// The method knows that it is far from the tolerance: the judge is not asked before so many iterations after
// the last time.
static inline void tb_run_judge_later(tbRun* run, int iterations)
{
  if (run->next_check < run->last_check + iterations) run->next_check = run->last_check + iterations;
}

bool tb_run_is_good(const tbRun* run, const tbResidual* residual); // within the tolerances

// The share of the tolerances to work towards: 1, or less; 1 where what is gained for the next warm start is
// lost on it.
double tb_run_aim(const tbRun* run);

// The accuracy, relative to the problem's velocities, that the tolerances ask for; 0: they ask for nothing.
double tb_run_relative(const tbRun* run);

static inline int tb_rows(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

#endif
