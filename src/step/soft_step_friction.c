// SPDX-License-Identifier: Apache-2.0
// What two surfaces do together in a step of soft-step.
#include "solve/friction.h"
#include "step/friction_pair.h"
#include "step/friction_state.h"
#include "step/rows.h"
#include "step/soft_step_work.h"

#include <math.h>

// The middle of the points: in whatever order they are listed, it is the same to rounding.
static tbVec3 middle_of(const tbSoftStepContact* c)
{
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < c->count; k++) sum = tb_add3(sum, c->point[k].position);
  return tb_scale3(1.0 / c->count, sum);
}

// The velocity of b against a in the middle of the points, with what gravity adds to it in a step.
static tbVec3 approach(const tbWorld* w, double h, const tbSoftStepContact* c)
{
  tbVec3 u = tb_zero3(), at = middle_of(c);
  for (int side = 0; side < 2; side++) {
    const tbBody* b = &tb_bodies(w)[side ? c->body_b : c->body_a];
    tbVec3 v = tb_add3(b->v, tb_cross3(b->w, tb_sub3(at, b->x)));
    if (b->motion == TB_BODY_DYNAMIC) v = tb_madd3(v, h, w->gravity);
    u = tb_madd3(u, side ? 1 : -1, v);
  }
  return u;
}

// A pair of bodies without others about it ends a step at u = u₀ + f, its friction f against u.
//
// Of a texture, whose friction dissipates the most that its set F allows, f is the closest point of pF to
// −u₀: the pair sticks where that is −u₀ itself. The ellipse has the friction f against u; where the pair
// sticks, the most that the law has against what pulls. Across, it has what the law has to both sides, in the
// mean.
static double texture_ellipse(const tbContactConstraint* t, double push, const double u0[2], double axis[2])
{
  double f[2], u[2] = {u0[0], u0[1]}, hold[2] = {-u0[0], -u0[1]}, across = 0;
  double use = tb_friction_use(t->law, t->param, push, hold);
  tbFrictionSet set;
  tb_friction_texture_set(t->law, t->param, &set);
  tb_friction_closest(&set, push, hold, f);
  for (int k = 0; k < 2; k++) u[k] = use > 1 ? u0[k] + f[k] : u0[k], f[k] = use > 1 ? f[k] : hold[k] / use;
  if (!(push > 0) || !(use > 0) || (u[0] == 0 && u[1] == 0)) {
    axis[0] = axis[1] = t->contact_material.friction.mu;
    return 0;
  }
  for (int side = -1; side <= 1; side += 2) {
    const double size = sqrt(u[0] * u[0] + u[1] * u[1]), d[2] = {-side * u[1] / size, side * u[0] / size};
    across += 0.5 / tb_friction_use(t->law, t->param, 1, d);
  }
  for (int k = 0; k < 2; k++) f[k] /= push;
  return tb_friction_ellipse_against(f, u, across, axis);
}

// Of a tensor u follows by iteration: f turns as u does, so the slower, the shorter the steps.
static double tensor_ellipse(const tbContactConstraint* t, double push, const double u0[2], double axis[2])
{
  enum { ROUNDS = 100 };
  double u[2] = {u0[0], u0[1]}, f[2], hold[2] = {-u0[0], -u0[1]};
  bool sticks = tb_friction_use(t->law, t->param, push, hold) <= 1;
  if (sticks) u[0] = u[1] = 0;
  for (int i = 0; i < ROUNDS && !sticks && push > 0; i++) {
    tb_friction_against(t->law, t->param, push, u, f);
    double change[2] = {u0[0] + f[0] - u[0], u0[1] + f[1] - u[1]}, speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    double share = speed / (speed + sqrt(f[0] * f[0] + f[1] * f[1]));
    if (fabs(change[0]) + fabs(change[1]) <= 1e-9 * speed || !(share > 0)) break;
    u[0] += share * change[0], u[1] += share * change[1];
  }
  return tb_friction_tensor_ellipse(t->param, u, axis);
}

// Batches know ellipses. Of other laws they get the one with the same friction against the sliding that the
// step ends with, as far as this pair alone can tell: the normal impulse is what stops the approach.
static void take_ellipse(const tbWorld* w, double h, const tbContactConstraint* t, tbSoftStepContact* c)
{
  tbVec3 u0 = approach(w, h, c), t0 = tb_mat3_row(t->frame, 1), b0 = tb_mat3_row(t->frame, 2);
  double from[2] = {tb_dot3(u0, t0), tb_dot3(u0, b0)}, push = fmax(-tb_dot3(u0, c->normal), 0);
  double axis[2], cosine, sine;
  double angle =
      t->law == TB_LAW_TENSOR ? tensor_ellipse(t, push, from, axis) : texture_ellipse(t, push, from, axis);
  tb_sin_cos(angle, &sine, &cosine);
  c->tangent = tb_add3(tb_scale3(cosine, t0), tb_scale3(sine, b0));
  c->mu_t = axis[0], c->mu_b = axis[1];
}

// Tresca's limit is a disc of its own size whatever presses, with the first tangent along the sliding.
static void take_bound(const tbWorld* w, const tbStepOptions* o, tbContactConstraint* t)
{
  tbFriction* f = &t->contact_material.friction;
  tb_friction_rows(w, o, t);
  f->kind = TB_FRICTION_ISOTROPIC, f->mu = 1, f->torsion = f->rolling = 0;
}

void tb_soft_step_friction(const tbWorld* w, const tbStepOptions* o, const tbSoftStepTraveller* body,
                           tbSoftStepMet* last, tbSoftStepContact* c)
{
  const tbSoftStepTraveller *a = &body[c->body_a], *b = &body[c->body_b];
  bool own = a->own || b->own;
  if (!own && a->material == last->a && b->material == last->b) {
    c->mu_t = c->mu_b = last->mu, c->restitution = last->restitution;
    c->torsion = last->torsion, c->rolling = last->rolling, c->spring = last->spring, c->tresca = 0;
    c->tangent = tb_mat3_row(tb_mat3_frame(c->normal), 1);
    return;
  }
  tbContactConstraint t = {
      .body_a = c->body_a, .body_b = c->body_b, .point = {.normal = c->normal}, .position = middle_of(c)};
  tb_constraint_law(w, &t);
  tbFriction* f = &t.contact_material.friction;
  if (f->tresca > 0) take_bound(w, o, &t);
  bool elliptic = f->kind == TB_FRICTION_ELLIPTIC;
  c->restitution = t.contact_material.restitution, c->torsion = f->torsion, c->rolling = f->rolling;
  c->spring = t.contact_material.spring, c->tresca = f->tresca;
  c->tangent = tb_mat3_row(t.frame, 1);
  c->mu_t = elliptic ? f->mu_t : f->mu, c->mu_b = elliptic ? f->mu_b : f->mu;
  if (t.law == TB_LAW_TENSOR || t.law == TB_LAW_DIRECTIONAL || t.law == TB_LAW_POLYGON)
    take_ellipse(w, o->dt, &t, c);
  if (!own && !t.directed && !(f->tresca > 0))
    *last =
        (tbSoftStepMet){a->material, b->material, f->mu, f->torsion, f->rolling, c->restitution, c->spring};
}
