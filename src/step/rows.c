// SPDX-License-Identifier: Apache-2.0
// From constraints to rows.
//
// Stabilisation of an overlap φ < 0 (course, section on constraint stabilisation):
//   baumgarte    u_n ≥ −ε (φ + slop)/h: the fraction ε goes in this step; compliance in m/N softens the row
//   compliance   spring and damper: λ = −h (k (φ + h u) + b u), that is R = 1/(h² k + h b), bias φ k/(h k +
//   b) projection   u_n ≥ 0, and so does none
#include "step/rows.h"

#include "base/memory.h"

#include <string.h>

// A gap of so little of the smaller body's size is none, either way. What a solver leaves at its tolerance
// moves bodies at rest by less; taken for gaps, that noise would come back divided by h, and no step would
// ever find the last one's impulses good enough.
static const double CLOSED = 1e-6;

static tbMat3 frame_of(const tbWorld* w, const tbContactConstraint* t)
{
  tbVec3 n = t->point.normal;
  tbMat3 frame = tb_mat3_frame(n);
  if (t->contact_material.friction.kind != TB_FRICTION_ELLIPTIC) return frame;
  const tbBody* body = &tb_bodies(w)[t->contact_material.direction_of_b ? t->body_b : t->body_a];
  tbVec3 d = tb_quat_rotate(body->q, tb_normalize3(t->contact_material.friction.direction));
  d = tb_madd3(d, -tb_dot3(d, n), n);
  if (!(tb_norm3(d) > 1e-6)) return frame; // the direction stands on the surface: any tangent will do
  d = tb_normalize3(d);
  return tb_mat3_rows(n, d, tb_cross3(n, d));
}

// Law, rows and parameters of the surfaces' friction. Frictionless contact has its normal row alone; lengths
// of torsion and rolling turn a normal impulse into the largest torque.
void tb_constraint_choose_law(tbContactConstraint* t)
{
  const tbFriction* f = &t->contact_material.friction;
  double* p = t->param;
  if (f->kind == TB_FRICTION_ELLIPTIC && (f->mu_t > 0 || f->mu_b > 0)) {
    t->law = TB_LAW_ELLIPTIC, t->rows = 3, p[0] = f->mu_t, p[1] = f->mu_b;
  } else if (f->kind == TB_FRICTION_CONTENSOU && f->rolling > 0 && f->torsion > 0) {
    t->law = TB_LAW_ROLLING, t->rows = 6, p[0] = f->mu, p[1] = f->torsion, p[2] = f->rolling;
  } else if (f->kind == TB_FRICTION_CONTENSOU && f->rolling > 0) {
    t->law = TB_LAW_ROLLING, t->rows = 5, p[0] = f->mu, p[1] = f->rolling;
  } else if (f->kind == TB_FRICTION_CONTENSOU && f->torsion > 0) {
    t->law = TB_LAW_CONTENSOU, t->rows = 4, p[0] = p[1] = f->mu, p[2] = f->torsion;
  } else if (f->kind != TB_FRICTION_ELLIPTIC && f->mu > 0) {
    t->law = TB_LAW_COULOMB, t->rows = 3, p[0] = f->mu;
  } else {
    t->law = TB_LAW_NONNEG, t->rows = 1;
  }
}

// A record's impulse, turned into the touch's frame.
static void take_impulse(const tbContactRecord* r, tbContactConstraint* t)
{
  t->guess[0] = r->impulse[0];
  if (t->rows == 1 || r->rows == 1) return;
  tbVec3 b = tb_cross3(r->normal, r->tangent);
  tbVec3 force = tb_add3(tb_scale3(r->impulse[1], r->tangent), tb_scale3(r->impulse[2], b));
  t->guess[1] = tb_dot3(force, tb_mat3_row(t->frame, 1));
  t->guess[2] = tb_dot3(force, tb_mat3_row(t->frame, 2));
  if (r->rows == t->rows)
    for (int k = 3; k < t->rows; k++) t->guess[k] = r->impulse[k];
}

enum { PAIR_POINTS = 64 }; // of one pair, that are matched by place

