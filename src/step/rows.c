// SPDX-License-Identifier: Apache-2.0
// From constraints to rows.
//
// Stabilisation of an overlap φ < 0 (course, section on constraint stabilisation):
//   baumgarte    u_n ≥ −ε (φ + slop)/h: the fraction ε goes in this step; compliance in m/N softens the row
//   compliance   spring and damper: λ = −h (k (φ + h u) + b u), that is R = 1/(h² k + h b), bias φ k/(h k +
//                b); so do contacts of materials with a spring, whatever the stabilisation
//   projection   u_n ≥ 0, and so does none
#include "step/rows.h"

#include "base/memory.h"
#include "step/friction_pair.h"
#include "step/friction_place.h"
#include "step/friction_state.h"

#include <string.h>

// A gap of so little of the smaller body's size is none, either way, and one of what so many times the
// solver's tolerance moves in a step, if that is less. What a solver leaves moves bodies at rest by less;
// taken for gaps, that noise would come back divided by h, and no step would ever find the last one's
// impulses good enough. Gaps beyond the noise are gaps: runs that are solved tightly are smooth.
static const double CLOSED = 1e-6, NOISY = 100;

// The law wants L invertible: a millionth of its size stands for friction that is none along a line.
static void choose_tensor(const double* L, tbContactConstraint* t)
{
  double size = 0;
  for (int i = 0; i < 4; i++) size = fmax(size, fabs(L[i])), t->param[i] = L[i];
  bool thin = L[0] * L[3] - L[1] * L[2] < 1e-6 * size * size;
  if (thin) t->param[0] += 1e-6 * size, t->param[3] += 1e-6 * size;
  t->law = size > 0 ? TB_LAW_TENSOR : TB_LAW_NONNEG, t->rows = size > 0 ? 3 : 1;
}

// Law, rows and parameters of the surfaces' friction. Frictionless contact has its normal row alone; lengths
// of torsion and rolling turn a normal impulse into the largest torque. An ellipse with rolling resistance is
// a disc on rows stretched by mu_t/mu and mu_b/mu.
void tb_constraint_choose_law(tbContactConstraint* t)
{
  const tbFriction* f = &t->contact_material.friction;
  double* p = t->param;
  bool elliptic = f->kind == TB_FRICTION_ELLIPTIC, slides = elliptic ? f->mu_t > 0 || f->mu_b > 0 : f->mu > 0;
  double mu_t = elliptic ? f->mu_t : f->mu, mu_b = elliptic ? f->mu_b : f->mu;
  t->stretch[0] = t->stretch[1] = 1;
  if (f->kind == TB_FRICTION_TENSOR) {
    choose_tensor(f->matrix, t);
    return;
  }
  if (f->rolling > 0) {
    bool torsion = f->torsion > 0;
    t->law = TB_LAW_ROLLING, t->rows = torsion ? 6 : 5;
    p[0] = fmax(mu_t, mu_b), p[1] = torsion ? f->torsion : f->rolling, p[2] = f->rolling;
    if (slides) t->stretch[0] = mu_t / p[0], t->stretch[1] = mu_b / p[0];
  } else if (f->torsion > 0) {
    t->law = TB_LAW_CONTENSOU, t->rows = 4, p[0] = mu_t, p[1] = mu_b, p[2] = f->torsion;
  } else if (elliptic && slides) {
    t->law = TB_LAW_ELLIPTIC, t->rows = 3, p[0] = mu_t, p[1] = mu_b;
  } else if (slides) {
    t->law = TB_LAW_COULOMB, t->rows = 3, p[0] = f->mu;
  } else {
    t->law = TB_LAW_NONNEG, t->rows = 1;
  }
}

// Four directions are the bounds of a box, more of them the corners of a polygon.
static void choose_texture(const tbSurfaceSide side[2], tbVec3 tangent, tbContactConstraint* t)
{
  double mu[TB_MAX_SIDES];
  tbFriction* f = &t->contact_material.friction;
  int count = f->directions > 4 ? f->directions : 4;
  bool polygon = count > 4;
  tb_friction_plow(&side[0], &side[1], t->point.normal, tangent, count, mu);
  t->law = polygon ? TB_LAW_POLYGON : TB_LAW_DIRECTIONAL, t->rows = 3;
  for (int i = 0; i < count; i++) mu[i] *= f->mu;     // at rest, their share
  const double box[4] = {mu[2], mu[0], mu[3], mu[1]}; // −t, t, −b, b
  f->mu = 0;                                          // their mean, for schemes that know a disc alone
  for (int i = 0; i < count; i++) f->mu += mu[i] / count;
  memset(t->param, 0, sizeof t->param);
  memcpy(t->param + polygon, polygon ? mu : box, (size_t)count * sizeof *mu);
  if (polygon) t->param[0] = count;
}

void tb_constraint_drop_turning(tbContactConstraint* t)
{
  t->contact_material.friction.torsion = t->contact_material.friction.rolling = 0;
  if (t->rows > 3) tb_constraint_choose_law(t);
}

