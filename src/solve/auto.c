// SPDX-License-Identifier: Apache-2.0
// The method that chooses.
//
//   0. one contact   solved by itself (local.h)
//   0. open          contacts that stay open are left out where they are many (auto_open.c)
//   0. the whole     where W is given and would have to be taken apart: some sweeps
//   0. islands       where the problem falls apart, each part by itself (auto_islands.c)
//   0. soft bodies   `cr`, which needs no W, then Newton; where W would be too large, `cr` and `ica` all the
//                    way (auto_soft.c)
//   1. nearly there  where a warm start is close, a few steps of Newton, after a few sweeps where its systems
//                    are in contact space, or on reduced bodies where little is left to do; sweeps and
//                    Newton, too, where iterations are few and those of Newton cost little: one of them is
//                    worth many sweeps
//   2. sweeps        `bgs` a few times, then `nncg`: cheap iterations; most problems end here; a few of both
//                    where Newton's systems are in velocity space, as contacts that are so many are redundant
//   3. Newton        `prox-newton`: few, costly iterations; takes over when the sweeps' curve says that it
//                    will be there sooner
//   4. interior      `ipm`: where Newton's curve goes flat and the cones are round
//   5. pivoting      `lemke`: where the problem is an LCP as it stands
//   6. the rest      `prox-newton` again from the best so far; then in turn `bgs` from the best and
//                    `prox-newton` from where that led, `bgs` longer each time, while the budget lasts; on
//                    soft bodies while something is gained
//
// Stages start from the best iterate the judge has seen, and that is kept. The judge ends the
// run; the curve of its numbers is all that steers it. Decisions count operations, not seconds, so that the
// answer has the same bits on every machine and for any number of threads.
#include "math/cholesky.h"
#include "solve/auto.h"
#include "solve/kept.h"
#include "solve/local.h"
#include "solve/methods.h"
#include "solve/round_sweep.h"
#include "tribo/math.h"

#include <limits.h>
#include <string.h>

enum {
  CURVE = 512,
  FIRST_SWEEPS = 10,
  MORE_SWEEPS = 5,
  MOST_SWEEPS = 1000,
  FEW = 200
};                                // iterations, but for the first
static const double ALIKE = 0.6;  // of the time of a sweep, where contacts are all alike (round_sweep.h)
static const double LITTLE = 3e7; // multiply-adds: milliseconds
static const double SWEEPS_WORTH = 0.05; // of what Newton would need in all: what sweeps may take before it
static const double SLIGHTLY = 10;       // times the tolerances: a warm start that a few sweeps may finish
enum { SLIGHT_SWEEPS = 20, WHOLE_SWEEPS = 100 };
static const double NEAR = 1e3; // times the tolerances: a warm start that Newton finishes in a few iterations

// What the judge said, and what an iteration of each kind costs.
typedef struct {
  int count;
  struct {
    int iteration;
    double number;
  } point[CURVE];
  double sweep_work, newton_work; // operations of one sweep; of what Newton would need in all
} Watch;

static void remember(Watch* w, int iteration, double number)
{
  if (w->count == CURVE) { // keep every second point
    for (int i = 0; i < CURVE / 2; i++) w->point[i] = w->point[2 * i + 1];
    w->count = CURVE / 2;
  }
  w->point[w->count].iteration = iteration;
  w->point[w->count++].number = number;
}

// Iterations still to go, if the second half of the curve goes on as it is.
static double iterations_left(const Watch* w)
{
  int last = w->count - 1, from = last;
  while (from > 0 && 2 * w->point[from].iteration > w->point[last].iteration) from--;
  double fallen = tb_ln(w->point[from].number / w->point[last].number), to_go = tb_ln(w->point[last].number);
  if (to_go <= 0) return 0;
  if (!(fallen > 0)) return INFINITY;
  return to_go / fallen * (w->point[last].iteration - w->point[from].iteration);
}

// Sweeps give way when Newton would be there sooner, but not before they have done half of its work: a curve
// may be flat for a while.
static bool sweeps_too_slow(void* user, int iteration, double number)
{
  Watch* w = user;
  remember(w, iteration, number);
  return w->sweep_work * iteration > 0.5 * w->newton_work &&
         w->sweep_work * iterations_left(w) > w->newton_work;
}

