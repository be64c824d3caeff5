// SPDX-License-Identifier: Apache-2.0
// Murty's least-index principal pivoting, for boxes (Murty 1974; Murty & Yu 1988, ch. 4; course §3.1.2, eq.
// 120).
//
// The index sets say which rows are between their bounds; those are solved for, the others rest on a bound.
// The first row in order that violates its set changes it, alone. On a P-matrix without upper bounds no index
// set is met twice, so this ends; W + ε is one whenever W is semidefinite. With upper bounds, and by
// rounding, it may still go in circles: when it takes too long, the row that violates its set most changes
// for a while instead. Bounds that follow the normal impulse are frozen and settled by a fixed point
// (blcp.h).
//
// Cost      n² per pivot: the factor of the rows between their bounds gains or loses one row at a time.
//           About as many pivots as rows that change their set, but exponentially many at worst.
// Limits    3000 rows. Boxes only. No convergence proof for the fixed point on the bounds.
#include "solve/blcp.h"
#include "solve/methods.h"

#include <math.h>

typedef struct {
  int row, count; // the row that changes, and how many violate their set
  tbIndexSet to;
} Choice;

static Choice choose(const tbBlcp* b, double tolerance, bool by_size)
{
  Choice c = {.row = -1};
  double most = -1;
  for (int i = 0; i < b->n; i++) {
    tbIndexSet to = tb_blcp_belongs(b, b->x, b->v, i, b->lo[i], b->hi[i], tolerance);
    if (to == b->set[i]) continue;
    double off = by_size ? fabs(b->x[i] - fmin(fmax(b->x[i] - b->v[i], b->lo[i]), b->hi[i])) : 0;
    if (off > most) most = off, c.row = i, c.to = to;
    c.count++;
  }
  return c;
}

bool tb_murty_frozen(tbBlcp* b, int enough)
{
  // Later rounds ask for less: they may be chasing rounding errors.
  static const double slack[] = {1e-14, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-8};
  for (int pivots = 1;; pivots++) {
    int round = pivots / (2 * b->n + 50);
    tb_blcp_values(b);
    Choice c = choose(b, slack[round] * b->size, round % 2);
    if (c.count <= enough) return false;
    bool moved = true;
    if (c.to != TB_BETWEEN) tb_blcp_leave(b, c.row, c.to);
    else moved = tb_blcp_enter(b, c.row);
    if (!moved || round == 8) { // W is far from a P-matrix
      tb_run_give_up(b->run);
      return true;
    }
    if (tb_blcp_done(b, b->x, b->v, false)) return true;
  }
}

static bool solve(tbBlcp* b, void* unused)
{
  (void)unused;
  return tb_murty_frozen(b, 0);
}

void tb_murty(tbRun* run, double* lambda)
{
  tbBlcp b = {0};
  tb_blcp_begin(&b, run, lambda);
  if (tb_blcp_done(&b, b.x, b.v, true)) return;
  tb_blcp_factor_sets(&b);
  tb_blcp_fixed_point(&b, solve, NULL);
}
