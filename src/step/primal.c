// SPDX-License-Identifier: Apache-2.0
// Primal descent (Macklin, Erleben, Müller, Chentanez, Jeschke and Kim 2020).
//
//   v⁺ = argmin ½ (v − v_free)ᵀ A (v − v_free) + Σ ψ_k(J_k v + b_k)         x⁺ = x + h v⁺
//
// with potentials in place of contact, friction and joints (src/descent/relaxed.h), by preconditioned descent
// (src/descent/descend.h) from the free velocities or, where that is lower, from those of the last step's
// impulses. The last iterate is then made to balance (src/descent/balance.c), by Newton steps to the minimum:
// its impulses are those that move the bodies, to rounding. Unbalanced, bodies have the velocities of the
// last iterate, as published; the report says what momentum the impulses leave unexplained.
//
// Cost      an iteration is linear in contacts; balancing factors A + JᵀDJ over the graph of bodies.
// Limits    insensitive to mass ratios, not to ratios of stiffness; contacts overlap by λ/(h k_n), and stick
//           with the slip λ/(h k_f).
#include "step/relaxed.h"

static tbStatus descend(tbContext* ctx, tbRelaxedRun* run)
{
  tbRelaxedDescent r;
  TB_TRY(tb_relaxed_descent_begin(ctx, run, &r));
  TB_TRY(tb_descent_run(ctx, run->arena, &r.descent));
  return tb_relaxed_descent_end(ctx, run, &r);
}

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  return tb_relaxed_prepare(ctx, w, o, false, work, report);
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  return tb_relaxed_solve(ctx, w, o, descend, "primal", work, report);
}

const tbSchemeMethod tb_primal = TB_RELAXED_SCHEME(prepare, solve);