// Warm start of the constraints of one pair from its records of the last step: those at the same features
// first, then each of the rest from the nearest record that is left, as features of surfaces that nearly
// coincide may change their names at the whim of rounding.
static void match_pair(const tbWorld* w, const tbContactRecord* record, int nrecord,
                       tbContactConstraint* constraint, int nconstraint)
{
  bool used[PAIR_POINTS] = {0}, done[PAIR_POINTS] = {0};
  int nr = nrecord < PAIR_POINTS ? nrecord : PAIR_POINTS,
      nt = nconstraint < PAIR_POINTS ? nconstraint : PAIR_POINTS;
  for (int i = 0; i < nt; i++)
    for (int k = 0; k < nr && !done[i]; k++) {
      if (used[k] || record[k].feature != constraint[i].point.feature) continue;
      if (tb_dot3(record[k].normal, constraint[i].point.normal) < 0.9) continue;
      take_impulse(&record[k], &constraint[i]);
      used[k] = done[i] = true;
    }
  const tbBody *a = &tb_bodies(w)[constraint->body_a], *b = &tb_bodies(w)[constraint->body_b];
  double near = 0.1 * fmin(a->radius, b->radius);
  for (int i = 0; i < nt; i++) {
    if (done[i]) continue;
    tbVec3 local = tb_quat_unrotate(a->q, tb_sub3(constraint[i].position, a->x));
    int best = -1;
    double least = near;
    for (int k = 0; k < nr; k++) {
      double distance = used[k] ? INFINITY : tb_distance3(local, record[k].local);
      if (distance < least && tb_dot3(record[k].normal, constraint[i].point.normal) > 0.9)
        least = distance, best = k;
    }
    if (best < 0) continue;
    take_impulse(&record[best], &constraint[i]);
    used[best] = true;
  }
}

static bool before(const tbContactRecord* r, const tbContactConstraint* t)
{
  return r->shape_a < t->shape_a || (r->shape_a == t->shape_a && r->shape_b < t->shape_b);
}

// Records and constraints are both in order of shapes: one walk over both finds the pairs.
static void warm_start(const tbWorld* w, tbContactConstraint* constraint, int count)
{
  const tbContactRecord* record = w->contact.data;
  int n = (int)w->contact.count, r = 0;
  for (int i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && constraint[end].shape_a == constraint[i].shape_a &&
                      constraint[end].shape_b == constraint[i].shape_b;)
      end++;
    while (r < n && before(&record[r], &constraint[i])) r++;
    int last = r;
    while (last < n && record[last].shape_a == constraint[i].shape_a &&
           record[last].shape_b == constraint[i].shape_b)
      last++;
    if (last > r) match_pair(w, record + r, last - r, constraint + i, end - i);
    r = last;
  }
}

void tb_constraint_law(const tbWorld* w, tbContactConstraint* t)
{
  t->contact_material = tb_world_contact_material(w, &tb_bodies(w)[t->body_a], &tb_bodies(w)[t->body_b]);
  t->frame = frame_of(w, t);
  tb_constraint_choose_law(t);
}

void tb_constraint_laws(const tbWorld* w, const tbStepOptions* o, tbContactConstraint* constraints, int count)
{
  for (int i = 0; i < count; i++) tb_constraint_law(w, &constraints[i]);
  if (o->warm_start) warm_start(w, constraints, count);
}

tbVec3 tb_constraint_velocity(const tbContactConstraint* t, tbVec3 xa, tbVec3 va, tbVec3 wa, tbVec3 xb,
                              tbVec3 vb, tbVec3 wb)
{
  tbVec3 ua = tb_add3(va, tb_cross3(wa, tb_sub3(t->position, xa)));
  tbVec3 ub = tb_add3(vb, tb_cross3(wb, tb_sub3(t->position, xb)));
  return tb_mat3_mulv(t->frame, tb_sub3(ub, ua));
}

tbSoftRow tb_soft_row(double h, double stiffness, double damping, double error)
{
  double denominator = h * h * stiffness + h * damping;
  return (tbSoftRow){h * stiffness * error / denominator, 1 / denominator};
}

void tb_constraint_biases(const tbWorld* w, const tbStepOptions* o, tbContactConstraint* constraints,
                          int count)
{
  double h = o->dt;
  for (int i = 0; i < count; i++) {
    tbContactConstraint* t = &constraints[i];
    double closed = CLOSED * fmin(tb_bodies(w)[t->body_a].radius, tb_bodies(w)[t->body_b].radius);
    double gap = t->point.gap, target = gap < 0 ? 0 : t->left > 0 ? -t->gap_left / t->left : -gap / h;
    if (fabs(gap) <= closed) gap = target = 0;
    if (o->stabilization == TB_STABILIZE_BAUMGARTE) {
      if (gap < -o->slop) target = -o->fraction * (gap + o->slop) / h;
      t->compliance[0] = o->compliance / (h * h);
    } else if (o->stabilization == TB_STABILIZE_COMPLIANCE) {
      tbSoftRow soft = tb_soft_row(h, o->stiffness, o->damping, gap);
      if (gap < 0) target = -soft.bias;
      t->compliance[0] = soft.compliance;
    }
    if (t->impact >= 0 && gap >= 0) target = 0; // they met at the surface, and part from there
    t->bias[0] = -target;
  }
}
