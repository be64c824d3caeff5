// SPDX-License-Identifier: Apache-2.0
// Static against kinetic friction, Stribeck's curve, Tresca's limit (course, chapters 1 and 6).
//
//   μ(v) = μ (1 + (r − 1) exp(−(v/v_s)²)),   r the static ratio and v_s Stribeck's speed
//
// v is that of the start of the step, so that the law of a step is one cone, and the judge knows it.
#include "step/friction_state.h"

#include "scene/kind.h"
#include "step/rows.h"

#include <math.h>

// Slower counts as rest: ten times what steps may leave of a contact's law; more where a scheme creeps.
static const double REST = 10 * TB_VELOCITY_TOLERANCE;

static tbVec3 velocity_of(const tbWorld* w, const tbContactConstraint* t, int side)
{
  const tbBody* body = &tb_bodies(w)[side ? t->body_b : t->body_a];
  const tbSurfaceContact* c = t->surface;
  int count = !c ? 0 : side ? c->count_b : c->count_a;
  if (count > 0 && body->kind->speed_at)
    return body->kind->speed_at(body, side ? c->vertex_b : c->vertex_a, side ? c->weight_b : c->weight_a,
                                count);
  return tb_add3(body->v, tb_cross3(body->w, tb_sub3(t->position, body->x)));
}

// The velocity of B against A at the constraint, in its frame, at the start of the step.
static tbVec3 velocity_before(const tbWorld* w, const tbContactConstraint* t)
{
  return tb_mat3_mulv(t->frame, tb_sub3(velocity_of(w, t, 1), velocity_of(w, t, 0)));
}

// What gravity adds to the velocity of a body.
static tbVec3 pull_on(const tbWorld* w, int body)
{
  return tb_bodies(w)[body].motion == TB_BODY_DYNAMIC ? w->gravity : tb_zero3();
}

bool tb_friction_goes_back(const tbWorld* w, const tbContactConstraint* t, int side, tbVec3 direction)
{
  tbVec3 n = t->point.normal, way = tb_sub3(velocity_of(w, t, side), velocity_of(w, t, !side));
  way = tb_madd3(way, -tb_dot3(way, n), n);
  if (!(tb_norm3(way) > fmax(REST, t->rest))) {
    way = tb_sub3(pull_on(w, side ? t->body_b : t->body_a), pull_on(w, side ? t->body_a : t->body_b));
    way = tb_madd3(way, -tb_dot3(way, n), n);
  }
  return tb_dot3(way, direction) < 0;
}

void tb_friction_at_speed(const tbWorld* w, tbContactConstraint* t)
{
  tbFriction* f = &t->contact_material.friction;
  if (!(f->static_ratio > 1)) return;
  tbVec3 u = velocity_before(w, t);
  double v = sqrt(u.y * u.y + u.z * u.z), rest = v < fmax(REST, t->rest);
  if (f->stribeck > 0) rest = tb_exp(-fmin(v / f->stribeck * (v / f->stribeck), 700));
  double scale = 1 + (f->static_ratio - 1) * rest;
  f->mu *= scale, f->mu_t *= scale, f->mu_b *= scale;
  for (int i = 0; i < 4; i++) f->matrix[i] *= scale;
}

// The first tangent along the sliding; where nothing slides yet, along what gravity pulls. Whether it slides.
static bool turn_along_sliding(const tbWorld* w, tbContactConstraint* t)
{
  tbVec3 u = velocity_before(w, t), n = tb_mat3_row(t->frame, 0);
  tbVec3 way = tb_add3(tb_scale3(u.y, tb_mat3_row(t->frame, 1)), tb_scale3(u.z, tb_mat3_row(t->frame, 2)));
  bool slides = tb_norm3(way) > fmax(REST, t->rest);
  if (!slides) way = tb_madd3(w->gravity, -tb_dot3(w->gravity, n), n);
  if (!(tb_norm3(way) > 1e-9)) return false;
  way = tb_normalize3(way);
  t->frame = tb_mat3_rows(n, way, tb_cross3(n, way));
  return slides;
}

void tb_friction_bound(double along, double across, tbContactConstraint* t)
{
  const double bound[6] = {0, -along, -across, INFINITY, along, across};
  t->law = TB_LAW_BOX, t->rows = 3;
  for (int i = 0; i < 6; i++) t->param[i] = bound[i];
}

void tb_friction_rows(const tbWorld* w, const tbStepOptions* o, tbContactConstraint* t)
{
  const tbFriction* f = &t->contact_material.friction;
  bool tresca = f->tresca > 0, along = o->sliding_tangents && t->law == TB_LAW_COULOMB;
  if (!tresca && !along) return;
  bool slides = turn_along_sliding(w, t);
  double most = f->tresca * o->dt;
  if (tresca) tb_friction_bound(most, slides ? 0 : most, t); // what slides has none across
}
