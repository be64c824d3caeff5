// SPDX-License-Identifier: Apache-2.0
// What the schemes that relax contact share: primal, xpbd, vbd, avbd.
//
// They find contacts and assemble the problem of a step as semi-implicit does, or with deformable bodies as
// implicit does without its rounds. They differ in how they go about impulses (tbRelaxedSolve). What they
// have come to is put to the judge of that same problem, with its laws as they stand: its number says how far
// stiffness and iterations are from the contact law.
#ifndef TB_STEP_RELAXED_H
#define TB_STEP_RELAXED_H

#include "descent/relaxed.h"
#include "step/scheme.h"

typedef struct tbRelaxedRun {
  const tbStepOptions* options;
  const tbProblem* problem;
  tbRelaxation how;
  tbArena* arena;
  double* lambda; // in: a guess; out: impulses                                                  (nrow)
  double* v;      // null: the impulses say all; else the velocities that bodies are to have     (ndof)
  double off;     // m/s: velocities that the impulses do not explain, although they were to; 0: none
  int iterations; // out
} tbRelaxedRun;

typedef tbStatus tbRelaxedSolve(tbContext* ctx, tbRelaxedRun* run);

// The stiffnesses of a step's problem: the options', or from the heaviest body that takes part.
tbRelaxation tb_relaxation_of(const tbWorld* world, const tbStepOptions* options, const tbAssembly* assembly);

// Phases. name: of the scheme, for the report.
tbStatus tb_relaxed_prepare(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                            tbStepWork* work, tbStepReport* report);
tbStatus tb_relaxed_solve(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                          tbRelaxedSolve* solve, const char* name, tbStepWork* work, tbStepReport* report);

#endif
