// SPDX-License-Identifier: Apache-2.0
// The friction sets as solvers see them: a contact's law read through the model that is being solved.
//
// F is one of five kinds of convex set around 0; K = {(n, f) : n ≥ 0, f ∈ nF} is the cone over it.
//
// A friction tensor L = s M, det M = 1, is a ball of radius s for M⁻¹λ_F against u_F. Solvers that take it
// see turned velocities M u_F in place of u_F (tb_friction_turn): with them, projections along M and the
// support function of M⁻¹, its equations read like those of the other sets.
#ifndef TB_SOLVE_FRICTION_H
#define TB_SOLVE_FRICTION_H

#include "tribo/problem.h"

typedef enum tbSetKind {
  TB_SET_NONE,      // no friction set: the law is free, nonneg or box
  TB_SET_BALL,      // ‖f‖ ≤ par[0]
  TB_SET_ELLIPSOID, // Σ (f_i / par[i])² ≤ 1
  TB_SET_BOX,       // par[2i] ≤ f_i ≤ par[2i+1]
  TB_SET_BALLS,     // per group of rows ‖f_g‖ ≤ par[g]; groups of 2, then 1 or 2, then 2 rows
  TB_SET_POLYGON,   // corners at (par[0] cos, par[1] sin)(2πi/corners), or the hull of par[i] (cos,
                    // sin)(2πi/hull)
  TB_SET_TENSOR,    // ‖M⁻¹f‖ ≤ par[0]; M row-major in par[1…4]
} tbSetKind;

typedef struct tbFrictionSet {
  uint8_t kind;    // tbSetKind
  uint8_t dim;     // friction rows
  uint8_t corners; // of a polygon
  uint8_t hull;    // of so many directions; 0: it is not
  bool associated; // CCP: no De Saxcé correction
  double par[TB_MAX_SIDES];
} tbFrictionSet;

void tb_friction_make(const tbProblem* p, int k, tbModel model, int directions, tbFrictionSet* out);
// The same of a law with its rows and parameters, where there is no problem.
void tb_friction_make_from(tbLaw law, int rows, const double* param, int count, tbModel model, int directions,
                           tbFrictionSet* out);

// u_F ← M u_F of a friction tensor; other sets leave u as it is. And the same of the rows of a block D of W.
void tb_friction_turn(const tbFrictionSet* f, double* u);
void tb_friction_turn_rows(const tbFrictionSet* f, int columns, double* D);

// J ← M J M⁻¹, 2×2: the derivative of a projection along M from that of the ball's.
void tb_friction_turn_matrix(const tbFrictionSet* f, double* J);

// The corners of a polygon, counter-clockwise; room for TB_MAX_DIRECTIONS. Returns how many: f->corners.
int tb_friction_corners(const tbFrictionSet* f, double (*corner)[2]);

// λ_i ← z_i clamped to what a law without friction set allows, row by row.
void tb_friction_clamp_rows(const tbProblem* p, int k, const double* z, double* lambda);

// σ_F(d) = max f·d over F; farthest (may be null): an f that attains it.
double tb_friction_support(const tbFrictionSet* f, const double* d, double* farthest);

// x = the closest point of scale·F to z, scale ≥ 0.
void tb_friction_closest(const tbFrictionSet* f, double scale, const double* z, double* x);

// x = P_K(z) for the cone K over F (dim+1 rows); jacobian (may be null): its derivative, row-major.
void tb_friction_project(const tbFrictionSet* f, const double* z, double* x, double* jacobian);

#endif
