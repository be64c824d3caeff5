// SPDX-License-Identifier: Apache-2.0
#include "solve/blcp.h"
#include "math/dense.h"
#include "math/lu_dense.h"
#include "solve/friction.h"
#include "solve/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ASK_EVERY = 32 };            // rows, whether to go on
static const double EPSILON = 1e-8; // of the proximal term, beside a diagonal near 1
static const double RUNAWAY =
    1e8; // x beyond this many times the data only goes on because of the proximal term

const char* tb_limits_name(tbLimits limits)
{
  static const char* const names[TB_LIMITS_COUNT] = {"following", "frozen"};
  return (unsigned)limits < TB_LIMITS_COUNT ? names[limits] : "unknown";
}

void tb_blcp_layout(tbBlcp* b, tbScratch* s, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  double** vectors[] = {&b->scale, &b->q, &b->shifted, &b->bound_lo, &b->bound_hi, &b->lo,     &b->hi,
                        &b->x,     &b->v, &b->y,       &b->vy,       &b->centre,   &b->column, &b->row};
  b->n = (int)n;
  b->W = TB_SCRATCH(s, double, n* n);
  b->system = TB_SCRATCH(s, double, n* n);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(s, double, n);
  b->normal = TB_SCRATCH(s, int, n);
  b->member = TB_SCRATCH(s, int, n);
  b->place = TB_SCRATCH(s, int, n);
  b->swap = TB_SCRATCH(s, int, n);
  b->set = TB_SCRATCH(s, uint8_t, n);
  tb_ldu_layout(&b->factor, s, (int)n, W->symmetric);
}

size_t tb_blcp_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  tb_blcp_layout(&(tbBlcp){0}, &counting, W);
  return counting.used;
}

static const double* W_row(const tbBlcp* b, int i) { return b->W + (size_t)i * (size_t)b->n; }

// ---- the problem ----

// The power of two nearest x^−½, in the logarithm; 1 for 0.
static double inverse_root(double x)
{
  int e;
  if (!(x > 0) || !isfinite(x)) return 1;
  frexp(x, &e);                          // 2ᵉ⁻¹ ≤ x < 2ᵉ
  return ldexp(1, -((e - (e & 1)) / 2)); // 2^−⌊e/2⌋
}

static void scale_matrix(tbBlcp* b)
{
  size_t n = (size_t)b->n;
  const double* dense = b->run->W->dense;
  for (size_t i = 0; i < n; i++) {
    double size = dense[i * n + i];
    for (size_t j = 0; j < n && !(size > 0); j++) size = fabs(dense[i * n + j]); // an empty diagonal
    b->scale[i] = inverse_root(size);
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) b->W[i * n + j] = dense[i * n + j] * b->scale[i] * b->scale[j];
    b->W[i * n + i] += EPSILON;
    b->q[i] = b->run->W->q[i] * b->scale[i];
  }
}

static void set_bounds(tbBlcp* b, int i, int normal, double lo, double hi)
{
  double unit = normal >= 0 ? b->scale[i] / b->scale[normal] : b->scale[i];
  b->normal[i] = normal;
  b->bound_lo[i] = lo / unit, b->bound_hi[i] = hi / unit;
  if (normal >= 0 && hi > lo) b->follows = true;
}

static void set_contact_bounds(tbBlcp* b, int k)
{
  const tbProblem* p = b->run->p;
  const double* param = p->param + p->param_adr[k];
  int row = p->row_adr[k], rows = tb_rows(p, k);
  tbFrictionSet f;
  tb_friction_make(p, k, b->run->o->model, b->run->o->directions, &f);
  if (f.kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++) {
      double lo = p->law[k] == TB_LAW_BILATERAL ? -INFINITY : p->law[k] == TB_LAW_NONNEG ? 0 : param[i];
      set_bounds(b, row + i, -1, lo, p->law[k] == TB_LAW_BOX ? param[rows + i] : INFINITY);
    }
    return;
  }
  set_bounds(b, row, -1, 0, INFINITY);
  for (int i = 0; i < f.dim; i++)
    if (f.kind == TB_SET_BALL) // an interval: planar friction
      set_bounds(b, row + 1 + i, row, -f.par[0], f.par[0]);
    else set_bounds(b, row + 1 + i, row, f.par[2 * i], f.par[2 * i + 1]);
}

