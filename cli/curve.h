// SPDX-License-Identifier: Apache-2.0
// Convergence curves: what the judge says of every iterate of a run.
#ifndef TB_CLI_CURVE_H
#define TB_CLI_CURVE_H

#include "tribo/tools/array.h"
#include "tribo/solver.h"

typedef struct {
  int iteration;
  double time_s, residual;
} CurvePoint;

enum { CURVE_POINTS = 300 };

// Appends a point for every iteration; residuals are those the tolerance applies to.
tbStatus curve_run(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, double* lambda,
                   tbSolveResult* result, tbArray* points);

// Keeps at most CURVE_POINTS of the points, and returns how many: the first, the last, and of each piece in
// between the lowest and the highest. Pieces have the same width on a logarithmic axis. What is kept was
// measured; nothing is averaged.
int curve_thin(CurvePoint* points, int count);

#endif
