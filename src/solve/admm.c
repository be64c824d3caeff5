// SPDX-License-Identifier: Apache-2.0
// The alternating direction method of multipliers, on the convex and on the Coulomb problem
// (Boyd et al. 2011; Acary, Brémond and Huber 2018).
//
//   min ½ xᵀWx + xᵀ(q + s) + [z ∈ K],   x = z,   penalty ρ/2 ‖x − z‖²_R
//
// with R the diagonal of W, contact by contact (cones.h). In terms of v, which holds both z and the scaled
// multiplier y = −û/(ρR), one iteration is
//
//   z = P(v),   y = v − z
//   s = σ_F(−u_F) with u_F = −ρ R y_F           the Coulomb term; 0 for associated models
//   (W + ρR) x = ρR (z − y) − q − s             one sparse factor, used until ρ changes
//   v ← v + α (x − z)                           α = 1.5: over-relaxation
//
// a fixed-point iteration, so Anderson mixing applies as it stands (anderson.h); Nesterov's momentum with
// restarts (Goldstein et al. 2014) is slower on contact problems and not safe once s moves. The penalty is
// balanced: contacts that stick want ρ small and show as a z that still moves, open and sliding contacts want
// it large and show as a y that does. Where one moves more than twice as far as the other, ρ follows the
// ratio and W + ρR is factored again. The Coulomb term can make the iteration cycle: where ‖x − z‖ stalls, ρ
// takes a leap to the side the ratio points to, which breaks the cycle.
//
// Of an unsymmetric W the symmetric part S is factored and the rest, which in contact problems is small, is
// applied to z on the right-hand side: the fixed point is the same.
//
// Cost      one factorisation at the start and a few later; per iteration one solve, one projection, and the
//           mixing. W + ρR fills in where one body has very many contacts.
// Limits    linear convergence, and on the Coulomb problem without a proof; a W whose skew part is not small
//           against S + ρR can diverge.
#include "solve/anderson.h"
#include "solve/cones.h"
#include "solve/methods.h"
#include "solve/shifted.h"

#include <math.h>
#include <string.h>

enum { MEMORY = 6, FIRST_BALANCE = 5, BALANCE_EVERY = 50 };
static const double LARGEST_RHO = 1e4;

typedef struct {
  tbRun* run;
  tbShifted* matrix;
  tbCones cones;
  tbAnderson mixer;
  double rho, alpha;
  double *z, *v;
  double *y, *x, *f, *s; // f: also the right-hand side
  double *last_z, *last_y;
  double moved_z, moved_y; // since ρ was last balanced: sums of ‖Δz‖²_R and ‖Δy‖²_R
  double reached;          // ‖x − z‖ when ρ was last looked at
  int next_balance;
  double* workspace;
} Admm;

static void layout(Admm* a, tbScratch* scratch, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  tb_cones_layout(&a->cones, scratch, W->problem);
  tb_anderson_layout(&a->mixer, scratch, (int)n, MEMORY);
  double** vectors[] = {&a->v, &a->y, &a->x, &a->f, &a->s, &a->last_z, &a->last_y};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(scratch, double, n);
  a->workspace = TB_SCRATCH(scratch, double, tb_delassus_workspace(W));
}

size_t tb_admm_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Admm){0}, &counting, W);
  return counting.used;
}

tbStatus tb_admm_prepare(tbContext* ctx, tbRun* run)
{
  return tb_shifted_create(ctx, run->W, (tbShifted**)&run->prepared);
}

tbStatus tb_admm_renew(tbContext* ctx, tbRun* run)
{
  tb_shifted_renew(ctx, run->prepared);
  return TB_OK;
}

void tb_admm_release(tbContext* ctx, tbRun* run) { tb_shifted_free(ctx, run->prepared); }