void tb_blcp_bounds(const tbBlcp* b, const double* x, int i, double* lo, double* hi)
{
  double times = b->normal[i] < 0 ? 1 : fmax(x[b->normal[i]], 0);
  *lo = b->normal[i] < 0 ? b->bound_lo[i] : b->bound_lo[i] * times;
  *hi = b->normal[i] < 0 ? b->bound_hi[i] : b->bound_hi[i] * times;
}

void tb_blcp_freeze(tbBlcp* b, const double* x)
{
  for (int i = 0; i < b->n; i++) tb_blcp_bounds(b, x, i, &b->lo[i], &b->hi[i]);
}

void tb_blcp_move_centre(tbBlcp* b, const double* x)
{
  for (int i = 0; i < b->n; i++) {
    b->centre[i] = x[i];
    b->shifted[i] = b->q[i] - EPSILON * x[i];
  }
}

static double held_at(double lo, double hi, tbIndexSet set)
{
  double first = set == TB_UPPER ? hi : lo, second = set == TB_UPPER ? lo : hi;
  return isfinite(first) ? first : isfinite(second) ? second : 0;
}

void tb_blcp_begin(tbBlcp* b, tbRun* run, double* lambda)
{
  b->run = run;
  b->lambda = lambda;
  tb_blcp_layout(b, &run->scratch, run->W);
  scale_matrix(b);
  for (int k = 0; k < run->p->ncontact; k++) set_contact_bounds(b, k);
  b->size = DBL_MIN;
  for (int i = 0; i < b->n; i++) {
    b->x[i] = lambda[i] / b->scale[i];
    b->size = fmax(b->size, fabs(b->q[i]));
    double held = b->normal[i] < 0 ? held_at(b->bound_lo[i], b->bound_hi[i], TB_LOWER) : 0;
    b->size = fmax(b->size, fabs(held));
  }
  for (int i = 0; i < b->n; i++) { // normals come before what follows them
    double lo, hi;
    tb_blcp_bounds(b, b->x, i, &lo, &hi);
    b->set[i] = b->x[i] <= lo ? TB_LOWER : b->x[i] >= hi ? TB_UPPER : TB_BETWEEN;
    b->x[i] = fmin(fmax(b->x[i], lo), hi);
  }
  tb_blcp_freeze(b, b->x);
  tb_blcp_move_centre(b, b->x);
}

static double largest(int n, const double* x)
{
  double most = 0;
  for (int i = 0; i < n; i++)
    if (!(fabs(x[i]) <= most)) most = fabs(x[i]); // a NaN stays
  return most;
}

static double natural_map(const tbBlcp* b, const double* x, const double* v)
{
  double worst = 0;
  for (int i = 0; i < b->n; i++) {
    double lo, hi, exact = v[i] - EPSILON * (x[i] - b->centre[i]);
    tb_blcp_bounds(b, x, i, &lo, &hi);
    double away = fabs(x[i] - fmin(fmax(x[i] - exact, lo), hi));
    if (!(away <= worst)) worst = away;
  }
  return worst;
}

double tb_blcp_violation(const tbBlcp* b, const double* x, const double* v)
{
  return largest(b->n, x) <= RUNAWAY * b->size ? natural_map(b, x, v) : INFINITY;
}

// The judge divides by the size of λ and u. An x that is large and wrong would look good to it, so it is not
// shown.
static bool is_presentable(const tbBlcp* b, const double* x, const double* v)
{
  double size = fmax(largest(b->n, x), largest(b->n, v));
  return size <= 1e3 * b->size || (size <= RUNAWAY * b->size && natural_map(b, x, v) <= 1e-3 * b->size);
}

bool tb_blcp_done(tbBlcp* b, const double* x, const double* v, bool sure)
{
  if (b->iteration > 0 && is_presentable(b, x, v))
    for (int i = 0; i < b->n; i++) {
      double lo, hi;
      tb_blcp_bounds(b, x, i, &lo, &hi);
      b->lambda[i] = fmin(fmax(x[i], lo), hi) * b->scale[i];
    }
  if (sure) tb_run_judge_next(b->run);
  return tb_run_done(b->run, b->iteration++, b->lambda);
}

// ---- index sets, bounds frozen ----