static const double GAIN = 0.9; // of the best number: a turn that does not get there has gained nothing
enum { SOFT_TURNS = 1 };        // that gain nothing, on soft bodies
enum { PATIENCE = 60 };         // iterations of Newton among redundant contacts
enum { SOFT_STEPS = 200 };      // of Newton: redundant contacts on soft bodies may need a hundred

// The least number of the points after the first `begin` iterations and up to `end`.
static double least_between(const Watch* w, int begin, int end)
{
  double least = INFINITY;
  for (int i = 0; i < w->count; i++)
    if (w->point[i].iteration > begin && w->point[i].iteration <= end)
      least = fmin(least, w->point[i].number);
  return least;
}

// Among redundant contacts its numbers go up and down for dozens of iterations: the least of them counts.
static bool newton_too_slow_among_redundant(void* user, int iteration, double number)
{
  Watch* w = user;
  remember(w, iteration, number);
  int from = iteration - PATIENCE;
  return from >= PATIENCE && least_between(w, from, iteration) > 0.5 * least_between(w, 0, from);
}

// Newton has lost its way when ten iterations gain less than a factor of two.
static bool newton_too_slow(void* user, int iteration, double number)
{
  Watch* w = user;
  remember(w, iteration, number);
  int from = w->count - 1;
  while (from > 0 && w->point[from].iteration > iteration - 10) from--;
  return iteration >= 20 && number > 0.5 * w->point[from].number;
}

// The same, in velocity space: each body's row of neighbours squared, with fill. Contacts of one pair of
// bodies mostly follow each other, so that a pair counts where it differs from the one before.
static double velocity_factor(const tbProblem* p, int* touching)
{
  double factor = 0;
  int before[2] = {-1, -1};
  memset(touching, 0, (size_t)p->nblock * sizeof *touching);
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->jac_adr[k], last = p->jac_adr[k + 1] - 1;
    if (last < first) continue;
    int pair[2] = {p->dof_block[p->jac_dof[first]], p->dof_block[p->jac_dof[last]]};
    if (pair[0] == before[0] && pair[1] == before[1]) continue;
    touching[pair[0]]++;
    if (pair[1] != pair[0]) touching[pair[1]]++;
    memcpy(before, pair, sizeof pair);
  }
  for (int b = 0; b < p->nblock; b++) {
    double size = p->block[b].size, coupled = size * (1 + touching[b]);
    if (p->block[b].factor) factor += 2 * tb_cholesky_stats(p->block[b].factor).flops;
    else factor += 4 * size * coupled * coupled;
  }
  return factor;
}

// Work in multiply-adds. A sweep reads W (or J) once and solves every contact. A Newton iteration factors the
// active blocks: dense at worst, else each contact's row of neighbours squared, with fill; factoring does
// about three operations in the time a sweep does one, and gathering its matrix costs as much as thousands.
// A dozen iterations are expected.
static tbStatus estimate_work(tbContext* ctx, const tbRun* run, const tbDelassus* W, Watch* w)
{
  const tbProblem* p = run->p;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  double sweep = 100.0 * p->ncontact, factor = 0, rows = p->nrow,
         per_contact = p->ncontact ? rows / p->ncontact : 0;
  int* touching = TB_TAKE(&arena, int, (size_t)p->nblock + 1);
  if (!touching) {
    tb_arena_free(&arena);
    return TB_ERROR_MEMORY;
  }
  for (int c = 0; c < p->ncol; c++) touching[p->dof_block[p->jac_dof[c]]]++;
  for (int k = 0; k < p->ncontact; k++) {
    double coupled = 0;
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      coupled += per_contact * touching[p->dof_block[p->jac_dof[c]]];
      sweep += 2.0 * (double)(p->jac_val_adr[c + 1] - p->jac_val_adr[c]);
      bool first = c == p->jac_adr[k] || p->dof_block[p->jac_dof[c]] != p->dof_block[p->jac_dof[c - 1]];
      if (first && p->block[p->dof_block[p->jac_dof[c]]].kind == TB_METRIC_SPARSE) // W is dense there
        sweep += per_contact * per_contact * touching[p->dof_block[p->jac_dof[c]]];
    }
    if (p->W_ptr) {
      coupled = p->W_ptr[p->row_adr[k] + 1] - p->W_ptr[p->row_adr[k]];
      sweep += p->W_ptr[p->row_adr[k + 1]] - p->W_ptr[p->row_adr[k]];
    }
    factor += 4 * per_contact * coupled * coupled;
  }
  factor = fmin(factor, rows * rows * rows / 3);
  if (tb_newton_by_velocity(p, run->o)) factor = fmin(factor, velocity_factor(p, touching));
  w->sweep_work = W && tb_round_rows(W, run->o->model) ? ALIKE * sweep : sweep;
  w->newton_work = 12 * (factor / 3 + 5000 + 1500.0 * p->ncontact);
  tb_arena_free(&arena);
  return TB_OK;
}

