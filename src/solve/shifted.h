// SPDX-License-Identifier: Apache-2.0
// W + ρR ready to factor: the symmetric part of W as a sparse matrix, its analysed Cholesky factor, and what
// W has that is not symmetric.
#ifndef TB_SOLVE_SHIFTED_H
#define TB_SOLVE_SHIFTED_H

#include "math/cholesky.h"
#include "solve/run.h"

typedef struct tbShifted {
  tbContext
      quiet; // a copy: a matrix that cannot be factored is the method's business, not the caller's error
  tbArena arena;
  const tbDelassus* W;
  int* ptr;          // lower triangle, by rows (nrow+1)
  int* col;          // (ptr[nrow])
  double* symmetric; // (W + Wᵀ)/2
  double* skew;      // (W − Wᵀ)/2; null where W is symmetric
  double* shifted;   // what was factored last
  tbCholesky* factor;
  double* workspace;
  int* width; // columns left of the diagonal block, while values are put in place  (ncontact)
} tbShifted;

tbStatus tb_shifted_create(tbContext* ctx, const tbDelassus* W, tbShifted** out); // W with blocks
void tb_shifted_renew(tbContext* ctx, tbShifted* s); // for new values of W, and the context of its factors
void tb_shifted_free(tbContext* ctx, tbShifted* s);  // takes null

// fixed (may be null): rows that are taken out, as if x were 0 there. False: not positive definite.
bool tb_shifted_factor(tbShifted* s, double rho, const double* R, const bool* fixed);
void tb_shifted_solve(tbShifted* s, const double* b, double* x); // x = (sym W + ρR)⁻¹ b
void tb_shifted_skew(const tbShifted* s, double factor, const double* x, double* y); // y += factor skew(W) x

#endif
