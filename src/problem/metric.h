// One block of A: checking, factoring, solving.
#ifndef TB_PROBLEM_METRIC_H
#define TB_PROBLEM_METRIC_H

#include "base/memory.h"
#include "tribo/problem.h"

// Checks block number `index` and computes its factor (into the arena, or block->factor for sparse ones).
tbStatus tb_metric_prepare(tbContext* ctx, tbArena* arena, int index, tbMetricBlock* block);
void tb_metric_release(tbContext* ctx, tbMetricBlock* block);

// x ← A⁻¹ x. workspace: tb_metric_workspace(block) doubles.
size_t tb_metric_workspace(const tbMetricBlock* block);
void tb_metric_solve(const tbMetricBlock* block, double* x, double* workspace);

// y += A x
void tb_metric_multiply_add(const tbMetricBlock* block, const double* x, double* y);

#endif