// v for which z and û are those of λ: a solution as warm start is a fixed point.
static void start(Admm* a)
{
  const tbDelassus* W = a->run->W;
  int n = a->run->p->nrow;
  tb_delassus_apply(W, a->run->threads, a->z, a->x, a->workspace);
  for (int i = 0; i < n; i++) a->x[i] += W->q[i];
  memset(a->s, 0, (size_t)n * sizeof *a->s);
  tb_cones_lift(&a->cones, a->x, a->s);
  for (int i = 0; i < n; i++) a->v[i] = a->z[i] - (a->x[i] + a->s[i]) / (a->rho * a->cones.R[i]);
}

static void project(Admm* a)
{
  int n = a->run->p->nrow;
  tb_cones_project(&a->cones, a->v, a->z);
  for (int i = 0; i < n; i++) {
    a->y[i] = a->v[i] - a->z[i];
    a->f[i] = -a->rho * a->cones.R[i] * a->y[i]; // û
  }
  tb_cones_lift(&a->cones, a->f, a->s);
}

static void solve(Admm* a)
{
  int n = a->run->p->nrow;
  const double *q = a->run->W->q, *R = a->cones.R;
  for (int i = 0; i < n; i++) a->f[i] = a->rho * R[i] * (a->z[i] - a->y[i]) - q[i] - a->s[i];
  tb_shifted_skew(a->matrix, -1, a->z, a->f);
  tb_shifted_solve(a->matrix, a->f, a->x);
}

static void measure(Admm* a, int iteration)
{
  int n = a->run->p->nrow;
  for (int i = 0; iteration > 0 && i < n; i++) {
    double dz = a->z[i] - a->last_z[i], dy = a->y[i] - a->last_y[i];
    a->moved_z += a->cones.R[i] * dz * dz;
    a->moved_y += a->cones.R[i] * dy * dy;
  }
  memcpy(a->last_z, a->z, (size_t)n * sizeof *a->z);
  memcpy(a->last_y, a->y, (size_t)n * sizeof *a->y);
}

// False when W + ρR cannot be factored.
static bool balance(Admm* a, int iteration)
{
  if (iteration < a->next_balance) return true;
  bool stalled = a->mixer.best > 0.9 * a->reached;
  double ratio = sqrt(a->moved_y / a->moved_z), factor = fmin(10, fmax(0.1, ratio));
  if (stalled) factor = ratio > 1 ? 5 : 0.2;
  factor = fmin(LARGEST_RHO, fmax(1 / LARGEST_RHO, a->rho * factor)) / a->rho;
  a->next_balance = iteration + BALANCE_EVERY;
  a->reached = a->mixer.best;
  a->moved_z = a->moved_y = 0;
  if (!(factor > 2 || factor < 0.5)) return true; // also NaN: nothing has moved
  a->rho *= factor;
  a->reached = INFINITY;
  tb_anderson_reset(&a->mixer);
  for (int i = 0; i < a->run->p->nrow; i++) {
    a->v[i] = a->z[i] + (a->v[i] - a->z[i]) / factor; // û stays
    a->last_y[i] /= factor;
  }
  return tb_shifted_factor(a->matrix, a->rho, a->cones.R, NULL);
}

void tb_admm(tbRun* run, double* lambda)
{
  Admm a = {.run = run,
            .matrix = run->prepared,
            .z = lambda,
            .rho = 0.3,
            .reached = INFINITY,
            .alpha = run->o->relaxation > 0 ? run->o->relaxation : 1.5,
            .next_balance = FIRST_BALANCE};
  layout(&a, &run->scratch, run->W);
  tb_cones_begin(&a.cones, run);
  a.mixer.weight = a.cones.R;
  tb_anderson_reset(&a.mixer);
  bool factored = tb_shifted_factor(a.matrix, a.rho, a.cones.R, NULL);
  start(&a);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (!factored) {
      tb_run_give_up(run);
      return;
    }
    project(&a);
    solve(&a);
    measure(&a, k);
    for (int i = 0; i < run->p->nrow; i++) a.f[i] = a.alpha * (a.x[i] - a.z[i]);
    tb_anderson_step(&a.mixer, a.v, a.f);
    factored = balance(&a, k);
  }
}
