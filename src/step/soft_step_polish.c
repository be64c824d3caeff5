// SPDX-License-Identifier: Apache-2.0
// The exact end of a step of soft-step (option polish): what its substeps came to is where a solver starts
// from, on the very problem that the step publishes.
//
//   λ ← the solver's answer, from the sums of the substeps' impulses       within solver.budget_ms, if any
//   v ← v_free + A⁻¹ Jᵀ λ
//
// Positions stay where the substeps took them, which is what keeps stacks from shaking. No answer is worse
// than the start by the judge (tb_solve): a frame that ends too early has lost nothing but its time.
#include "step/soft_step_work.h"

#include <string.h>

// Impulses of the problem become those of the step.
static void take_contacts(tbSoftStepWork* s, const tbAssembly* a)
{
  const double* lambda = a->lambda;
  for (int i = 0, at = 0; i < s->ncontact; i++) {
    const tbSoftStepContact* c = s->entry[i].contact;
    int rows = tb_soft_step_rows(c);
    for (int k = 0; k < c->count; k++, at++, lambda += rows) {
      s->polished[at][0] = lambda[0];
      for (int r = 1; r < 3; r++)
        s->polished[at][r] = rows < 3 ? 0 : lambda[r] * a->constraint[at].stretch[r - 1];
      tb_soft_step_spin_take(s, c, k, lambda);
    }
  }
}

static void take_joints(const tbWorld* w, tbSoftStepWork* s, const tbAssembly* a)
{
  int block = a->nconstraint;
  for (size_t i = 0; i < w->joint.count; i++)
    for (int k = 0; k < a->nblock[i]; k++, block++) {
      int first = a->problem->row_adr[block], rows = a->problem->row_adr[block + 1] - first;
      memcpy(s->joint_total[i] + a->slot[TB_JOINT_BLOCKS * i + (size_t)k], a->lambda + first,
             (size_t)rows * sizeof *a->lambda);
    }
  tb_soft_step_joints_take(s);
}

tbStatus tb_soft_step_polish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             tbSoftStepWork* s, tbStepReport* report)
{
  tbSolveOptions solver = o->solver;
  tb_step_budget(o, work->begun, &solver);
  tbSolveResult result = {.outcome = TB_CONVERGED};
  TB_TRY(tb_soft_step_publish(ctx, w, o, work, s, true));
  TB_TRY(tb_step_answer(ctx, work->cache, work->assembly.problem, &solver, work->assembly.lambda,
                        work->assembly.w, &result, &work->judge));
  report->used = result.used, report->iterations += result.iterations, report->outcome = result.outcome;
  s->polished = tb_arena_take_unset(work->arena, (size_t)s->npoint, sizeof *s->polished);
  if (!s->polished) return TB_ERROR_MEMORY;
  take_contacts(s, &work->assembly);
  take_joints(w, s, &work->assembly);
  return tb_soft_step_add_up(ctx, s);
}
