// SPDX-License-Identifier: Apache-2.0
// The squared distance of two features with its derivatives, whatever parts of them are closest.
//
// Corners come as in collide/features.h: p f0 f1 f2, or the edges b0 b1 a0 a1. With the closest points'
// difference Σ c_i(β) x_i, affine in the parameters β that are free (none between two vertices, one between a
// vertex and an edge, two inside of a face or of two edges), s(x) = min over β of f = |Σ c_i(β) x_i|² and
//
//   ∇s = 2 c_i d        ∇²s = f_xx − f_xβ f_ββ⁻¹ f_βx
//
// one formula for all types of closest features.
#ifndef TB_BARRIER_DISTANCE_H
#define TB_BARRIER_DISTANCE_H

#include "barrier/barrier.h"

typedef struct tbDistance {
  double square;
  tbVec3 way;      // Σ c x: from the closest point of the face, or of the edge a, to that of the other
  double c[4];     // of the corners
  int nfree;       // parameters
  double dc[2][4]; // of c, by each of them
} tbDistance;

tbDistance tb_distance_of(bool face, const tbVec3 x[4]);

// The Hessian of an energy W(s), given W' and W'' at s, made positive: 12 × 12, by corners. It has rank five
// at most, along c⊗n, c⊗t, c⊗b and the two dc⊗n, and is projected there.
void tb_distance_hessian(const tbDistance* distance, const tbVec3 x[4], double first, double second,
                         double H[144]);

// The same as it is, not projected.
void tb_distance_hessian_exact(const tbDistance* distance, const tbVec3 x[4], double first, double second,
                               double H[144]);

// Edges that are almost parallel have a distance with a kink. Its energy is multiplied by e(x), which grows
// from 0 for parallel edges to 1 where |u × v|² reaches `full` (Li et al. 2020, equation 24).
typedef struct tbMollifier {
  double value;
  tbVec3 gradient[4];
  double hessian[144];
} tbMollifier;

// Whether e(x) < 1; only then the rest is written.
bool tb_mollifier(const tbVec3 x[4], double full, bool derivatives, tbMollifier* out);

// An energy of two features: its value, its gradient by corners, and its Hessian (null: not wanted), as it is
// or made positive. `push` is how hard it drives the closest points apart, in units of energy per length.
typedef struct tbPairEnergy {
  double value, push;
  tbVec3 gradient[4];
} tbPairEnergy;

// The barrier of stiffness 1 at the distance of two features. mollify: the `full` of two edges; 0: none.
tbPairEnergy tb_pair_barrier(tbBarrierKind kind, bool face, const tbVec3 x[4], const tbDistance* distance,
                             double dhat, double mollify, bool positive, double H[144]);

#endif
