// SPDX-License-Identifier: Apache-2.0
// What the schemes that relax contact share: primal, xpbd, vbd, avbd.
//
// They find contacts and assemble the problem of a step as semi-implicit does; with deformable bodies, as
// implicit does in its first round (relaxed_soft.c). They differ in how they go about impulses
// (tbRelaxedSolve). What they have come to is put to the judge of that same problem, with its laws as they
// stand: its number says how far stiffness and iterations are from the contact law.
#ifndef TB_STEP_RELAXED_H
#define TB_STEP_RELAXED_H

#include "descent/descend.h"
#include "step/implicit_newton.h"
#include "step/scheme.h"
#include "step/soft_contact.h"

#define TB_RELAXED_STILL 1e-3 // of the tolerance: an iteration that would change less ends them

typedef struct tbRelaxedRun {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbProblem* problem;
  tbAssembly* assembly; // of the problem
  tbRelaxation how;
  tbArena* arena;
  double* lambda;  // in: a guess; out: impulses                                                  (nrow)
  double* v;       // null: the impulses say all; else the velocities that bodies are to have     (ndof)
  double off;      // m/s: velocities that the impulses do not explain, although they were to; 0: none
  double deadline; // of the step's solves, on the clock; 0: none
  int iterations;  // out
} tbRelaxedRun;

typedef tbStatus tbRelaxedSolve(tbContext* ctx, tbRelaxedRun* run);

// The stiffnesses of a step's problem: the options', or from the heaviest body that takes part.
tbRelaxation tb_relaxation_of(const tbWorld* world, const tbStepOptions* options, const tbAssembly* assembly);

// The surfaces of deformable bodies and their contacts (relaxed_soft.c); tbStepWork.own.
typedef struct tbRelaxedSoft {
  tbBodyStep* step; // null: nothing deforms                                                  (bodies)
  tbSurfaces surfaces;
  tbSurfaceCandidates candidates;
  tbArray soft_contacts; // tbSoftContact
  tbArray met;           // tbSurfaceContact
  double clearance;
  bool split;              // elements are rows (tbKind.split)
  bool spread;             // tbSurfaces.spread
  tbImplicitNewton newton; // of elasticity; else nothing
  double** last;           // split: velocities that elements are linear about; null: none    (bodies)
} tbRelaxedSoft;

// The motion of what deforms if nothing touched it, and its contacts: of features that are close, and of
// those that would meet on the way. Appends their constraints.
tbStatus tb_relaxed_soft_begin(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                               tbStepWork* work, tbRelaxedSoft* soft);
// Elasticity anew where the step has ended, until the tolerance is met or this is the last time. again: the
// problem is to be assembled and solved once more.
tbStatus tb_relaxed_soft_again(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, bool last,
                               tbStepWork* work, tbStepReport* report, bool* again);
// What crosses after the step.
tbStatus tb_relaxed_soft_count(tbContext* ctx, tbStepWork* work, tbRelaxedSoft* soft, tbStepReport* report);
void tb_relaxed_soft_end(tbContext* ctx, tbRelaxedSoft* soft);

// Phases. split: elements are rows; name: of the scheme, for the report.
tbStatus tb_relaxed_prepare(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, bool split,
                            tbStepWork* work, tbStepReport* report);
tbStatus tb_relaxed_solve(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                          tbRelaxedSolve* solve, const char* name, tbStepWork* work, tbStepReport* report);
tbStatus tb_relaxed_publish(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                            tbStepWork* work, tbStepReport* report);
void tb_relaxed_end(tbContext* ctx, tbStepWork* work);

#define TB_RELAXED_SCHEME(prepares, solves)                                        \
  {                                                                                \
    .prepare = (prepares), .solve = (solves), .advance = tb_semi_implicit_advance, \
    .publish = tb_relaxed_publish, .end = tb_relaxed_end, .substeps = true         \
  }

// Descent over velocities, from the better of v_free and the guess; and what it ends with: impulses that
// balance, or as published the last iterate.
typedef struct tbRelaxedDescent {
  tbRelaxed relaxed;
  tbCells cells;
  tbDescent descent;
} tbRelaxedDescent;

tbStatus tb_relaxed_descent_begin(tbContext* ctx, const tbRelaxedRun* run, tbRelaxedDescent* out);
tbStatus tb_relaxed_descent_end(tbContext* ctx, tbRelaxedRun* run, tbRelaxedDescent* descent);

// A problem whose contacts are forces of a stiff potential: velocities at which these balance, by Newton's
// method (course, chapter 4.2: the primal form), and the impulses they come to, judged but not confirmed.
tbStatus tb_relaxed_root(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, tbStepWork* work,
                         tbStepReport* report);

// The minimum where descent has not found it: by a solver of contact problems, and balanced once more
// (relaxed_compliant.c).
tbStatus tb_relaxed_compliant(tbContext* ctx, tbRelaxedRun* run, tbRelaxedDescent* descent);
// A solver that takes all laws of the problem.
const char* tb_relaxed_solver(const tbProblem* problem, tbModel model);

#endif
