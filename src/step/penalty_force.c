// SPDX-License-Identifier: Apache-2.0
// The forces of one contact under the scheme `penalty` (course §5.1), by its depth δ = −φ and its velocity u.
//
//   springs    power         k L (δ/L)ᵖ          p = 1: k δ, the linear spring                       (286)
//              exponential   k L (e^(δ/L) − 1)                                                   (280, 281)
//              layers        Σ k l³ (δ − L (1 − l^(−1/4)))₊ over l = 1, 2, …: no end before δ = L    (289,
//              290)
//   normal     max(0, spring − b u_n), of the spring a share where bodies part                  (279, 282)
//   friction   anchors       −k ξ − b u_T, ξ: how far the contact has slid since it began        (276, 277)
//              damping       −m u_T/h, what would stop the sliding in a step                         (278)
//              relaxed       −k_f u_T                                                           (287, 288)
//              cut to the law's set at f_n: there it is the force against the sliding. Anchors follow then.
//   turning    torsion and rolling: −c ω with what would stop it in two steps, cut to the law's bounds
//
// k and b are those of the materials where they have a spring. k and L, where they are not given: m/(10 h²),
// and how far the linear spring gives way to the weight. A spring pushes no harder than it takes to leave in
// one step: explicit springs that are stiffer than the step resolves would gain energy.
#include "step/penalty.h"

#include "step/friction_pair.h"

static const double SOFT = 0.1;    // k h²/m of a spring that is not given
static const double LENGTH = 1e-3; // m: without gravity
static const double VISCOUS = 0.5; // h c/m: of a damper that is not given

// The inverse mass felt at the contact along d; and the inverse inertia about it.
static double inverse_mass(const tbWorld* w, const tbContactConstraint* t, tbVec3 d)
{
  double sum = 0;
  int body[2] = {t->body_a, t->body_b};
  for (int side = 0; side < 2; side++) {
    const tbBody* b = &tb_bodies(w)[body[side]];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    tbVec3 lever = tb_quat_unrotate(b->q, tb_cross3(tb_sub3(t->position, b->x), d));
    sum += 1 / b->mass + tb_dot3(lever, tb_mat3_mulv(b->inertia_inv, lever));
  }
  return sum;
}

static double inverse_inertia(const tbWorld* w, const tbContactConstraint* t, tbVec3 d)
{
  double sum = 0;
  int body[2] = {t->body_a, t->body_b};
  for (int side = 0; side < 2; side++) {
    const tbBody* b = &tb_bodies(w)[body[side]];
    tbVec3 own = tb_quat_unrotate(b->q, d);
    if (b->motion == TB_BODY_DYNAMIC) sum += tb_dot3(own, tb_mat3_mulv(b->inertia_inv, own));
  }
  return sum;
}

enum { LAYERS = 4096 }; // the last begins at 7/8 of L

// Nested springs of thickness L l^(−1/4) and stiffness k l³, as asynchronous contact mechanics has them.
static double layers_force(double k, double length, double depth)
{
  double sum = 0;
  for (int l = 1; l <= LAYERS; l++) {
    double pressed = depth - length * (1 - 1 / sqrt(sqrt(l)));
    if (!(pressed > 0)) break;
    sum += k * ((double)l * l * l) * pressed;
  }
  return sum;
}

static double spring_force(const tbStepOptions* o, double k, double length, double depth)
{
  double x = depth / length;
  if (o->penalty_spring == TB_SPRING_LAYERS) return layers_force(k, length, depth);
  if (o->penalty_spring == TB_SPRING_EXPONENTIAL) return k * length * (tb_exp(fmin(x, 300)) - 1);
  return o->penalty_exponent == 1 ? k * depth : k * length * tb_exp(o->penalty_exponent * tb_ln(x));
}

// The force of sliding friction before the law cuts it; *slid: the stretch of its anchor, along the tangents.
static void hold(const tbStepOptions* o, double k, double damping, double mass, const double old[2],
                 const double u[2], double slid[2], double f[2])
{
  double h = o->dt, c = mass / h;
  if (o->penalty_friction == TB_PENALTY_RELAXED)
    c = o->descent.friction_stiffness > 0 ? o->descent.friction_stiffness : VISCOUS * mass / h;
  for (int i = 0; i < 2; i++) {
    bool anchored = o->penalty_friction == TB_PENALTY_ANCHORS;
    slid[i] = anchored ? old[i] + h * u[i] : 0;
    f[i] = anchored ? -k * slid[i] - damping * u[i] : -c * u[i];
  }
}

// f ← cut to the set of the law at fn, in the coordinates of its rows. Whether it was beyond.
static bool cut(const tbContactConstraint* t, double h, double fn, const double u[2], double f[2])
{
  double param[1 + TB_MAX_SIDES], row[2], slides[2];
  bool even = t->stretch[0] == t->stretch[1];
  for (int i = 0; i < 1 + TB_MAX_SIDES; i++)
    param[i] = t->law == TB_LAW_BOX ? t->param[i] / h : t->param[i]; // Tresca's: forces
  for (int i = 0; i < 2; i++) {
    row[i] = t->stretch[i] > 0 ? f[i] / t->stretch[i] : 0, slides[i] = t->stretch[i] * u[i];
    f[i] = t->stretch[i] * row[i];
  }
  double use = t->rows >= 3 ? tb_friction_use(t->law, param, fn, row) : INFINITY;
  if (!(use > 1)) return false;
  bool round = t->rows < 3 || t->law == TB_LAW_COULOMB || (t->law == TB_LAW_ROLLING && even);
  if (round || (slides[0] == 0 && slides[1] == 0)) row[0] /= use, row[1] /= use;
  else tb_friction_against(t->law, param, fn, slides, row);
  for (int i = 0; i < 2; i++) f[i] = t->stretch[i] * row[i];
  return true;
}