// Sweeps that take as long as a few iterations of Newton.
static int few_sweeps(const Watch* w)
{
  double sweeps = SWEEPS_WORTH * w->newton_work / w->sweep_work;
  return (int)fmin(fmax(sweeps, MORE_SWEEPS), MOST_SWEEPS);
}

typedef struct {
  const char* name;
  bool (*too_slow)(void*, int, double);
  int cap;     // iterations at most; 0: any
  bool onward; // from where the last stage ended
} Stage;

// W in the form a stage needs, kept from one stage to the next.
static tbStatus provide(tbContext* ctx, tbRun* run, tbForm needs, tbDelassus** W)
{
  unsigned have = *W ? (*W)->forms : 0;
  bool enough = (have & needs) != 0;
  if (needs == TB_FORM_FREE) enough = have != 0; // every form has products
  if (needs == TB_FORM_SWEEP) enough = (have & TB_FORM_BLOCKS) || (have && (*W)->ainv_jac);
  if (enough) return TB_OK;
  tb_run_operator_done(ctx, run, *W);
  *W = NULL;
  tbStatus status = tb_run_operator(ctx, run, needs, run->o->inverse, W);
  run->W = *W;
  return status;
}

// One stage, from the best iterate so far; over: the judge is satisfied, or a budget is spent, whether or not
// the stage got to run.
static tbStatus go(tbContext* ctx, tbRun* run, const Stage* stage, Watch* watch, tbDelassus** W,
                   double* lambda, bool* over)
{
  const tbSolver* solver = tb_solver_find(stage->name);
  *over = tb_run_spent(run);
  if (*over || tb_solver_refuses(solver, run->p, run->o->model)) return TB_OK;
  tbForm form;
  TB_TRY(tb_run_form(ctx, solver, run, &form));
  if (form == TB_FORM_BLOCKS && !solver->form) { // nothing else will do for it
    tbForm fits;
    TB_TRY(tb_prox_newton_form(ctx, run->p, run->o, &fits));
    if (fits != TB_FORM_BLOCKS) return TB_OK;
  }
  int cap = stage->cap ? stage->cap : INT_MAX;
  if (stage->too_slow == sweeps_too_slow) {
    TB_TRY(estimate_work(ctx, run, *W, watch));
    if (tb_newton_by_velocity(run->p, run->o)) cap = few_sweeps(watch);
  }
  tbDelassus* own = NULL; // made with an inverse that no other method can use
  if (solver->inverse == TB_INVERSE_EXACT) TB_TRY(provide(ctx, run, form, W));
  else TB_TRY(tb_run_operator(ctx, run, form, solver->inverse, &own));
  run->W = own ? own : *W;
  run->before = run->iterations;
  run->stage_cap = cap;
  run->too_slow = stage->too_slow;
  if (stage->too_slow == newton_too_slow && solver->form == tb_prox_newton_form &&
      (tb_newton_by_velocity(run->p, run->o) || tb_has_wide_blocks(run->p)))
    run->too_slow = newton_too_slow_among_redundant;
  run->too_slow_user = watch;
  watch->count = 0;
  if (!stage->onward) memcpy(lambda, run->best, (size_t)run->p->nrow * sizeof *lambda);
  tbStatus status = tb_run_method(ctx, solver, run, lambda);
  *over = run->outcome != TB_FAILED;
  tb_run_operator_done(ctx, run, own);
  run->W = *W;
  return status;
}

