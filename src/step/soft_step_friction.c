// SPDX-License-Identifier: Apache-2.0
// What two surfaces do together in a step of soft-step.
#include "step/friction_pair.h"
#include "step/rows.h"
#include "step/soft_step_work.h"

#include <math.h>

// The velocity of b against a at the first point, with what gravity adds to it in a step.
static tbVec3 approach(const tbWorld* w, double h, const tbSoftStepContact* c)
{
  tbVec3 u = tb_zero3();
  for (int side = 0; side < 2; side++) {
    const tbBody* b = &tb_bodies(w)[side ? c->body_b : c->body_a];
    tbVec3 centre = tb_add3(b->x, tb_quat_rotate(b->q, b->centre));
    tbVec3 v = tb_add3(b->v, tb_cross3(b->w, tb_sub3(c->point[0].position, centre)));
    if (b->motion == TB_BODY_DYNAMIC) v = tb_madd3(v, h, w->gravity);
    u = tb_madd3(u, side ? 1 : -1, v);
  }
  return u;
}

// Batches know ellipses. Of other laws, they get the one with the same friction against the sliding that the
// step ends with, as far as this pair alone can tell: u = u₀ + h g + p f(u), p the normal impulse that stops
// the approach.
static void take_ellipse(const tbWorld* w, double h, const tbContactConstraint* t, tbSoftStepContact* c)
{
  enum { ROUNDS = 100 };
  tbVec3 u0 = approach(w, h, c), t0 = tb_mat3_row(t->frame, 1), b0 = tb_mat3_row(t->frame, 2);
  double from[2] = {tb_dot3(u0, t0), tb_dot3(u0, b0)}, push = fmax(-tb_dot3(u0, c->normal), 0);
  double u[2] = {from[0], from[1]}, f[2], axis[2], angle, hold[2] = {-from[0], -from[1]};
  bool sticks = tb_friction_use(t->law, t->param, push, hold) <= 1;
  // f turns as u does: the slower, the shorter steps.
  for (int i = 0; i < ROUNDS && !sticks && push > 0; i++) {
    tb_friction_against(t->law, t->param, push, u, f);
    double change[2] = {from[0] + f[0] - u[0], from[1] + f[1] - u[1]},
           speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    double share = speed / (speed + sqrt(f[0] * f[0] + f[1] * f[1]));
    if (fabs(change[0]) + fabs(change[1]) <= 1e-9 * speed || !(share > 0)) break;
    u[0] += share * change[0], u[1] += share * change[1];
  }
  if (sticks && t->law == TB_LAW_TENSOR) u[0] = u[1] = 0; // its set is an ellipse
  if (sticks && t->law != TB_LAW_TENSOR) u[0] = from[0], u[1] = from[1];
  tb_friction_ellipse(t->law, t->param, t->contact_material.friction.mu, u, axis, &angle);
  double cosine, sine;
  tb_sin_cos(angle, &sine, &cosine);
  c->tangent = tb_add3(tb_scale3(cosine, t0), tb_scale3(sine, b0));
  c->mu_t = axis[0], c->mu_b = axis[1];
}

void tb_soft_step_friction(const tbWorld* w, double h, tbSoftStepMet* last, tbSoftStepContact* c)
{
  const tbBody *a = &tb_bodies(w)[c->body_a], *b = &tb_bodies(w)[c->body_b];
  bool own = a->own_contact_material >= 0 || b->own_contact_material >= 0;
  if (!own && a->material == last->a && b->material == last->b) {
    c->mu_t = c->mu_b = last->mu, c->restitution = last->restitution;
    c->torsion = last->torsion, c->rolling = last->rolling;
    c->tangent = tb_mat3_row(tb_mat3_frame(c->normal), 1);
    return;
  }
  tbContactConstraint t = {.body_a = c->body_a,
                           .body_b = c->body_b,
                           .point = {.normal = c->normal},
                           .position = c->point[0].position};
  tb_constraint_law(w, &t);
  const tbFriction* f = &t.contact_material.friction;
  bool elliptic = f->kind == TB_FRICTION_ELLIPTIC;
  c->restitution = t.contact_material.restitution, c->torsion = f->torsion, c->rolling = f->rolling;
  c->tangent = tb_mat3_row(t.frame, 1);
  c->mu_t = elliptic ? f->mu_t : f->mu, c->mu_b = elliptic ? f->mu_b : f->mu;
  if (t.law == TB_LAW_TENSOR || t.law == TB_LAW_DIRECTIONAL || t.law == TB_LAW_POLYGON)
    take_ellipse(w, h, &t, c);
  if (!own && !t.directed)
    *last = (tbSoftStepMet){a->material, b->material, f->mu, f->torsion, f->rolling, c->restitution};
}
