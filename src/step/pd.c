// SPDX-License-Identifier: Apache-2.0
// Projective dynamics with dry friction (Ly, Jouve, Boissieux and Bertails-Descoubes 2020).
//
//   P v = b(p) + Jᵀr,   law(u, r) with u = J v + bias,   x⁺ = x + h v        P = M + h² Σ w SᵀS, constant
//
// Contacts are found once, where surfaces are close at the start and where they would meet if nodes went on
// as they go. Then, in every iteration,
//
//   elements    project their shapes at x + h v: p, and from these b             (src/pd/project.c)
//   contacts    update r from velocities that masses alone predict, P = M + C    (pd_contacts.c)
//   all nodes   v = P⁻¹(b + Jᵀr), with the factor that every step shares         (src/pd/matrix.c)
//
// What is published and judged is the contact problem of the last iteration: P and b with p as they are. The
// impulses are whatever the iterations have come to; where they miss the tolerance the report says so, or,
// with the option `polish`, a solver goes on from there. A world with rigid bodies that move freely has their
// contacts and joints in the same problem, and is always left to a solver in the end. Solvers use the factor
// of P for all three axes, which is computed once as well.
//
// Cost: per iteration two passes over the factor of an n × n matrix, for three right-hand sides at once.
// Limits: first order; what turns loses h²ω² of its angular momentum a step. Whatever meets on the way
// becomes a contact and the iterations are run again, as in implicit.c, and bodies that would still pass
// through each other go a share of the step: but thick sheets among themselves and on smooth obstacles only
// where the step is to be certified. Else what comes up there in the middle of the iterations is found in the
// next step, which still can push it back.
#include "step/count.h"
#include "step/impacts.h"
#include "step/pd.h"
#include "step/scheme.h"
#include "step/soft_contact.h"
#include "step/trim.h"

#include "base/clock.h"
#include "base/stop.h"
#include "problem/judge.h"

static const double SHARP = 1e-10; // of Jᵀr, that may be left when velocities are judged

enum { PATIENCE = 3, MOST = 200 }; // rounds with equally many iterations; iterations that are not doubled

static tbStatus assemble(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work, tbPd* r)
{
  TB_TRY(tb_soft_contact_constraints(ctx, w, o, &r->surfaces, r->clearance, &r->soft_contacts,
                                     &work->constraints));
  TB_TRY(tb_array_push(ctx, &work->constraints, r->smooth.data, r->smooth.count));
  return tb_assemble(ctx, work->arena, w, o, false, work->unconstrained, work->centre, r->step,
                     work->constraints.data, (int)work->constraints.count, &work->assembly);
}

// ---- phases ----

// Contacts between rigid bodies, and their impacts.
static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  tbPd* r = work->own = TB_TAKE(work->arena, tbPd, 1);
  if (!r) return TB_ERROR_MEMORY;
  *r = (tbPd){.soft_contacts = TB_ARRAY(tbSoftContact),
              .met = TB_ARRAY(tbSurfaceContact),
              .smooth = TB_ARRAY(tbContactConstraint)};
  tb_surface_candidates_init(&r->candidates);
  r->candidates.scratch = work->arena;
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tb_hold_attached(w, work->unconstrained);
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tb_constraint_laws(w, o, work->constraints.data, (int)work->constraints.count);
  TB_TRY(tb_resolve_impacts(ctx, w, o, work, report));
  tb_constraint_biases(w, o, work->constraints.data, (int)work->constraints.count);
  return TB_OK;
}

static bool has_frames(const tbProblem* p)
{
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind != TB_METRIC_SPARSE) return true;
  return false;
}

// The judge of what the iterations have come to. *ends: that stands; else a solver goes on from there.
static tbStatus judge(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, const tbPd* r,
                      tbStepReport* report, bool* ends)
{
  double clock = tb_seconds();
  tbAssembly* a = &work->assembly;
  if (a->problem->ncontact > 0) {
    TB_TRY(tb_judge_create(ctx, a->problem, &work->judge));
    tb_judge_accuracy(work->judge, SHARP);
    tb_judge_start_from(work->judge, a->w);
  }
  TB_TRY(tb_assembly_judge(ctx, o, work->judge, a));
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  bool missed = !(tb_residual_excess(&a->residual, &o->solver) <= 1);
  bool late = tb_is_late(r->deadline);
  *ends = !missed || !o->polish || late;
  if (!*ends) {
    tb_judge_free(ctx, work->judge);
    work->judge = NULL;
    return TB_OK;
  }
  if (missed) report->outcome = late ? TB_TIME : TB_MAX_ITERATIONS;
  report->used = "pd";
  report->residual = tb_worse_residual(&report->residual, &a->residual);
  return tb_array_push(ctx, &work->records, NULL, (size_t)a->nconstraint);
}