// Two methods in turn, longer each time, until the judge is satisfied or a budget is spent; or until neither
// gets anywhere: both end without an iteration, or with a λ that is no number, and so they would the next
// time; or `patience` turns in a row have gained nothing on the best.
static tbStatus take_turns(tbContext* ctx, tbRun* run, Stage turns[2], int patience, Watch* watch,
                           tbDelassus** W, double* lambda, bool* over)
{
  bool alive = true;
  int idle = 0;
  for (int cap = 200; alive && idle < patience; cap *= cap < INT_MAX / 2 ? 2 : 1) {
    double best = run->best_number;
    alive = false;
    for (int i = 0; i < 2; i++) {
      int before = run->iterations;
      turns[i].cap = cap;
      run->lost = false;
      TB_TRY(go(ctx, run, &turns[i], watch, W, lambda, over));
      if (*over) return TB_OK;
      alive = alive || (run->iterations > before && !run->lost);
    }
    idle = run->best_number < GAIN * best ? 0 : idle + 1;
  }
  *over = true;
  tb_run_give_up(run);
  return TB_OK;
}

// Soft bodies: `cr` for a quarter of what Newton would cost, then Newton. Where W is out of the question `cr`
// and `ica` in turn, each from the best so far, longer each time.
static tbStatus go_soft(tbContext* ctx, tbRun* run, bool near, Watch* watch, tbDelassus** W, double* lambda,
                        bool* is_soft, bool* over)
{
  tbAutoSoft soft;
  TB_TRY(tb_auto_soft(ctx, run, &soft));
  *is_soft = soft.soft;
  if (!soft.soft || *over) return TB_OK;
  if (!soft.W_too_large) {
    int cap = soft.worth / 4 > 20 ? soft.worth / 4 : 20;
    if (!near && soft.worth > 0)
      TB_TRY(go(ctx, run, &(Stage){.name = "cr", .cap = cap}, watch, W, lambda, over));
    Stage newton = {.name = "prox-newton", .cap = SOFT_STEPS};
    return *over ? TB_OK : go(ctx, run, &newton, watch, W, lambda, over);
  }
  Stage turns[2] = {{.name = "cr"}, {.name = "ica"}};
  return take_turns(ctx, run, turns, INT_MAX, watch, W, lambda, over);
}

// A few sweeps, then Newton: to finish what is near, or to make the most of few iterations.
static tbStatus go_short(tbContext* ctx, tbRun* run, bool near, Watch* watch, tbDelassus** W, double* lambda,
                         bool* over)
{
  int most = run->o->max_iterations;
  bool few = false;
  if (most < FEW) {
    TB_TRY(estimate_work(ctx, run, *W, watch));
    few = watch->newton_work < LITTLE;
  }
  if (!near && !few) return TB_OK;
  Stage sweeps = {.name = "bgs", .cap = few && most < 8 * FIRST_SWEEPS ? most / 8 + 1 : FIRST_SWEEPS};
  Stage newton = {.name = "prox-newton", .cap = 12};
  bool slight = near && run->best_number <= SLIGHTLY && tb_has_wide_blocks(run->p);
  bool at_once = near && !slight && tb_newton_by_velocity(run->p, run->o);
  if (slight) sweeps.cap = SLIGHT_SWEEPS;
  if (few) newton = (Stage){.name = "prox-newton", .too_slow = newton_too_slow};
  if (!at_once) TB_TRY(go(ctx, run, &sweeps, watch, W, lambda, over));
  return *over ? TB_OK : go(ctx, run, &newton, watch, W, lambda, over);
}

