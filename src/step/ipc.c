// SPDX-License-Identifier: Apache-2.0
// Incremental potential contact (Li et al. 2020; course §5.3): an implicit step as the minimum of one
// potential
//
//   ½ (V − V̂)ᵀ M (V − V̂) + Ψ(x + h V) + Σ κ b(d(x + h V)) + Σ μN f₀(|slip|)
//
// over the velocities V of nodes and of rigid bodies together: masses, elastic energies, a barrier for every
// pair of features that is closer than d̂, and friction. A barrier has no end, and no iterate crosses one
// (ipc_newton.c): surfaces that are apart stay apart, through any deformation and at any speed.
//
// It buys that with two approximations: contacts push while there is still a distance below d̂, and friction
// creeps with up to ε_v where it should hold. The end of the step is published as a contact problem, and the
// judge says what they amount to; an exact count confirms that nothing crosses. The option exact_friction
// solves that problem with the exact law of friction and takes its answer (ipc_finish.c).
//
// First order (implicit Euler), or second for what nothing touches (ipc_integrator.c). Takes no restitution.
// Shapes are their surface meshes; planes are half-spaces. Cost: a sparse factor of all bodies together per
// Newton iteration, some 3 to 30 per step.
#include "step/ipc.h"

#include "step/count.h"

#include "base/clock.h"
#include "problem/judge.h"

#include <string.h>

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  tbIpc* ipc = work->own = TB_TAKE(work->arena, tbIpc, 1);
  if (!ipc) return TB_ERROR_MEMORY;
  *ipc = (tbIpc){.world = w,
                 .options = o,
                 .arena = work->arena,
                 .cache = work->cache,
                 .h = o->dt,
                 .stiffer = 1,
                 .kept = work->state,
                 .held_before = tb_ipc_stored(work->state),
                 .contact = TB_ARRAY(tbIpcContact),
                 .found = TB_ARRAY(tbSurfaceContact),
                 .hessian = TB_ARRAY(double[144]),
                 .friction = TB_ARRAY(tbIpcFriction),
                 .met = TB_ARRAY(tbSurfaceContact),
                 .published = TB_ARRAY(tbSurfaceContact),
                 .row = TB_ARRAY(tbIpcRow),
                 .matrix.pair = TB_ARRAY(uint64_t)};
  tb_surface_candidates_init(&ipc->candidates);
  tb_arena_init(&ipc->matrix.arena, ctx);
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  ipc->deadline = tb_seconds() + tb_step_time_left(o, work->begun);
  TB_TRY(tb_ipc_begin_bodies(ctx, work, ipc));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  return TB_OK;
}

// The judge of the impulses that barriers and friction have given.
static tbStatus judge(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbStepReport* report)
{
  tbAssembly* a = &work->assembly;
  double clock = tb_seconds();
  TB_TRY(tb_ipc_publish(ctx, work->own, work));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  tb_ipc_guess(work->own, work);
  if (a->problem->ncontact > 0) TB_TRY(tb_judge_create(ctx, a->problem, &work->judge));
  TB_TRY(tb_assembly_judge(ctx, o, work->judge, a));
  if (!(tb_residual_excess(&a->residual, &o->solver) <= 1) && report->outcome == TB_CONVERGED)
    report->outcome = TB_MAX_ITERATIONS;
  report->residual = tb_worse_residual(&report->residual, &a->residual);
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return tb_array_push(ctx, &work->records, NULL, (size_t)a->nconstraint);
}

static void tell(const tbIpc* ipc, tbStepReport* report)
{
  report->newton_change = ipc->change;
  report->newton_missed = !ipc->converged;
  report->stored = ipc->stored;
  report->changes.slowed = fmax(report->changes.slowed, ipc->slowed);
  if (!ipc->converged) report->outcome = ipc->late ? TB_TIME : TB_MAX_ITERATIONS;
}

static tbStatus minimise(tbContext* ctx, tbStepWork* work, tbStepReport* report)
{
  tbIpc* ipc = work->own;
  double clock = tb_seconds();
  TB_TRY(tb_ipc_part(ctx, work, ipc, report));
  TB_TRY(tb_ipc_begin_joints(ctx, ipc, work));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  TB_TRY(tb_ipc_minimise(ctx, ipc));
  report->used = "ipc";
  report->iterations = ipc->iterations;
  tell(ipc, report);
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  return TB_OK;
}

