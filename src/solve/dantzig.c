// SPDX-License-Identifier: Apache-2.0
// Incremental pivoting: Dantzig's method as Baraff uses it for contact (Cottle & Dantzig 1968; Baraff 1994;
// course §3.1.1, algorithm 3), for boxes.
//
// Rows are taken in one by one, the most violated first. While x_j is driven towards the point where v_j
// vanishes or a bound is met, the rows taken in before keep their conditions: those between their bounds move
// along so that v stays 0, and whenever one of them meets a bound, or the v of one on a bound vanishes, the
// drive halts and that row changes its index set (eqs. 116–119). A row that has been taken in is never given
// up.
//
// Bounds that follow the normal impulse start from the warm start, closed when there is none: the
// frictionless solution comes first. Afterwards they move to the impulses found, and again until they settle
// (blcp.h). Each of these moves is a drive too, not of one x_j but of the bounds, from where they were to
// where they shall be, so nothing is begun anew.
//
// Singular blocks: with W + ε every drive has a positive slope and ends (blcp.h); Baraff's argument that
// semidefinite blocks do no harm becomes a small number in place of a zero.
//
// Cost      n² per halt: a solve with the factor of the rows between their bounds, which gains or loses
//           one row. About one to two halts per row.
// Limits    3000 rows. Boxes only. No convergence proof for the fixed point on the bounds.
#include "solve/blcp.h"
#include "solve/methods.h"

#include <math.h>
#include <string.h>

typedef struct {
  tbBlcp b;
  bool started;
  double *lo, *hi, *shifted;     // the data that x and v stand for (n)
  double *d_lo, *d_hi, *d_shift; // how they move in a drive (n)
  double *dx, *dv;               // (n)
} Dantzig;

static void layout(Dantzig* d, tbScratch* s, size_t n)
{
  double** vectors[] = {&d->lo, &d->hi, &d->shifted, &d->d_lo, &d->d_hi, &d->d_shift, &d->dx, &d->dv};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(s, double, n);
}

size_t tb_dantzig_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  tbScratch counting = {.used = tb_blcp_scratch(W, o)};
  layout(&(Dantzig){0}, &counting, (size_t)W->problem->nrow);
  return counting.used;
}

// dx of the rows on bounds is given; those between move so that their v stays 0, and dv is what becomes of
// the others.
static void find_direction(Dantzig* d)
{
  tbBlcp* b = &d->b;
  for (int j = 0; j < b->factor.n; j++) d->dx[b->member[j]] = 0;
  for (int j = 0; j < b->factor.n; j++) {
    int i = b->member[j];
    b->column[j] = -d->d_shift[i] - tb_dot(b->n, b->W + (size_t)i * (size_t)b->n, d->dx);
  }
  tb_ldu_solve(&b->factor, b->column);
  for (int j = 0; j < b->factor.n; j++) d->dx[b->member[j]] = b->column[j];
  for (int i = 0; i < b->n; i++)
    d->dv[i] = b->place[i] >= 0 ? 0 : d->d_shift[i] + tb_dot(b->n, b->W + (size_t)i * (size_t)b->n, d->dx);
}

typedef struct {
  double step;
  int row;
  tbIndexSet to;
} Halt;

// The room that is left at rate < 0 lasts for a step; of equal steps the steepest halts.
static void meet(Halt* halt, double room, double rate, double* steepest, int row, tbIndexSet to)
{
  if (!(rate < 0)) return;
  double step = fmax(room, 0) / -rate;
  if (step > halt->step || (step == halt->step && -rate <= *steepest)) return;
  *halt = (Halt){step, row, to};
  *steepest = -rate;
}

// How far the drive may go (eqs. 118 and 119), `step` at most.
static Halt first_halt(const Dantzig* d, double step, int driven)
{
  const tbBlcp* b = &d->b;
  Halt halt = {step, -1, TB_WAITING};
  double steepest = 0;
  for (int i = 0; i < b->n; i++) {
    if (i == driven) continue;
    switch ((tbIndexSet)b->set[i]) {
    case TB_BETWEEN:
      if (isfinite(d->lo[i])) meet(&halt, b->x[i] - d->lo[i], d->dx[i] - d->d_lo[i], &steepest, i, TB_LOWER);
      if (isfinite(d->hi[i])) meet(&halt, d->hi[i] - b->x[i], d->d_hi[i] - d->dx[i], &steepest, i, TB_UPPER);
      break;
    case TB_LOWER: meet(&halt, b->v[i], d->dv[i], &steepest, i, TB_BETWEEN); break;
    case TB_UPPER: meet(&halt, -b->v[i], -d->dv[i], &steepest, i, TB_BETWEEN); break;
    case TB_WAITING: break;
    }
  }
  return halt;
}

static void advance(Dantzig* d, double step)
{
  tbBlcp* b = &d->b;
  for (int i = 0; i < b->n; i++) {
    b->x[i] += step * d->dx[i];
    b->v[i] = b->set[i] == TB_BETWEEN ? 0 : b->v[i] + step * d->dv[i];
    if (d->d_lo[i] != 0) d->lo[i] += step * d->d_lo[i];
    if (d->d_hi[i] != 0) d->hi[i] += step * d->d_hi[i];
    d->shifted[i] += step * d->d_shift[i];
  }
}

// The halting row changes its set. False: it cannot, and there is no way on.
static bool change_set(Dantzig* d, const Halt* halt)
{
  tbBlcp* b = &d->b;
  int i = halt->row;
  if (halt->to != TB_BETWEEN) {
    b->x[i] = halt->to == TB_LOWER ? d->lo[i] : d->hi[i];
    tb_blcp_leave(b, i, halt->to);
    return true;
  }
  b->v[i] = 0;
  if (d->hi[i] > d->lo[i] || d->d_hi[i] > d->d_lo[i]) return tb_blcp_enter(b, i);
  b->set[i] = b->set[i] == TB_LOWER ? TB_UPPER : TB_LOWER; // no room between: only the sign of v changes
  return true;
}

