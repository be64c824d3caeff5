// SPDX-License-Identifier: Apache-2.0
// What a scheme is to the rest, and the phases that schemes share.
//
// A step is prepare, solve, advance (step.c), and a scheme says what each does. Adding one is a file with its
// tbSchemeMethod and a row in schemes.c.
#ifndef TB_STEP_SCHEME_H
#define TB_STEP_SCHEME_H

#include "step/events.h"
#include "step/integrate.h"
#include "step/surfaces.h"

// A step in the making: everything lives in the arena but the two arrays, the problem and the next state.
typedef struct tbStepWork {
  tbArena* arena;
  tbCache* cache;    // the world's, or one for this problem alone
  const void* state; // what the last step of this scheme kept; null: nothing
  void* next;        // what this one keeps; null: nothing
  void* own;         // of the scheme: made by its prepare, ended by its end
  tbUnconstrained* unconstrained;
  tbTransform *pose, *centre; // of the body frames and of the centres of mass, where contacts are looked for
  tbArray constraints;        // tbContactConstraint
  tbArray records;            // tbContactRecord of this step, to become the world's
  tbTouching before, after;   // bodies that touch, at the start and at the end, where the scheme knows them
  tbAssembly assembly;
  tbJudge* judge;     // of the problem, once solved; null where there was nothing to solve
  double begun;       // when the step was, on the clock
  tbResidual impacts; // the worst of the problems of impacts
  bool too_long;      // solve misses what it aims at, and not for lack of time: shorter steps may not
} tbStepWork;

typedef struct tbSchemeMethod {
  // The contacts of the step and, where one problem is all of it, that problem.
  tbStatus (*prepare)(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, tbStepWork* work,
                      tbStepReport* report);
  // Impulses and velocities, judged; work->next. After it nothing can fail.
  tbStatus (*solve)(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, tbStepWork* work,
                    tbStepReport* report);
  // Positions follow.
  void (*advance)(tbContext* ctx, const tbStepOptions* options, tbStepWork* work, tbWorld* world,
                  tbStepReport* report);
  // The problem of the step, with memory of its own, where prepare does not leave it; may be null.
  tbStatus (*publish)(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, tbStepWork* work,
                      tbStepReport* report);
  void (*end)(tbContext* ctx, tbStepWork* work); // frees what is behind work->own; may be null
  // How far apart features that touch may be beyond their radii, m: of rigid shapes, else of deformable
  // surfaces. Null: 0, and twice the clearance.
  double (*touching)(const tbWorld* world, const tbStepOptions* options, const tbSurfaces* surfaces,
                     bool shapes);
  bool parts;               // overlaps by itself: positions are not projected
  bool substeps;            // a step is as many of it, each a part of dt (substeps.c)
  bool halves;              // one that is too long (tbStepWork) is taken again in two halves
  const tbStateKind* state; // of what it keeps from step to step; null: nothing
} tbSchemeMethod;

extern const tbSchemeMethod tb_semi_implicit, tb_moreau, tb_soft_step, tb_penalty, tb_implicit, tb_pd,
    tb_primal, tb_xpbd, tb_vbd, tb_avbd, tb_ipc;

// Options, and whether the scheme moves what is in the world (step_options.c).
tbStatus tb_step_check(tbContext* ctx, const tbWorld* world, const tbStepOptions* options);

// How many substeps the options ask for; `otherwise`: where they leave it to the scheme.
static inline int tb_step_substeps(const tbStepOptions* options, int otherwise)
{
  return options->substeps > 0 ? options->substeps : otherwise;
}

// Free motion, and poses after `fraction` of the step with the present velocities. The arena and the cache of
// the work are there already.
tbStatus tb_step_begin(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, double fraction,
                       tbStepWork* work);
void tb_step_forget(tbContext* ctx, tbStepWork* work); // the problem and its judge
void tb_step_end(tbContext* ctx, tbStepWork* work);

// Converged no longer, where the residual of the problem is above the tolerance: a solver's judge may have
// been less exact.
void tb_step_confirm(const tbStepOptions* options, const tbStepWork* work, tbStepReport* report);

// What the report says of the contacts the problem was assembled from.
void tb_step_note(const tbStepWork* work, tbStepReport* report);

// Approaches slower than this do not bounce. By default |g| h, what gravity adds in a step: such bounces
// would be shorter than it.
double tb_bounce_speed(const tbWorld* world, const tbStepOptions* options);

// The time budget is the step's: what is left of it, for one more of the problems solved on its way.
void tb_step_budget(const tbStepOptions* options, double begun, tbSolveOptions* solver);

// Seconds that the solves of a step still have, by its time budget and by what several steps share; infinite
// where there is neither. As a moment on the clock, for tb_is_late; 0: none.
double tb_step_time_left(const tbStepOptions* options, double begun);
double tb_step_deadline(const tbStepOptions* options, double begun);

// Takes what was spent since `since` from what several steps share.
void tb_step_spend(const tbStepOptions* options, double since);

// Solves one problem of a step by the solver, or by what answers in its place (scene/cache.h). w: an initial
// guess of v − v_free; judge: the one that was asked, where a solver was; both may be null.
tbStatus tb_step_answer(tbContext* ctx, const tbCache* cache, const tbProblem* problem,
                        const tbSolveOptions* solver, double* lambda, const double* w, tbSolveResult* result,
                        tbJudge** judge);

// Solves the assembled problem as `solver` says (null: as the options do) and judges it against what the
// options ask for. exact: the judge is as exact as it can be; else as the solver's tolerance needs.
tbStatus tb_step_solve(tbContext* ctx, const tbStepOptions* options, const tbSolveOptions* solver, bool exact,
                       tbStepWork* work, tbStepReport* report);

// Makes this step's contacts the world's; cannot fail.
void tb_step_keep(tbStepWork* work, tbWorld* world);

// Tells the context's log what of a step is not as the contact law asks for.
void tb_step_tell(tbContext* ctx, const tbWorld* world, const tbStepReport* report);

// Runs from now until the call: phase_s[phase] += time since *clock; *clock = now.
void tb_step_clock(tbStepReport* report, tbPhase phase, double* clock);

// Those of semi-implicit that others begin or end with.
tbStatus tb_semi_implicit_prepare(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                                  tbStepWork* work, tbStepReport* report);
void tb_semi_implicit_advance(tbContext* ctx, const tbStepOptions* options, tbStepWork* work, tbWorld* world,
                              tbStepReport* report);

// Moves bodies apart, and joints together, after a step: positions alone. begun: when the step was.
tbStatus tb_project_positions(tbContext* ctx, tbWorld* world, const tbStepOptions* options, double begun,
                              tbStepReport* report);

#endif
