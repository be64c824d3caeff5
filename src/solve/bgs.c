// SPDX-License-Identifier: Apache-2.0
// Blocked Gauss–Seidel: non-smooth contact dynamics (Moreau, Jean 1999; course §3.2.4).
//
// Contact by contact, with every other impulse held, the contact's own problem is solved exactly: u_k = D λ_k
// + q with its law. The blocks keep normal and friction together, which splitting by rows tears apart.
//
// With the option `blocks` all joints are one block besides, after each sweep (joint_block.h): what hangs on
// chains of them, or drives them, does not wait for impulses to pass from joint to joint. Or, as shock
// propagation has it (Erleben 2007; course, figure 18), a layer from the ground up is a block: a few sweeps
// through it alone come close to its solution before the next one is looked at.
//
// Cost      one velocity and one local solve per contact and sweep.
// Limits    linear convergence; slow on long chains, on large mass ratios, and where contacts are redundant.
//           It may diverge where W is far from symmetric: the run then ends as failed, with the best iterate
//           (run.c).
#include "solve/gauss_seidel.h"
#include "solve/joint_block.h"
#include "solve/methods.h"

size_t tb_bgs_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  tbScratch counting = {0};
  tb_gauss_seidel_layout(&(tbGaussSeidel){0}, &counting, W);
  tb_joint_solve_layout(&(tbJointSolve){0}, &counting, W, o);
  return counting.used;
}

void tb_bgs(tbRun* run, double* lambda)
{
  tbGaussSeidel g = {0};
  tbJointSolve joints = {0};
  bool layers = run->o->blocks == TB_BLOCKS_LAYERS && run->o->order == TB_ORDER_LAYERS && run->group_ptr;
  tb_gauss_seidel_layout(&g, &run->scratch, run->W);
  tb_joint_solve_layout(&joints, &run->scratch, run->W, run->o);
  tb_gauss_seidel_by_contacts(&g, run, run->o->order, lambda);
  tb_joint_solve_begin(&joints, run);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (layers) tb_sweep_layers(&g.sweep, run->o->sweeps > 0 ? run->o->sweeps : 5);
    else tb_sweep(&g.sweep);
    if (tb_joint_solve(&joints, lambda)) tb_sweep_refresh(&g.sweep);
  }
}
