// SPDX-License-Identifier: Apache-2.0
// The two elements of cloth: a triangle that resists stretch and shear, a hinge that resists bending.
#ifndef TB_FEM_SHEET_H
#define TB_FEM_SHEET_H

#include "fem/elastic.h"

enum { TB_MEMBRANE_BLOCKS = 6 };

typedef struct tbMembraneRest {
  double area;
  double g[2][2]; // gradients of the shape functions of corners 1 and 2 along warp and weft   1/m
} tbMembraneRest;

// `warp` is the direction of the threads, projected into the triangle; where they are nearly perpendicular,
// the longest edge takes its place.
tbMembraneRest tb_membrane_rest(const tbVec3 X[3], tbVec3 warp);

typedef struct tbMembraneStiffness {
  double stretch, shear;
  double strain_limit, limit; // beyond the one, threads resist with the other, too; 0: there is none
} tbMembraneStiffness;

tbMembraneStiffness tb_membrane_stiffness(const tbClothDef* cloth);

// As tb_tet_evaluate: returns the energy, fills f = −∂E/∂x, and K as blocks (0,0) (0,1) (0,2) (1,1) (1,2)
// (2,2) unless the tangent is NONE.
double tb_membrane_evaluate(const tbMembraneStiffness* stiffness, const tbMembraneRest* rest,
                            const tbVec3 x[3], tbTangent tangent, double f[9],
                            double K[TB_MEMBRANE_BLOCKS][9]);

typedef struct tbHingeRest {
  double weight; // |e|²/(A + B): edge and areas at rest
  double angle;  // at rest   rad
  double least;  // squared norms below this, of normals, count as this   m⁴
} tbHingeRest;

// Corners: the ends of the edge, then the corner opposite to it in the triangle (0 1 2) and in (1 0 3).
tbHingeRest tb_hinge_rest(const tbVec3 X[4]);
double tb_hinge_angle(const tbVec3 x[4]); // between the normals, in (−π, π]

// E = ½ bend · weight · (θ − θ̄)², bend in N·m. POSITIVE is the part of K that is always positive, from ∇θ
// ∇θᵀ.
double tb_hinge_evaluate(double bend, const tbHingeRest* rest, const tbVec3 x[4], tbTangent tangent,
                         double f[12], double K[TB_TET_BLOCKS][9]);

#endif
