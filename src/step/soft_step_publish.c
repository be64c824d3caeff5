// SPDX-License-Identifier: Apache-2.0
// A step of soft-step as a contact problem: A and J of its start, all impulses of its substeps.
//
// Levers and inertia do not change within a step, so that v⁺ = v_free + A⁻¹Jᵀλ holds for the sums λ of the
// impulses as it does for each of them. The law they are held against is that of the end: no contact closes
// by more than its gap within a substep, and one that bounced leaves with its restitution.
#include "step/soft_step_work.h"

#include "step/count.h"
#include "step/friction_state.h"

#include <string.h>

static void put_constraint(const tbSoftStepContact* c, int k, double dt, tbContactConstraint* t)
{
  tbVec3 x = c->point[k].position, n = c->normal;
  *t = (tbContactConstraint){.shape_a = c->shape_a,
                             .shape_b = c->shape_b,
                             .body_a = c->body_a,
                             .body_b = c->body_b,
                             .position = x,
                             .frame = tb_mat3_rows(n, c->tangent, tb_cross3(n, c->tangent)),
                             .impact = -1};
  t->point =
      (tbContactPoint){.a = x, .b = x, .normal = n, .gap = c->point[k].gap, .feature = c->point[k].feature};
  t->contact_material.restitution = c->restitution, t->contact_material.spring = c->spring;
  tbFriction* f = &t->contact_material.friction;
  f->kind = c->mu_t == c->mu_b ? TB_FRICTION_ISOTROPIC : TB_FRICTION_ELLIPTIC;
  f->mu = c->mu_t == c->mu_b ? c->mu_t : sqrt(c->mu_t * c->mu_b);
  f->mu_t = c->mu_t, f->mu_b = c->mu_b, f->torsion = c->torsion, f->rolling = c->rolling;
  tb_constraint_choose_law(t);
  if (c->tresca > 0) tb_friction_bound(c->tresca * dt, c->tresca * dt, t);
}

// The gap after the step, as its substeps have followed it.
static double gap_after(const tbSoftStepWork* s, const tbSoftStepContact* c, int k)
{
  double gap = c->point[k].gap;
  for (int side = 0; side < 2; side++) {
    int body = side ? c->body_b : c->body_a;
    const float* d = s->body[s->index[body]].d;
    tbVec3 way = tb_vec3(d[0], d[1], d[2]), turn = tb_vec3(d[3], d[4], d[5]);
    tbVec3 arm = tb_sub3(c->point[k].position, s->centre[body].x), first = tb_cross3(turn, arm);
    tbVec3 moved = tb_add3(way, tb_add3(first, tb_scale3(0.5, tb_cross3(turn, first))));
    gap += (side ? 1 : -1) * tb_dot3(c->normal, moved);
  }
  return gap;
}

// B's velocity against A's along the normal at the end of the last substep.
static double normal_velocity(const tbSoftStepWork* s, const tbSoftStepContact* c, int k)
{
  double u = 0;
  for (int side = 0; side < 2; side++) {
    int body = side ? c->body_b : c->body_a;
    const float* v = s->body[s->index[body]].v;
    tbVec3 arm = tb_sub3(c->point[k].position, s->centre[body].x);
    tbVec3 at = tb_add3(tb_vec3(v[0], v[1], v[2]), tb_cross3(tb_vec3(v[3], v[4], v[5]), arm));
    u += (side ? 1 : -1) * tb_dot3(c->normal, at);
  }
  return u;
}

// The spring of a contact's materials in the last substep, u + rate φ + give λ_last = 0 from the gap φ that
// it began with, as a row of the whole impulse λ: what λ_last was more than its share of λ is known.
static void end_spring(const tbSoftStepWork* s, const tbSoftStepContact* c, int k, tbContactConstraint* t)
{
  const tbSoftStepPoint* p = &s->batch[c->place / TB_SOFT_STEP_LANES].point[k];
  int lane = c->place % TB_SOFT_STEP_LANES;
  tbSoftStepSpring spring = tb_soft_step_spring(&c->spring, s->h);
  double gap = gap_after(s, c, k) - s->h * normal_velocity(s, c, k);
  double share = 1.0 / s->substeps, more = p->lambda[0][lane] - share * c->point[k].impulse[0];
  t->bias[0] = (gap > 0 ? gap / s->h : spring.rate * gap) + spring.give * more;
  t->compliance[0] = share * spring.give;
}

