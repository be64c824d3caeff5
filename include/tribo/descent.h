// SPDX-License-Identifier: Apache-2.0
// Options of the schemes that relax contact to potentials: primal, xpbd, vbd and avbd.
#ifndef TRIBO_DESCENT_H
#define TRIBO_DESCENT_H

#include "tribo/base.h"

TB_API_BEGIN

// How friction passes from sticking to slipping. All three begin with the slope k_f and end at the limit.
typedef enum tbRelaxedFriction {
  TB_RELAX_STICK_SLIP,   // k_f s, cut off at the limit: continuous
  TB_RELAX_QUINTIC,      // limit (15 t − 10 t³ + 3 t⁵)/8, t = s/s₀: twice differentiable
  TB_RELAX_PSEUDO_HUBER, // limit s/√(s² + ε²): smooth
  TB_RELAX_COUNT
} tbRelaxedFriction;

// What the gradient of the step is multiplied with.
typedef enum tbDescentPreconditioner {
  TB_DESCENT_DIAGONAL, // the inverse of the Hessian's diagonal
  TB_DESCENT_BLOCK,    // of its blocks: 6×6 of a rigid body, 3×3 of a node
  TB_DESCENT_NEWTON,   // of all of it, by a sparse factor
  TB_DESCENT_PRECONDITIONERS
} tbDescentPreconditioner;

typedef enum tbAcceleration {
  TB_ACCELERATE_NONE,
  TB_ACCELERATE_CHEBYSHEV,
  TB_ACCELERATE_NESTEROV,
  TB_ACCELERATE_CG, // nonlinear conjugate gradients, with a line search
  TB_ACCELERATE_COUNT
} tbAcceleration;

// Where a dual scheme evaluates its rows.
typedef enum tbDualUpdate {
  TB_DUAL_LINEAR,      // at the start of the step
  TB_DUAL_INCREMENTAL, // at every iterate, whose velocities go on from the last: fast projection
  TB_DUAL_RESTART,     // at every iterate, whose velocities are those of all impulses from the start
  TB_DUAL_COUNT
} tbDualUpdate;

const char* tb_relaxed_friction_name(tbRelaxedFriction model); // "stick-slip", …; null past the last
const char* tb_descent_preconditioner_name(tbDescentPreconditioner preconditioner);
const char* tb_acceleration_name(tbAcceleration acceleration);
const char* tb_dual_update_name(tbDualUpdate update);

typedef struct tbDescentOptions {
  tbDescentPreconditioner preconditioner; // primal
  double relaxation;           // primal: step length α; 0: by a line search; xpbd with jacobi: α; 0: 1
  tbAcceleration acceleration; // primal
  double
      contact_stiffness; // k_n, N/mᵖ⁻¹; 0: chosen from the masses and dt; of xpbd: none, contacts are rigid
  double friction_stiffness; // k_f, N·s/m; 0: dt times k_n; of xpbd: none
  double joint_stiffness;    // of joints without compliance, N/m; 0: as k_n
  double contact_exponent;   // p ≥ 2 of the contact potential
  tbRelaxedFriction friction_model;
  bool turning;  // friction's Hessian with the term of turning directions
  bool balanced; // primal, vbd: the last iterate is made to balance: impulses are those that move bodies
  bool jacobi;   // xpbd: all constraints at once, in steps of α; else one after the other
  bool mass_splitting; // xpbd: all at once, masses split among them
  tbDualUpdate update; // xpbd
} tbDescentOptions;

TB_API_END
#endif
