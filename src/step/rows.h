// SPDX-License-Identifier: Apache-2.0
// What a contact says to the problem: its frame, its law, its bias, and where its impulse starts from.
#ifndef TB_STEP_ROWS_H
#define TB_STEP_ROWS_H

#include "step/find.h"

// Frame, surface, law and rows of one touch.
void tb_constraint_law(const tbWorld* world, tbContactConstraint* constraint);

// Law, rows and parameters from the contact material alone.
void tb_constraint_choose_law(tbContactConstraint* constraint);

// Friction without torsion and rolling, for surfaces that cannot turn.
void tb_constraint_drop_turning(tbContactConstraint* constraint);

// The same of every touch, and its warm start from the world's last step.
void tb_constraint_laws(const tbWorld* world, const tbStepOptions* options, tbContactConstraint* constraints,
                        int count);

// Where the contact gives way, by a spring of its materials or of the step: the compliance of its normal row,
// and *target, the velocity it asks for where the gap is less than 0. False: it is rigid.
bool tb_constraint_spring(const tbStepOptions* options, tbContactConstraint* constraint, double gap,
                          double* target);

// Bias and compliance of every touch for a scheme that ends a step at the surface: u_n ≥ −φ/h while apart,
// pushed out as the stabilisation says while overlapping.
void tb_constraint_biases(const tbWorld* world, const tbStepOptions* options,
                          tbContactConstraint* constraints, int count);

// The velocity of B relative to A at the touch, in its frame's first three rows, for centres of mass at xa
// and xb and their velocities.
tbVec3 tb_constraint_velocity(const tbContactConstraint* constraint, tbVec3 xa, tbVec3 va, tbVec3 wa,
                              tbVec3 xb, tbVec3 vb, tbVec3 wb);

// Restitution of the tangential velocity u of an impact (course, eq. 219b): u⁺ = −ε u⁻, as far as friction
// can.
void tb_constraint_bounce_tangents(tbContactConstraint* constraint, tbVec3 u);

// A force held between two moments: compliance and damping of a row as the problem states them.
//   u + bias + R λ = 0   ⇔   λ = −h (k e⁺ + b u),  e⁺ = e + h u
typedef struct tbSoftRow {
  double bias, compliance;
} tbSoftRow;
tbSoftRow tb_soft_row(double h, double stiffness, double damping, double error);

#endif
