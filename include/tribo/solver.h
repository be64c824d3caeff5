// SPDX-License-Identifier: Apache-2.0
// Solving a contact problem: one table of methods, one set of options, one judge.
//
//   tbSolveOptions options = tb_default_solve_options();
//   options.solver = "bgs";
//   double* lambda = …;                            // in: warm start (zeros are fine); out: impulses
//   tbSolveResult result;
//   tb_solve(&ctx, problem, &options, lambda, &result);
//
// Not converging is a result with a residual, not an error.
#ifndef TRIBO_SOLVER_H
#define TRIBO_SOLVER_H

#include "tribo/options.h"
#include "tribo/problem.h"

TB_API_BEGIN

// Order in which a Gauss–Seidel sweep visits the contacts.
typedef enum tbOrder {
  TB_ORDER_GIVEN,     // as in the problem
  TB_ORDER_RANDOM,    // a new shuffle every sweep, from the seed
  TB_ORDER_COLOUR,    // colour by colour; a colour's contacts run in parallel
  TB_ORDER_GREEDY,    // largest residual first, sorted anew every sweep
  TB_ORDER_SYMMETRIC, // forward, then backward
  TB_ORDER_LAYERS,    // from the ground up, as shock propagation goes; in a layer as given
  TB_ORDER_COUNT
} tbOrder;

const char* tb_order_name(tbOrder order);
bool tb_order_from_name(const char* name, tbOrder* out);

// How the proximal methods choose their r-factors.
typedef enum tbRFactor {
  TB_RFACTOR_OWN,    // the method's own choice: local
  TB_RFACTOR_GLOBAL, // one for all rows, from the largest eigenvalue of W
  TB_RFACTOR_LOCAL,  // from the diagonal of W
  TB_RFACTOR_BLOCK,  // from the diagonal blocks of W
  TB_RFACTOR_COUNT
} tbRFactor;

const char* tb_r_factor_name(tbRFactor strategy);
bool tb_r_factor_from_name(const char* name, tbRFactor* out);

// What `cr` and `staggered-cr` precondition the mixed system with.
typedef enum tbPreconditioner {
  TB_PRECONDITIONER_FULL, // its block inverse, with the diagonals of A and of L A_d⁻¹ Lᵀ in their place
  TB_PRECONDITIONER_DIAG, // these diagonals by themselves
  TB_PRECONDITIONER_FACTOR, // as full, with the factor of A: fewer iterations, each two sparse solves dearer
  TB_PRECONDITIONER_SCHUR, // as full, with all of L A_d⁻¹ Lᵀ: contacts that repeat each other do no harm
  TB_PRECONDITIONER_COUNT
} tbPreconditioner;

const char* tb_preconditioner_name(tbPreconditioner preconditioner); // "full", …
bool tb_preconditioner_from_name(const char* name, tbPreconditioner* out);

// What `cr` and `staggered-cr` solve linear problems with, contacts being in given states.
typedef enum tbKrylov {
  TB_KRYLOV_CR,     // conjugate residuals
  TB_KRYLOV_MINRES, // MINRES, with the preconditioner diag whichever is asked for: C must be positive
                    // definite
  TB_KRYLOV_COUNT
} tbKrylov;

// When contacts change state in them.
typedef enum tbStateChanges {
  TB_STATES_EARLY,     // on the way, more often the smaller the residual is
  TB_STATES_CONVERGED, // where the linear problem is solved: an active set method
  TB_STATES_COUNT
} tbStateChanges;

const char* tb_krylov_name(tbKrylov krylov);               // "cr", "minres"
const char* tb_state_changes_name(tbStateChanges changes); // "early", "converged"

typedef enum tbOutcome {
  TB_CONVERGED,      // the judge confirms the tolerance
  TB_MAX_ITERATIONS, // the iteration budget is spent
  TB_TIME,           // the time budget is spent
  TB_CANCELLED,      // the caller said so
  TB_FAILED,         // the method gave up: it diverged, or cannot move
  TB_UNJUDGED,       // a step: the judge was not asked (tbStepOptions.certify)
  TB_OUTCOME_COUNT
} tbOutcome;

const char* tb_outcome_name(
    tbOutcome outcome); // "converged", "max_iterations", "time", "cancelled", "failed", "unjudged"

// One judged iterate. Time counts the method's own work: judging for the trace is not charged to it.
typedef struct tbTraceEvent {
  int iteration;
  double time_s;
  const tbResidual* residual;
  const double* lambda;
  const tbProblem* problem;
} tbTraceEvent;

// Merit functions that rules for stopping look at (course §3.2.1); src/solve/merit.h says what they are.
typedef enum tbMerit {
  TB_MERIT_JUDGE,
  TB_MERIT_ITERATE,
  TB_MERIT_COMPLEMENTARITY,
  TB_MERIT_MINIMUM_MAP,
  TB_MERIT_NATURAL_MAP,
  TB_MERIT_FISCHER_BURMEISTER,
  TB_MERIT_COUNT
} tbMerit;

