// SPDX-License-Identifier: Apache-2.0
#include "step/relaxed.h"
#include "step/relaxed_held.h"

#include "step/count.h"
#include "step/impacts.h"
#include "step/inner.h"

#include "base/clock.h"
#include "base/stop.h"
#include "problem/metric.h"

#include <string.h>

// k_n without a value, in units of m/h² with the heaviest body's m: at rest it sinks by 1e-4 g h².
static const double STIFF = 1e4;

tbRelaxation tb_relaxation_of(const tbWorld* w, const tbStepOptions* o, const tbAssembly* a)
{
  const tbDescentOptions* d = &o->descent;
  double mass = 0, k = d->contact_stiffness, h = o->dt;
  for (size_t i = 0; i < w->body.count; i++)
    if (a->place[i].dof >= 0) mass = fmax(mass, tb_bodies(w)[i].mass);
  if (!(k > 0)) k = STIFF * mass / (h * h);
  return (tbRelaxation){.h = h,
                        .contact_stiffness = k,
                        .friction_stiffness = d->friction_stiffness > 0 ? d->friction_stiffness : h * k,
                        .joint_stiffness = d->joint_stiffness > 0 ? d->joint_stiffness : k,
                        .exponent = d->contact_exponent,
                        .model = d->friction_model,
                        .turning = d->turning};
}

// As tb_constraint_biases, but however small a gap is, it counts: potentials need no gap to be none.
static void set_biases(const tbWorld* w, const tbStepOptions* o, tbArray* constraints)
{
  tbContactConstraint* t = constraints->data;
  tb_constraint_biases(w, o, t, (int)constraints->count);
  for (size_t i = 0; i < constraints->count; i++, t++) {
    double gap = t->point.gap;
    if (t->contact_material.spring.stiffness > 0) continue;
    if (t->impact >= 0 || o->stabilization != TB_STABILIZE_BAUMGARTE) continue;
    if (gap < 0) t->bias[0] = o->fraction * fmin(gap + o->slop, 0) / o->dt;
    else t->bias[0] = t->left > 0 ? t->gap_left / t->left : gap / o->dt;
  }
}

static tbStatus assemble(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  const tbRelaxedSoft* soft = work->own;
  for (size_t i = 0; soft->step && work->cache && work->cache->held && i < w->body.count; i++)
    soft->step[i].present = soft->step[i].size > 0;
  return tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre,
                     soft->step, work->constraints.data, (int)work->constraints.count, &work->assembly);
}

tbStatus tb_relaxed_prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, bool split,
                            tbStepWork* work, tbStepReport* report)
{
  double clock = tb_seconds();
  tbRelaxedSoft* soft = work->own = TB_TAKE(work->arena, tbRelaxedSoft, 1);
  if (!soft) return TB_ERROR_MEMORY;
  soft->split = split;
  soft->soft_contacts = TB_ARRAY(tbSoftContact), soft->met = TB_ARRAY(tbSurfaceContact);
  tb_surface_candidates_init(&soft->candidates);
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tb_hold_attached(w, work->unconstrained);
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tb_constraint_laws(w, o, work->constraints.data, (int)work->constraints.count);
  TB_TRY(tb_resolve_impacts(ctx, w, o, work, report));
  set_biases(w, o, &work->constraints);
  if (tb_first_deforming(w) >= 0) TB_TRY(tb_relaxed_soft_begin(ctx, w, o, work, soft));
  TB_TRY(assemble(ctx, w, o, work));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  tb_step_note(work, report);
  return TB_OK;
}

// The problem with memory of its own.
tbStatus tb_relaxed_publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbStepReport* report)
{
  (void)report;
  tbRelaxedSoft* soft = work->own;
  if (!soft->step) return TB_OK;
  tb_step_forget(ctx, work);
  for (size_t i = 0; i < w->body.count; i++) soft->step[i].lent = false;
  return assemble(ctx, w, o, work);
}

void tb_relaxed_end(tbContext* ctx, tbStepWork* work)
{
  if (work->own) tb_relaxed_soft_end(ctx, work->own);
}

