// SPDX-License-Identifier: Apache-2.0
// Proximal fixed points, Gauss–Seidel and Jacobi (Foerg, Pfeiffer and Ulbrich 2006; Erleben 2017; course
// §3.4, algorithms 11 and 12).
//
// The law of a contact is a fixed point for any r-factors R > 0:
//
//   λ_n = max(0, λ_n − r_n u_n),    λ_F = prox_{λ_n F}(λ_F − R_F u_F)
//
// `prox-gs` visits the contacts one by one with the newest velocities and the newest λ_n; `prox-jacobi` moves
// all at once, friction bounded by the λ_n before.
//
//   global   r = 1/λ_max(W) for every row, by power iteration        ν = 0.5
//   local    r_i = 1/W_ii                                            ν = 0.9     (the default of both)
//   block    r_n = 1/W_nn,  R_F = W_FF⁻¹                             ν = 0.5
//
// Where the step grows, it is rolled back and all r-factors are multiplied by ν. The course measures the step
// in ‖·‖_∞ and against the one before, and never lets r grow again: then any problem whose step is not
// monotone, as where contacts go from sticking to sliding, ends with steps of no length. But a step that is
// not too long is nonexpansive (Parikh and Boyd 2014), and in one norm only: for the same r,
//
//   ε = ‖λ⁺ − λ‖_{R⁻¹},   ε_{k+1} ≤ ε_k      all at once, W symmetric, friction sets that stand still
//
// So ε is taken in that norm, and compared with the least since r last changed, not with steps of another r.
// Friction sets that move let it rise by a few per cent for a while; a step that is too long, exponentially
// or for good. Divergence is growth beyond a tenth; or no new least for a few steps that each turn back on
// the one before, as where projections hold two points in a cycle; or for very many steps whatever they do.
// After a run of good steps r grows by the same ν, up to r_i = 1/W_ii. Where it has diverged before it is
// tried again too, for what was too long while contacts still opened and closed need not stay so, but after a
// longer run, twice as long every time.
//
// The fixed point is the law only if prox is taken in the metric R_F⁻¹, in which R_F turns no direction: with
// unequal factors under the Euclidean prox, a sliding contact would be pushed askew. So the rows of
// a ball share one factor; an ellipsoid, which stays one in a diagonal metric, keeps its own for each row
// (torsion is not in newtons), a box needs none of this; and the block strategy solves its few rows by
// accelerated gradients.
//
// Cost      one sweep, or one product with W, per iteration.
// Limits    linear convergence as of pgs and jacobi; the block strategy with Gauss–Seidel is near bgs.
#include "base/random.h"
#include "base/threads.h"
#include "math/dense.h"
#include "solve/friction.h"
#include "solve/methods.h"
#include "solve/sweep.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  POWER_ITERATIONS = 20,
  CONTACTS_PER_PIECE = 128,
  INNER = 100,
  RUN = 16,   // good steps before r grows
  RETRY = 64, // before it grows to where it diverged, at first
  LAST_RETRY = 8192,
  PATIENCE = 256, // steps without a new least ε
  REVERSALS = 4   // such steps that turn back
};
static const double GROWTH = 1.1, SMALLEST = 1e-6;

typedef struct {
  tbRun* run;
  tbRFactor strategy;
  double nu, scale, most;         // what has become of the r-factors, and the largest that may
  double least;                   // smallest ε at this scale
  int good, stale;                // steps at this scale; of them, since ε was smallest
  int reversed;                   // of those, that turned back
  double length;                  // ε of the last step
  double bad;                     // scale that diverged last
  int retry;                      // good steps before it is tried again
  tbFrictionSet* friction;        // (ncontact)
  double* r;                      // before scaling (nrow)
  double *lambda, *before, *step; // now; before the step; the last one kept
  double* home;                   // where this scale began
  tbSweep sweep;
  double *bodies, *home_bodies; // the sweep's w there
  double *u, *workspace;
} Prox;