const char* tb_merit_name(tbMerit merit);

// The bounds of friction in boxed methods that pivot: settled with the normal impulses that they follow, or
// taken once, from normal impulses without friction (course §1.7).
typedef enum tbLimits { TB_LIMITS_FOLLOWING, TB_LIMITS_FROZEN, TB_LIMITS_COUNT } tbLimits;

const char* tb_limits_name(tbLimits limits);

// What blocked Gauss–Seidel solves at a time: a contact or joint, all joints together as well, or, in the
// order of layers, a layer at a time, by sweeps through it alone.
typedef enum tbSweepBlocks {
  TB_BLOCKS_CONTACTS,
  TB_BLOCKS_JOINTS,
  TB_BLOCKS_LAYERS,
  TB_BLOCKS_COUNT
} tbSweepBlocks;

const char* tb_sweep_blocks_name(tbSweepBlocks blocks);

typedef struct tbSolveOptions {
  const char* solver; // a name of the table
  tbModel model;      // what to solve; must be among the solver's models
  int directions;     // corners of the polyhedral cone, 3 … 64
  // Each may be 0: not asked. An answer meets all that are asked; where none is, only an exact one is good.
  double tolerance;          // on the judge's number for the model (fclib's scaling for the cone)
  double tolerance_q;        // on E/‖q‖
  double velocity_tolerance; // on the judge's number in m/s, which no mass can hide
  double aim; // once the tolerances are reached, go on a little towards this share of them for the sake of
              // the next warm start (not where this one is far off, of over 100 contacts); 0: stop there
  // Rules that end a run early, by a merit function; it has converged only where the judge's tolerances are
  // met. Each may be 0: not asked.
  tbMerit merit;
  double
      merit_tolerance;  // it ends where θ is no more than this; not for the iterate, whose size says nothing
  double merit_change;  // or where an iteration changes θ by no more than this part of it
  double merit_growth;  // or, as failed, where one multiplies it by more than this
  int max_iterations;   // ≥ 0
  double time_budget_s; // of the call, set-up included; 0: none
  double* time_left_s;  // null, or what several calls share: each has no more than is left of it, and takes
                        // out what it used
  tbOrder order;        // of sweeps
  uint64_t seed;        // of random sweeps
  double relaxation;    // ω of psor and jacobi, α of admm; 0: the method's own choice
  tbRFactor r_factor;   // of prox-gs and prox-jacobi
  tbPreconditioner preconditioner; // of cr and staggered-cr
  tbKrylov krylov;                 // of cr and staggered-cr
  tbStateChanges state_changes;    // of cr and staggered-cr
  int sweeps;                      // of pgs-sm before each solve in the subspace; 0: 5
  double stagger_tolerance; // staggered: relative change of friction in kinetic energy that ends it, too; 0:
                            // none
  tbSweepBlocks blocks;     // of bgs
  tbLimits limits;          // of murty and bpp
  tbInverse inverse;   // of sparse metric blocks in W. Other than exact: the approximate problem is solved,
                       // until the budget is spent, and the judge says by how much its answer is wrong.
                       // `cr`, `staggered-cr` and `ica` have no use for it: they solve with A
  double factor_bytes; // memory that W or a factor may take before the Newton methods turn to GMRES, and
                       // pgs-sm to conjugate gradients; 0: 1e9
  // null, or called for every iteration; where `auto` solves islands by themselves, for every round of them
  void (*trace)(void* user, const tbTraceEvent* event);
  void* trace_user;
  // null, or called for what is judged anyway, which costs nothing; not for islands by themselves
  void (*watch)(void* user, const tbTraceEvent* event);
  void* watch_user;
  // null, or asked every iteration and inside of long ones; by any thread, one at a time. True ends the call
  // with the best iterate so far; the context's interrupt ends it with TB_ERROR_CANCELLED, and λ as it was
  bool (*cancelled)(void* user);
  void* cancelled_user;
} tbSolveOptions;

tbSolveOptions tb_default_solve_options(void); // auto, cone, tolerance 1e-8, 10000 iterations, no time limit

typedef struct tbSolveResult {
  tbOutcome outcome;
  int iterations;      // where `auto` solved islands by themselves: the most that one took
  double time_s;       // the method, its tests for stopping included; not the assembly of W
  double setup_s;      // building what the method needs
  double merit;        // θ where it was looked at last; 0: no rule asked for it
  double operations;   // multiplications and additions: work without a clock; 0: the method does not count it
  tbResidual residual; // of the returned λ, the best one judged
  const char* used;    // the method that finished; for `auto` that of its last stage, or of the island with
                       // the most iterations, or itself where the warm start was good enough
} tbSolveResult;

