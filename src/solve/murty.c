// Murty's least-index principal pivoting, for boxes (Murty 1974; Murty & Yu 1988, ch. 4; course §3.1.2, eq.
// 120).
//
// The index sets say which rows are between their bounds; those are solved for, the others rest on a bound.
// The first row in order that violates its set changes it, alone. On a P-matrix no index set is met twice, so
// this ends; W + ε is one whenever W is semidefinite. Bounds that follow the normal impulse are frozen and
// settled by a fixed point (blcp.h).
//
// Cost      n² per pivot: the factor of the rows between their bounds gains or loses one row at a time. About
// as many
//           pivots as rows that change their set, but exponentially many at worst.
// Limits    3000 rows. Boxes only. No convergence proof for the fixed point on the bounds.
#include "solve/blcp.h"
#include "solve/methods.h"

#include <math.h>

static int first_violation(const tbBlcp* b, double tolerance, tbIndexSet* to)
{
  for (int i = 0; i < b->n; i++) {
    *to = tb_blcp_belongs(b, b->x, b->v, i, b->lo[i], b->hi[i], tolerance);
    if (*to != b->set[i]) return i;
  }
  return -1;
}

bool tb_murty_frozen(tbBlcp* b, void* unused)
{
  (void)unused;
  double tolerance = 1e-14 * b->size;
  tb_blcp_factor_sets(b);
  for (int pivots = 1;; pivots++) {
    tbIndexSet to;
    tb_blcp_values(b);
    int i = first_violation(b, tolerance, &to);
    if (i < 0) return false;
    bool moved = true;
    if (to != TB_BETWEEN) tb_blcp_leave(b, i, to);
    else moved = tb_blcp_enter(b, i);
    if (pivots % (4 * b->n + 100) == 0) tolerance *= 10; // it may be chasing rounding errors
    if (!moved || tolerance > 1e-6 * b->size) {          // W is no P-matrix, and it goes round in circles
      tb_run_give_up(b->run);
      return true;
    }
    if (tb_blcp_done(b, b->x, false)) return true;
  }
}

void tb_murty(tbRun* run, double* lambda)
{
  tbBlcp b = {0};
  tb_blcp_begin(&b, run, lambda);
  if (!tb_blcp_done(&b, b.x, true)) tb_blcp_fixed_point(&b, tb_murty_frozen, NULL);
}
