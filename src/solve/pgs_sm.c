// SPDX-License-Identifier: Apache-2.0
// Projected Gauss–Seidel with subspace minimisation (Silcowitz, Niebe and Erleben 2010; course §3.2.6,
// algorithm 9).
//
// Phase I   a few sweeps of projected Gauss–Seidel guess which rows are free and which stand at a bound.
// Phase II  the free rows are solved for at once, the others held where their bounds are:
//
//             W_FF d = −u_F,   λ_F ← λ_F + d
//
//           then the bounds follow the new normal impulses and λ is projected onto them; again, until F stays
//           the same or three times.
//
// A friction row of the boxed model stands by itself; where friction rows belong together, as under Coulomb's
// cone, they are free together while inside the cone and held together while on it.
//
// The system is solved by a sparse factor or by conjugate gradients, whichever the memory allows
// (subspace.h).
//
// A wrong guess can throw λ far off. So the outcome of phase II is kept only if the next sweep moves it less
// than the last sweep before it moved λ; else λ goes back, and phase II is left out for a while, longer each
// time.
//
// Cost      sweeps as for pgs, and one to three sparse factorisations, or runs of conjugate gradients, per
//           iteration.
// Limits    where friction is held its bound lags behind the normal impulse, so that many sliding contacts
//           make it no better than pgs. Meant for what sticks and for joints: there a few iterations do.
#include "solve/gauss_seidel.h"
#include "solve/methods.h"
#include "solve/subspace.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 5, SOLVES = 3, LARGEST_WAIT = 256 };

typedef struct {
  tbRun* run;
  tbSubspace* subspace;
  tbGaussSeidel sweeps;
  double *lambda, *before, *kept; // before a sweep; before phase II
  double *u, *d;
  bool* fixed; // rows not in F
  double* workspace;
} Sm;

static void layout(Sm* m, tbScratch* s, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  tb_gauss_seidel_layout(&m->sweeps, s, W);
  double** vectors[] = {&m->before, &m->kept, &m->u, &m->d};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(s, double, n);
  m->fixed = TB_SCRATCH(s, bool, n);
  m->workspace = TB_SCRATCH(s, double, tb_delassus_workspace(W));
}

size_t tb_pgs_sm_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Sm){0}, &counting, W);
  return counting.used;
}

// ---- which rows are free ----

static bool inside_set(const tbFrictionSet* f, double radius, const double* friction)
{
  double x[TB_MAX_ROWS];
  tb_friction_closest(f, radius * (1 - 1e-9), friction, x);
  for (int i = 0; i < f->dim; i++)
    if (fabs(x[i] - friction[i]) > 1e-15 * radius) return false;
  return true;
}

static bool row_is_free(const tbProblem* p, int k, const tbFrictionSet* f, int i, const double* lambda)
{
  const double* param = p->param + p->param_adr[k];
  switch ((tbLaw)p->law[k]) {
  case TB_LAW_BILATERAL: return true;
  case TB_LAW_NONNEG: return lambda[i] > 0;
  case TB_LAW_BOX: return lambda[i] > param[i] && lambda[i] < param[tb_rows(p, k) + i];
  default: break;
  }
  if (!(lambda[0] > 0) || i == 0) return lambda[0] > 0;
  if (f->kind == TB_SET_BOX)
    return lambda[i] > lambda[0] * f->par[2 * i - 2] && lambda[i] < lambda[0] * f->par[2 * i - 1];
  return inside_set(f, lambda[0], lambda + 1);
}

// True when other rows are free than before.
static bool find_free(Sm* m)
{
  const tbProblem* p = m->run->p;
  bool changed = false;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0; i < tb_rows(p, k); i++) {
      bool* fixed = &m->fixed[p->row_adr[k] + i];
      bool now = !row_is_free(p, k, &m->sweeps.friction[k], i, m->lambda + p->row_adr[k]);
      changed = changed || now != *fixed;
      *fixed = now;
    }
  return changed;
}

// ---- the subspace ----

// λ into its bounds, which follow the normal impulses.
static void project(Sm* m)
{
  const tbProblem* p = m->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    double *lambda = m->lambda + p->row_adr[k], z[TB_MAX_ROWS];
    memcpy(z, lambda, (size_t)tb_rows(p, k) * sizeof *z);
    if (m->sweeps.friction[k].kind == TB_SET_NONE) {
      tb_friction_clamp_rows(p, k, z, lambda);
      continue;
    }
    lambda[0] = fmax(0, z[0]);
    tb_friction_closest(&m->sweeps.friction[k], lambda[0], z + 1, lambda + 1);
  }
}

static void minimise(Sm* m)
{
  int n = m->run->p->nrow;
  memset(m->fixed, 1, (size_t)n * sizeof *m->fixed);
  for (int solve = 0; solve < SOLVES && find_free(m); solve++) {
    tb_delassus_apply(m->run->W, m->run->threads, m->lambda, m->u, m->workspace);
    for (int i = 0; i < n; i++) m->u[i] += m->run->W->q[i];
    m->run->operations += m->subspace->product;
    if (!tb_subspace_solve(m->subspace, m->fixed, m->u, m->d)) return;
    for (int i = 0; i < n; i++) m->lambda[i] += m->d[i];
    project(m);
  }
}

// ---- the iteration ----

// One sweep; returns how far it moved λ, in the norm of W's diagonal.
static double sweep(Sm* m)
{
  int n = m->run->p->nrow;
  double sum = 0;
  memcpy(m->before, m->lambda, (size_t)n * sizeof *m->lambda);
  tb_sweep(&m->sweeps.sweep);
  for (int i = 0; i < n; i++) {
    double d = m->lambda[i] - m->before[i];
    sum += m->subspace->diagonal[i] * d * d;
  }
  return sum;
}

tbStatus tb_pgs_sm_prepare(tbContext* ctx, tbRun* run)
{
  return tb_subspace_create(ctx, run, (tbSubspace**)&run->prepared);
}

tbStatus tb_pgs_sm_renew(tbContext* ctx, tbRun* run)
{
  tb_subspace_renew(ctx, run, run->prepared);
  return TB_OK;
}

void tb_pgs_sm_release(tbContext* ctx, tbRun* run) { tb_subspace_free(ctx, run->prepared); }

static void begin(Sm* m, tbRun* run, double* lambda)
{
  layout(m, &run->scratch, run->W);
  double omega = run->o->relaxation > 0 ? run->o->relaxation : 1;
  tb_gauss_seidel_by_rows(&m->sweeps, run, omega, run->o->order, lambda);
}

void tb_pgs_sm(tbRun* run, double* lambda)
{
  Sm m = {.run = run, .subspace = run->prepared, .lambda = lambda};
  begin(&m, run, lambda);
  size_t bytes = (size_t)run->p->nrow * sizeof *lambda;
  double reached = 0;     // how far the last sweep before phase II moved λ
  int wait = 0, skip = 1; // iterations still to go without phase II; how many after the next failure
  bool tried = false;
  int sweeps = run->o->sweeps > 0 ? run->o->sweeps : SWEEPS;
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    double moved = sweep(&m);
    if (tried && moved <= reached) {
      skip = 1;
    } else if (tried) {
      memcpy(lambda, m.kept, bytes);
      wait = skip;
      skip = skip < LARGEST_WAIT ? 2 * skip : skip;
    }
    for (int i = 1; i < sweeps; i++) moved = sweep(&m);
    tried = wait == 0;
    if (!tried) {
      wait--;
      continue;
    }
    reached = moved;
    memcpy(m.kept, lambda, bytes);
    minimise(&m);
  }
}
