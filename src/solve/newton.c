// SPDX-License-Identifier: Apache-2.0
// Nonsmooth Newton methods: Alart–Curnier, Fischer–Burmeister, minimum map (course §3.3), limit surface
// (§6.1.5).
//
// The contact law is written as equations Φ(λ, u) = 0 (contact_map.h) and Newton's method applied with a
// generalised derivative. A step length is searched on ‖Φ‖² without asking for decrease at every step
// (Grippo, Lampariello and Lucidi 1986). Where W is singular or the search fails, the system is regularised
// as Levenberg and Marquardt do: W + αT in place of W, with α raised on failure and lowered on success.
//
// Cost      one sparse factorisation per iteration, of the contacts that are not open; few iterations.
// Limits    from a bad start on a hard problem the merit gets stuck; prox-newton goes further.
#include "solve/methods.h"
#include "solve/newton_core.h"

#include <math.h>
#include <string.h>

static const double LEAST = 1e-10, MOST = 1e2; // of α

size_t tb_newton_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  tb_newton_layout(&(tbNewton){0}, &counting, W);
  return counting.used;
}

// No step helps: let the equations themselves move λ, as a fixed point would, and forget the past.
static void fixed_point_step(tbNewton* n, int i)
{
  const tbProblem* p = n->run->p;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++) n->lambda[r] -= n->phi[r];
  }
  n->island[i].seen = 0;
}

static void iterate(tbRun* run, double* lambda, tbMap map)
{
  tbNewton n = {0};
  tb_newton_layout(&n, &run->scratch, run->W);
  tb_newton_begin(&n, run, map, lambda);
  for (int i = 0; i < n.plan->islands; i++) n.island[i].alpha = LEAST;
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    tb_newton_linearise(&n);
    tb_newton_rest(&n);
    tb_newton_direction(&n);
    if (tb_run_stops(run)) continue;
    for (int i = 0; i < n.plan->islands; i++) {
      tbNewtonIsland* s = &n.island[i];
      if (s->resting) continue;
      if (tb_newton_search(&n, i, 1)) {
        if (s->length > 0.5) s->alpha = fmax(LEAST, s->alpha / 10);
      } else if (s->alpha < MOST) {
        s->alpha = fmax(1e-4, 10 * s->alpha);
      } else {
        fixed_point_step(&n, i);
        s->alpha = LEAST;
      }
    }
  }
}

void tb_newton_ac(tbRun* run, double* lambda) { iterate(run, lambda, TB_MAP_AC); }
void tb_newton_fb(tbRun* run, double* lambda) { iterate(run, lambda, TB_MAP_FB); }
void tb_newton_min(tbRun* run, double* lambda) { iterate(run, lambda, TB_MAP_MIN); }
void tb_newton_surface(tbRun* run, double* lambda) { iterate(run, lambda, TB_MAP_SURFACE); }