static void layout(Prox* x, tbScratch* s, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  x->friction = TB_SCRATCH(s, tbFrictionSet, (size_t)W->problem->ncontact);
  x->r = TB_SCRATCH(s, double, n);
  x->before = TB_SCRATCH(s, double, n);
  x->step = TB_SCRATCH(s, double, n);
  x->u = TB_SCRATCH(s, double, n);
  x->home = TB_SCRATCH(s, double, n);
  x->bodies = TB_SCRATCH(s, double, tb_sweep_bodies(W));
  x->home_bodies = TB_SCRATCH(s, double, tb_sweep_bodies(W));
  x->workspace = TB_SCRATCH(s, double, tb_delassus_workspace(W));
  tb_sweep_layout(&x->sweep, s, W);
}

size_t tb_prox_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Prox){0}, &counting, W);
  return counting.used;
}

// ---- r-factors ----

// λ_max(W) from a fixed start; too small by a few per cent as a rule, which rolling back makes up for.
static double largest_eigenvalue(Prox* x)
{
  int n = x->run->p->nrow;
  uint64_t random = 1;
  double size = 0, *v = x->before, *Wv = x->u;
  for (int i = 0; i < n; i++) v[i] = tb_random_uniform(&random, 0.5, 1.5);
  for (int iteration = 0; iteration < POWER_ITERATIONS; iteration++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * v[i];
    size = sqrt(sum);
    if (!(size > 0)) return 0;
    for (int i = 0; i < n; i++) v[i] /= size;
    tb_delassus_apply(x->run->W, x->run->threads, v, Wv, x->workspace);
    memcpy(v, Wv, (size_t)n * sizeof *v);
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

// Rows whose set is a ball share the least of their factors.
static void share(int rows, double* r)
{
  double least = r[0];
  for (int i = 1; i < rows; i++) least = fmin(least, r[i]);
  for (int i = 0; i < rows; i++) r[i] = least;
}

static void choose_factors(Prox* x)
{
  const tbProblem* p = x->run->p;
  double largest = x->strategy == TB_RFACTOR_GLOBAL ? largest_eigenvalue(x) : 0, fullest = 0;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k), kind = x->friction[k].kind;
    const double* D = x->run->W->diag + x->run->W->diag_adr[k];
    double* r = x->r + p->row_adr[k];
    for (int i = 0; i < rows; i++) {
      double d = x->strategy == TB_RFACTOR_GLOBAL ? largest : D[i * rows + i];
      r[i] = d > 0 ? 1 / d : 0;
    }
    if (kind == TB_SET_BALL || kind == TB_SET_POLYGON || kind == TB_SET_TENSOR) share(rows - 1, r + 1);
    if (kind == TB_SET_BALLS) { // sliding; torsion, where there is any; rolling
      share(2, r + 1);
      if (rows > 4) share(2, r + rows - 2);
    }
    for (int i = 0; i < rows; i++) fullest = fmax(fullest, r[i] * D[i * rows + i]);
  }
  x->most = fullest > 0 ? fmax(1, 1 / fullest) : 1;
}

// ---- one contact ----

// prox of λ_F − R u_F onto radius·F in the metric of the diagonal R⁻¹.
static void prox_diagonal(const tbFrictionSet* f, double radius, const double* r, double scale,
                          const double* u, const double* before, double* out)
{
  int m = f->dim;
  double z[TB_MAX_ROWS] = {0};
  for (int i = 0; i < m; i++) z[i] = before[i] - scale * r[i] * u[i];
  if (f->kind != TB_SET_ELLIPSOID) {
    tb_friction_closest(f, radius, z, out);
    return;
  }
  tbFrictionSet stretched = *f; // in the coordinates R^{-1/2} x
  double root[TB_MAX_ROWS];
  for (int i = 0; i < m; i++) {
    root[i] = r[i] > 0 ? sqrt(r[i]) : 1;
    z[i] /= root[i];
    stretched.par[i] /= root[i];
  }
  tb_friction_closest(&stretched, radius, z, out);
  for (int i = 0; i < m; i++) out[i] *= root[i];
}

