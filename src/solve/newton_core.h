// SPDX-License-Identifier: Apache-2.0
// What the nonsmooth Newton methods share: equations, linear systems, step lengths.
//
// Unknowns are the impulses λ; u = Wλ + q. Every contact has its equation Φ_k(λ_k, u_k) = 0 (contact_map.h),
// and a Newton step solves
//
//   (A + B(W + αT)) d = −Φ        A, B: derivatives of Φ, one block per contact
//
// where T = diag of the mean of W's diagonal, contact by contact, and α ≥ 0 is a regularisation of the
// caller's. Rows that give their d at once (open contacts) are taken out; the rest is solved in one of three
// ways, chosen by their cost:
//
//   velocity space   d is eliminated contact by contact, S = A + B(R + αT), which leaves a matrix over the
//                    graph of bodies, the metric and Σ Jᵀ S⁻¹ B J (velocity.h); for prox-newton, as it needs
//                    α > 0: without it a contact that sticks has no S⁻¹
//   contact space    sparse LU of the matrix above, on the blocks of W
//   GMRES            with the diagonal blocks as preconditioner, where either factor would be too large; on
//                    the blocks of W where there are some, else by products through J and the metric
//
// Islands of contacts do not see each other: each has its own α, step length and history, and one that is
// solved is left in peace.
#ifndef TB_SOLVE_NEWTON_CORE_H
#define TB_SOLVE_NEWTON_CORE_H

#include "math/gmres.h"
#include "math/lu_sparse.h"
#include "solve/contact_map.h"
#include "solve/methods.h"
#include "solve/run.h"
#include "solve/velocity.h"

enum { TB_NEWTON_HISTORY = 8 };

typedef struct tbNewtonIsland {
  tbMap map;                         // its equations
  double alpha;                      // regularisation, in multiples of T
  double merit;                      // Σ T_k ‖Φ_k‖² at λ
  double length;                     // of the last step, in multiples of d; 0: none was accepted
  double history[TB_NEWTON_HISTORY]; // of merits, for the nonmonotone search
  int seen;                          // merits in the history
  bool resting;                      // solved for now

  // of the proximal method
  int steps, short_steps; // since the anchor or α changed
  double first_merit;     // to be improved on
  double floor;           // of α
  double best;            // least residual of an anchor, squared
  double next_alpha;      // when an attempt without regularisation fails; 0: none is made
  int failures;
  int moves;    // of the anchor
  bool visited; // pairs, at its last move
  int off;      // contacts that missed the tolerances when they last were
} tbNewtonIsland;

// What tb_newton_prepare hangs on the run.
typedef struct tbNewtonPlan {
  tbArena memory;
  tbVelocity* velocity; // null: contact space
  tbLu* lu;             // of contact space; null: too large, or velocity space
  int islands;
  int* island_ptr; // contacts of island i: contact[island_ptr[i]] …   (islands+1)
  int* contact;    // (ncontact)
  int* of;         // the island of a contact                          (ncontact)
  double* basis;   // of GMRES, where there is no factor

  // contacts by pairs of bodies (newton_pairs.h); none: null
  int pairs;
  int* pair_ptr;    // contacts of pair i: contact[pair_ptr[i]] …       (pairs+1)
  int* island_pair; // first pair of an island                          (islands+1)
} tbNewtonPlan;

typedef struct tbNewton {
  tbRun* run;
  const tbNewtonPlan* plan;
  double* lambda;
  const double* anchor;    // null, or the point that λ is pulled to: equations see u + αT(λ − anchor)
  tbFrictionSet* friction; // (ncontact)
  tbNewtonIsland* island;  // (islands)
  double* size;            // T: mean of the diagonal of W's block            (ncontact)
  const double* response;  // w_k, as the judge has it                           (ncontact)
  double* merit;           // T_k ‖Φ_k‖²                                      (ncontact)
  double *u, *d, *Wd;      // velocity at λ, step, W d                        (nrow)
  double *phi, *A, *B;     // Φ (nrow) and its derivatives (as W's diagonal)
  uint8_t* active;         // rows that are solved for                        (nrow)
  double* M;               // A + B(W + αT), in the blocks of W; for the factor
  double* inverse;         // of its diagonal blocks, for GMRES; of S, in velocity space
  double *C, *dv, *defect; // S⁻¹ B (as W's diagonal), velocities (ndof); in velocity space
  double *rhs, *other, *start, *workspace;
  double room;        // what part of the tolerance an island must meet to rest
  double limit, slow; // Σ ‖F‖² of an island, and m/s, at which it rests; infinite, 0: not asked
  int age;            // steps since u was computed from λ
  bool later;         // a judgement costs much, so that it waits while the method is far off
} tbNewton;

void tb_newton_layout(tbNewton* n, tbScratch* scratch, const tbDelassus* W);
void tb_newton_begin(tbNewton* n, tbRun* run, tbMap map, double* lambda);

// Φ and its derivatives at λ; merits of the islands that do not rest. u is computed from λ, or is what it was
// after the last step, which has W d in it, where λ has moved by steps alone.
void tb_newton_linearise(tbNewton* n);
void tb_newton_follow(tbNewton* n);
void tb_newton_relinearise(tbNewton* n); // the same where λ has not moved since, and u is known

// d and W d for the islands that do not rest; neither is of use once the run stops.
void tb_newton_direction(tbNewton* n);

// Moves island i along d as far as its merit allows, which may rise to `allowance` times the worst of the
// last few. False when no length was acceptable; λ is then where it was.
bool tb_newton_search(tbNewton* n, int i, double allowance);

// The equation of contact k with another regularisation.
tbContactMap tb_newton_map(const tbNewton* n, int k, tbMap map, double alpha);

// How far contact k is from what its island rests at: 1 and less is good enough. In squares.
double tb_newton_excess(const tbNewton* n, int k, const double* lambda, const double* u);

// The judge's natural map over island i at λ, squared.
double tb_newton_residual(const tbNewton* n, int i);

// Lets the islands rest that meet the tolerance with room to spare by the judge's measure, and wakes the
// others. When all rest the judge is asked at once, and when it disagrees the room is made larger.
void tb_newton_rest(tbNewton* n);

#endif
