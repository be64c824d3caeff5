// SPDX-License-Identifier: Apache-2.0
// The primal form of a contact problem (course, chapter 4.2): velocities alone are unknown, contacts and
// friction are forces of a stiff potential, and A (v − v_free) = Jᵀλ(v) is solved by Newton's method with the
// Hessian of all bodies and contacts, with a line search. Contacts overlap by λ/(h k_n) and stick with the
// slip λ/(h k_f): k → ∞ is the problem with its laws, and the judge says how far that is.
#include "step/relaxed.h"

#include "step/count.h"

#include "base/clock.h"

static const double STIFF = 1e4; // times the stiffness that descent has by itself

enum { ITERATIONS = 100 };

tbStatus tb_relaxed_root(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                         tbStepReport* report)
{
  double clock = tb_seconds();
  tbAssembly* a = &work->assembly;
  tbStepOptions own = *o;
  own.descent.preconditioner = TB_DESCENT_NEWTON, own.descent.relaxation = 0, own.descent.balanced = true;
  own.descent.acceleration = TB_ACCELERATE_NONE;
  own.iterations = ITERATIONS;
  tbRelaxedRun run = {.options = &own, .problem = a->problem, .how = tb_relaxation_of(w, &own, a)};
  run.arena = work->arena, run.lambda = a->lambda;
  if (!(o->descent.contact_stiffness > 0)) run.how.contact_stiffness *= STIFF;
  if (!(o->descent.friction_stiffness > 0))
    run.how.friction_stiffness = run.how.h * run.how.contact_stiffness;
  run.deadline = tb_step_deadline(o, clock); // the budget is a round's, from now on (implicit.c)
  if (a->problem->ncontact > 0) {
    tbRelaxedDescent r;
    TB_TRY(tb_relaxed_descent_begin(ctx, &run, &r));
    TB_TRY(tb_descent_run(ctx, run.arena, &r.descent));
    TB_TRY(tb_relaxed_descent_end(ctx, &run, &r));
  }
  tb_step_spend(o, clock);
  report->iterations += run.iterations;
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  TB_TRY(tb_assembly_judge(ctx, o, NULL, a));
  report->used = "primal";
  report->residual = tb_worse_residual(&report->residual, &a->residual);
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return tb_array_push(ctx, &work->records, NULL, (size_t)a->nconstraint);
}
