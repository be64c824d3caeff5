// Proximal Newton
#include "solve/methods.h"
#include "solve/newton_core.h"

#include <math.h>
#include <string.h>

size_t tb_prox_newton_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  tb_newton_layout(&(tbNewton){0}, &counting, W);
  TB_SCRATCH(&counting, double, (size_t)W->problem->nrow);
  return counting.used;
}

#include <stdio.h>
#include <stdlib.h>
static double env(const char* name, double x) { const char* s = getenv(name); return s ? atof(s) : x; }

void tb_prox_newton(tbRun* run, double* lambda)
{
  tbNewton n = {0};
  tb_newton_layout(&n, &run->scratch, run->W);
  double* anchor = TB_SCRATCH(&run->scratch, double, (size_t)run->p->nrow);
  tb_newton_begin(&n, run, (tbMap)env("MAP", TB_MAP_AC), lambda);
  const tbProblem* p = run->p;
  double least = env("LEAST", 1e-9), eta = env("ETA", 0.1), a0 = env("A0", 1e-2);
  int most = (int)env("MOST", 20);
  for (int i = 0; i < n.plan->islands; i++) n.island[i].alpha = a0;
  memcpy(anchor, lambda, (size_t)p->nrow * sizeof *anchor);
  n.anchor = anchor;
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    tb_newton_linearise(&n);
    // outer logic
    for (int i = 0; i < n.plan->islands; i++) {
      tbNewtonIsland* s = &n.island[i];
      double moved = 0;
      for (int e = n.plan->island_ptr[i]; e < n.plan->island_ptr[i + 1]; e++) {
        int c = n.plan->contact[e];
        double rho2 = s->alpha / (1 + s->alpha);
        rho2 *= rho2;
        for (int r = p->row_adr[c]; r < p->row_adr[c + 1]; r++)
          moved += n.size[c] * rho2 * (lambda[r] - anchor[r]) * (lambda[r] - anchor[r]);
      }
      if (getenv("VERB")) printf("%d alpha %.1e inner %d merit %.3e moved %.3e len %.2e exact %d\n", k, s->alpha, s->inner, s->merit, moved, s->length, n.exact);
      bool done = s->inner > 0 && s->merit <= eta * eta * moved;
      bool failed = s->inner >= most || s->failures > 0;
      if (done || failed) {
        if (failed && !done) {
          for (int e = n.plan->island_ptr[i]; e < n.plan->island_ptr[i + 1]; e++) {
            int c = n.plan->contact[e];
            for (int r = p->row_adr[c]; r < p->row_adr[c + 1]; r++) lambda[r] = anchor[r];
          }
          s->alpha = fmin(1e3, 10 * s->alpha);
        } else {
          for (int e = n.plan->island_ptr[i]; e < n.plan->island_ptr[i + 1]; e++) {
            int c = n.plan->contact[e];
            for (int r = p->row_adr[c]; r < p->row_adr[c + 1]; r++) anchor[r] = lambda[r];
          }
          if (s->inner <= 4) s->alpha = fmax(least, s->alpha / 10);
        }
        s->inner = s->failures = s->seen = 0;
        s->merit = 0;
      }
    }
    tb_newton_linearise(&n);
    tb_newton_direction(&n);
    for (int i = 0; i < n.plan->islands; i++) {
      tbNewtonIsland* s = &n.island[i];
      s->inner++;
      if (!tb_newton_search(&n, i)) s->failures++;
    }
  }
}