// Iterates and judges with the contacts known so far, of which the first `rigid` are between rigid bodies.
static tbStatus solve_once(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid,
                           int iterations, tbStepWork* work, tbPd* r, tbStepReport* report)
{
  double clock = tb_seconds();
  tb_step_forget(ctx, work);
  work->constraints.count = (size_t)rigid, work->records.count = 0;
  TB_TRY(assemble(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(tb_pd_iterate(ctx, w, o, iterations, work, r, report));
  tb_step_spend(o, clock);
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  bool ends = false;
  if (!has_frames(work->assembly.problem)) TB_TRY(judge(ctx, o, work, r, report, &ends));
  if (ends) return TB_OK;
  tbSolveOptions solver = o->solver;
  tb_step_budget(o, work->begun, &solver);
  bool deforms = tb_first_deforming(w) >= 0; // and never comes quite to rest
  if (deforms && !(solver.aim > 0)) solver.aim = 1;
  return tb_step_solve(ctx, o, &solver, true, work, report);
}

// Again with what meets on the way, until nothing does; should it not come to that, or should time be up,
// bodies go a share of the step. What goes on meeting does so because too few iterations leave contacts open:
// later rounds have more.
static tbStatus certify(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid, tbStepWork* work,
                        tbPd* r, const tbStepReport* before, tbStepReport* report)
{
  int iterations = o->iterations;
  for (int round = 1;; round++) {
    bool changed = false;
    double clock = tb_seconds();
    report->rounds = round;
    tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
    TB_TRY(tb_surfaces_look(ctx, &r->surfaces, r->clearance, &r->candidates, &r->met));
    if (r->met.count > 0 && round < o->rounds && !tb_is_late(r->deadline)) {
      tb_soft_contact_learn(&work->assembly, rigid, &r->soft_contacts);
      TB_TRY(tb_soft_contact_absorb(ctx, w, &r->surfaces, work->pose,
                                    (tbSoftContactMet){.clearance = r->clearance}, &r->met, &r->soft_contacts,
                                    &changed));
    }
    tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
    if (!changed) break;
    report->outcome = before->outcome, report->residual = before->residual;
    if (round % PATIENCE == 0 && iterations < MOST) iterations *= 2;
    TB_TRY(solve_once(ctx, w, o, rigid, iterations, work, r, report));
  }
  if (r->met.count == 0) return TB_OK;
  return tb_surfaces_trim(ctx, w, o, work, r->clearance, &r->surfaces, &r->candidates, &r->met, report);
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  tbPd* r = work->own;
  double clock = tb_seconds();
  int rigid = (int)work->constraints.count;
  TB_TRY(tb_pd_begin_bodies(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  bool deforms = tb_first_deforming(w) >= 0;
  if (deforms) TB_TRY(tb_pd_find(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  const tbStepReport before = *report;
  r->deadline = tb_step_deadline(o, work->begun);
  TB_TRY(solve_once(ctx, w, o, rigid, o->iterations, work, r, report));
  return r->looks_again ? certify(ctx, w, o, rigid, work, r, &before, report) : TB_OK;
}

static tbStatus solve_step(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           tbStepReport* report)
{
  TB_TRY(solve(ctx, w, o, work, report));
  tbPd* r = work->own;
  double clock = tb_seconds();
  tb_step_note(work, report);
  if (!r->looks_again) tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
  TB_TRY(tb_surfaces_report(ctx, &r->surfaces, report));
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

static void advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                    tbStepReport* report)
{
  tb_integrate(ctx, o, work->unconstrained, &work->assembly, w, report);
  tb_step_keep(work, w);
}

// The problem of the last iteration, with memory of its own.
static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  TB_TRY(solve(ctx, w, o, work, report));
  tbPd* r = work->own;
  tb_step_forget(ctx, work);
  for (size_t i = 0; i < w->body.count; i++) r->step[i].lent = false;
  return tb_assemble(ctx, work->arena, w, o, false, work->unconstrained, work->centre, r->step,
                     work->constraints.data, (int)work->constraints.count, &work->assembly);
}

static void end(tbContext* ctx, tbStepWork* work)
{
  tbPd* r = work->own;
  if (!r) return;
  tb_surface_candidates_free(ctx, &r->candidates);
  tb_array_free(ctx, &r->soft_contacts);
  tb_array_free(ctx, &r->met);
  tb_array_free(ctx, &r->smooth);
}

const tbSchemeMethod tb_pd = {
    .prepare = prepare, .solve = solve_step, .advance = advance, .publish = publish, .end = end};