// Torques against turning: torsion about the normal, rolling about the tangents.
static void brake(const tbWorld* w, const tbStepOptions* o, const tbPenaltyPoint* p, double fn,
                  double force[6])
{
  const tbContactConstraint* t = p->at;
  if (t->law != TB_LAW_CONTENSOU && t->law != TB_LAW_ROLLING) return;
  const tbBody *a = &tb_bodies(w)[t->body_a], *b = &tb_bodies(w)[t->body_b];
  tbVec3 turning = tb_sub3(b->w, a->w);
  bool torsion = t->rows != 5;
  for (int k = 3; k < t->rows; k++) {
    tbVec3 axis = tb_mat3_row(t->frame, torsion ? k - 3 : k - 2);
    double inverse = inverse_inertia(w, t, axis);
    force[k] = inverse > 0 ? -VISCOUS / (o->dt * inverse * p->points) * tb_dot3(axis, turning) : 0;
  }
  for (int first = 3; first < t->rows;
       first += torsion && first == 3 ? 1 : 2) { // torsion; the disc of rolling
    bool disc = !(torsion && first == 3);
    double most = (disc ? t->param[2] : t->law == TB_LAW_CONTENSOU ? t->param[2] : t->param[1]) * fn;
    double size =
        disc ? sqrt(force[first] * force[first] + force[first + 1] * force[first + 1]) : fabs(force[first]);
    double share = size > most ? most / size : 1;
    force[first] *= share;
    if (disc) force[first + 1] *= share;
  }
}

// Contensou's set is an ellipsoid: sliding and torsion together are within it.
static bool share_set(const tbContactConstraint* t, double fn, double force[6])
{
  if (t->law != TB_LAW_CONTENSOU) return false;
  double slide = tb_friction_use(t->law, t->param, fn, force + 1);
  double turn = t->param[2] * fn > 0 ? force[3] / (t->param[2] * fn) : 0,
         use = sqrt(slide * slide + turn * turn);
  if (!(use > 1)) return false;
  for (int k = 1; k < 4; k++) force[k] /= use;
  return true;
}

double tb_penalty_stiffness(const tbStepOptions* o, const tbContactConstraint* t, double mass)
{
  double own = t->contact_material.spring.stiffness;
  return own > 0 ? own : o->penalty_stiffness > 0 ? o->penalty_stiffness : SOFT * mass / (o->dt * o->dt);
}

tbPenaltyPoint tb_penalty_point(const tbWorld* w, const tbContactConstraint* t, int points, tbVec3 stretch)
{
  const tbBody *a = &tb_bodies(w)[t->body_a], *b = &tb_bodies(w)[t->body_b];
  tbVec3 n = tb_mat3_row(t->frame, 0), T = tb_mat3_row(t->frame, 1), B = tb_mat3_row(t->frame, 2);
  return (tbPenaltyPoint){.at = t,
                          .depth = -t->point.gap,
                          .u = tb_constraint_velocity(t, a->x, a->v, a->w, b->x, b->v, b->w),
                          .mass = 1 / inverse_mass(w, t, n) / points,
                          .sliding = 1 / fmax(inverse_mass(w, t, T), inverse_mass(w, t, B)) / points,
                          .points = points,
                          .stretch = stretch};
}

void tb_penalty_force(const tbWorld* w, const tbStepOptions* o, const tbPenaltyPoint* p, double force[6],
                      tbVec3* stretch)
{
  const tbContactConstraint* t = p->at;
  const tbContactSpring* own = &t->contact_material.spring;
  double h = o->dt, mass = p->mass, k = tb_penalty_stiffness(o, t, mass),
         weight = mass * tb_norm3(w->gravity);
  double damping = own->stiffness > 0 ? own->damping : 2 * o->penalty_damping * sqrt(k * mass);
  double length = o->penalty_length > 0 ? o->penalty_length : weight > 0 ? weight / k : LENGTH;
  for (int i = 0; i < 6; i++) force[i] = 0;
  *stretch = tb_zero3();
  if (!(p->depth > 0)) return;
  tbVec3 v = p->u, T = tb_mat3_row(t->frame, 1), B = tb_mat3_row(t->frame, 2);
  double spring = (v.x > 0 ? o->penalty_recede : 1) * spring_force(o, k, length, p->depth);
  double most = mass * (p->depth / h - fmin(v.x, 0)) / h; // to stop, and leave in one step
  double fn = force[0] = fmax(0, fmin(spring - damping * v.x, fmax(most, 0)));
  double u[2] = {v.y, v.z}, old[2] = {tb_dot3(p->stretch, T), tb_dot3(p->stretch, B)}, slid[2];
  hold(o, k, damping, p->sliding, old, u, slid, force + 1);
  bool slides = cut(t, h, fn, u, force + 1);
  brake(w, o, p, fn, force);
  slides = share_set(t, fn, force) || slides;
  if (o->penalty_friction != TB_PENALTY_ANCHORS) return;
  for (int i = 0; i < 2; i++) // friction gives way: the anchor follows
    if (slides) slid[i] = -(force[1 + i] + damping * u[i]) / k;
  *stretch = tb_add3(tb_scale3(slid[0], T), tb_scale3(slid[1], B));
}
