// SPDX-License-Identifier: Apache-2.0
// Cases that every method must stand: one contact by hand, manufactured problems by the hundred, and the
// unpleasant ones. Problems come back null after a failed check.
#ifndef TB_TEST_SOLVE_CASES_H
#define TB_TEST_SOLVE_CASES_H

#include "test.h"
#include "tribo/solver.h"

tbSolveOptions cases_options(const char* solver, tbModel model, int max_iterations);

// Solves from λ, or from zero where it is null; the outcome, with the velocity in u (nrow, or null). Checks
// that λ is finite, that the residual is what the judge says of λ, and that the outcome follows from it.
tbSolveResult cases_solve_from(const tbProblem* p, const tbSolveOptions* options, double* lambda, double* u);
tbSolveResult cases_solve(const tbProblem* p, const tbSolveOptions* options, double* u);

// ---- manufactured ----

typedef struct {
  tbContext ctx;
  tbProblem* p;
  double *exact, *lambda; // the answer it was made from, and zeros                          (nrow)
} Case;

bool cases_make(Case* c, const tbManufacture* spec); // false after a failed check
void cases_drop(Case* c);

typedef tbManufacture CasesSpec(int seed);
tbManufacture cases_mild(int seed); // every metric, both dimensions, a body for every contact, μ ≤ 0.8
tbManufacture cases_mild_laws(int seed); // the same; every other one with all laws
tbManufacture cases_metrics(int seed);   // mild; rigid bodies, particles and sparse blocks in turn
tbManufacture cases_harsh(int seed);     // few bodies, repeated contacts, μ to 5, mass ratios to 1e8
tbManufacture cases_harsh_laws(int seed);

// How many of seeds 0 … count−1, or of the first fifth of them where a test is to be quick, are not solved to
// 1e-8; said on standard output.
int cases_failed(const tbSolveOptions* options, CasesSpec* spec, int count);

// Bounds, joints and every smooth law: all but one of the problems that the method does not refuse are
// solved.
void cases_take_every_law(const tbSolveOptions* options);

// ---- by hand ----

// A particle of 2 kg on a plane with μ = 0.5: open, sticking and sliding, against the answer by hand.
void cases_one_contact(const tbSolveOptions* options);

// n particles of 1 kg on top of each other, each held by a contact of three rows: the bottom one feels the
// top one through n − 1 others.
tbProblem* cases_tower(tbContext* ctx, int n);

// A unit cube of 1 kg, falling, pushed sideways and turning, on its four corners; `copies` contacts at each.
// The i-th normal leans by i·tilt.
tbProblem* cases_box(tbContext* ctx, int copies, double mu, double tilt);

// A soft block of nodes³ nodes, M + h²K with M the identity and springs of the given stiffness along the
// lattice's edges, that falls and slides on the ground: a contact with μ = 0.5 at every node of the lowest
// layer.
tbProblem* cases_lattice(tbContext* ctx, int nodes, double stiffness);

// A method's velocities against blocked Gauss–Seidel's, on blocks of three stiffnesses.
void cases_agree_on_soft_blocks(const tbSolveOptions* options, const double stiffness[3]);

// A particle between two planes that close on it: nothing satisfies both. λ → ∞ makes E/max(‖q‖, ‖λ‖, ‖u‖)
// vanish, so the penetration tells.
tbProblem* cases_squeezed(tbContext* ctx);

// Painlevé's rod: a slender rod of mass 1 and half length 1 that slides on its lower end at 1 m/s, with
// tan θ = 2, so that W_nn − μ W_nt < 0 for μ > 4/3, and μ = 2. The more a sliding tip presses, the deeper it
// digs in. The end approaches the ground at `approach` m/s (negative: it leaves):
//
//   approach > 0   no sliding solution, the "impact without collision": the tip stops at once
//   approach < 0   three solutions: lifting off, sliding on, and stopping
//
// In 3-D the same rod with a little inertia about its axis. The closed-form answers go to `answer`; returns
// how many there are.
enum { CASES_ROD_ANSWERS = 4 };
int cases_rod(tbContext* ctx, int dimension, double approach, tbProblem** out,
              double answer[CASES_ROD_ANSWERS][3]);

// Whether a solver converges on so large a share of the problems of 60 seeds; fails the test where it does
// not, or where `all` are to be taken and one is refused.
void cases_converge(const tbSolver* solver, tbManufacture (*spec)(int seed), bool all, double share);
// Nine tenths of them by every solver that claims a law; returns how many do.
int cases_claim(tbLaw law, tbManufacture (*spec)(int seed), bool all);

#endif
