// SPDX-License-Identifier: Apache-2.0
// Projected Gauss–Seidel, over-relaxed, symmetric (course §3.2.1–3.2.3).
//
// Contact by contact, the newest impulses are used at once:
//
//   λ_n ← max(0, λ_n − ω u_n / W_nn)
//   λ_F ← P_{λ_n F}(λ_F − ω u_F / w_F)          cone: all friction rows together, w_F = ‖W_FF‖_∞
//   λ_i ← clamp(λ_i − ω u_i / W_ii, λ_n·bounds)  box: row by row, bounds that follow the normal impulse
//   (BLCP)
//
// `pgs` has ω = 1, `psor` ω = 1.3 unless told otherwise, `spgs` sweeps forward and backward (by colours or
// layers: through them and back). The sweep itself is in gauss_seidel.c, for others to build on.
//
// Cost      one velocity and one small update per contact and sweep.
// Limits    linear convergence, slower the longer the chain of contacts and the larger the mass ratio. It may
//           diverge where W is far from symmetric: the run then ends as failed, with the best iterate
//           (run.c).
#include "solve/gauss_seidel.h"
#include "solve/methods.h"

size_t tb_pgs_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  tb_gauss_seidel_layout(&(tbGaussSeidel){0}, &counting, W);
  return counting.used;
}

static void iterate(tbRun* run, double* lambda, double omega, tbOrder order)
{
  tbGaussSeidel g = {0};
  tb_gauss_seidel_layout(&g, &run->scratch, run->W);
  tb_gauss_seidel_by_rows(&g, run, run->o->relaxation > 0 ? run->o->relaxation : omega, order, lambda);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) tb_sweep(&g.sweep);
}

void tb_pgs(tbRun* run, double* lambda) { iterate(run, lambda, 1, run->o->order); }
void tb_psor(tbRun* run, double* lambda) { iterate(run, lambda, 1.3, run->o->order); }
void tb_spgs(tbRun* run, double* lambda) { iterate(run, lambda, 1, TB_ORDER_SYMMETRIC); }