// True: the run is over.
static bool stop(Dantzig* d)
{
  tb_run_give_up(d->b.run);
  return true;
}

static void hold_data(Dantzig* d)
{
  size_t bytes = (size_t)d->b.n * sizeof(double);
  memset(d->d_lo, 0, bytes), memset(d->d_hi, 0, bytes), memset(d->d_shift, 0, bytes);
}

// Row j is taken in.
static bool drive_row(Dantzig* d, int j)
{
  tbBlcp* b = &d->b;
  double sign = b->v[j] < 0 ? 1 : -1, end = sign > 0 ? d->hi[j] : d->lo[j];
  hold_data(d);
  for (int halts = 0; halts < 20 * b->n + 100; halts++) {
    memset(d->dx, 0, (size_t)b->n * sizeof *d->dx);
    d->dx[j] = sign;
    find_direction(d);
    double to_bound = sign * (end - b->x[j]), to_rest = sign * d->dv[j] > 0 ? -b->v[j] / d->dv[j] : INFINITY;
    Halt halt = first_halt(d, fmin(to_bound, to_rest), j);
    if (isinf(halt.step)) return stop(d); // a ray: nothing holds it
    advance(d, halt.step);
    if (halt.row < 0) {
      if (to_rest <= to_bound)
        return b->v[j] = 0, tb_blcp_enter(b, j) ? tb_blcp_done(b, b->x, b->v, false) : stop(d);
      b->x[j] = end;
      b->set[j] = sign > 0 ? TB_UPPER : TB_LOWER;
      return tb_blcp_done(b, b->x, b->v, false);
    }
    if (!change_set(d, &halt)) return stop(d);
    if (tb_blcp_done(b, b->x, b->v, false)) return true;
  }
  return stop(d);
}

// The waiting row that violates its condition most; −1: none does.
static int most_violated(const Dantzig* d)
{
  const tbBlcp* b = &d->b;
  double most = 1e-15 * b->size;
  int row = -1;
  for (int i = 0; i < b->n; i++) {
    if (b->set[i] != TB_WAITING) continue;
    double off = fabs(b->x[i] - fmin(fmax(b->x[i] - b->v[i], d->lo[i]), d->hi[i]));
    if (off > most) most = off, row = i;
  }
  return row;
}

static bool take_in_rows(Dantzig* d)
{
  tbBlcp* b = &d->b;
  for (int i = 0; i < b->n; i++) {
    b->set[i] = TB_WAITING;
    b->x[i] = fmin(fmax(0, d->lo[i]), d->hi[i]);
  }
  for (int i = 0; i < b->n; i++)
    b->v[i] = tb_dot(b->n, b->W + (size_t)i * (size_t)b->n, b->x) + b->shifted[i];
  tb_blcp_factor_sets(b);
  for (int j; (j = most_violated(d)) >= 0;)
    if (drive_row(d, j)) return true;
  for (int i = 0; i < b->n; i++) // what still waits is at rest where it is
    if (b->set[i] == TB_WAITING)
      b->set[i] = b->v[i] > 0 || !isfinite(d->hi[i]) || b->x[i] < d->hi[i] ? TB_LOWER : TB_UPPER;
  return false;
}

// From the bounds and the centre that x stands for to those of b.
static bool drive_data(Dantzig* d)
{
  tbBlcp* b = &d->b;
  double left = 1;
  for (int halts = 0; left > 0; halts++) {
    for (int i = 0; i < b->n; i++) {
      d->d_lo[i] = isfinite(b->lo[i]) ? (b->lo[i] - d->lo[i]) / left : 0;
      d->d_hi[i] = isfinite(b->hi[i]) ? (b->hi[i] - d->hi[i]) / left : 0;
      d->d_shift[i] = (b->shifted[i] - d->shifted[i]) / left;
      d->dx[i] = b->set[i] == TB_LOWER ? d->d_lo[i] : b->set[i] == TB_UPPER ? d->d_hi[i] : 0;
    }
    find_direction(d);
    Halt halt = first_halt(d, left, -1);
    if (halts > 20 * b->n + 100)
      halt = (Halt){left, -1, TB_WAITING}; // ties without end: Murty's rule will do
    advance(d, halt.step);
    left -= halt.step;
    if (halt.row < 0) return false;
    if (!change_set(d, &halt)) return stop(d);
    if (tb_blcp_done(b, b->x, b->v, false)) return true;
  }
  return false;
}

static bool solve(tbBlcp* b, void* user)
{
  Dantzig* d = user;
  bool over;
  if (!d->started) {
    for (int i = 0; i < b->n; i++) d->lo[i] = b->lo[i], d->hi[i] = b->hi[i], d->shifted[i] = b->shifted[i];
    over = take_in_rows(d);
  } else {
    over = drive_data(d);
  }
  if (over) return true;
  for (int i = 0; i < b->n; i++) d->lo[i] = b->lo[i], d->hi[i] = b->hi[i], d->shifted[i] = b->shifted[i];
  d->started = true;
  return tb_murty_frozen(b, 0); // sweeps up what rounding has left, mostly nothing
}

void tb_dantzig(tbRun* run, double* lambda)
{
  Dantzig d = {0};
  tb_blcp_begin(&d.b, run, lambda);
  layout(&d, &run->scratch, (size_t)d.b.n);
  if (!tb_blcp_done(&d.b, d.b.x, d.b.v, true)) tb_blcp_fixed_point(&d.b, solve, &d);
}
