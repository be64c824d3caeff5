// SPDX-License-Identifier: Apache-2.0
// Problems whose numbers are too large or too small to square: solved in other units, judged in their own.
#ifndef TB_SOLVE_UNITS_H
#define TB_SOLVE_UNITS_H

#include "tribo/solver.h"

// Whether products of the problem's numbers may overflow or vanish.
bool tb_units_are_odd(const tbProblem* problem);

typedef tbStatus tbSolveFn(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                           double* lambda, tbSolveResult* result);

// `solve` on the same problem with velocities and W near one. The answer comes back in the problem's own
// units, judged there: *result says what the judge found of it. judge: null, or takes the judge of it.
tbStatus tb_units_solve(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                        tbSolveFn* solve, double* lambda, tbSolveResult* result, tbJudge** judge);

#endif
