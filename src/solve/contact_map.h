// SPDX-License-Identifier: Apache-2.0
// A contact's law as an equation  Φ(λ, u) = 0  with a generalised derivative, for Newton methods.
//
//   TB_MAP_AC        Alart and Curnier 1991:  λ_n − (z_n)₊,  λ_F − P_{(z_n)₊F}(z_F)  with  z = λ − ρu, and
//                    factors ρ_n, ρ_F of their own
//   TB_MAP_NATURAL   λ − P_K(λ − ρû)  with De Saxcé's û = u + (σ_F(−u_F), 0…) and one factor ρ
//   TB_MAP_FB        Fischer–Burmeister on the second-order cone,  x + y − (x² + y²)^½  in its Jordan algebra
//   TB_MAP_MIN       minimum map with a slack γ for sliding (course §3.3.1, §3.3.3):
//                    min(ρu_n, λ_n),  u_F + γ λ_F/‖λ_F‖,  min(ργ, μλ_n − ‖λ_F‖);  γ is eliminated
//   TB_MAP_SURFACE   the same with an implicit limit surface η(λ) ≤ 0 and its gradient, and
//   Fischer–Burmeister's
//                    function for γ (course §6.1.5):  min(ρu_n, λ_n),  u_F + γ ∇η,  ψ(ργ, −η)
//
// FB and MIN are written here for balls (Coulomb); contact_map_own.c says what they are for other sets.
// Ellipsoids and polygons without width take AC, associated friction takes NATURAL unless it is FB's on an
// ellipsoid. Laws without a friction set are row by row: free u, complementarity, or bounds.
#ifndef TB_SOLVE_CONTACT_MAP_H
#define TB_SOLVE_CONTACT_MAP_H

#include "solve/friction.h"

typedef enum tbMap { TB_MAP_AC, TB_MAP_NATURAL, TB_MAP_FB, TB_MAP_MIN, TB_MAP_SURFACE } tbMap;

typedef struct tbContactMap {
  const tbProblem* p;
  const tbFrictionSet* f;
  int k, rows;
  tbMap map;
  const double* D; // diagonal block of W: sets ρ
  double size;     // mean of its diagonal; the average of the others where that is 0
  double shift;    // added to the diagonal
} tbContactMap;

// Whether the map has equations of its own for the set; else those of AC, or NATURAL, are in their place.
bool tb_contact_map_owns(tbMap map, const tbFrictionSet* f);

// The equation linearised: phi + A dλ + B du = 0, row-major blocks. A row with B = 0 and A = identity gives
// its dλ at once.
typedef struct tbContactStep {
  double phi[TB_MAX_ROWS], A[TB_MAX_ROWS * TB_MAX_ROWS], B[TB_MAX_ROWS * TB_MAX_ROWS];
} tbContactStep;

// ‖Φ‖², in impulses squared; step (may be null) gets the linearisation. For MIN, SURFACE, and FB on polygons,
// whose equations jump as contacts open or change the corner, it is the ‖Φ‖² of AC.
double tb_contact_map(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step);

#endif
