// SPDX-License-Identifier: Apache-2.0
// A step of soft-step as a contact problem: A and J of its start, all impulses of its substeps.
//
// Levers and inertia do not change within a step, so that v⁺ = v_free + A⁻¹Jᵀλ holds for the sums λ of the
// impulses as it does for each of them. The law they are held against is that of the end: no contact closes
// by more than its gap within a substep, and one that bounced leaves with its restitution.
#include "step/soft_step_work.h"

#include "step/count.h"

#include <string.h>

static void put_constraint(const tbSoftStepContact* c, int k, tbContactConstraint* t)
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
  t->contact_material.restitution = c->restitution;
  tbFriction* f = &t->contact_material.friction;
  f->kind = c->mu_t == c->mu_b ? TB_FRICTION_ISOTROPIC : TB_FRICTION_ELLIPTIC;
  f->mu = c->mu_t == c->mu_b ? c->mu_t : sqrt(c->mu_t * c->mu_b);
  f->mu_t = c->mu_t, f->mu_b = c->mu_b, f->torsion = c->torsion, f->rolling = c->rolling;
  tb_constraint_choose_law(t);
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

static void end_bias(const tbSoftStepWork* s, const tbStepOptions* o, double bounce_speed,
                     const tbSoftStepContact* c, int k, tbContactConstraint* t)
{
  const tbSoftStepPoint* p = &s->batch[c->place / TB_SOFT_STEP_LANES].point[k];
  int lane = c->place % TB_SOFT_STEP_LANES;
  double approach = p->approach[lane];
  bool bounced = c->restitution > 0 && approach < -bounce_speed && p->total[0][lane] > 0;
  t->bias[0] = bounced ? c->restitution * approach : fmax(gap_after(s, c, k), 0) * s->substeps / o->dt;
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
      put_constraint(s->entry[i].contact, k, t);
      for (int r = 0; r < t->rows; r++) t->guess[r] = s->entry[i].contact->point[k].guess[r];
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

tbStatus tb_soft_step_publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                              const tbSoftStepWork* s, bool done)
{
  tbStepOptions own = *o;
  // Joints were relaxed, too; but a solver's exact velocities would leave them where substeps let them come
  // apart, if they did not ask to be undone.
  if (done && !o->polish) own.stabilization = TB_STABILIZE_NONE;
  TB_TRY(make_constraints(ctx, w, o, work, s, done));
  TB_TRY(tb_assemble(ctx, work->arena, w, &own, TB_ASSEMBLE_PLAIN, work->unconstrained, work->centre, NULL,
                     work->constraints.data, (int)work->constraints.count, &work->assembly));
  if (done) fill_impulses(w, s, &work->assembly);
  return TB_OK;
}
