// Projected Gauss–Seidel, over-relaxed, symmetric (course §3.2.1–3.2.3).
//
// Contact by contact, the newest impulses are used at once:
//
//   λ_n ← max(0, λ_n − ω u_n / W_nn)
//   λ_F ← P_{λ_n F}(λ_F − ω u_F / w_F)          cone: all friction rows together, w_F = ‖W_FF‖_∞
//   λ_i ← clamp(λ_i − ω u_i / W_ii, λ_n·bounds)  box: row by row, bounds that follow the normal impulse
//   (BLCP)
//
// `pgs` has ω = 1, `psor` ω = 1.3 unless told otherwise, `spgs` sweeps forward and backward.
//
// Cost      one velocity and one small update per contact and sweep.
// Limits    linear convergence, slower the longer the chain of contacts and the larger the mass ratio.
#include "solve/friction.h"
#include "solve/methods.h"
#include "solve/sweep.h"

#include <math.h>

typedef struct {
  tbRun* run;
  double omega;
  tbFriction* friction; // (ncontact)
  tbSweep sweep;
} Pgs;

static void layout(Pgs* g, tbScratch* s, const tbDelassus* W)
{
  g->friction = TB_SCRATCH(s, tbFriction, (size_t)W->problem->ncontact);
  tb_sweep_layout(&g->sweep, s, W);
}

size_t tb_pgs_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Pgs){0}, &counting, W);
  return counting.used;
}

// λ_i ← clamp(λ_i − ω u_i / D_ii, lo, hi), and what that does to the velocities of the contact's own rows.
static void move_row(int rows, const double* D, int i, double omega, double lo, double hi, double* u,
                     double* lambda)
{
  double step = D[i * rows + i] > 0 ? omega * u[i] / D[i * rows + i] : 0;
  double next = fmin(fmax(lambda[i] - step, lo), hi), d = next - lambda[i];
  lambda[i] = next;
  for (int r = 0; r < rows; r++) u[r] += D[r * rows + i] * d;
}

static void move_friction_rows(int rows, const double* D, const tbFriction* f, double omega, const double* u,
                               double* lambda)
{
  double size = 0, z[TB_MAX_ROWS];
  for (int i = 1; i < rows; i++) {
    double sum = 0;
    for (int j = 1; j < rows; j++) sum += fabs(D[i * rows + j]);
    size = fmax(size, sum);
  }
  for (int i = 1; i < rows; i++) z[i - 1] = lambda[i] - (size > 0 ? omega * u[i] / size : 0);
  tb_friction_closest(f, lambda[0], z, lambda + 1);
}

static void update(void* user, int k, const double* at, double* lambda)
{
  Pgs* g = user;
  const tbProblem* p = g->run->p;
  int rows = tb_rows(p, k);
  const double *D = g->run->W->diag + g->run->W->diag_adr[k], *param = p->param + p->param_adr[k];
  const tbFriction* f = &g->friction[k];
  double u[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) u[i] = at[i];

  if (f->kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++) {
      double lo = p->law[k] == TB_LAW_FREE ? -INFINITY : p->law[k] == TB_LAW_NONNEG ? 0 : param[i];
      double hi = p->law[k] == TB_LAW_BOX ? param[rows + i] : INFINITY;
      move_row(rows, D, i, g->omega, lo, hi, u, lambda);
    }
    return;
  }
  move_row(rows, D, 0, g->omega, 0, INFINITY, u, lambda);
  if (f->kind == TB_SET_BOX)
    for (int i = 1; i < rows; i++)
      move_row(rows, D, i, g->omega, lambda[0] * f->par[2 * i - 2], lambda[0] * f->par[2 * i - 1], u, lambda);
  else
    move_friction_rows(rows, D, f, g->omega, u, lambda);
}

static void iterate(tbRun* run, double* lambda, double omega, tbOrder order)
{
  Pgs g = {.run = run, .omega = run->o->relaxation > 0 ? run->o->relaxation : omega};
  layout(&g, &run->scratch, run->W);
  for (int k = 0; k < run->p->ncontact; k++)
    tb_friction_make(run->p, k, run->o->model, run->o->directions, &g.friction[k]);
  g.sweep.update = update;
  g.sweep.user = &g;
  tb_sweep_begin(&g.sweep, run, order, lambda);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) tb_sweep(&g.sweep);
}

void tb_pgs(tbRun* run, double* lambda) { iterate(run, lambda, 1, run->o->order); }
void tb_psor(tbRun* run, double* lambda) { iterate(run, lambda, 1.3, run->o->order); }
void tb_spgs(tbRun* run, double* lambda) { iterate(run, lambda, 1, TB_ORDER_SYMMETRIC); }
