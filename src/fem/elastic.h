// SPDX-License-Identifier: Apache-2.0
// Elastic models of solids, and the linear tetrahedron made of them.
#ifndef TB_FEM_ELASTIC_H
#define TB_FEM_ELASTIC_H

#include "base/status.h"
#include "tribo/fem.h"

typedef struct tbElastic {
  tbElasticModel model;
  double mu, lambda; // Lamé's constants   Pa
} tbElastic;

// From Young's modulus > 0 and Poisson's ratio in (−1, ½).
tbStatus tb_elastic_create(tbContext* ctx, tbElasticModel model, double young, double poisson,
                           tbElastic* out);

// Principal stretches below this continue the stress linearly: 70 % of the volume when one direction alone is
// compressed.
#define TB_ELASTIC_KNOT 0.7

// What a model says at a deformation gradient F. In the frame of U and V the derivative of the stress is
//
//   dP̂_aa = Σ_b diag[a][b] dF̂_bb      dP̂_ab ± dP̂_ba = (sym, skew)[c] (dF̂_ab ± dF̂_ba),   c the third index
//
// so that its eigenvalues are those of diag, sym and skew.
typedef struct tbStress {
  double energy; // per volume   J/m³
  tbMat3 P;      // ∂Ψ/∂F, the first Piola–Kirchhoff stress   Pa
  tbMat3 U, V;   // F = U diag(s) Vᵀ; the identity for the linear model
  double diag[3][3], sym[3], skew[3];
} tbStress;

typedef enum tbTangent { TB_TANGENT_NONE, TB_TANGENT_EXACT, TB_TANGENT_POSITIVE } tbTangent;

double tb_elastic_energy(const tbElastic* material, tbMat3 F); // per volume
// POSITIVE replaces negative eigenvalues by zero; NONE leaves diag, sym and skew unset.
void tb_elastic_stress(const tbElastic* material, tbMat3 F, tbTangent tangent, tbStress* out);

// The same for many at once, up to TB_ELASTIC_MANY, and faster; equal to rounding, not to the bit.
enum { TB_ELASTIC_MANY = 16 };
void tb_elastic_energy_many(const tbElastic* material, int count, const tbMat3* F, double* energy);
void tb_elastic_stress_many(const tbElastic* material, int count, const tbMat3* F, tbTangent tangent,
                            tbStress* out);

// The tetrahedron at rest: positive when its corners 1, 2, 3 run counter-clockwise seen from corner 0's far
// side, (x₁−x₀)×(x₂−x₀)·(x₃−x₀) > 0.
typedef struct tbTetRest {
  double volume;
  tbVec3 g[3]; // gradients of the shape functions of corners 1, 2, 3; corner 0's is minus their sum   1/m
} tbTetRest;

tbTetRest tb_tet_rest(const tbVec3 X[4]);
tbMat3 tb_tet_gradient(const tbTetRest* rest, const tbVec3 x[4]); // F = ∂x/∂X

// Blocks of an element's symmetric stiffness by corners (a, b), a ≤ b, each 3×3 row-major: (0,0) (0,1) (0,2)
// (0,3) (1,1) (1,2) (1,3) (2,2) (2,3) (3,3); triangles drop corner 3 and keep the order.
enum { TB_TET_BLOCKS = 10 };
// Blocks of corner 0 from those of 1, 2, 3, for an energy that translations do not change: minus their sums.
void tb_tet_complete(double K[TB_TET_BLOCKS][9]);

double tb_tet_energy(const tbElastic* material, const tbTetRest* rest, const tbVec3 x[4]); // J
// Elastic forces on the corners, f = −∂E/∂x, and K = ∂²E/∂x²; returns E. K is untouched for NONE.
double tb_tet_evaluate(const tbElastic* material, const tbTetRest* rest, const tbVec3 x[4], tbTangent tangent,
                       double f[12], double K[TB_TET_BLOCKS][9]);

// Up to TB_ELASTIC_MANY elements at once: x by corners, 12 forces and TB_TET_BLOCKS blocks for each. Without
// f, the energies alone.
void tb_tets_evaluate(const tbElastic* material, int count, const tbTetRest* rest, const tbVec3 (*x)[4],
                      tbTangent tangent, double* energy, double* f, double (*K)[9]);

#endif
