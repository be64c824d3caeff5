// SPDX-License-Identifier: Apache-2.0
// A deformable body in projective form (Bouaziz et al. 2014; Ly et al. 2020): energies that are distances,
//
//   W_e(x) = min over p in E_e of  ½ w_e ‖S_e x − p‖²
//
// so that one step of the implicit Euler scheme is solved by turns: with x fixed every p is a projection of
// its own; with all p fixed the velocities are those of a linear system whose matrix is the same in every
// iteration and every step, and the same for x, y and z:
//
//   P v = M v₀ + h f + h Σ w_e S_eᵀ(p_e − S_e x₀),      P = M + h² Σ w_e S_eᵀS_e      n × n, factored once
//
// Elements (elements.h)
//   triangle   the threads F = [w_u w_v]: stretch, each |w| = 1, and shear, w_u ⊥ w_v
//   hinge      quadratic: the vector in which two triangles bend, zero where they lie flat at rest; or
//              dihedral: the angle between them, as far as at rest (hinge.c)
//   tetrahedron   strain, F a rotation, and volume, det F = 1
//   spring     the way between two nodes, as long as at rest
// Damping acts on what elements resist: a second set for each, of shapes as stretched as at the start of the
// step. Mass damping and the drag of the air are on the diagonal; nodes in contact are spared the drag.
//
// Pinned nodes have the velocities they are given; they leave the system as in fem/body.h.
#ifndef TB_PD_BODY_H
#define TB_PD_BODY_H

#include "fem/body.h"
#include "math/cholesky_inverse.h"

enum { TB_PD_EIGHT = 8 };

// Eight triangles, lane by lane: what their threads are made of, and how strongly they resist, times h. Lanes
// without a triangle resist nothing.
typedef struct tbPdTriangles {
  double g[4][TB_PD_EIGHT]; // w_u = g₀ (x₁ − x₀) + g₂ (x₂ − x₀), w_v = g₁ (x₁ − x₀) + g₃ (x₂ − x₀)
  double stretch[TB_PD_EIGHT], shear[TB_PD_EIGHT], limit[TB_PD_EIGHT];
  int node[3][TB_PD_EIGHT];
} tbPdTriangles;

typedef struct tbPdBody {
  const tbFemBody* fem;
  // What P was made for: it is made anew when one of them changes.
  double h;
  uint8_t* pinned; // (nnode)

  int nnode;
  tbCsr P;      // pins taken out                                              kg
  double* full; // the same entries with pins in their places                 (entries of P)
  tbCsr wide;   // P for all three axes, as contact problems want it           (3 nnode)
  double* lump; // the diagonal part of P, that masses and drag make           (nnode)  kg
  tbCholesky* factor;
  tbCholeskyParts parts; // of the factor, for threads
  // The factor of `wide`, for contact problems that a solver answers; null: not asked for, or too large.
  tbCholesky* wide_factor;
  tbSelectedInverse wide_inverse;
  tbArena inverses;               // holds the arrays of wide_inverse
  bool wide_analysed, wide_known; // wide_known: factor and inverse are those of the present values
  double mass;                    // the sum of `lump`                                        kg
  double softness; // β ≤ 1: P⁻¹ ≤ 1 1ᵀ/mass + β (D⁻¹ − 1 1ᵀ/mass), D = `lump`; 1: of cloth, and with pins

  // Elements of the first kind: corners by nodes, and the elements around every node.
  int corners, nelement;
  int first[TB_ASSEMBLY_KINDS], npush; // where each kind's corners begin among those that receive
  int *around_adr, *around;            // corners around a node                        (nnode+1)
  tbPdTriangles* triangles;            // of cloth
  double shortest, longest;            // threads, by the limit of strain; INFINITY: there is none
  double (*hinge)[3][4];               // Σ hinge[i][k] x[k]: heights of the two triangles, and their sum
  double* bent; // of a hinge: that sum's length at rest, by the side it bends to; 0: flat
  tbArena arena;
} tbPdBody;

// Everything but P and its factor, which tb_pd_update makes where they are not those of h and the pins.
tbStatus tb_pd_create(tbContext* ctx, const tbFemBody* fem, tbPdBody** out);
tbStatus tb_pd_update(tbContext* ctx, tbPdBody* body, double h);
void tb_pd_free(tbContext* ctx, tbPdBody* body); // takes null
// The factor of `wide` and entries of its inverse, computed once for all steps with the same h and pins
// (matrix.c).
tbStatus tb_pd_factor_wide(tbContext* ctx, tbPdBody* body);

// mass and softness, from the factor (softness.c).
tbStatus tb_pd_measure_softness(tbContext* ctx, tbPdBody* body);

// The pattern of P, and its values (matrix.c).
tbStatus tb_pd_pattern(tbPdBody* body);

// What elements are projected with, for h (body.c).
void tb_pd_fill_triangles(tbPdBody* body, double h);

tbStatus tb_pd_make_hinges(tbPdBody* body); // (hinge.c)

// One step in the making.
typedef struct tbPdStep {
  const tbPdBody* body;
  const tbVec3 *x, *v;    // at the start                                           (nnode)
  const tbVec3* pin;      // velocities of pinned nodes                             (nnode)
  const tbVec3* force;    // on the nodes                                           (nnode)  N
  tbVec3 gravity;         // m/s²
  tbVec3* base;           // of the right-hand side: what no projection changes     (nnode)
  tbVec3* push;           // what the corners of elements receive: h Sᵀ w p
  tbVec3* at;             // x₀ + h v                                               (nnode)
  double* start;          // what damping compares with: lengths of the start of the step
  double* angle;          // of hinges that are projected, of the start; null: undamped
  const uint8_t* touched; // nodes that the air does not hold; null: none         (nnode)
  double* scratch;        // for solves
} tbPdStep;

// Memory from the arena, and the constant part of the right-hand side.
tbStatus tb_pd_begin(tbContext* ctx, tbArena* arena, const tbPdBody* body, tbPdStep* step);

// The right-hand side with projections of x₀ + h v.
void tb_pd_project(tbThreads* threads, const tbPdStep* step, const tbVec3* v, tbVec3* rhs);

// v = P⁻¹ rhs, and P v.
void tb_pd_solve(tbThreads* threads, const tbPdStep* step, const tbVec3* rhs, tbVec3* v);
void tb_pd_multiply(tbThreads* threads, const tbPdStep* step, const tbVec3* v, tbVec3* out);

#endif