static void end_bias(const tbSoftStepWork* s, const tbStepOptions* o, double bounce_speed,
                     const tbSoftStepContact* c, int k, tbContactConstraint* t)
{
  double approach = s->batch[c->place / TB_SOFT_STEP_LANES].point[k].approach[c->place % TB_SOFT_STEP_LANES];
  bool bounced = c->restitution > 0 && approach < -bounce_speed && c->point[k].impulse[0] > 0;
  if (c->tresca > 0 && !(c->point[k].impulse[0] > 0)) tb_friction_bound(0, 0, t); // nothing presses
  bool springs = c->spring.stiffness > 0 && !bounced;
  t->bias[0] = bounced ? c->restitution * approach : fmax(gap_after(s, c, k), 0) * s->substeps / o->dt;
  if (springs) end_spring(s, c, k, t);
}

// The impulses to start from, in the order of the law's rows.
static void take_guess(const tbSoftStepContact* c, int k, tbContactConstraint* t)
{
  int row = 3;
  for (int r = 0; r < 3 && r < t->rows; r++) t->guess[r] = c->point[k].impulse[r];
  if (c->torsion > 0 && row < t->rows) t->guess[row++] = c->point[k].spin[0];
  for (int r = 1; c->rolling > 0 && r < 3 && row < t->rows; r++) t->guess[row++] = c->point[k].spin[r];
}

static tbStatus make_constraints(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                                 const tbSoftStepWork* s, bool done)
{
  work->constraints.count = 0;
  TB_TRY(tb_array_push(ctx, &work->constraints, NULL, (size_t)s->npoint));
  tbContactConstraint *first = work->constraints.data, *t = first;
  double bounce_speed = tb_bounce_speed(w, o);
  for (int i = 0; i < s->ncontact; i++)
    for (int k = 0; k < s->entry[i].count; k++, t++) {
      put_constraint(s->entry[i].contact, k, o->dt, t);
      take_guess(s->entry[i].contact, k, t);
      if (done) end_bias(s, o, bounce_speed, s->entry[i].contact, k, t);
    }
  if (!done) tb_constraint_biases(w, o, first, s->npoint);
  return TB_OK;
}

// Impulses in the order of the problem: contacts, then the blocks of the joints.
static void fill_impulses(const tbWorld* w, const tbSoftStepWork* s, tbAssembly* a)
{
  double* lambda = a->lambda;
  for (int i = 0, at = 0; i < s->ncontact; i++) {
    const tbSoftStepContact* c = s->entry[i].contact;
    double impulse[TB_MAX_ROWS];
    for (int k = 0; k < c->count; k++) {
      tb_soft_step_impulses(s, &s->entry[i], k, impulse);
      const double* stretch = a->constraint[at++].stretch;
      for (int r = 1; r < 3; r++) impulse[r] = stretch[r - 1] > 0 ? impulse[r] / stretch[r - 1] : 0;
      for (int r = 0; r < tb_soft_step_rows(c); r++) *lambda++ = impulse[r];
    }
  }
  int block = a->nconstraint;
  for (size_t i = 0; i < w->joint.count; i++)
    for (int k = 0; k < a->nblock[i]; k++, block++) {
      int rows = a->problem->row_adr[block + 1] - a->problem->row_adr[block];
      memcpy(lambda, s->joint_total[i] + a->slot[TB_JOINT_BLOCKS * i + (size_t)k],
             (size_t)rows * sizeof *lambda);
      lambda += rows;
    }
}

// The world with bodies at rest that cannot be moved: they are no part of the problem, nor are their joints.
static const tbWorld* without_sleepers(tbArena* arena, const tbWorld* w, const tbSoftStepWork* s)
{
  if (!s->still) return w;
  tbWorld* out = TB_TAKE_UNSET(arena, tbWorld, 1);
  tbBody* body = TB_TAKE_UNSET(arena, tbBody, w->body.count);
  if (!out || !body) return NULL;
  for (size_t i = 0; i < w->body.count; i++) {
    body[i] = tb_bodies(w)[i];
    if (s->still[i] && body[i].motion == TB_BODY_DYNAMIC) body[i].motion = TB_BODY_FIXED;
  }
  *out = *w;
  out->body.data = body;
  return out;
}

tbStatus tb_soft_step_publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                              const tbSoftStepWork* s, bool done)
{
  tbStepOptions own = *o;
  // Joints were relaxed, too; but a solver's exact velocities would leave them where substeps let them come
  // apart, if they did not ask to be undone.
  if (done && !o->polish) own.stabilization = TB_STABILIZE_NONE;
  TB_TRY(make_constraints(ctx, w, o, work, s, done));
  const tbWorld* awake = without_sleepers(work->arena, w, s);
  if (!awake) return TB_ERROR_MEMORY;
  TB_TRY(tb_assemble(ctx, work->arena, awake, &own, TB_ASSEMBLE_PLAIN, work->unconstrained, work->centre,
                     NULL, work->constraints.data, (int)work->constraints.count, &work->assembly));
  if (done) fill_impulses(w, s, &work->assembly);
  return TB_OK;
}
