// Cases that every iterative method must stand: one contact by hand, manufactured problems by the hundred,
// and the unpleasant ones.
#ifndef TB_TEST_SOLVE_CASES_H
#define TB_TEST_SOLVE_CASES_H

#include "test.h"
#include "tribo/solver.h"

// A particle of 2 kg on a plane with μ = 0.5, or the associated law: open, sticking and sliding, against the
// answer by hand.
void cases_one_contact(const tbSolveOptions* options);

// `count` manufactured problems of many kinds with μ ≤ 0.8, solved to 1e-8: how many. Checks that the status
// says what the judge says.
int cases_manufactured(const tbSolveOptions* options, int count);

// A box on four contacts, each of them ten times; mass ratios to 1e8; μ = 0 and μ = 5; a body squeezed
// between two planes, which has no solution: λ stays finite, and the penetration tells (E / max(‖q‖, ‖λ‖,
// ‖u‖) need not: it vanishes as λ grows). `solved` (4): which of the first four were solved to 1e-8.
void cases_hard(const tbSolveOptions* options, bool solved[4]);

// n particles of 1 kg on top of each other, each held by a contact of three rows: the bottom one feels the
// top one through n − 1 others.
tbProblem* cases_tower(tbContext* ctx, int n);

// Solves from zero; the outcome with the velocity in u (nrow).
tbSolveResult cases_solve(const tbProblem* p, const tbSolveOptions* options, double* u);

#endif