// How far a residual is from what the options ask for: the largest of its numbers, each as a multiple of its
// tolerance; at most 1 meets them all. ∞ where nothing is asked and the residual is not 0.
double tb_residual_excess(const tbResidual* residual, const tbSolveOptions* options);

// λ is the warm start on input and the best judged iterate on output, which is no worse than the warm start
// or than no impulses at all; untouched when the call fails. `staggered`, stopped before it converges,
// answers with a contact projection, which does not penetrate, unless the better of these penetrate no more.
tbStatus tb_solve(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, double* lambda,
                  tbSolveResult* result);

// One run of one method, as the method sees it. Its loop is
//
//   for (int k = 0; !tb_run_done(run, k, lambda); k++) { … one iteration … }
//
// tb_run_done counts, asks the judge now and then, keeps the best iterate it judged, traces, and watches the
// budgets, divergence and the caller's wish to cancel. After the run λ is the best judged iterate, whatever
// became of the last. examples/own_solver.c is a method from outside of the library.
typedef struct tbRun tbRun;

bool tb_run_done(tbRun* run, int iteration, const double* lambda);
void tb_run_give_up(tbRun* run); // the method cannot go on: ends the run as failed, or as what stopped it
const tbProblem* tb_run_problem(const tbRun* run);
const tbDelassus* tb_run_delassus(const tbRun* run); // in the form that the method's row asks for
const tbSolveOptions* tb_run_options(const tbRun* run);
tbThreads* tb_run_threads(const tbRun* run); // for tb_delassus_apply
// The next piece of the memory that scratch_bytes asked for, aligned to 64 bytes, and its size rounded up to
// them; not zeroed. Null: more than was asked for.
void* tb_run_take(tbRun* run, size_t bytes);

// The table. A row is all there is to know of a method from outside.
typedef struct tbSolver {
  const char* name;
  const char* summary;   // one line for `tribo list solvers`
  const char* reference; // where the method is described
  unsigned models;       // bit (1 << tbModel) for each model it can solve
  unsigned laws;         // bit (1 << tbLaw) for each law it can take
  tbForm needs;          // the form of W it works on
  tbInverse inverse; // and the inverse it is made with, where the method has its own; else as the options say
  bool metric;       // it works on A and J: problems that give W are refused
  // Null, or the form for this problem: a method that can do with products turns to them where W is too
  // large.
  tbStatus (*form)(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, tbForm* out);
  size_t (*scratch_bytes)(const tbDelassus* W, const tbSolveOptions* options);
  void (*solve)(struct tbRun* run, double* lambda);
  // For methods that need memory of a size only their set-up knows, such as a factor: prepare hangs it on the
  // run before the method starts, release gives it back, whatever of it there is. Null: nothing to set up.
  tbStatus (*prepare)(tbContext* ctx, struct tbRun* run);
  void (*release)(tbContext* ctx, struct tbRun* run);
  // Null, or brings what prepare made for an earlier run on the same pattern, with the same W, up to the
  // values and the context of this one (tribo/workspace.h). Null: it is made again for every run.
  tbStatus (*renew)(tbContext* ctx, struct tbRun* run);
  // A method made of others runs them itself, and has neither scratch nor solve. Null for all but `auto`.
  tbStatus (*drive)(tbContext* ctx, struct tbRun* run, double* lambda);
  bool costly; // an iteration costs far more than judging it: the judge is asked after every one
  bool asks;   // the method knows when it may be done, and asks the judge itself; else it is asked seldom
  // Null, or the method whose equations it takes where it has none: tb_solver_borrowed.
  const char* borrows_from;
  bool counts;  // its result says how many operations it took
  int max_rows; // of the problem, where a dense method must end; 0: any
  // Which friction sets it takes, as the model shapes them: whatever the model, an interval is a box, so
  // planar friction is polyhedral already.
  enum { TB_SETS_ALL, TB_SETS_POLYHEDRAL, TB_SETS_BOX } sets;
} tbSolver;

int tb_solver_count(void);
const tbSolver* tb_solver_at(int index);
const tbSolver* tb_solver_find(const char* name); // null: no such solver
// The same, among the context's own methods too, which come first.
const tbSolver* tb_solver_named(const tbContext* ctx, const char* name);
// Null when the solver can take the problem under the model; else why not.
const char* tb_solver_refuses(const tbSolver* solver, const tbProblem* problem, tbModel model);
// Contacts it solves by the equations of another method, `borrows_from`, having none of its own for their
// friction set: there the two are one opinion, not two. 0 for methods that borrow nothing.
int tb_solver_borrowed(const tbSolver* solver, const tbProblem* problem, tbModel model);
bool tb_solver_borrows(const tbSolver* solver, tbLaw law, tbModel model); // of a contact in three dimensions
// Bit (1 << tbModel) for each model under which it takes a contact of the law, in three dimensions.
unsigned tb_solver_models(const tbSolver* solver, tbLaw law);

TB_API_END
#endif
