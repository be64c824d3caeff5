// SPDX-License-Identifier: Apache-2.0
// The mixed problem of a contact problem as one symmetric indefinite system, and its preconditioners.
//
// With w = v − v_free and z = −λ on the rows that are solved for, where u = 0,
//
//   ⎡ A  Lᵀ ⎤ ⎡ w ⎤   ⎡ Jᵀλ_held ⎤
//   ⎣ L  −R ⎦ ⎣ z ⎦ = ⎣ −q       ⎦          L: the solved rows of J
//
// The impulses of all other rows are held: zero, a bound, or sliding friction. A vector of the system has
// ndof entries for w and nrow for z, of which those of held rows are zero. W = J A⁻¹ Jᵀ is never formed.
#ifndef TB_SOLVE_CR_SYSTEM_H
#define TB_SOLVE_CR_SYSTEM_H

#include "problem/blocks.h"
#include "problem/product.h"
#include "solve/run.h"
#include "solve/shifted.h"

typedef struct tbCrSystem {
  const tbProblem* p;
  const tbDelassus* W; // its diagonal blocks, made with the diagonal of A; nothing else of it is built
  tbThreads* threads;
  tbPreconditioner kind;
  bool* solved;      // rows that are unknown                                      (nrow)
  tbShifted* schur;  // L A_d⁻¹ Lᵀ + R + G as a whole; null: S_d stands for it
  bool factored;     // for the states that contacts are in now
  bool* held;        // rows that are not solved for, for the factor               (nrow)
  double* give;      // G, by which rows give way                                  (nrow)
  double* S;         // S_d: diagonal of Z L A_d⁻¹ Lᵀ + R                           (nrow)
  double* own;       // the same without Z: what an impulse does to its own row     (nrow)
  double* diagonal;  // A_d⁻¹ where it is diagonal; 1 on the degrees of freedom of other blocks  (ndof)
  double* room;      // (ndof)
  bool* nodal;       // contacts of nodes: blocks of J are multiples of the first     (ncontact)
  double* scale;     // of these blocks                                               (columns)
  double* turned;    // first blocks' transposes times a vector of rows               (nrow)
  tbBlocks blocks;   // to solve with
  tbProduct product; // with A
  bool exact;        // products with B, which may else be of rounded numbers
} tbCrSystem;

// The one in use: MINRES takes none but diag.
static inline tbPreconditioner tb_cr_preconditioner(const tbSolveOptions* o)
{
  return o->krylov == TB_KRYLOV_MINRES ? TB_PRECONDITIONER_DIAG : o->preconditioner;
}

// Memory that S takes as a whole, or a little more.
tbStatus tb_cr_schur_bytes(tbContext* ctx, const tbProblem* p, double* out);

void tb_cr_system_layout(tbCrSystem* s, tbScratch* scratch, const tbDelassus* W);
void tb_cr_system_begin(tbCrSystem* s, tbRun* run);
void tb_cr_system_follow(tbCrSystem* s); // `solved` has changed

void tb_cr_multiply_metric(const tbCrSystem* s, const double* w, double* Aw); // (ndof) both
// w = A⁻¹Jᵀλ by the factor; without one, about that, from `start` (null: from zero).
void tb_cr_approach(const tbCrSystem* s, const double* lambda, const double* start, double* w);
void tb_cr_gather(const tbCrSystem* s, const double* x, double* f); // f += Jᵀx: (nrow) to (ndof)
void tb_cr_weighted_product(const tbCrSystem* s, const double* weight, const double* r,
                            double* x);                             // x = J (weight ∘ r)
void tb_cr_spread(const tbCrSystem* s, const double* w, double* x); // x = Jw: (ndof) to (nrow)

void tb_cr_apply(const tbCrSystem* s, const double* x, double* Bx); // Bx = B x
// y = C⁻¹ x; not in place.
void tb_cr_precondition(const tbCrSystem* s, const double* x, double* y);

#endif