// Surfaces go where the problem's velocities take them. These differ from the last iterate's by what Newton's
// method has left of forces, over masses: where that would load barriers, its velocities stand.
static tbStatus arrive(tbContext* ctx, tbIpc* ipc, tbStepWork* work)
{
  bool clear = ipc->converged;
  if (clear) tb_ipc_arrive(ctx, ipc, work);
  if (clear && !ipc->finished) TB_TRY(tb_ipc_is_clear(ctx, ipc, &clear));
  if (clear) return TB_OK;
  tb_ipc_restore(ipc, work);
  tb_ipc_arrive(ctx, ipc, work);
  return TB_OK;
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  (void)w;
  tbIpc* ipc = work->own;
  TB_TRY(minimise(ctx, work, report));
  if (o->exact_friction && ipc->converged) TB_TRY(tb_ipc_finish(ctx, ipc, work, report));
  tell(ipc, report);
  if (!ipc->finished) TB_TRY(judge(ctx, o, work, report));
  double clock = tb_seconds();
  tb_step_note(work, report);
  tbIntersections met;
  TB_TRY(arrive(ctx, ipc, work));
  TB_TRY(tb_ipc_keep(ctx, ipc, &work->assembly.view, &work->next));
  TB_TRY(tb_surfaces_count(ctx, &ipc->surfaces, &met));
  report->intersections = met.crossing, report->touching = met.touching;
  if (met.crossing + met.overlapping > 0) report->outcome = TB_FAILED;
  bool unsolved = o->exact_friction && report->outcome != TB_CONVERGED && report->outcome != TB_TIME;
  work->too_long = unsolved || (!ipc->converged && !ipc->late);
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

// Nodes that were moved apart start from there.
static void advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                    tbStepReport* report)
{
  tbIpc* ipc = work->own;
  for (int i = 0; i < ipc->nnodes && ipc->moved > 0; i++)
    tb_bodies(w)[ipc->nodes[i].body].kind->set_nodes(w, ipc->nodes[i].body, ipc->nodes[i].start,
                                                     ipc->nodes[i].of.v);
  tb_integrate(ctx, o, work->unconstrained, &work->assembly, w, report);
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbBody* b = &tb_bodies(w)[ipc->nodes[i].body];
    if (ipc->nodes[i].free)
      b->kind->set_nodes(w, ipc->nodes[i].body, b->kind->nodes(b).x, ipc->nodes[i].speed);
  }
  tb_step_keep(work, w);
}

// The problem of the end of the step, with memory of its own.
static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  tbIpc* ipc = work->own;
  TB_TRY(minimise(ctx, work, report));
  if (o->exact_friction && ipc->converged) TB_TRY(tb_ipc_finish_begin(ctx, ipc));
  TB_TRY(tb_ipc_publish(ctx, ipc, work));
  tb_step_forget(ctx, work);
  for (size_t i = 0; i < w->body.count; i++) ipc->step[i].lent = false;
  tbStepOptions warm = *o;
  warm.warm_start = true; // the impulses are the answer
  TB_TRY(tb_assemble(ctx, work->arena, w, &warm, TB_ASSEMBLE_PLAIN, work->unconstrained, work->centre,
                     ipc->step, work->constraints.data, (int)work->constraints.count, &work->assembly));
  tb_ipc_joints_publish(ipc, &work->assembly);
  return TB_OK;
}

static void end(tbContext* ctx, tbStepWork* work)
{
  tbIpc* ipc = work->own;
  if (!ipc) return;
  tb_surface_candidates_free(ctx, &ipc->candidates);
  tb_ipc_matrix_free(ctx, &ipc->matrix);
  tbArray* array[] = {&ipc->contact, &ipc->found,     &ipc->hessian, &ipc->friction,
                      &ipc->met,     &ipc->published, &ipc->row};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tb_array_free(ctx, array[i]);
}

const tbSchemeMethod tb_ipc = {.prepare = prepare,
                               .solve = solve,
                               .advance = advance,
                               .publish = publish,
                               .end = end,
                               .touching = tb_ipc_touching_at,
                               .parts = true,
                               .halves = true,
                               .state = &tb_ipc_state};
