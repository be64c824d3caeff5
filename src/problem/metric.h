// SPDX-License-Identifier: Apache-2.0
// One block of A: checking, factoring, solving.
#ifndef TB_PROBLEM_METRIC_H
#define TB_PROBLEM_METRIC_H

#include "base/memory.h"
#include "math/cholesky.h"
#include "math/packed.h"
#include "tribo/problem.h"

// Checks block number `index` and computes its factor (into the arena, or block->factor for sparse ones).
tbStatus tb_metric_take_dense(tbArena* arena, tbMetricBlock* block); // room for chol and ainv
tbStatus tb_metric_prepare(tbContext* ctx, tbArena* arena, int index, tbMetricBlock* block);
// The same for new values of a block that has been prepared: what it carries is computed again, in place.
tbStatus tb_metric_renew(tbContext* ctx, int index, tbMetricBlock* block);
size_t tb_metric_values(const tbMetricBlock* block); // how many numbers tbMetricBlock.value holds
void tb_metric_release(tbContext* ctx, tbMetricBlock* block);
void tb_metric_measure(tbMetricBlock* block); // finds its unit
tbStatus tb_metric_pack(tbArena* arena, tbThreads* threads,
                        tbMetricBlock* block); // makes its half, if of unit 3

// Makes the entries of A⁻¹ that contacts of so many rows on the block ask for, where that takes less than
// half a solve for each. (metric_worth.c)
tbStatus tb_metric_invert(tbContext* ctx, tbArena* arena, int rows, tbMetricBlock* block);

// x ← A⁻¹ x. workspace: tb_metric_workspace(block) doubles. Threads, which may be null, help where there is
// no factor.
size_t tb_metric_workspace(const tbMetricBlock* block);
void tb_metric_solve(const tbMetricBlock* block, tbThreads* threads, double* x, double* workspace);
// The same for each of `rows` right-hand sides, one after the other in x, to the same bits: particles and
// dense blocks.
void tb_metric_solve_rows(const tbMetricBlock* block, int rows, double* x);
// The same, unless it is interrupted: then x is of no use.
void tb_metric_solve_unless(tbInterrupt interrupt, const tbMetricBlock* block, tbThreads* threads, double* x,
                            double* workspace);

// y += A x, entry by entry: the judge's own.
void tb_metric_multiply_add(const tbMetricBlock* block, const double* x, double* y);

// ---- sparse blocks alone ----

// Whether the factor of a matrix so analysed pays within a time step, in which it is computed anew: against a
// dozen solves by conjugate gradients, which is what the free motion and the judge of a few problems come to.
// The same answer on every machine.
bool tb_metric_should_factor(const tbCholeskyStats* stats);
// Whether a body of 3 degrees of freedom per node is certain not to be worth it, from the pattern of its
// nodes alone. (metric_worth.c)
tbStatus tb_metric_is_too_large(tbContext* ctx, int nodes, const int* ptr, const int* col, bool* out);

// Rows begin … end−1 of y = A x; both bounds are multiples of the block's unit. (metric_rows.c)
void tb_metric_rows(const tbMetricBlock* block, int begin, int end, const double* x, double* y);
enum { TB_METRIC_PIECE = 768 }; // rows of a piece of parallel work: a multiple of every unit

// x ← A⁻¹ x by conjugate gradients, until what is left is `tolerance` of x. (metric_cg.c)
// C: the inverse of the diagonal blocks, xx yy zz xy xz yz each; with two entries for every row.
void tb_metric_invert_diagonal(const tbMetricBlock* block, tbThreads* threads, double* inverse);
#define TB_METRIC_EXACT 1e-13
size_t tb_metric_cg_workspace(const tbMetricBlock* block); // doubles
// Where it is interrupted, x is of no use.
void tb_metric_cg_unless(tbInterrupt interrupt, const tbMetricBlock* block, tbThreads* threads,
                         double tolerance, double* x, double* workspace);
// The same for the right-hand side b, from a start x.
void tb_metric_cg_from(tbInterrupt interrupt, const tbMetricBlock* block, tbThreads* threads,
                       double tolerance, const double* b, double* x, double* workspace);

#endif