// Where W is given, taking it apart, and preparing each part, costs as much as dozens of sweeps through the
// whole, so these come first.
static tbStatus go_whole(tbContext* ctx, tbRun* run, bool near, Watch* watch, tbDelassus** W, double* lambda,
                         bool* over)
{
  if (!run->p->W_ptr || near || run->part != TB_PART_WHOLE ||
      run->p->ncontact <= tb_islands_worth_it(run->p) || run->o->max_iterations < FEW)
    return TB_OK;
  TB_TRY(go(ctx, run, &(Stage){.name = "bgs", .cap = MORE_SWEEPS}, watch, W, lambda, over));
  if (!*over) TB_TRY(go(ctx, run, &(Stage){.name = "nncg", .cap = WHOLE_SWEEPS}, watch, W, lambda, over));
  run->before = run->iterations;
  run->stage_cap = INT_MAX;
  return TB_OK;
}

// A single contact is solved exactly, by what `bgs` sweeps with; not where W is expensive.
static tbStatus go_alone(tbContext* ctx, tbRun* run, tbDelassus** W, double* lambda, bool* over)
{
  const tbProblem* p = run->p;
  tbFrictionSet friction;
  tbLocal local;
  double u[TB_MAX_ROWS];
  if (p->ncontact != 1 || run->o->max_iterations < 1) return TB_OK;
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind == TB_METRIC_SPARSE) return TB_OK;
  TB_TRY(provide(ctx, run, TB_FORM_SWEEP, W));
  const double* D = (*W)->diag;
  tb_run_begin(run);
  tb_friction_make(p, 0, run->o->model, run->o->directions, &friction);
  tb_local_prepare(p, 0, &friction, D, &local);
  for (int i = 0; i < p->nrow; i++) {
    u[i] = (*W)->q[i];
    for (int j = 0; j < p->nrow; j++) u[i] += D[i * p->nrow + j] * lambda[j];
  }
  tb_local_solve(&local, u, lambda);
  run->used = "bgs";
  run->start_known = false;
  tb_run_judge_next(run);
  *over = tb_run_done(run, 1, lambda);
  run->start_known = true;
  run->before = 1;
  return TB_OK;
}

tbStatus tb_auto(tbContext* ctx, tbRun* run, double* lambda)
{
  static const Stage stages[] = {
      {"bgs", NULL, FIRST_SWEEPS, false},
      {"nncg", sweeps_too_slow, 0, false},
      {"prox-newton", newton_too_slow, 0, false},
      {"ipm", newton_too_slow, 0, false},
      {"lemke", NULL, 2000, false},
      {"prox-newton", NULL, 2000, false},
  };
  Watch watch = {0};
  tbDelassus* W = NULL;
  bool over = false, soft = false;
  bool near = run->best_number <= NEAR; // a warm start: the judge has seen it
  tbStatus status = go_alone(ctx, run, &W, lambda, &over);
  if (status == TB_OK && !over) status = tb_auto_open(ctx, run, lambda, &over);
  if (status == TB_OK && !over) status = go_whole(ctx, run, near, &watch, &W, lambda, &over);
  if (status == TB_OK && !over) status = tb_auto_islands(ctx, run, lambda, &over);
  if (status == TB_OK && !over) status = go_soft(ctx, run, near, &watch, &W, lambda, &soft, &over);
  if (status == TB_OK && !over) status = go_short(ctx, run, near, &watch, &W, lambda, &over);
  // Contacts on soft bodies that Newton does not solve in SOFT_STEPS contradict each other, and each
  // iteration is expensive: without the last, long stage, and no longer than something is gained.
  size_t count = sizeof stages / sizeof *stages - (soft ? 1 : 0);
  for (size_t i = 0; status == TB_OK && !over && i < count; i++)
    status = go(ctx, run, &stages[i], &watch, &W, lambda, &over);
  Stage turns[2] = {{.name = "bgs"}, {.name = "prox-newton", .onward = true}};
  if (soft) turns[1].too_slow = newton_too_slow;
  if (status == TB_OK && !over)
    status = take_turns(ctx, run, turns, soft ? SOFT_TURNS : INT_MAX, &watch, &W, lambda, &over);
  tb_run_operator_done(ctx, run, W);
  return status;
}
