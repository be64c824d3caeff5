// SPDX-License-Identifier: Apache-2.0
// Solving with a block of A, as the judge does: by the factor that solvers use, verified by products with A
// that are its own.
#ifndef TB_PROBLEM_JUDGE_SOLVE_H
#define TB_PROBLEM_JUDGE_SOLVE_H

#include "tribo/problem.h"

// w = A⁻¹ f, refined until no more than rounding is left, or what is left no longer shrinks; where there is
// no factor, by conjugate gradients from w on, which look at f − A w themselves. r: room for as many as w;
// room: as tb_metric_workspace says. False: more is left than `accuracy` allows, or something is not finite.
bool tb_judge_solve(const tbMetricBlock* block, tbThreads* threads, tbInterrupt interrupt, double accuracy,
                    const double* f, double* w, double* r, double* room);

#endif
