// SPDX-License-Identifier: Apache-2.0
// Projection of positions after a step (course, section on post-stabilisation).
//
// The smallest displacement d in the norm of the masses that leaves no overlap and no joint error,
// linearised:
//
//   min ½ dᵀ M d   subject to   φ + J_n d ≥ 0,   e + J_e d = 0
//
// is a frictionless contact problem whose velocities are displacements. Linearised again at the new poses
// while it helps. Velocities are not touched, so no energy is pumped in; the report says how far bodies were
// moved, and a projection that was not solved makes the step one that has not converged.
#include "step/count.h"

#include <string.h>

enum { ROUNDS = 4 };

// Contacts that give way by a spring overlap as it says, and are left out.
static void leave_springs(const tbWorld* w, tbArray* constraints)
{
  tbContactConstraint* t = constraints->data;
  size_t kept = 0;
  for (size_t i = 0; i < constraints->count; i++) {
    const tbBody *a = &tb_bodies(w)[t[i].body_a], *b = &tb_bodies(w)[t[i].body_b];
    if (!(tb_world_friction_pair(w, a, b).spring.stiffness > 0)) t[kept++] = t[i];
  }
  constraints->count = kept;
}

static double overlap(const tbStepOptions* o, tbContactConstraint* t, int count)
{
  double worst = 0;
  for (int i = 0; i < count; i++) {
    worst = fmax(worst, -t[i].point.gap - o->slop);
    t[i].law = TB_LAW_NONNEG, t[i].rows = 1;
    t[i].frame = tb_mat3_frame(t[i].point.normal);
    t[i].bias[0] = t[i].point.gap + o->slop;
    t[i].compliance[0] = 0;
  }
  return worst;
}

// What is wrong with the joints.
static double joint_error(const tbAssembly* a)
{
  const tbProblem* p = a->problem;
  double worst = 0;
  for (int k = a->nconstraint; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
      worst = fmax(worst, p->law[k] == TB_LAW_BILATERAL ? fabs(p->bias[i]) : -p->bias[i]);
  return worst;
}

static void displace(tbWorld* w, const tbAssembly* a)
{
  for (size_t i = 0; i < w->body.count; i++) {
    if (a->place[i].dof < 0) continue;
    tbBody* b = &tb_bodies(w)[i];
    tbVec3 v, spin;
    b->kind->frame_velocity(a->v + a->place[i].dof, &v, &spin);
    b->x = tb_add3(b->x, v);
    b->q = tb_quat_integrate(b->q, spin, 1);
  }
}

// One linearisation; done: nothing is left to move.
static tbStatus round_of(tbContext* ctx, tbArena* arena, tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                         tbStepReport* report, bool* done)
{
  size_t n = w->body.count;
  *work = (tbStepWork){.unconstrained = TB_TAKE(arena, tbUnconstrained, n),
                       .pose = TB_TAKE(arena, tbTransform, n),
                       .centre = TB_TAKE(arena, tbTransform, n),
                       .constraints = TB_ARRAY(tbContactConstraint),
                       .records = TB_ARRAY(tbContactRecord)};
  if (!work->unconstrained || !work->pose || !work->centre) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    tb_be_unmoved(b, &work->unconstrained[i]);
    work->centre[i] = tb_transform(b->q, b->x);
    work->pose[i] = tb_body_pose(b);
  }
  tbStepOptions still = *o; // contacts of the poses as they are: nothing moves while positions are mended
  still.dt = 0;
  TB_TRY(tb_find_contacts(ctx, arena, work->cache, w, &still, work->unconstrained, work->pose,
                          &work->constraints));
  leave_springs(w, &work->constraints);
  double worst = overlap(o, work->constraints.data, (int)work->constraints.count);
  *done = !(worst > 1e-12) && w->joint.count == 0;
  if (*done) return TB_OK;
  TB_TRY(tb_assemble(ctx, arena, w, o, TB_ASSEMBLE_POSITIONS, work->unconstrained, work->centre, NULL,
                     work->constraints.data, (int)work->constraints.count, &work->assembly));
  *done = !(fmax(worst, joint_error(&work->assembly)) > 1e-12);
  if (*done) return TB_OK;
  tbSolveResult result;
  TB_TRY(tb_step_answer(ctx, work->cache, work->assembly.problem, &o->solver, work->assembly.lambda, NULL,
                        &result, NULL));
  TB_TRY(tb_assembly_judge(ctx, o, NULL, &work->assembly));
  tbStepReport own = {.outcome = report->outcome}; // its residual is of metres, and not the step's
  tb_count_solve(o, &result, &work->assembly, &own);
  report->outcome = own.outcome;
  report->iterations += result.iterations;
  displace(w, &work->assembly);
  return TB_OK;
}

static void note_displacements(const tbWorld* w, const tbTransform* before, tbStepReport* report)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    tbVec3 turn = tb_quat_log(tb_quat_mul(b->q, tb_quat_conj(before[i].q)));
    report->changes.projected = fmax(report->changes.projected, tb_distance3(b->x, before[i].x));
    report->changes.turned = fmax(report->changes.turned, tb_norm3(turn));
  }
}

tbStatus tb_project_positions(tbContext* ctx, tbWorld* w, const tbStepOptions* options, double begun,
                              tbStepReport* report)
{
  tbTransform* before = TB_TAKE(&w->cache->scratch, tbTransform, w->body.count);
  if (!before) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) before[i] = tb_transform(tb_bodies(w)[i].q, tb_bodies(w)[i].x);
  tbStepOptions o = *options;
  o.dt = 1;
  o.stabilization = TB_STABILIZE_BAUMGARTE;
  o.fraction = 1;
  o.warm_start = false;
  o.solver.solver = "auto";
  o.solver.model = TB_MODEL_FRICTIONLESS;
  o.solver.trace = NULL;
  o.solver.velocity_tolerance = 0; // the unknowns are displacements
  if (!(o.solver.tolerance > 0)) o.solver.tolerance = 1e-8;
  // As far ahead as the projection may move bodies into each other: what the deepest overlap suggests is not
  // known yet, so what one round brings about the next one repairs.
  bool done = false;
  for (int k = 0; k < ROUNDS && !done; k++) {
    tbStepWork work = {.cache = w->cache};
    tb_step_budget(options, begun, &o.solver);
    tbStatus status = round_of(ctx, &w->cache->scratch, w, &o, &work, report, &done);
    tb_step_end(ctx, &work);
    TB_TRY(status);
  }
  note_displacements(w, before, report);
  return TB_OK;
}
