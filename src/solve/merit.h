// SPDX-License-Identifier: Apache-2.0
// Merit functions θ(λ) of a run, and the rules that end it by them (course §3.2.1, eqs. 150 and 151,
// algorithm 7).
//
//   judge               E of the judge, unscaled
//   iterate             ‖λ‖_∞                                                                          (150)
//   complementarity     |Σ λ_k·û_k|, and the energy u²/W_ii of what a law forbids of velocities alone,
//   without
//                       which λ = 0 would always be perfect                                            (151)
//   minimum-map         ‖λ_n − (λ_n − ρu_n)₊‖ and of friction λ_F − P(λ_F − ρu_F): Alart and Curnier's
//   natural-map         λ − P_K(λ − ρû) with one factor for all rows of a contact
//   fischer-burmeister  x + y − (x² + y²)^½ on the cone of each contact
//
// A rule only ends a run. Whether its answer is good is for the judge to say, as always.
#ifndef TB_SOLVE_MERIT_H
#define TB_SOLVE_MERIT_H

#include "solve/run.h"

// Whether the options ask for a rule.
static inline bool tb_merit_is_asked(const tbSolveOptions* o)
{
  return o->merit_tolerance > 0 || o->merit_change > 0 || o->merit_growth > 0;
}

// θ at λ; u: a workspace, and the velocities where the merit function needs them              (nrow)
double tb_merit(const tbRun* run, const double* lambda, double* u);

typedef enum tbMeritRule { TB_MERIT_GO_ON, TB_MERIT_ENDS, TB_MERIT_DIVERGES } tbMeritRule;

// What the rules say of θ after its last value; ∞: there was none.
tbMeritRule tb_merit_rule(const tbSolveOptions* options, double last, double merit);

#endif
