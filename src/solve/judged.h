// Solving, and keeping the judge who was asked.
#ifndef TB_SOLVE_JUDGED_H
#define TB_SOLVE_JUDGED_H

#include "tribo/solver.h"

// tb_solve, that may be told what w = v − v_free is believed to be (ndof; null: nothing), and also hands out its judge, who remembers what he found for the last λ (problem/judge.h); null
// where it fails.
tbStatus tb_solve_judged(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options,
                         double* lambda, const double* w, tbSolveResult* result, tbJudge** judge);

#endif
