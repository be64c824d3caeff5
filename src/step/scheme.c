// SPDX-License-Identifier: Apache-2.0
// The phases that velocity-level schemes have in common.
#include "step/scheme.h"

#include "step/count.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "problem/judge.h"
#include "solve/judged.h"

#include <string.h>

enum { FEW_CONTACTS = 100, BODIES = 64 };

void tb_step_clock(tbStepReport* report, tbPhase phase, double* clock)
{
  double now = tb_seconds();
  report->phase_s[phase] += now - *clock;
  *clock = now;
}

// A body after a time t > 0 with its present velocity.
static tbBody moved_on(const tbWorld* w, const tbBody* body, double t, double dt, tbUnconstrained* f)
{
  tbBody b = *body;
  if (b.motion == TB_BODY_DYNAMIC) {
    b.x = tb_madd3(b.x, t, b.v);
    tb_turn_freely(&b, t, &b.q, &b.w);
    f->w = tb_add3(b.w, tb_spin_up(&b, b.q, dt));
  } else if (b.motion == TB_BODY_KINEMATIC) {
    tbTransform T = tb_motion_at(w, &b, w->time + t);
    b.x = T.x, b.q = T.q;
  }
  return b;
}

typedef struct {
  const tbWorld* world;
  double dt, time;
  tbStepWork* work;
} Begin;

// Free motion, and where bodies are when they collide.
static void begin_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Begin* job = user;
  tbUnconstrained* free_motion = job->work->unconstrained;
  tb_free_motion(job->world, job->dt, begin, end, free_motion);
  for (int i = begin; i < end; i++) {
    const tbBody* b = &tb_bodies(job->world)[i];
    tbBody later;
    if (job->time > 0) later = moved_on(job->world, b, job->time, job->dt, &free_motion[i]), b = &later;
    job->work->centre[i] = free_motion[i].at = tb_transform(b->q, b->x);
    job->work->pose[i] = tb_body_pose(b);
  }
}

tbStatus tb_step_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, double fraction,
                       tbStepWork* work)
{
  size_t n = w->body.count;
  work->unconstrained = TB_TAKE_UNSET(work->arena, tbUnconstrained, n);
  work->pose = TB_TAKE_UNSET(work->arena, tbTransform, n);
  work->centre = TB_TAKE_UNSET(work->arena, tbTransform, n + 1); // a vector is read as four numbers
  work->constraints = TB_ARRAY(tbContactConstraint);
  work->records = work->cache->records;
  work->records.count = 0;
  work->cache->records = TB_ARRAY(tbContactRecord);
  work->begun = tb_seconds();
  if (!work->unconstrained || !work->pose || !work->centre) return TB_ERROR_MEMORY;
  work->centre[n] = tb_transform(tb_quat_identity(), tb_zero3());
  Begin job = {w, o->dt, fraction * o->dt, work};
  tb_parallel_for(ctx->threads, (int)n, BODIES, begin_bodies, &job);
  tb_joint_forces(w, o, work->centre, work->unconstrained);
  return TB_OK;
}

void tb_step_forget(tbContext* ctx, tbStepWork* work)
{
  tb_judge_free(ctx, work->judge);
  work->judge = NULL;
  tb_assembly_free(&work->assembly);
}

void tb_step_end(tbContext* ctx, tbStepWork* work)
{
  tb_array_free(ctx, &work->constraints);
  if (work->cache && work->records.item > 0) { // the next step's
    tb_array_free(ctx, &work->cache->records);
    work->cache->records = work->records;
  } else {
    tb_array_free(ctx, &work->records);
  }
  tb_step_forget(ctx, work);
}

void tb_step_note(const tbStepWork* work, tbStepReport* report)
{
  report->contacts = work->assembly.nconstraint;
  for (int i = 0; i < work->assembly.nconstraint; i++)
    report->penetration = fmax(report->penetration, -work->assembly.constraint[i].point.gap);
}

double tb_bounce_speed(const tbWorld* w, const tbStepOptions* o)
{
  return o->restitution_speed >= 0 ? o->restitution_speed : tb_norm3(w->gravity) * o->dt;
}

void tb_step_budget(const tbStepOptions* o, double begun, tbSolveOptions* solver)
{
  const double least = 1e-6; // 0 would be no budget at all
  if (o->solver.time_budget_s > 0)
    solver->time_budget_s = fmax(o->solver.time_budget_s - (tb_seconds() - begun), least);
}

double tb_step_time_left(const tbStepOptions* o, double begun)
{
  double left = INFINITY;
  if (o->solver.time_budget_s > 0) left = o->solver.time_budget_s - (tb_seconds() - begun);
  return o->solver.time_left_s ? fmin(left, *o->solver.time_left_s) : left;
}

double tb_step_deadline(const tbStepOptions* o, double begun)
{
  double left = tb_step_time_left(o, begun);
  return isinf(left) ? 0 : tb_seconds() + fmax(left, 0);
}

void tb_step_spend(const tbStepOptions* o, double since)
{
  if (o->solver.time_left_s) *o->solver.time_left_s -= tb_seconds() - since;
}

void tb_step_confirm(const tbStepOptions* o, const tbStepWork* work, tbStepReport* report)
{
  if (report->outcome == TB_CONVERGED && !(tb_residual_excess(&work->assembly.residual, &o->solver) <= 1))
    report->outcome = TB_FAILED;
}

tbStatus tb_step_answer(tbContext* ctx, const tbCache* cache, const tbProblem* problem,
                        const tbSolveOptions* solver, double* lambda, const double* w, tbSolveResult* result,
                        tbJudge** judge)
{
  const tbAnswers* answers = cache ? cache->answers : NULL;
  if (answers) return answers->answer(ctx, answers->user, problem, solver, lambda, result);
  return judge ? tb_solve_judged(ctx, problem, solver, lambda, w, result, judge)
               : tb_solve(ctx, problem, solver, lambda, result);
}

tbStatus tb_step_solve(tbContext* ctx, const tbStepOptions* o, const tbSolveOptions* how, bool exact,
                       tbStepWork* work, tbStepReport* report)
{
  double clock = tb_seconds();
  tbSolveResult result = {.outcome = TB_CONVERGED, .used = o->solver.solver};
  tbSolveOptions solver = how ? *how : o->solver;
  // So that bodies at rest need no iterations at all; few contacts go further, which costs little.
  if (o->warm_start && !(solver.aim > 0))
    solver.aim = work->assembly.problem->ncontact <= FEW_CONTACTS ? 1e-3 : 0.1;
  tbJudge* judge = NULL;
  if (work->assembly.problem->ncontact > 0)
    TB_TRY(tb_step_answer(ctx, work->cache, work->assembly.problem, &solver, work->assembly.lambda,
                          work->assembly.w, &result, &judge));
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  work->judge = judge;
  if (judge && exact) tb_judge_accuracy(judge, 0);
  TB_TRY(tb_assembly_judge(ctx, o, judge, &work->assembly));
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  if (result.outcome != TB_CONVERGED) report->outcome = result.outcome;
  tb_step_confirm(o, work, report);
  report->used = result.used;
  report->iterations += result.iterations;
  report->residual = tb_worse_residual(&report->residual, &work->assembly.residual);
  return tb_array_push(ctx, &work->records, NULL, (size_t)work->assembly.nconstraint);
}

void tb_step_keep(tbStepWork* work, tbWorld* w)
{
  tb_assembly_record(&work->assembly, w, work->records.data);
  tbArray old = w->contact;
  w->contact = work->records;
  work->records = old;
}
