// One contact by itself: given its block D of W and the velocity q it would have without its own impulse,
// find λ with u = Dλ + q and the contact's law satisfied.
#ifndef TB_SOLVE_LOCAL_H
#define TB_SOLVE_LOCAL_H

#include "solve/friction.h"

typedef struct tbLocal {
  const tbProblem* p;
  int k;               // the contact
  const tbFriction* f; // its friction set; kind TB_SET_NONE for laws without
  const double* D;     // rows×rows, row-major; may be unsymmetric, singular, badly scaled
  const double* q;     // rows
} tbLocal;

// λ in: the current impulse, which picks among many solutions; out: the solution, or the best that was found.
void tb_local_solve(const tbLocal* c, double* lambda);

#endif
