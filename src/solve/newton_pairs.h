// SPDX-License-Identifier: Apache-2.0
// The contacts of one pair of bodies solved together, while all others stay as they are.
//
// Where faces touch, a pair has several points, and if they lie close to each other their impulses are all
// but redundant: to open one of them, or to let it slip, by 1e-4 m/s may take a shift of impulses among them
// as large as their load. Newton's method on the whole needs many proximal points until each of these pairs
// has found its states. By itself a pair is a problem of a dozen rows, which a dense Newton solves in
// microseconds; what that does to the neighbours the next proximal points of the whole put right.
#ifndef TB_SOLVE_NEWTON_PAIRS_H
#define TB_SOLVE_NEWTON_PAIRS_H

#include "solve/newton_core.h"

// The metric blocks of a contact's first and last columns; false where it touches none or others as well.
bool tb_contact_bodies(const tbProblem* p, int k, int bodies[2]);

// Groups the contacts of the plan by pairs of bodies, where there are small dense blocks alone.
tbStatus tb_newton_pairs_find(tbNewtonPlan* plan, const tbProblem* p);

// Visits the pairs of island i one after the other, each with the velocities that the pairs before it have
// left, and solves those that miss the tolerances. λ moves, u does not; true where any pair has.
bool tb_newton_pairs_visit(tbNewton* n, int i);

#endif
