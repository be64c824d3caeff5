// SPDX-License-Identifier: Apache-2.0
// A solid of few degrees of freedom: displacements are combinations of r fields that are chosen once.
//
//   u = U q        Uᵀ M U = 1        Uᵀ K U = diag(ω²), K the stiffness at rest
//
// Fields of a body that nothing holds contain no rigid motion: Σ m u = 0 and Σ m x × u = 0. Its frame moves
// with it, and its origin is the centre of mass whatever q is. Nodes that are pinned stand still in the
// frame.
//
//   linear        the r lowest modes of vibration (lanczos.h)
//   derivatives   half as many, and the derivatives of modes along modes (Barbič and James 2005) that belong
//                 to the lowest of them: where bending leads when it is no longer small
#ifndef TB_MODAL_BASIS_H
#define TB_MODAL_BASIS_H

#include "fem/body.h"
#include "modal/cubature.h"
#include "modal/polynomial.h"
#include "tribo/scene.h"

enum { TB_MODES_MAX = 1000 };

// What kinetic energy and momentum have of the fields, about the frame's origin, in its axes. With p = x + Uq
// the place of a node, Σ m p pᵀ = S₀ + Σ_k q_k (S₁k + S₁kᵀ) + Σ_kl q_k q_l S₂kl, and Σ m p × u_l likewise.
typedef struct tbModalMoments {
  double mass;
  tbMat3 rest;       // S₀: Σ m x xᵀ
  tbVec3 first;      // Σ m x: 0 where nothing is pinned
  tbVec3* shift;     // of a field: Σ m u_k: 0 where nothing is pinned                             (r)
  tbMat3* linear;    // S₁: Σ m x u_kᵀ                                                             (r)
  tbMat3* quadratic; // S₂: Σ m u_k u_lᵀ                                                           (r · r)
} tbModalMoments;

typedef struct tbModalBasis {
  int users; // bodies that have it: the last of them frees it
  int nnode, nmode;
  bool pinned;    // nodes are held in the frame
  double* field;  // U by nodes: component a of field k at node i is field[(3 i + a) nmode + k]
  double* omega2; // ω²                                                                        (nmode)  1/s²
  tbModalMoments moments;
  // Elastic energy of St. Venant–Kirchhoff: one of these, whichever costs less; none: ½ Σ ω² q².
  tbPolynomial* polynomial;
  tbCubature* cubature;
  tbArena arena;
} tbModalBasis;

// Of a body at rest about its frame's origin: fem->rest. fem->pinned says what is held. More fields than
// there are degrees of freedom are TB_ERROR_ARGUMENT.
tbStatus tb_modal_basis_create(tbContext* ctx, tbFemBody* fem, int modes, bool derivatives, bool stvk,
                               tbModalBasis** out);
void tb_modal_basis_free(tbContext* ctx, tbModalBasis* basis);          // takes null; of one that has it
bool tb_modal_basis_same(const tbModalBasis* a, const tbModalBasis* b); // to the bit

// Memory for the arrays; what follows from the fields, where these are known already.
tbStatus tb_modal_basis_make(tbContext* ctx, const tbFemBody* fem, int modes, tbModalBasis** out);
tbStatus tb_modal_basis_finish(tbContext* ctx, const tbFemBody* fem, bool stvk, tbModalBasis* basis);

static inline bool tb_modal_is_stvk(const tbModalBasis* b) { return b->polynomial || b->cubature; }
// The elastic energy; the forces −∂E (r), unless null; ∂²E (r · r), unless null or diag(ω²). work:
// tb_modal_energy_work doubles.
double tb_modal_energy(const tbModalBasis* basis, const double* q, double* force, double* stiffness,
                       double* work);
size_t tb_modal_energy_work(const tbModalBasis* basis);

// Σ_k field_k(node) q_k
tbVec3 tb_modal_at(const tbModalBasis* basis, int node, const double* q);

#endif
