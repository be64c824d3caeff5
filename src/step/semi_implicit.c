// SPDX-License-Identifier: Apache-2.0
// Semi-implicit time stepping at the velocity level (Stewart and Trinkle 1996; Anitescu and Potra 1997;
// course, chapter on time stepping).
//
//   M (v⁺ − v) = h f + Jᵀλ,   law(u, λ) with u = J v⁺ + b,   x⁺ = x + h v⁺
//
// J and the gaps are those of the start of the step, and a gap φ enters as u_n ≥ −φ/h, so a step ends at the
// surface. One problem per step. First order; bodies in flight and bounces are integrated exactly.
//
// Reduced bodies: their own metric, implicit in what deforms (kind/reduced_step.c), and contacts of features
// that are close or would meet on the way that bodies would go freely, linearised there. What meets all the
// same, since contacts have turned it aside, goes only a share of the step, as in implicit.c, and the report
// says so.
#include "step/impacts.h"
#include "step/inner.h"
#include "step/relaxed.h"
#include "step/scheme.h"
#include "step/trim.h"

#include "base/clock.h"

// Of what deforms; null: nothing does.
static const tbRelaxedSoft* soft_of(const tbStepWork* work) { return work->own; }

static tbStatus begin_soft(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  tbRelaxedSoft* soft = TB_TAKE(work->arena, tbRelaxedSoft, 1);
  if (!soft) return TB_ERROR_MEMORY;
  soft->soft_contacts = TB_ARRAY(tbSoftContact), soft->met = TB_ARRAY(tbSurfaceContact);
  tb_surface_candidates_init(&soft->candidates);
  work->own = soft;
  return tb_relaxed_soft_begin(ctx, w, o, work, soft);
}

static tbStatus assemble(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  const tbRelaxedSoft* soft = soft_of(work);
  return tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre,
                     soft ? soft->step : NULL, work->constraints.data, (int)work->constraints.count,
                     &work->assembly);
}

tbStatus tb_semi_implicit_prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                                  tbStepReport* report)
{
  double clock = tb_seconds();
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tbContactConstraint* constraints = work->constraints.data;
  int count = (int)work->constraints.count;
  tb_constraint_laws(w, o, constraints, count);
  TB_TRY(tb_resolve_impacts(ctx, w, o, work, report));
  constraints = work->constraints.data, count = (int)work->constraints.count;
  tb_constraint_biases(w, o, constraints, count);
  if (tb_first_deforming(w) >= 0) TB_TRY(begin_soft(ctx, w, o, work));
  TB_TRY(assemble(ctx, w, o, work));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  tb_step_note(work, report);
  return TB_OK;
}

// Bodies with surfaces that still meet on their way go less far; and what crosses after the step.
static tbStatus end_apart(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                          tbStepReport* report)
{
  tbRelaxedSoft* soft = work->own;
  tb_surfaces_move(ctx, &work->assembly.view, &soft->surfaces);
  TB_TRY(tb_surfaces_look(ctx, &soft->surfaces, soft->clearance, &soft->candidates, &soft->met));
  if (soft->met.count > 0)
    TB_TRY(tb_surfaces_trim(ctx, w, o, work, soft->clearance, &soft->surfaces, &soft->candidates, &soft->met,
                            report));
  return tb_relaxed_soft_count(ctx, work, soft, report);
}

// Solves the problem, and again with the contacts of inner spheres that would pass through something.
static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  const tbStepReport before = *report;
  tbStepOptions own = *o;
  for (int round = 0, added = 1; added > 0; round++) {
    report->outcome = before.outcome, report->residual = before.residual;
    tb_step_budget(o, work->begun, &own.solver);
    TB_TRY(tb_step_solve(ctx, &own, NULL, true, work, report));
    if (round == TB_INNER_ROUNDS) break;
    TB_TRY(tb_inner_contacts(ctx, w, o, work, &added));
    if (added == 0) break;
    double clock = tb_seconds();
    tb_step_forget(ctx, work);
    work->records.count = 0;
    TB_TRY(assemble(ctx, w, o, work));
    tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  }
  tb_step_note(work, report);
  tb_stop_short(w, o, work);
  return soft_of(work) ? end_apart(ctx, w, o, work, report) : TB_OK;
}

static void end(tbContext* ctx, tbStepWork* work)
{
  if (work->own) tb_relaxed_soft_end(ctx, work->own);
}

void tb_semi_implicit_advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                              tbStepReport* report)
{
  tb_integrate(ctx, o, work->unconstrained, &work->assembly, w, report);
  tb_step_keep(work, w);
}

const tbSchemeMethod tb_semi_implicit = {
    .prepare = tb_semi_implicit_prepare, .solve = solve, .advance = tb_semi_implicit_advance, .end = end};
