// SPDX-License-Identifier: Apache-2.0
// One contact by itself: given its block D of W and everything else held still, find λ with its law
// satisfied.
#ifndef TB_SOLVE_LOCAL_H
#define TB_SOLVE_LOCAL_H

#include "solve/local_ball.h"

// What of the contact does not change from visit to visit.
typedef struct tbLocal {
  const tbProblem* p;
  int k;                  // the contact
  const tbFrictionSet* f; // its friction set; kind TB_SET_NONE for laws without
  const double* D;        // rows×rows, row-major; may be unsymmetric, singular, badly scaled
  bool is_ball;
  bool prepared;   // what follows is filled in, at the first visit that does not find the contact open
  bool symmetric;  // D, to 2 %
  bool regular;    // D, which is not symmetric
  double even[16]; // ½ (D + Dᵀ); of a D that is far from symmetric its inverse
  tbBall ball;
} tbLocal;

void tb_local_prepare(const tbProblem* p, int k, const tbFrictionSet* f, const double* D, tbLocal* out);

// Of a ball: fills in what its visits need.
void tb_local_prepare_ball(tbLocal* local);

// λ in: the current impulse, which picks among many solutions, and u the contact's velocity there; λ out: the
// solution, or the best that was found.
void tb_local_solve(tbLocal* c, const double* u, double* lambda);

#endif