// The same for R = scale W_FF⁻¹: the minimum of ½ xᵀMx + (u_F − Mλ_F)ᵀx over radius·F, M = W_FF / scale.
static void prox_block(const tbFrictionSet* f, double radius, int rows, const double* D, double scale,
                       const double* u, const double* before, double* out)
{
  int m = f->dim, swap[TB_MAX_ROWS];
  double A[TB_MAX_ROWS * TB_MAX_ROWS], M[TB_MAX_ROWS * TB_MAX_ROWS], d[TB_MAX_ROWS], z[TB_MAX_ROWS], size = 0;
  for (int i = 0; i < m; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++) {
      A[i * m + j] = M[i * m + j] = D[(i + 1) * rows + j + 1] / scale;
      sum += fabs(M[i * m + j]);
    }
    size = fmax(size, sum);
    d[i] = -u[i];
  }
  memcpy(out, before, (size_t)m * sizeof *out);
  if (!(size > 0)) {
    tb_friction_closest(f, radius, before, out);
    return;
  }
  // Inside the set the minimum is that of the quadratic.
  tb_dense_ldlt_solve(m, tb_dense_ldlt(m, A, m, swap, 1e-13), A, m, swap, d);
  bool inside = true;
  for (int i = 0; i < m; i++) z[i] = before[i] + d[i];
  tb_friction_closest(f, radius, z, out);
  for (int i = 0; i < m; i++) inside = inside && fabs(out[i] - z[i]) <= 8 * DBL_EPSILON * fabs(z[i]);
  if (inside) return;

  double y[TB_MAX_ROWS], last[TB_MAX_ROWS], theta = 1;
  memcpy(y, out, (size_t)m * sizeof *y);
  for (int iteration = 0; iteration < INNER; iteration++) {
    memcpy(last, out, (size_t)m * sizeof *last);
    for (int i = 0; i < m; i++) {
      double g = u[i];
      for (int j = 0; j < m; j++) g += M[i * m + j] * (y[j] - before[j]);
      z[i] = y[i] - g / size;
    }
    tb_friction_closest(f, radius, z, out);
    double next = 0.5 + sqrt(0.25 + theta * theta), along = 0, change = 0;
    for (int i = 0; i < m; i++) {
      along += (y[i] - out[i]) * (out[i] - last[i]);
      change = fmax(change, fabs(out[i] - last[i]));
    }
    if (along > 0) theta = next = 1; // momentum points uphill
    for (int i = 0; i < m; i++) y[i] = out[i] + (theta - 1) / next * (out[i] - last[i]);
    theta = next;
    if (change <= 1e-15 * radius) return;
  }
}

// λ ← prox(λ − R u); friction is bounded by the new λ_n, or by the one before.
static void move(const Prox* x, int k, bool newest, const double* at, double* lambda)
{
  const tbProblem* p = x->run->p;
  const tbFrictionSet* f = &x->friction[k];
  int rows = tb_rows(p, k);
  const double *D = x->run->W->diag + x->run->W->diag_adr[k], *r = x->r + p->row_adr[k];
  double z[TB_MAX_ROWS], before[TB_MAX_ROWS], u[TB_MAX_ROWS];
  memcpy(before, lambda, (size_t)rows * sizeof *before);
  memcpy(u, at, (size_t)rows * sizeof *u);
  tb_friction_turn(f, u);
  if (f->kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++) z[i] = lambda[i] - x->scale * r[i] * u[i];
    tb_friction_clamp_rows(p, k, z, lambda);
    return;
  }
  lambda[0] = fmax(0, lambda[0] - x->scale * r[0] * u[0]);
  double radius = newest ? lambda[0] : fmax(0, before[0]);
  if (x->strategy == TB_RFACTOR_BLOCK && f->kind != TB_SET_TENSOR)
    prox_block(f, radius, rows, D, x->scale, u + 1, before + 1, lambda + 1);
  else prox_diagonal(f, radius, r + 1, x->scale, u + 1, before + 1, lambda + 1);
}

static void visit(void* user, int k, const double* u, double* lambda) { move(user, k, true, u, lambda); }

static void move_piece(void* user, int begin, int end, int piece)
{
  (void)piece;
  Prox* x = user;
  const tbProblem* p = x->run->p;
  for (int k = begin; k < end; k++) {
    int first = p->row_adr[k];
    double u[TB_MAX_ROWS];
    for (int i = 0; i < tb_rows(p, k); i++) u[i] = x->u[first + i] + x->run->W->q[first + i];
    move(x, k, false, u, x->lambda + first);
  }
}

// ---- the iteration ----

