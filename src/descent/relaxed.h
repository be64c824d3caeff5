// SPDX-License-Identifier: Apache-2.0
// A contact problem with its laws relaxed to potentials, so that a step is a minimisation over velocities
// (Macklin et al. 2020, eqs. 2, 27, 32):
//
//   g(v) = ½ (v − v_free)ᵀ A (v − v_free) + Σ ψ_k(u_k),   u = J v + b
//   ∇g   = A (v − v_free) − Jᵀλ(u),   λ_k = −∂ψ_k/∂u_k        ∇²g ≈ A + Jᵀ D J,   D_k = −∂λ_k/∂u_k
//
// A row of a gap measures it at the end of the step: h u_n = gap + h J_n v. So with k → ∞ the minimum is the
// solution of the problem with its laws as they stand, and what the judge says of λ is how far relaxation
// and iterations are from it. Friction's limit is the normal impulse at the same v, held constant in ψ: ∇g =
// 0 is a fixed point, not a minimum, where contacts slip.
//
// Everything here is a pure function of (v, problem, relaxation).
#ifndef TB_DESCENT_RELAXED_H
#define TB_DESCENT_RELAXED_H

#include "base/memory.h"
#include "descent/potential.h"
#include "problem/graph.h"
#include "solve/friction.h"
#include "tribo/solver.h"

typedef struct tbRelaxation {
  double h;                  // s
  double contact_stiffness;  // k_n   N/mᵖ⁻¹
  double friction_stiffness; // k_f   N·s/m
  double joint_stiffness;    // of joints without a compliance of their own   N/m
  double exponent;           // p ≥ 2
  tbRelaxedFriction model;
  bool turning; // D with the term of turning directions (eq. 35); else the scalar of eq. 36
} tbRelaxation;

typedef struct tbRelaxed {
  const tbProblem* problem;
  tbRelaxation how;
  tbFrictionSet* set;    // (ncontact)
  tbIncidence incidence; // column blocks of every metric block
  int* d_adr;            // first value of D_k                           (ncontact+1)
  double* length;        // of a degree of freedom, that makes its speed one in m/s   (ndof)
} tbRelaxed;

// Arrays live in the arena. model: how friction laws are read.
tbStatus tb_relaxed_begin(tbArena* arena, const tbProblem* problem, const tbRelaxation* how, tbModel model,
                          int directions, tbRelaxed* out);

// One contact: λ_k(u_k); D_k, symmetric and positive (rows², may be null); coupling: ∂λ_i/∂λ_n of the
// friction rows, which D leaves out (rows, may be null). frozen ≥ 0: the normal impulse that limits friction;
// negative: its own. Returns ψ_k.
double tb_relaxed_contact(const tbRelaxed* relaxed, int k, const double* u, double frozen, double* lambda,
                          double* D, double* coupling);

// The impulse per velocity of a row: its own compliance's, or the relaxation's where the row has none.
double tb_relaxed_stiffness(const tbRelaxed* relaxed, int k, int row);

// u = J v + b                                                                               (nrow)
void tb_relaxed_velocities(const tbRelaxed* relaxed, tbThreads* threads, const double* v, double* u);

// y = J x, without what rounding b would cost                                              (nrow)
void tb_relaxed_turns(const tbRelaxed* relaxed, tbThreads* threads, const double* x, double* y);

// λ(u) and D(u) of all contacts; D may be null. Returns Σ ψ_k, with friction limited by `frozen` (the normal
// impulses; null: their own).
double tb_relaxed_impulses(const tbRelaxed* relaxed, tbThreads* threads, const double* u,
                           const double* frozen, double* lambda, double* D);

// d = A (v − v_free) − Jᵀλ. work: (ndof).
void tb_relaxed_gradient(const tbRelaxed* relaxed, tbThreads* threads, const double* v, const double* lambda,
                         double* work, double* d);

// ½ (v − v_free)ᵀ A (v − v_free). work: (2 ndof).
double tb_relaxed_inertia(const tbRelaxed* relaxed, tbThreads* threads, const double* v, double* work);

// y = (A + Jᵀ D J) x. work: (nrow + ndof).
void tb_relaxed_multiply(const tbRelaxed* relaxed, tbThreads* threads, const double* D, const double* x,
                         double* work, double* y);

// The largest of speeds, m/s: a turn's times the length √(A_ii/m), so that it is the same in any units. A NaN
// stays.
double tb_relaxed_speed(const tbRelaxed* relaxed, int first, int count, const double* x);

// The nearest impulses that the laws themselves allow: λ_n ≥ 0, λ_F in λ_n F, rows within their bounds.
void tb_relaxed_clip(const tbRelaxed* relaxed, double* lambda);

#endif
