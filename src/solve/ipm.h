// SPDX-License-Identifier: Apache-2.0
// What the parts of the interior-point method share: ipm.c sets up, measures and decides, ipm_path.c follows
// the central path, ipm_polish.c ends with Newton on the law itself.
#ifndef TB_SOLVE_IPM_H
#define TB_SOLVE_IPM_H

#include "math/lu_sparse.h"
#include "math/soc.h"
#include "solve/friction.h"
#include "solve/run.h"

typedef struct tbIpmPrepared {
  tbLu* lu;
  int* island; // of each contact
  int islands;
} tbIpmPrepared;

typedef struct tbIpmCone {
  int row, size, island, contact;
  double axis[TB_SOC_MAX]; // friction row i is divided by it
  double weight;           // its share of the gap on the path that is followed
  tbSocScaling scaling;
} tbIpmCone;

typedef enum tbIpmState { TB_IPM_PATH, TB_IPM_POLISH, TB_IPM_SOLVED } tbIpmState;

typedef struct tbIpmIsland {
  int cones, rows;
  tbIpmState state;
  int attempt;                              // starts tried
  int stuck;                                // iterations without progress
  double progress;                          // the least so far of what must fall
  double gap;                               // mean of xᵀz / weight
  double missed;                            // largest entry of r
  double error;                             // ‖natural map‖² of the iterate
  double best;                              // … of the best iterate
  double polish_below;                      // polish when gap and r are below this
  bool lost;                                // the path had ended when the polishing began
  double sigma, correction, longest, alpha; // of the step
} tbIpmIsland;

typedef struct tbIpm {
  tbRun* run;
  const tbIpmPrepared* prepared;
  int n, cones;
  tbIpmCone* cone;
  tbIpmIsland* island;
  uint64_t random;
  tbFrictionSet* friction;     // (ncontact)
  double *to_lambda, *to_z;    // λ_i = to_lambda_i x_i,  z_i = to_z_i û_i
  double *x, *z, *dx, *dz, *d; // iterate, direction, and the d of Newton's equations
  double *u, *r;               // velocity at x, and what the dynamics misses
  double *rhs, *v;             // right-hand side, the scaled point
  double* kept;                // x from which an island began to polish
  double *trial, *residual;    // room for products, and for a number per island
  double *values, *workspace;  // the matrix, in the layout of W->val
  uint8_t* active;             // rows that the factor is for
} tbIpm;

// Marks the rows of the islands in this state as active; false when there are none.
bool tb_ipm_activate(tbIpm* s, tbIpmState state);

// values = D W D, on the diagonal a little more.
void tb_ipm_scaled_matrix(tbIpm* s, double regularisation);
// The block of `values` on the diagonal of contact k.
double* tb_ipm_diagonal(tbIpm* s, int k);
// out = D W D dx
void tb_ipm_multiply(tbIpm* s, const double* dx, double* out);

// φ(z) of one cone; its slope φ′ is the row (0, gᵀ), g = z₁/‖z₁‖ or 0.
double tb_ipm_lift(const tbIpm* s, const tbIpmCone* c, double* g);

void tb_ipm_follow(tbIpm* s); // one step along the path for every island on it
void tb_ipm_polish(tbIpm* s); // one Newton step on the law for every island that is polished

#endif