// A record's impulse, turned into the touch's frame.
static void take_impulse(const tbContactRecord* r, tbContactConstraint* t)
{
  t->guess[0] = r->impulse[0];
  if (t->rows == 1 || r->rows == 1) return;
  tbVec3 b = tb_cross3(r->normal, r->tangent);
  tbVec3 force = tb_add3(tb_scale3(r->impulse[1], r->tangent), tb_scale3(r->impulse[2], b));
  for (int k = 1; k < 3; k++)
    t->guess[k] = t->stretch[k - 1] > 0 ? tb_dot3(force, tb_mat3_row(t->frame, k)) / t->stretch[k - 1] : 0;
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
  tbFrictionPair pair = tb_world_friction_pair(w, &tb_bodies(w)[t->body_a], &tb_bodies(w)[t->body_b]);
  tbSurfaceSide side[2] = {{.friction = pair.a}, {.friction = pair.b}};
  tbTexturePatch patch[2];
  for (int k = 0; k < 2; k++) {
    const tbFriction* f = side[k].friction ? side[k].friction : side[!k].friction;
    if (tb_friction_is_directed(f)) tb_friction_place(w, t, k, f, &side[k], &patch[k]);
    if (f && f->asymmetric) side[k].back = tb_friction_goes_back(w, t, k, side[k].along);
  }
  tbVec3 n = t->point.normal, tangent;
  t->contact_material.restitution = pair.restitution, t->contact_material.spring = pair.spring;
  t->contact_material.friction = tb_friction_meet(&side[0], &side[1], n, &tangent);
  t->directed = tb_friction_is_directed(pair.a) || tb_friction_is_directed(pair.b);
  t->frame = t->directed ? tb_mat3_rows(n, tangent, tb_cross3(n, tangent)) : tb_mat3_frame(n);
  t->directed |= t->contact_material.friction.static_ratio > 1;
  tb_friction_at_speed(w, t);
  tb_constraint_choose_law(t);
  if (t->contact_material.friction.kind == TB_FRICTION_TEXTURE) choose_texture(side, tangent, t);
}

void tb_constraint_laws(const tbWorld* w, const tbStepOptions* o, tbContactConstraint* constraints, int count)
{
  for (int i = 0; i < count; i++)
    tb_constraint_law(w, &constraints[i]), tb_friction_rows(w, o, &constraints[i]);
  if (o->warm_start) warm_start(w, constraints, count);
}

tbVec3 tb_constraint_velocity(const tbContactConstraint* t, tbVec3 xa, tbVec3 va, tbVec3 wa, tbVec3 xb,
                              tbVec3 vb, tbVec3 wb)
{
  tbVec3 ua = tb_add3(va, tb_cross3(wa, tb_sub3(t->position, xa)));
  tbVec3 ub = tb_add3(vb, tb_cross3(wb, tb_sub3(t->position, xb)));
  return tb_mat3_mulv(t->frame, tb_sub3(ub, ua));
}

void tb_constraint_bounce_tangents(tbContactConstraint* t, tbVec3 u)
{
  double e = t->contact_material.friction.restitution;
  if (t->rows < 3 || !(e > 0)) return;
  t->bias[1] = e * u.y * tb_constraint_stretch(t, 1), t->bias[2] = e * u.z * tb_constraint_stretch(t, 2);
}

tbSoftRow tb_soft_row(double h, double stiffness, double damping, double error)
{
  double denominator = h * h * stiffness + h * damping;
  return (tbSoftRow){h * stiffness * error / denominator, 1 / denominator};
}

bool tb_constraint_spring(const tbStepOptions* o, tbContactConstraint* t, double gap, double* target)
{
  const tbContactSpring* own = &t->contact_material.spring;
  bool given = own->stiffness > 0;
  if (!given && o->stabilization != TB_STABILIZE_COMPLIANCE) return false;
  tbSoftRow soft =
      tb_soft_row(o->dt, given ? own->stiffness : o->stiffness, given ? own->damping : o->damping, gap);
  if (gap < 0) *target = -soft.bias;
  t->compliance[0] = soft.compliance;
  return true;
}

// The most that noise of the solver makes of a gap, m. The tolerance relative to norms is taken for a share
// of what gravity adds to a velocity in ten steps.
static double noise_of(const tbWorld* w, const tbStepOptions* o)
{
  double speed = o->solver.velocity_tolerance > 0 ? o->solver.velocity_tolerance : INFINITY;
  double falls = 10 * o->dt * tb_norm3(w->gravity);
  if (o->solver.tolerance > 0 && falls > 0) speed = fmin(speed, o->solver.tolerance * falls);
  return NOISY * speed * o->dt;
}

void tb_constraint_biases(const tbWorld* w, const tbStepOptions* o, tbContactConstraint* constraints,
                          int count)
{
  double h = o->dt, noise = w->cache->answers ? 0 : noise_of(w, o); // problems solved to rounding leave none
  for (int i = 0; i < count; i++) {
    tbContactConstraint* t = &constraints[i];
    double size = fmin(tb_bodies(w)[t->body_a].radius, tb_bodies(w)[t->body_b].radius);
    double closed = fmin(CLOSED * size, noise);
    double gap = t->point.gap, target = gap < 0 ? 0 : t->left > 0 ? -t->gap_left / t->left : -gap / h;
    if (fabs(gap) <= closed) gap = target = 0;
    if (!tb_constraint_spring(o, t, gap, &target) && o->stabilization == TB_STABILIZE_BAUMGARTE) {
      if (gap < -o->slop) target = -o->fraction * (gap + o->slop) / h;
      t->compliance[0] = o->compliance / (h * h);
    }
    if (t->impact >= 0 && gap >= 0) target = 0; // they met at the surface, and part from there
    t->bias[0] = -target;
  }
}
