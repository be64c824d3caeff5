// SPDX-License-Identifier: Apache-2.0
// Solving, and keeping the judge that was asked.
#ifndef TB_SOLVE_JUDGED_H
#define TB_SOLVE_JUDGED_H

#include "tribo/solver.h"

// tb_solve with an initial guess of w = v − v_free (ndof; null: none) that also hands out its judge, which
// holds what it found for the last λ (problem/judge.h); null where it fails.
tbStatus tb_solve_judged(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                         double* lambda, const double* w, tbSolveResult* result, tbJudge** judge);

#endif
