// SPDX-License-Identifier: Apache-2.0
// Block principal pivoting (Júdice & Pires 1994; course §3.1.3, algorithm 4).
//
// All rows that violate their index set change it at once. That may cycle, so the number of violations is
// watched: when it has not fallen below its least for P steps, only the first violating row changes, as Murty
// does, until it has fallen. On a P-matrix this ends.
//
// Bounds that follow the normal impulse are tried coupled first: a friction row on its bound moves with x_n,
// in one unsymmetric system, and a handful of steps often lead straight to the solution. That system need not
// be a P-matrix. When its count of violations stops falling, the bounds are frozen instead, which leaves W's
// own matrix, and settled by a fixed point (blcp.h).
//
// Cost      a dense LU of the rows between their bounds per coupled step, typically 5 to 20 steps. With
//           frozen bounds the factor is updated row by row as long as few rows change (Enzenhöfer et al.
//           2019), and built afresh when many do.
// Limits    3000 rows. Boxes only. No convergence proof for the fixed point on the bounds.
#include "solve/blcp.h"
#include "solve/methods.h"

#include <math.h>

enum { PATIENCE = 8 };

typedef struct {
  int least, patience;
} Watch;

// Takes note of a count of violations. True: they may change as a block.
static bool falls(Watch* w, int violations)
{
  if (violations < w->least) *w = (Watch){violations, PATIENCE};
  else w->patience--;
  return w->patience >= 0;
}

// ---- coupled ----

static bool presses(const tbBlcp* b, int i) { return b->normal[i] < 0 || b->set[b->normal[i]] == TB_BETWEEN; }

// A row whose normal does not press rests at 0 whatever its velocity; should the normal come to press, it
// starts stuck.
static tbIndexSet belongs(const tbBlcp* b, int i, double tolerance)
{
  double lo, hi;
  if (!(b->bound_hi[i] > b->bound_lo[i])) return TB_LOWER;
  if (!presses(b, i)) return TB_BETWEEN;
  if (b->normal[i] >= 0 && b->y[b->normal[i]] <= 0) return (tbIndexSet)b->set[i]; // the normal changes first
  tb_blcp_bounds(b, b->y, i, &lo, &hi);
  return tb_blcp_belongs(b, b->y, b->vy, i, lo, hi, tolerance);
}

static int change_coupled_sets(tbBlcp* b, double tolerance)
{
  int violations = 0;
  for (int i = 0; i < b->n; i++) { // belongs() looks at other rows' sets: decide all, then change
    b->swap[i] = (int)belongs(b, i, tolerance);
    violations += b->swap[i] != (int)b->set[i] && presses(b, i);
  }
  for (int i = 0; i < b->n; i++) b->set[i] = (uint8_t)b->swap[i];
  return violations;
}

// True: the run is over. False: the blocks cycle, or the proximal steps no longer help.
static bool pivot_coupled(tbBlcp* b)
{
  double best = INFINITY, tolerance = 1e-14 * b->size;
  int stalled = 0;
  Watch watch = {b->n + 1, PATIENCE};
  while (stalled < 3 && tb_blcp_coupled(b)) {
    int violations = change_coupled_sets(b, tolerance);
    if (tb_blcp_done(b, b->y, b->vy, violations == 0)) return true;
    if (!falls(&watch, violations)) return false;
    if (violations > 0) continue;
    double reached = tb_blcp_violation(b, b->y, b->vy); // solved, up to the proximal term
    if (isinf(reached)) return false;
    stalled = reached < 0.5 * best ? 0 : stalled + 1;
    best = fmin(best, reached);
    tb_blcp_move_centre(b, b->y);
    watch = (Watch){b->n + 1, PATIENCE};
  }
  return false;
}

// ---- frozen ----

static int find_violations(tbBlcp* b, double tolerance)
{
  int violations = 0;
  for (int i = 0; i < b->n; i++) {
    b->swap[i] = (int)tb_blcp_belongs(b, b->x, b->v, i, b->lo[i], b->hi[i], tolerance);
    violations += b->swap[i] != (int)b->set[i];
  }
  return violations;
}

// Every violating row changes its set. False: one has no pivot.
static bool change_sets(tbBlcp* b, int violations)
{
  bool afresh = violations > 4 + b->factor.n / 8, all = true;
  for (int i = 0; i < b->n; i++) {
    if (b->swap[i] == (int)b->set[i]) continue;
    if (afresh) b->set[i] = (uint8_t)b->swap[i];
    else if (b->swap[i] == TB_BETWEEN) all = tb_blcp_enter(b, i) && all;
    else tb_blcp_leave(b, i, (tbIndexSet)b->swap[i]);
  }
  if (afresh) tb_blcp_factor_sets(b);
  return all;
}

static bool pivot_frozen(tbBlcp* b, void* unused)
{
  (void)unused;
  Watch watch = {b->n + 1, PATIENCE};
  for (;;) {
    tb_blcp_values(b);
    int violations = find_violations(b, 1e-14 * b->size);
    if (violations == 0) return false;
    if (!falls(&watch, violations) || !change_sets(b, violations)) {
      if (tb_murty_frozen(b, watch.least - 1)) return true;
      if (watch.least == 1) return false;
    } else if (tb_blcp_done(b, b->x, b->v, false)) {
      return true;
    }
  }
}

void tb_bpp(tbRun* run, double* lambda)
{
  tbBlcp b = {0};
  tb_blcp_begin(&b, run, lambda);
  if (tb_blcp_done(&b, b.x, b.v, true)) return;
  bool cold = true;
  for (int i = 0; i < b.n; i++) cold = cold && b.x[i] == 0;
  for (int i = 0; cold && i < b.n; i++) b.set[i] = b.bound_hi[i] > b.bound_lo[i] ? TB_BETWEEN : TB_LOWER;
  if (b.follows) {
    if (pivot_coupled(&b)) return;
    tb_blcp_move_centre(&b, b.x);
  }
  tb_blcp_factor_sets(&b);
  tb_blcp_fixed_point(&b, pivot_frozen, NULL);
}