static bool append(tbBlcp* b, int i)
{
  const double* row = W_row(b, i);
  for (int j = 0; j < b->factor.n; j++) {
    b->column[j] = W_row(b, b->member[j])[i];
    b->row[j] = row[b->member[j]];
  }
  int at = b->factor.n;
  tb_ldu_append(&b->factor, b->column, b->row, row[i], 1e-2 * EPSILON);
  if (b->factor.n == at) return false;
  b->member[at] = i;
  b->place[i] = at;
  b->set[i] = TB_BETWEEN;
  return true;
}

void tb_blcp_factor_sets(tbBlcp* b)
{
  b->factor.n = 0;
  b->removals = 0;
  for (int i = 0; i < b->n; i++) {
    b->place[i] = -1;
    if (b->set[i] != TB_BETWEEN) continue;
    bool stops = i % ASK_EVERY == 0 && tb_run_stops(b->run); // and nothing of it will be used
    if (stops || !append(b, i)) b->set[i] = TB_LOWER;
  }
}

bool tb_blcp_enter(tbBlcp* b, int i)
{
  if (append(b, i)) return true;
  tb_blcp_factor_sets(b);
  return append(b, i);
}

void tb_blcp_leave(tbBlcp* b, int i, tbIndexSet to)
{
  int at = b->place[i];
  b->set[i] = (uint8_t)to;
  if (at < 0) return;
  tb_ldu_remove(&b->factor, at);
  memmove(b->member + at, b->member + at + 1, (size_t)(b->factor.n - at) * sizeof *b->member);
  for (int j = at; j < b->factor.n; j++) b->place[b->member[j]] = j;
  b->place[i] = -1;
  if (++b->removals > 20 + b->factor.n / 4) tb_blcp_factor_sets(b);
}

// x ← x − W⁻¹ v over the rows between their bounds. Returns the largest change.
static double solve_between(tbBlcp* b)
{
  double most = 0;
  for (int j = 0; j < b->factor.n; j++) b->column[j] = b->v[b->member[j]];
  tb_ldu_solve(&b->factor, b->column);
  for (int j = 0; j < b->factor.n; j++) {
    b->x[b->member[j]] -= b->column[j];
    most = fmax(most, fabs(b->column[j]));
  }
  return most;
}

void tb_blcp_values(tbBlcp* b)
{
  for (int i = 0; i < b->n; i++)
    if (b->set[i] != TB_BETWEEN) b->x[i] = held_at(b->lo[i], b->hi[i], (tbIndexSet)b->set[i]);
  for (int pass = 0; pass < 4; pass++) { // the solution, two refinements, the velocity
    double left = 0;
    for (int i = 0; i < b->n; i++) {
      if (pass < 3 && b->place[i] < 0) continue;
      b->v[i] = tb_dot(b->n, W_row(b, i), b->x) + b->shifted[i];
      if (b->place[i] >= 0) left = fmax(left, fabs(b->v[i]));
    }
    if (pass < 3) b->noise_x = solve_between(b);
    else b->noise_v = left;
  }
}

// ---- index sets, bounds coupled ----

static bool is_unknown(const tbBlcp* b, int i)
{
  int n = b->normal[i];
  return b->set[i] == TB_BETWEEN && (n < 0 || b->set[n] == TB_BETWEEN);
}

// What multiplies x_n in a row that rests on a bound that follows it.
static double slope_at(const tbBlcp* b, int i)
{
  return b->set[i] == TB_UPPER ? b->bound_hi[i] : b->bound_lo[i];
}

bool tb_blcp_coupled(tbBlcp* b)
{
  int count = 0, n = b->n;
  for (int i = 0; i < n; i++) {
    b->y[i] = 0;
    if (is_unknown(b, i)) b->swap[count++] = i;
    else if (b->normal[i] < 0) b->y[i] = held_at(b->bound_lo[i], b->bound_hi[i], (tbIndexSet)b->set[i]);
  }
  int* unknown = (int*)b->column; // the factorisation takes swap
  memcpy(unknown, b->swap, (size_t)count * sizeof *unknown);
  for (int r = 0; r < count; r++) {
    const double* W = W_row(b, unknown[r]);
    double* row = b->system + (size_t)r * (size_t)count;
    b->row[r] = -b->shifted[unknown[r]] - tb_dot(n, W, b->y);
    for (int c = 0; c < count; c++) {
      int j = unknown[c];
      row[c] = W[j];
      for (int t = j + 1; t < n && b->normal[t] == j; t++)
        if (!is_unknown(b, t)) row[c] += slope_at(b, t) * W[t];
    }
  }
  if (tb_dense_eliminate(b->run->threads, tb_stop_interrupt(b->run->stop), count, count, b->system, count,
                         b->swap, DBL_MIN) != 0)
    return false;
  tb_dense_lu_solve(count, b->system, count, b->swap, b->row);
  for (int c = 0; c < count; c++) {
    int j = unknown[c];
    b->y[j] = b->row[c];
    if (!isfinite(b->y[j])) return false;
    for (int t = j + 1; t < n && b->normal[t] == j; t++)
      if (!is_unknown(b, t)) b->y[t] = slope_at(b, t) * b->y[j];
  }
  for (int i = 0; i < n; i++) b->vy[i] = is_unknown(b, i) ? 0 : tb_dot(n, W_row(b, i), b->y) + b->shifted[i];
  return true;
}