static void begin(Prox* x, tbRun* run, double* lambda)
{
  x->run = run;
  x->lambda = lambda;
  x->strategy = run->o->r_factor != TB_RFACTOR_OWN ? run->o->r_factor : TB_RFACTOR_LOCAL;
  x->nu = x->strategy == TB_RFACTOR_LOCAL ? 0.9 : 0.5;
  x->scale = 1;
  x->least = x->bad = INFINITY;
  x->retry = RETRY;
  layout(x, &run->scratch, run->W);
  for (int k = 0; k < run->p->ncontact; k++)
    tb_friction_make(run->p, k, run->o->model, run->o->directions, &x->friction[k]);
  choose_factors(x);
}

static void rescale(Prox* x, double scale)
{
  x->scale = fmin(fmax(scale, SMALLEST), x->most);
  x->least = INFINITY;
  x->good = x->stale = x->reversed = 0;
  x->length = 0;
}

// Measures the step, in the norm of R⁻¹ before scaling, and keeps it. True when it turns back on the last
// one.
static bool measure(Prox* x)
{
  double sum = 0, along = 0;
  for (int i = 0; i < x->run->p->nrow; i++) {
    double d = x->lambda[i] - x->before[i];
    if (x->r[i] > 0) {
      sum += d * d / x->r[i];
      along += d * x->step[i] / x->r[i];
    }
    x->step[i] = d;
  }
  double last = x->length;
  x->length = sqrt(sum);
  return along < -0.5 * last * x->length;
}

static bool diverges(Prox* x)
{
  bool turned = measure(x);
  if (x->length < x->least) {
    x->least = x->length;
    x->stale = x->reversed = 0;
  } else {
    x->stale++;
    x->reversed += turned;
  }
  return !isfinite(x->length) || x->length > GROWTH * x->least || x->reversed > REVERSALS ||
         x->stale > PATIENCE;
}

static void copy(Prox* x, double* lambda, double* bodies, const double* from, const double* from_bodies)
{
  memcpy(lambda, from, (size_t)x->run->p->nrow * sizeof *lambda);
  if (x->sweep.w) memcpy(bodies, from_bodies, tb_sweep_bodies(x->run->W) * sizeof *bodies);
}

// Keeps the step, or takes it back: to where this scale began if it diverged from the start, so that a row of
// scales that are all too long leads nowhere instead of far away.
static void settle(Prox* x)
{
  if (diverges(x)) {
    if (x->good < RUN) copy(x, x->lambda, x->sweep.w, x->home, x->home_bodies);
    else copy(x, x->lambda, x->sweep.w, x->before, x->bodies);
    if (x->scale >= x->bad && x->retry < LAST_RETRY) x->retry *= 2;
    x->bad = x->scale;
    rescale(x, x->scale * x->nu);
    copy(x, x->home, x->home_bodies, x->lambda, x->sweep.w);
    return;
  }
  double next = fmin(x->scale / x->nu, x->most);
  int run = next < x->bad * (1 - 1e-9) ? RUN : x->retry;
  if (++x->good < run || x->stale > 0 || next <= x->scale) return;
  rescale(x, next);
  copy(x, x->home, x->home_bodies, x->lambda, x->sweep.w);
}

void tb_prox_gs(tbRun* run, double* lambda)
{
  Prox x = {0};
  begin(&x, run, lambda);
  x.sweep.update = visit;
  x.sweep.user = &x;
  tb_sweep_begin(&x.sweep, run, run->o->order, lambda);
  copy(&x, x.home, x.home_bodies, lambda, x.sweep.w);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    copy(&x, x.before, x.bodies, lambda, x.sweep.w);
    tb_sweep(&x.sweep);
    settle(&x);
  }
}

void tb_prox_jacobi(tbRun* run, double* lambda)
{
  Prox x = {0};
  begin(&x, run, lambda);
  x.sweep.w = NULL; // all at once: no velocities are kept
  copy(&x, x.home, NULL, lambda, NULL);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    copy(&x, x.before, NULL, lambda, NULL);
    tb_delassus_apply(run->W, run->threads, lambda, x.u, x.workspace);
    tb_parallel_for(run->threads, run->p->ncontact, CONTACTS_PER_PIECE, move_piece, &x);
    settle(&x);
  }
}
