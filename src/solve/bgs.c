// Blocked Gauss–Seidel: non-smooth contact dynamics (Moreau, Jean 1999; course §3.2.4).
//
// Contact by contact, with every other impulse held, the contact's own problem is solved exactly: u_k = D λ_k
// + q with its law. The blocks keep normal and friction together, which splitting by rows tears apart.
//
// Cost      one velocity and one local solve per contact and sweep.
// Limits    linear convergence; slow on long chains, on large mass ratios, and where contacts are redundant.
#include "solve/local.h"
#include "solve/methods.h"
#include "solve/sweep.h"

typedef struct {
  tbRun* run;
  tbFriction* friction; // (ncontact)
  tbSweep sweep;
} Bgs;

static void layout(Bgs* g, tbScratch* s, const tbDelassus* W)
{
  g->friction = TB_SCRATCH(s, tbFriction, (size_t)W->problem->ncontact);
  tb_sweep_layout(&g->sweep, s, W);
}

size_t tb_bgs_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Bgs){0}, &counting, W);
  return counting.used;
}

static void update(void* user, int k, const double* u, double* lambda)
{
  Bgs* g = user;
  int rows = tb_rows(g->run->p, k);
  const double* D = g->run->W->diag + g->run->W->diag_adr[k];
  double q[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) {
    q[i] = u[i];
    for (int j = 0; j < rows; j++) q[i] -= D[i * rows + j] * lambda[j];
  }
  tb_local_solve(&(tbLocal){g->run->p, k, &g->friction[k], D, q}, lambda);
}

void tb_bgs(tbRun* run, double* lambda)
{
  Bgs g = {.run = run};
  layout(&g, &run->scratch, run->W);
  for (int k = 0; k < run->p->ncontact; k++)
    tb_friction_make(run->p, k, run->o->model, run->o->directions, &g.friction[k]);
  g.sweep.update = update;
  g.sweep.user = &g;
  tb_sweep_begin(&g.sweep, run, run->o->order, lambda);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) tb_sweep(&g.sweep);
}
