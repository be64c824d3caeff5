// SPDX-License-Identifier: Apache-2.0
// Moreau's midpoint rule (Moreau 1988; course, proximal chapter).
//
//   x_m = x + h/2 v,   contacts that are closed at x_m,
//   M (v⁺ − v) = h f + Jᵀλ,   law(u⁺ + e u⁻ n, λ),   x⁺ = x_m + h/2 v⁺
//
// Bodies turn as free ones do in either half (unconstrained.c), and contacts act in between: angular momentum
// is kept. The impact law is part of the velocity problem: every closed contact obeys Newton's restitution
// between the velocities at both ends of the step. Gaps do not enter the velocities but to push overlaps out
// as the stabilisation says. Second order in flight (free fall is exact), first order at contact.
#include "step/scheme.h"

#include "base/clock.h"

// The velocity before the step; of a body in prescribed motion, that of the step.
static tbVec3 before(const tbWorld* w, const tbUnconstrained* unconstrained, int body)
{
  const tbBody* b = &tb_bodies(w)[body];
  return b->motion == TB_BODY_DYNAMIC ? b->v : unconstrained[body].v;
}

// Keeps the constraints that are closed at the midpoint and sets their biases.
static int close_contacts(const tbWorld* w, const tbStepOptions* o, const tbUnconstrained* unconstrained,
                          tbContactConstraint* constraints, int count)
{
  double h = o->dt, slowest = tb_bounce_speed(w, o);
  // A contact that rounding opens is closed still: let go for a step, a body at rest on a slope would creep.
  double closed = fmax(o->margin, 1e-3 * tb_norm3(w->gravity) * h * h);
  int kept = 0;
  for (int i = 0; i < count; i++) {
    tbContactConstraint* t = &constraints[i];
    if (t->point.gap > closed) continue;
    int i_a = t->body_a, i_b = t->body_b;
    tbVec3 came = tb_constraint_velocity(t, unconstrained[i_a].at.x, before(w, unconstrained, i_a),
                                         unconstrained[i_a].w, unconstrained[i_b].at.x,
                                         before(w, unconstrained, i_b), unconstrained[i_b].w);
    double u = came.x, target = 0;
    if (u < -slowest) target = -t->contact_material.restitution * u, tb_constraint_bounce_tangents(t, came);
    double out = 0; // a spring acts from the moment of contact on
    if (tb_constraint_spring(o, t, t->point.gap, &out)) {
      target = fmax(target, out);
    } else if (o->stabilization == TB_STABILIZE_BAUMGARTE) {
      if (t->point.gap < -o->slop) target = fmax(target, -o->fraction * (t->point.gap + o->slop) / h);
      t->compliance[0] = o->compliance / (h * h);
    }
    t->bias[0] = -target;
    constraints[kept++] = *t;
  }
  return kept;
}

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  TB_TRY(tb_step_begin(ctx, w, o, 0.5, work));
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tbContactConstraint* constraints = work->constraints.data;
  tb_constraint_laws(w, o, constraints, (int)work->constraints.count);
  int count = close_contacts(w, o, work->unconstrained, constraints, (int)work->constraints.count);
  TB_TRY(tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre, NULL,
                     constraints, count, &work->assembly));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  tb_step_note(work, report);
  return TB_OK;
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  (void)w;
  return tb_step_solve(ctx, o, NULL, true, work, report);
}

static void advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                    tbStepReport* report)
{
  (void)ctx, (void)report;
  for (size_t i = 0; i < w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    b->force = b->torque = tb_zero3();
    if (b->motion == TB_BODY_KINEMATIC) tb_follow(w, b, &work->unconstrained[i], o->dt);
    if (b->motion != TB_BODY_DYNAMIC) continue;
    tbVec3 v, spin;
    tb_assembly_velocity(&work->assembly, work->unconstrained, (int)i, &v, &spin);
    b->x = tb_madd3(work->centre[i].x, 0.5 * o->dt, v), b->q = work->centre[i].q;
    b->v = v, b->w = spin;
    tb_turn_freely(b, 0.5 * o->dt, &b->q, &b->w);
  }
  tb_advance_clock(w, o->dt);
  tb_step_keep(work, w);
}

const tbSchemeMethod tb_moreau = {.prepare = prepare, .solve = solve, .advance = advance};
