// SPDX-License-Identifier: Apache-2.0
// Solving for the free rows while the others are held:  W_FF d = −u_F,  d = 0 elsewhere.
//
//   factored   the sparse Cholesky, analysed once for all of W: held rows become rows of the identity
//   iterated   conjugate gradients on the products of W, preconditioned by the diagonal blocks of W_FF
//
// The factor is taken where it fits in the memory allowed, options.factor_bytes; it grows faster than W where
// the contacts fill a volume, and conjugate gradients need a few vectors.
//
// Redundant contacts make W_FF singular: a shift of 1e-9 of the diagonal leaves out what W_FF cannot
// determine. The factor makes up for it by one step of refinement; conjugate gradients solve to six digits
// only, and the next iteration of the method does the rest. Of an unsymmetric W the symmetric part is taken;
// solving for the change d makes that an inexact step towards the right solution.
#ifndef TB_SOLVE_SUBSPACE_H
#define TB_SOLVE_SUBSPACE_H

#include "solve/shifted.h"

typedef struct tbSubspace {
  tbRun* run;
  tbArena arena;
  tbShifted* matrix; // null: conjugate gradients
  double* diagonal;  // of W, with ones where it is empty (nrow)
  double *r, *Wd;    // what is left; a product (nrow)
  double *x, *z, *p; // of conjugate gradients: d on its way, preconditioned r, direction (nrow)
  double* inverses;  // and the diagonal blocks of W_FF, factored, laid out as W's
  double* workspace; // of tb_delassus_apply
  double product;    // operations of a product with W
} tbSubspace;

tbStatus tb_subspace_create(tbContext* ctx, tbRun* run, tbSubspace** out); // W with blocks
void tb_subspace_renew(tbContext* ctx, tbRun* run, tbSubspace* s);         // for new values of W
void tb_subspace_free(tbContext* ctx, tbSubspace* s);                      // takes null

// False: W_FF is not positive definite, and d says nothing.
bool tb_subspace_solve(tbSubspace* s, const bool* fixed, const double* u, double* d);

#endif
