// SPDX-License-Identifier: Apache-2.0
// Siconos' solvers on a Tribo problem, for comparison in the same run.
#ifndef TB_BENCH_SICONOS_H
#define TB_BENCH_SICONOS_H

#include "tribo/problem.h"

enum { SICONOS_SOLVERS = 7 };
extern const char* const siconos_names[SICONOS_SOLVERS];

// Best time of one solve in seconds, and what Tribo's judge says of its answer. Each solver runs in a process
// of its own, because it has no time limit and may crash; INFINITY: not done in time, or crashed. Coulomb
// contacts only, all planar or all spatial.
void siconos_solve(const tbProblem* problem, int solver, double tolerance, double seconds, double* time_s,
                   double* residual);

#endif