tbStatus tb_relaxed_descent_begin(tbContext* ctx, const tbRelaxedRun* run, tbRelaxedDescent* out)
{
  const tbStepOptions* o = run->options;
  out->descent = (tbDescent){.options = o->descent,
                             .iterations = o->iterations,
                             .deadline = run->deadline,
                             .still = TB_RELAXED_STILL * o->solver.velocity_tolerance};
  TB_TRY(tb_relaxed_begin(run->arena, run->problem, &run->how, o->solver.model, o->solver.directions,
                          &out->relaxed));
  TB_TRY(tb_cells_begin(run->arena, run->problem, &out->cells));
  TB_TRY(tb_descent_begin(run->arena, &out->relaxed, &out->cells, &out->descent));
  return tb_descent_start(ctx, run->arena, run->lambda, &out->descent);
}

tbStatus tb_relaxed_descent_end(tbContext* ctx, tbRelaxedRun* run, tbRelaxedDescent* r)
{
  tbDescent* d = &r->descent;
  run->iterations = d->used;
  if (run->options->descent.balanced) {
    TB_TRY(tb_descent_balance(ctx, run->arena, d));
    if (!(d->off <= d->still)) TB_TRY(tb_relaxed_compliant(ctx, run, r));
    run->off = d->off;
  } else {
    run->v = d->v;
  }
  memcpy(run->lambda, d->lambda, (size_t)run->problem->nrow * sizeof *d->lambda);
  return TB_OK;
}

// Velocities that impulses alone do not give: the problem is judged with the difference in v_free, and the
// report says how much momentum that is. True: it is more than the tolerance.
static tbStatus take_velocities(const tbStepOptions* o, const double* v, tbStepWork* work,
                                tbStepReport* report, bool* uneven)
{
  tbProblem* p = work->assembly.problem;
  size_t room = 0;
  for (int b = 0; b < p->nblock; b++) room += tb_metric_workspace(&p->block[b]);
  double* x = TB_TAKE(work->arena, double, (size_t)p->ndof);
  double* space = TB_TAKE(work->arena, double, room);
  if (!x || !space) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
        for (int j = 0; j < p->jac_width[c]; j++)
          x[p->jac_dof[c] + j] +=
              p->jac[p->jac_val_adr[c] + (size_t)((i - p->row_adr[k]) * p->jac_width[c] + j)] *
              work->assembly.lambda[i];
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* m = &p->block[b];
    double* own = x + m->dof;
    tb_metric_solve(m, NULL, own, space);
    double momentum[6] = {0}, left[6] = {0};
    for (int i = 0; i < m->size; i++) {
      own[i] = v[m->dof + i] - own[i];
      double change = own[i] - p->v_free[m->dof + i];
      *uneven = *uneven || !(fabs(change) <= o->solver.velocity_tolerance);
      if (i < 6) left[i] = change;
    }
    if (m->kind == TB_METRIC_SPARSE || m->size > 6) continue;
    tb_metric_multiply_add(m, left, momentum);
    report->changes.unbalanced = fmax(report->changes.unbalanced, tb_norm3(tb_load3(momentum)));
  }
  p->v_free = x;
  return TB_OK;
}

// Impulses that clipping has changed by too much are handed to a solver that knows all laws of the problem:
// what comes back is no worse, by the judge, than they were or than none.
static tbStatus finish(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbStepReport* report)
{
  tbSolveOptions solver = o->solver;
  tbSolveResult result;
  solver.solver = tb_relaxed_solver(work->assembly.problem, solver.model);
  tb_step_budget(o, work->begun, &solver);
  TB_TRY(tb_solve(ctx, work->assembly.problem, &solver, work->assembly.lambda, &result));
  report->iterations += result.iterations;
  return TB_OK;
}

// Iterations that ran out of time may have left impulses that throw bodies about. What is applied then is, by
// the judge, no worse than what the step started from, nor than no impulses: a solver without time hands out
// the best of its start and of none.
static tbStatus best_when_late(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, double* guess)
{
  tbAssembly* a = &work->assembly;
  double* both[] = {a->lambda, guess};
  tbSolveResult result[2];
  for (int i = 0; i < 2; i++) {
    tbSolveOptions solver = o->solver;
    solver.solver = tb_relaxed_solver(a->problem, solver.model);
    solver.max_iterations = 0, solver.time_left_s = NULL;
    TB_TRY(tb_solve(ctx, a->problem, &solver, both[i], &result[i]));
  }
  if (result[1].residual.velocity < result[0].residual.velocity)
    memcpy(a->lambda, guess, (size_t)a->problem->nrow * sizeof *guess);
  return TB_OK;
}

