// SPDX-License-Identifier: Apache-2.0
// Staggered projections (Kaufman, Sueda, James & Pai 2008; course §3.2.5).
//
// Contact and friction are each a convex program once the other is held: the contact projection finds the
// normal impulses that end penetration given friction, the friction projection those of most dissipation
// given the normal impulses. A solution is a fixed point of one after the other,
//
//   f ← P_{F(α)}(x − Nα),   Nα ← P_C(x − f),
//
// in the metric of kinetic energy, W. The sequence starts from the friction it is given and ends, whenever
// its iterations are used up, with a contact projection: what it returns does not penetrate, and where the
// judge finds the start, or no impulses, to be better, these take its place only if they penetrate no more.
// Convergence is measured as there,
//
//   (f − f⁻)ᵀW(f − f⁻) / f⁻ᵀW f⁻,
//
// which here sets how accurately the programs are solved, and ends the sequence where `stagger_tolerance`
// asks for that (28). The sequence need not be monotone; the judge keeps the best, by its own number in place
// of (29), and that one's friction is what the last contact projection, exact to rounding, is made for. Where
// the error stops falling, which it does when the map is no contraction (large μ), Anderson mixing of f takes
// over what the plain sequence cannot do.
//
// Cost      two quadratic programs per iteration (staggered_qp.c), island by island; without W, by conjugate
//           residuals: staggered_cr.c.
// Limits    no proof of convergence; linear where it converges. The programs treat W as symmetric.
#include "solve/staggered.h"
#include "solve/methods.h"

#include <math.h>
#include <string.h>

enum { PLAIN = 3 }; // steps before mixing begins

typedef struct {
  double *f, *next, *change, *product; // friction impulses, in the problem's rows
  double* workspace;
} Staggered;

static void layout(Staggered* g, tbScratch* s, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  double** vectors[] = {&g->f, &g->next, &g->change, &g->product};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(s, double, n);
  g->workspace = TB_SCRATCH(s, double, tb_delassus_workspace(W));
}

size_t tb_staggered_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Staggered){0}, &counting, W);
  return counting.used;
}

tbStatus tb_staggered_prepare(tbContext* ctx, tbRun* run)
{
  tbStagger* s = NULL;
  tbStatus status = tb_stagger_create(ctx, run, &s);
  run->prepared = s;
  return status;
}

void tb_staggered_release(tbContext* ctx, tbRun* run) { tb_stagger_free(ctx, run->prepared); }

// xᵀW x
static double energy(const tbRun* run, Staggered* g, const double* x)
{
  double sum = 0;
  tb_delassus_apply(run->W, run->threads, x, g->product, g->workspace);
  for (int i = 0; i < run->p->nrow; i++) sum += x[i] * g->product[i];
  return fmax(sum, 0);
}

static void put_friction(const tbStagger* s, const double* f, double* lambda)
{
  for (int i = 0; i < s->islands; i++)
    for (int j = 0; j < s->island[i].friction.count; j++) {
      int row = s->island[i].friction.row[j];
      lambda[row] = f[row];
    }
}

// f ← the next friction, island by island, given what the plain step would change.
static void mix(tbStagger* s, const double* change, double* f)
{
  for (int i = 0; i < s->islands; i++) {
    const tbStaggerRows* r = &s->island[i].friction;
    for (int j = 0; j < r->count; j++) {
      s->x[j] = f[r->row[j]] / r->scale[j];
      s->y[j] = change[r->row[j]] / r->scale[j];
    }
    tb_anderson_step(&s->island[i].mixer, s->x, s->y);
    for (int j = 0; j < r->count; j++) f[r->row[j]] = s->x[j] * r->scale[j];
  }
}

void tb_staggered(tbRun* run, double* lambda)
{
  tbStagger* s = run->prepared;
  Staggered g = {0};
  size_t bytes = (size_t)run->p->nrow * sizeof *lambda;
  layout(&g, &run->scratch, run->W);
  memset(g.f, 0, bytes);
  double error = 1;
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    double tolerance = fmin(1e-3, fmax(1e-13, 1e-3 * sqrt(error)));
    if (k == 0) {
      put_friction(s, lambda, g.f);
      tb_stagger_contacts(s, tolerance, lambda);
    }
    memcpy(g.next, g.f, bytes);
    tb_stagger_frictions(s, tolerance, lambda, g.next);
    for (int i = 0; i < run->p->nrow; i++) g.change[i] = g.next[i] - g.f[i];
    double size = energy(run, &g, g.f), moved = energy(run, &g, g.change);
    error = size > 0 ? moved / size : moved > 0 ? 1 : 0;
    if (k < PLAIN) memcpy(g.f, g.next, bytes);
    else mix(s, g.change, g.f);
    put_friction(s, g.f, lambda);
    tb_stagger_contacts(s, tolerance, lambda);
    if (k > 0 && error < run->o->stagger_tolerance) {
      tb_run_consider(run, lambda);
      tb_run_stop(run, TB_MAX_ITERATIONS);
      break;
    }
  }
  // Ended before it converged: nothing penetrates.
  tbStopReason stopped = tb_stop_reason(run->stop);
  bool late = stopped == TB_STOP_TIME;
  if (run->iterations == 0 || run->good || (stopped != TB_STOP_NOT && !late)) return;
  if (run->o->max_iterations > 0 && isfinite(run->best_number)) memcpy(lambda, run->best, bytes);
  tb_stagger_settle(s, late, lambda);
  if (late || !tb_run_stops(run)) tb_run_settle(run, lambda);
}
