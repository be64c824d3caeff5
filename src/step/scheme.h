// What the velocity-level schemes share.
#ifndef TB_STEP_SCHEME_H
#define TB_STEP_SCHEME_H

#include "step/integrate.h"

// A step in the making: everything lives in the world's scratch but the two arrays and the problem.
typedef struct tbStepWork {
  tbArena* arena;
  tbUnconstrained* unconstrained;
  tbTransform *pose, *centre; // of the body frames and of the centres of mass, where contacts are looked for
  tbArray constraints;        // tbContactConstraint
  tbArray records;            // tbContactRecord of this step, to become the world's
  tbAssembly assembly;
  bool deforms;       // there are deformable bodies, which never come quite to rest
  double ease;        // of the tolerances asked for, that the problem is solved to; 0: 1
  bool rough;         // it is, and nowhere near them
  bool rounds;        // several problems, of which the last is certified at the end
  tbJudge* judge;     // of the problem, once solved; null where there was nothing to solve
  double begun;       // when the step was, on the clock
  tbResidual impacts; // the worst of the problems of impacts
} tbStepWork;

// Free motion, and poses after `fraction` of the step with the present velocities.
tbStatus tb_step_begin(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                       double fraction, tbStepWork* work);
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

// Solves and judges the assembled problem.
tbStatus tb_step_solve(tbContext* ctx, const tbStepOptions* options, tbStepWork* work, tbStepReport* report);

// Makes this step's contacts the world's; cannot fail.
void tb_step_keep(tbStepWork* work, tbWorld* world);

// Runs from now until the call: phase_s[phase] += time since *clock; *clock = now.
void tb_step_clock(tbStepReport* report, tbPhase phase, double* clock);

tbStatus tb_semi_implicit_step(tbContext* ctx, tbWorld* world, const tbStepOptions* options,
                               tbStepReport* report);
tbStatus tb_moreau_step(tbContext* ctx, tbWorld* world, const tbStepOptions* options, tbStepReport* report);
tbStatus tb_penalty_step(tbContext* ctx, tbWorld* world, const tbStepOptions* options, tbStepReport* report);

tbStatus tb_implicit_step(tbContext* ctx, tbWorld* world, const tbStepOptions* options, tbStepReport* report);

// The problem of a step of these schemes, up to its assembly.
tbStatus tb_semi_implicit_problem(tbContext* ctx, tbArena* arena, const tbWorld* world,
                                  const tbStepOptions* options, tbStepWork* work, tbStepReport* report);
tbStatus tb_implicit_problem(tbContext* ctx, tbArena* arena, const tbWorld* world,
                             const tbStepOptions* options, tbStepWork* work, tbStepReport* report);
tbStatus tb_moreau_problem(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                           tbStepWork* work, tbStepReport* report);

// Moves bodies apart, and joints together, after a step: positions alone. begun: when the step was.
tbStatus tb_project_positions(tbContext* ctx, tbWorld* world, const tbStepOptions* options, double begun,
                              tbStepReport* report);

#endif