static tbStatus solve_once(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbRelaxedSolve* solve,
                           tbStepWork* work, tbStepReport* report)
{
  double clock = tb_seconds();
  tbAssembly* a = &work->assembly;
  tbRelaxedRun run = {.world = w,
                      .options = o,
                      .problem = a->problem,
                      .assembly = a,
                      .how = tb_relaxation_of(w, o, a),
                      .arena = work->arena,
                      .lambda = a->lambda};
  bool uneven = false;
  run.deadline = tb_step_deadline(o, work->begun);
  double* guess = run.deadline > 0 ? TB_TAKE(work->arena, double, (size_t)a->problem->nrow + 1) : NULL;
  if (run.deadline > 0 && !guess) return TB_ERROR_MEMORY;
  if (guess) memcpy(guess, a->lambda, (size_t)a->problem->nrow * sizeof *guess);
  tbRelaxedHeld* held = work->cache ? work->cache->held : NULL;
  if (held && held->hold) TB_TRY(tb_relaxed_held_impulses(ctx, held, &run));
  else if (a->problem->ncontact > 0) TB_TRY(solve(ctx, &run));
  tb_step_spend(o, clock);
  report->iterations += run.iterations;
  bool late = tb_is_late(run.deadline) && a->problem->ncontact > 0 && !run.v;
  if (late) TB_TRY(best_when_late(ctx, o, work, guess));
  else if (!(run.off <= o->solver.velocity_tolerance)) TB_TRY(finish(ctx, o, work, report));
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  report->changes.unbalanced = 0;
  if (run.v) TB_TRY(take_velocities(o, run.v, work, report, &uneven));
  TB_TRY(tb_assembly_judge(ctx, o, NULL, a));
  if (held) TB_TRY(tb_relaxed_held_keep(ctx, w, held, &run, work));
  tb_step_confirm(o, work, report);
  if (uneven && report->outcome == TB_CONVERGED) report->outcome = TB_FAILED;
  report->residual = tb_worse_residual(&report->residual, &a->residual);
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

// And again with the contacts of inner spheres that would pass through something.
static tbStatus solve_rounds(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbRelaxedSolve* solve,
                             const tbStepReport before, tbStepWork* work, tbStepReport* report)
{
  for (int round = 0, added = 1; added > 0; round++) {
    report->outcome = before.outcome, report->residual = before.residual;
    TB_TRY(solve_once(ctx, w, o, solve, work, report));
    if (round == TB_INNER_ROUNDS) break;
    TB_TRY(tb_inner_contacts(ctx, w, o, work, &added));
    if (added == 0) break;
    double clock = tb_seconds();
    tb_step_forget(ctx, work);
    TB_TRY(assemble(ctx, w, o, work));
    tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  }
  return TB_OK;
}

// Impulses that were found are what contacts start from when elasticity is taken anew.
static void learn(tbStepWork* work)
{
  tbContactConstraint* t = work->constraints.data;
  for (int i = 0; i < work->assembly.nconstraint; i++)
    for (int k = 0; k < t[i].rows; k++)
      t[i].guess[k] = work->assembly.lambda[work->assembly.problem->row_adr[i] + k];
}

tbStatus tb_relaxed_solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbRelaxedSolve* solve,
                          const char* name, tbStepWork* work, tbStepReport* report)
{
  const tbStepReport before = *report;
  double deadline = tb_step_deadline(o, work->begun);
  bool again = true;
  for (int round = 1; again; round++) {
    TB_TRY(solve_rounds(ctx, w, o, solve, before, work, report));
    bool last = round == o->newton_steps || tb_is_late(deadline);
    TB_TRY(tb_relaxed_soft_again(ctx, w, o, last, work, report, &again));
    if (!again) break;
    learn(work);
    tb_step_forget(ctx, work);
    TB_TRY(assemble(ctx, w, o, work));
  }
  tbOutcome ended = tb_is_late(deadline) ? TB_TIME : TB_MAX_ITERATIONS;
  if (report->newton_missed && report->outcome == TB_CONVERGED) report->outcome = ended;
  if (before.outcome == TB_CONVERGED && report->outcome == TB_FAILED) report->outcome = ended;
  if (work->assembly.problem->ncontact > 0) report->used = name;
  tb_step_note(work, report);
  tb_stop_short(w, o, work);
  TB_TRY(tb_relaxed_soft_count(ctx, work, work->own, report));
  return tb_array_push(ctx, &work->records, NULL, (size_t)work->assembly.nconstraint);
}
