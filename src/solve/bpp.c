// Block principal pivoting (Júdice & Pires 1994; course §3.1.3, algorithm 4).
//
// All rows that violate their index set change it at once. That may cycle, so the number of violations is watched: when
// it has not fallen below its least for P steps, rows change one at a time, the first violation in order, as Murty does,
// until it has. Bounds follow the normal impulse: a friction row on its bound moves with x_n, in one unsymmetric system.
// Coupled like that the matrix need not be a P-matrix, and single steps may cycle too; then the bounds are
// frozen for one pass of Murty's method, which must end, and the blocks go on from its index sets.
//
// Cost      one dense LU of the rows between their bounds per step, typically 5 to 20 steps: many rows change at a time, so
//           the factor is not worth updating.
// Limits    3000 rows. Boxes only.
#include "solve/blcp.h"
#include "solve/methods.h"

#include <math.h>

enum { PATIENCE = 8 };

// A row whose normal does not press rests at 0 whatever its velocity; when the normal comes to press, it starts stuck.
static tbIndexSet belongs(const tbBlcp* b, int i, double tolerance)
{
  double lo, hi;
  int n = b->normal[i];
  if (n >= 0 && b->set[n] != TB_BETWEEN) return b->bound_hi[i] > b->bound_lo[i] ? TB_BETWEEN : TB_LOWER;
  tb_blcp_bounds(b, b->y, i, &lo, &hi);
  if (n >= 0 && b->y[n] <= 0) return (tbIndexSet)b->set[i]; // the normal has to change first
  return tb_blcp_belongs(b, b->y, b->vy, i, lo, hi, tolerance);
}

// Changes the sets of all violating rows, or of the first alone. Returns how many there are.
static int change_sets(tbBlcp* b, bool single, double tolerance)
{
  int count = 0;
  for (int i = 0; i < b->n; i++) { // sets that belongs() looks at are of rows before i: remember, then change
    tbIndexSet to = belongs(b, i, tolerance);
    b->swap[i] = (int)to;
    count += to != b->set[i] && !(b->normal[i] >= 0 && b->set[b->normal[i]] != TB_BETWEEN);
  }
  bool changed = false;
  for (int i = 0; i < b->n && !(single && changed); i++) {
    if (b->swap[i] == (int)b->set[i]) continue;
    changed = !(b->normal[i] >= 0 && b->set[b->normal[i]] != TB_BETWEEN);
    b->set[i] = (uint8_t)b->swap[i];
  }
  return count;
}

void tb_bpp(tbRun* run, double* lambda)
{
  tbBlcp b = {0};
  tb_blcp_begin(&b, run, lambda);
  if (tb_blcp_done(&b, b.x, true)) return;
  bool cold = true;
  for (int i = 0; i < b.n; i++) cold = cold && b.centre[i] == 0;
  for (int i = 0; cold && i < b.n; i++) b.set[i] = b.bound_hi[i] > b.bound_lo[i] ? TB_BETWEEN : TB_LOWER;

  double best = INFINITY, tolerance = 1e-14 * b.size;
  for (int stalled = 0, least = b.n + 1, patience = PATIENCE, singles = 0; stalled < 30;) {
    bool solved = tb_blcp_coupled(&b);
    int violations = solved ? change_sets(&b, patience <= 0, tolerance) : b.n;
    if (tb_blcp_done(&b, b.y, violations == 0)) return;
    if (violations < least) least = violations, patience = PATIENCE, singles = 0;
    else if (--patience < 0) singles++;

    if (violations == 0) { // solved, up to the proximal term
      double reached = tb_blcp_violation(&b, b.y, b.vy);
      if (isinf(reached)) break;
      if (reached < 0.9 * best) best = reached, stalled = 0;
      tb_blcp_move_centre(&b, b.y);
      stalled++, least = b.n + 1, patience = PATIENCE;
    } else if (!solved || singles > 2 * b.n + 10) {
      tb_blcp_freeze(&b, b.x);
      if (tb_murty_frozen(&b, NULL)) return;
      stalled++, least = b.n + 1, patience = PATIENCE, singles = 0;
    }
  }
  tb_run_give_up(run);
}