// ---- changes ----

tbIndexSet tb_blcp_belongs(const tbBlcp* b, const double* x, const double* v, int i, double lo, double hi,
                           double tolerance)
{
  tbIndexSet set = (tbIndexSet)b->set[i];
  double off = fmax(tolerance, b->noise_x);
  if (set == TB_BETWEEN) return x[i] < lo - off ? TB_LOWER : x[i] > hi + off ? TB_UPPER : set;
  if (!(hi > lo)) return set;
  off = fmax(tolerance, b->noise_v);
  if (set == TB_LOWER && (v[i] < -off || !isfinite(lo))) return TB_BETWEEN;
  if (set == TB_UPPER && (v[i] > off || !isfinite(hi))) return TB_BETWEEN;
  return set;
}

// The BLCP of bounds frozen at x_n, to the accuracy that moving the proximal centre reaches. True: over.
static bool solve_frozen(tbBlcp* b, const double* x, bool (*solve)(tbBlcp* b, void* user), void* user)
{
  enum { MOVES = 4 };
  tb_blcp_freeze(b, x);
  for (int k = 0; k < MOVES; k++) {
    if (solve(b, user)) return true;
    tb_blcp_move_centre(b, b->x);
  }
  return false;
}

// Normal impulses without friction give the bounds, once (course §1.7). The answer is that of these bounds,
// whatever the judge says of it.
static void freeze_limits(tbBlcp* b, bool (*solve)(tbBlcp* b, void* user), void* user)
{
  memset(b->y, 0, (size_t)b->n * sizeof *b->y);
  if (solve_frozen(b, b->y, solve, user)) return;
  memcpy(b->y, b->x, (size_t)b->n * sizeof *b->y);
  if (solve_frozen(b, b->y, solve, user)) return;
  for (int i = 0; i < b->n; i++) b->lambda[i] = fmin(fmax(b->x[i], b->lo[i]), b->hi[i]) * b->scale[i];
  tb_run_judge_next(b->run);
  if (tb_run_done(b->run, b->iteration++, b->lambda)) return;
  tb_run_settle(b->run, b->lambda);
  tb_run_stop(b->run, TB_MAX_ITERATIONS);
}

void tb_blcp_fixed_point(tbBlcp* b, bool (*solve)(tbBlcp* b, void* user), void* user)
{
  if (b->follows && b->run->o->limits == TB_LIMITS_FROZEN) {
    freeze_limits(b, solve, user);
    return;
  }
  double best = INFINITY;
  for (int stalled = 0; stalled < 60;) {
    if (solve(b, user) || tb_blcp_done(b, b->x, b->v, true)) return;
    const double* next = b->x;
    double reached = tb_blcp_violation(b, b->x, b->v);
    if (b->follows && tb_blcp_coupled(b)) {
      double other = tb_blcp_violation(b, b->y, b->vy);
      if (tb_blcp_done(b, b->y, b->vy, true)) return;
      if (other < 0.9 * fmin(reached, best)) reached = other, next = b->y;
    }
    if (isinf(reached)) break;
    if (reached < 0.9 * best) {
      best = reached, stalled = 0;
    } else if (++stalled > 1) { // it goes to and fro: half steps
      for (int i = 0; i < b->n; i++) b->y[i] = (b->x[i] + b->centre[i]) / 2;
      next = b->y;
    }
    tb_blcp_freeze(b, next);
    tb_blcp_move_centre(b, next);
  }
  tb_run_give_up(b->run);
}
