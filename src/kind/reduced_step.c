// SPDX-License-Identifier: Apache-2.0
// A reduced body over a step. The frame is explicit; the deformation follows Newmark's rule in its subspace,
// one equation per mode where elasticity is linear:
//
//   (1 + γhB + βh²ω²) q̇⁺ = (1 − (1−γ)hB + (½−γ+β)h²ω²) q̇ + h f − hω²q        q⁺ = q + h q̇⁺
//
// with q̇ half a step behind q, so that contacts, whose law holds for q̇⁺, say where the step ends. β = (γ +
// ½)²/4: stable for any h. Modes that the step resolves, hω ≤ 1, have γ = ½, which neither damps nor excites
// them and lowers their frequency by (hω)²/12; the faster ones come ever closer to implicit Euler's rule, γ =
// 3/2, and fade, γ = 3/2 − 1/(hω)². B = α + βω² is Rayleigh's damping.
//
// With D = (γ + ½)/2 and E = (3/2 − γ)/2, β = D² and ½ − γ + β = E², the same rule for an energy that is not
// quadratic has DKD and EKE in place of these, K = ∂²E at the start; where 1 + h²DKD is not positive
// (compressed beyond what St. Venant and Kirchhoff's model bears), K is made stiffer by a multiple of the
// identity.
//
//   A = | m            |     of which contacts take  [d, (p − c) × d, (Rᵀd)·u_k(p)]  as rows. Gyroscopic,
//   centrifugal
//       |    I     C   |     and Coriolis' forces: reduced_motion.c.
//       |    Cᵀ  1 + … |
#include "kind/reduced.h"

#include "base/stop.h"
#include "math/dense.h"

#include <string.h>

static const double HEAVY = 0x1p40; // times its mass: a frame that pins lead

tbStatus tb_reduced_begin(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbBody* body,
                          tbBodyStep* out)
{
  (void)ctx, (void)kept;
  const tbReduced* d = body->own;
  size_t r = (size_t)d->basis->nmode, n = (size_t)tb_reduced_frame_dofs(d) + r;
  tbReducedStep* s = out->own = TB_TAKE(arena, tbReducedStep, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->A = TB_TAKE(arena, double, n* n);
  s->rhs = TB_TAKE(arena, double, n);
  s->K = TB_TAKE(arena, double, tb_modal_is_stvk(d->basis) ? r* r : 0);
  s->start.C = TB_TAKE(arena, tbVec3, r);
  s->v = TB_TAKE(arena, double, n);
  s->end.q = TB_TAKE(arena, double, r);
  s->end.qd = TB_TAKE(arena, double, r);
  s->work = TB_TAKE(arena, tbVec3, 2 * r);
  out->size = (int)n, out->v = s->v;
  out->v_free = TB_TAKE(arena, double, n);
  if (!s->A || !s->rhs || !s->K || !s->start.C || !s->v || !s->end.q || !s->end.qd || !s->work ||
      !out->v_free)
    return TB_ERROR_MEMORY;
  size_t first = n - r;
  if (first) tb_store3(s->v, d->now.v), tb_store3(s->v + 3, d->now.w);
  memcpy(s->v + first, d->now.qd, r * sizeof *s->v);
  return TB_OK;
}

// γ of a mode.
static double gamma_of(double stiff) // stiff: (hω)²
{
  return stiff > 1 ? 1.5 - 1 / stiff : 0.5;
}

// The rows of q: what stands before q̇⁺ − q̇, and elastic and damping forces.
static void deform(const tbReduced* d, double h, double stiffen, tbReducedStep* s, size_t n)
{
  const tbModalBasis* b = d->basis;
  size_t r = (size_t)b->nmode, first = n - r;
  const double *qd = d->now.qd, *q = d->now.q;
  double* f = s->end.q; // room
  bool stvk = tb_modal_is_stvk(b);
  tb_modal_energy(b, q, f, s->K, d->work);
  for (size_t k = 0; k < r; k++) {
    double stiff = h * h * b->omega2[k], gamma = gamma_of(stiff), *row = s->A + (first + k) * n + first;
    double damping = h * (d->soft.mass_damping + d->soft.stiffness_damping * b->omega2[k]);
    double D = 0.5 * gamma + 0.25, E = 0.75 - 0.5 * gamma;
    for (size_t l = 0; stvk && l < r; l++) {
      double other = gamma_of(h * h * b->omega2[l]);
      double K = h * h * (s->K[k * r + l] + (k == l ? stiffen : 0));
      row[l] += D * (0.5 * other + 0.25) * K;
      s->rhs[first + k] += (E * (0.75 - 0.5 * other) - D * (0.5 * other + 0.25)) * K * qd[l];
    }
    row[k] += 1 + gamma * damping + (stvk ? 0 : D * D * stiff);
    s->rhs[first + k] += h * f[k] - damping * qd[k];
    if (!stvk) s->rhs[first + k] += (E * E - D * D) * stiff * qd[k];
  }
}

// The frame's rows of one that floats.
static void float_freely(const tbWorld* w, const tbBody* body, double h, tbReducedStep* s, size_t n)
{
  const tbReduced* d = body->own;
  const tbModalBasis* b = d->basis;
  size_t r = (size_t)b->nmode;
  tbMat3 R = tb_quat_mat3(d->now.frame.q);
  tb_reduced_inertia(b, d->now.q, &s->start);
  double drag = h * d->soft.mass_damping, mass = b->moments.mass;
  tbMat3 I = tb_mat3_mul(R, tb_mat3_mult(s->start.I, R));
  tbVec3 spin = tb_scale3(-drag, tb_mat3_mulv(I, d->now.w)), pull = tb_scale3(-drag * mass, d->now.v);
  for (size_t i = 0; i < 3; i++) {
    s->A[i * n + i] = mass * (1 + drag);
    for (size_t j = 0; j < 3; j++) s->A[(3 + i) * n + 3 + j] = (1 + drag) * (j < i ? I.m[j][i] : I.m[i][j]);
  }
  for (size_t k = 0; k < r; k++) {
    tbVec3 C = tb_mat3_mulv(R, s->start.C[k]);
    for (size_t i = 0; i < 3; i++) s->A[(3 + i) * n + 6 + k] = s->A[(6 + k) * n + 3 + i] = (&C.x)[i];
  }
  pull = tb_madd3(pull, h * mass, w->gravity);
  pull = tb_madd3(pull, h, tb_add3(body->force, tb_load3(d->push)));
  tb_store3(s->rhs, pull);
  tb_store3(s->rhs + 3, tb_madd3(spin, h, tb_load3(d->push + 3)));
}

// The frame of pins that move, at the end of the step; and what its acceleration and gravity do to q.
static void lead(const tbWorld* w, const tbBody* body, double h, tbReducedStep* s, size_t n)
{
  const tbReduced* d = body->own;
  const tbModalBasis* b = d->basis;
  size_t r = (size_t)b->nmode, first = n - r;
  tbVec3 v = tb_zero3(), spin = tb_zero3();
  s->led = d->now.frame;
  if (first) {
    tbTransform T = tb_motion_pose(w, &d->motion, w->time + h);
    s->led = tb_transform(T.q, tb_transform_point(T, d->centre));
    v = tb_scale3(1 / h, tb_sub3(s->led.x, d->now.frame.x));
    spin = tb_scale3(1 / h, tb_quat_log(tb_quat_mul(s->led.q, tb_quat_conj(d->now.frame.q))));
    for (size_t i = 0; i < 6; i++)
      s->A[i * n + i] = HEAVY * (i < 3 ? b->moments.mass : tb_mat3_trace(b->moments.rest));
    tbVec3 change[2] = {tb_sub3(v, d->now.v), tb_sub3(spin, d->now.w)};
    for (size_t i = 0; i < 6; i++) s->rhs[i] = s->A[i * n + i] * (&change[i / 3].x)[i % 3];
  }
  tbQuat q = d->now.frame.q;
  tbVec3 pull = tb_madd3(w->gravity, 1 / b->moments.mass, body->force);
  pull = tb_quat_unrotate(q, tb_madd3(pull, -1 / h, tb_sub3(v, d->now.v)));
  tbVec3 spun = tb_quat_unrotate(q, tb_scale3(1 / h, tb_sub3(spin, d->now.w)));
  tb_reduced_inertia(b, d->now.q, &s->start);
  for (size_t k = 0; k < r; k++)
    s->rhs[first + k] += h * (tb_dot3(b->moments.shift[k], pull) - tb_dot3(s->start.C[k], spun));
}

// What turning does to q, x being the changes of velocity of the step. Of a frame that floats: ∂T/∂q at the
// velocities that it leads to, the symplectic rule of Euler. Of one that is led: at its velocity, and at the
// mean of q̇, where Coriolis' force does no work. At the velocities of the start both would feed the motion,
// by (hω)² a step.
static double turning_force(const tbReduced* d, const double* x, size_t n, tbReducedStep* s, double* force)
{
  const tbModalBasis* b = d->basis;
  size_t r = (size_t)b->nmode, first = n - r;
  bool floats = d->nhold == 0;
  double *qd = s->end.qd, largest = 0;
  for (size_t k = 0; k < r; k++) qd[k] = d->now.qd[k] + (floats ? 1 : 0.5) * x[first + k], force[k] = 0;
  tbVec3 w = first ? tb_add3(d->now.w, tb_load3(x + 3)) : tb_zero3();
  tb_reduced_turning(b, d->now.q, qd, tb_quat_unrotate(d->now.frame.q, w), floats ? 1 : 2, force);
  for (size_t k = 0; k < r; k++) largest = fmax(largest, fabs(force[k]));
  return largest;
}

// x = A⁻¹ rhs, with the force of turning: found again from the velocities it leads to, until it changes no
// more. One evaluation will do where the step turns little; where they come no closer, the last but one.
static bool solve(const tbReduced* d, double h, size_t n, double* factor, tbReducedStep* s, double* x)
{
  enum { ITERATIONS = 12 };
  static const double LITTLE = 1e-3, CLOSE = 1e-9;
  size_t r = (size_t)d->basis->nmode, first = n - r;
  double *force = (double*)s->work, *before = s->end.q, moved = INFINITY;
  memcpy(factor, s->A, n * n * sizeof *factor);
  if (tb_dense_cholesky((int)n, factor, (int)n) != (int)n) return false;
  memset(x, 0, n * sizeof *x);
  for (size_t k = 0; d->nhold > 0 && k < first; k++) x[k] = s->rhs[k] / s->A[k * n + k];
  memset(before, 0, r * sizeof *before);
  for (int i = 0; i < ITERATIONS; i++) {
    double largest = turning_force(d, x, n, s, force), change = 0;
    for (size_t k = 0; k < r; k++) change = fmax(change, fabs(force[k] - before[k]));
    if (i > 0 && (!(change < moved) || change <= CLOSE * largest)) break;
    for (size_t k = 0; k < r; k++) s->rhs[first + k] += h * (force[k] - before[k]);
    memcpy(before, force, r * sizeof *force);
    memcpy(x, s->rhs, n * sizeof *x);
    tb_dense_cholesky_solve((int)n, factor, (int)n, x);
    tbVec3 w = first ? tb_add3(d->now.w, tb_load3(x + 3)) : tb_zero3();
    if (h * fmax(tb_norm3(d->now.w), tb_norm3(w)) < LITTLE) break;
    if (i > 0) moved = change;
  }
  return true;
}

tbStatus tb_reduced_prepare(tbContext* ctx, const tbWorld* w, const tbBody* body, double h, double tolerance,
                            tbBodyStep* out)
{
  (void)tolerance;
  const tbReduced* d = body->own;
  tbReducedStep* s = out->own;
  size_t n = (size_t)out->size, r = (size_t)d->basis->nmode;
  double* factor = TB_NEW(ctx, double, n* n);
  if (!factor) return TB_ERROR_MEMORY;
  bool done = false;
  for (double stiffen = 0;
       !done && stiffen<0x1p60 / (h * h); stiffen = stiffen> 0 ? 4 * stiffen : 1 / (h * h)) {
    memset(s->A, 0, n * n * sizeof *s->A);
    memset(s->rhs, 0, n * sizeof *s->rhs);
    if (d->nhold > 0) lead(w, body, h, s, n);
    else float_freely(w, body, h, s, n);
    for (size_t k = 0; k < r; k++) s->rhs[n - r + k] += h * d->push[6 + k];
    deform(d, h, stiffen, s, n);
    done = solve(d, h, n, factor, s, out->v_free);
    if (!tb_modal_is_stvk(d->basis)) break;
  }
  tb_free(ctx, factor);
  for (size_t k = 0; k < n; k++) out->v_free[k] += s->v[k], done = done && isfinite(out->v_free[k]);
  if (!done) return tb_fail(ctx, TB_ERROR_NUMERIC, "%s is deformed beyond what can be computed", body->name);
  return tb_check_interrupt(ctx);
}

void tb_reduced_metric(const tbStepView* view, int body, tbBuilder* b, int* dof)
{
  const tbBodyStep* step = &view->step[body];
  const tbReducedStep* s = step->own;
  tb_builder_dense(b, step->size, s->A, step->v_free, dof);
}

// Rows of turning act on the frame alone.
void tb_reduced_contact(const tbStepView* view, int body, const tbContactSide* side, int dof, tbBuilder* b)
{
  enum { CHUNK = 32 };
  const tbReduced* d = tb_bodies(view->world)[body].own;
  int frame = tb_reduced_frame_dofs(d), r = d->basis->nmode;
  double jac[TB_MAX_ROWS * CHUNK];
  tbVec3 own[TB_MAX_ROWS];
  tbContactSide at = *side;
  at.at = tb_zero3();
  for (int k = 0; k < side->count; k++)
    at.at = tb_madd3(at.at, side->weight[k], d->x[d->surface->node[side->vertex[k]]]);
  if (frame) {
    tb_frame_jacobian(&at, d->now.frame.x, jac);
    tb_builder_jacobian(b, dof, 6, jac);
  }
  for (int i = 0; i < side->rows; i++)
    own[i] = i < 3 ? tb_scale3(side->sign, tb_quat_unrotate(d->now.frame.q, side->direction[i])) : tb_zero3();
  for (int first = 0; first < r; first += CHUNK) {
    int width = r - first < CHUNK ? r - first : CHUNK;
    memset(jac, 0, sizeof jac);
    for (int k = 0; k < side->count; k++) {
      const double* row = d->basis->field + 3 * (size_t)d->surface->node[side->vertex[k]] * (size_t)r + first;
      for (int i = 0; i < side->rows && i < 3; i++)
        for (int l = 0; l < width; l++)
          jac[i * width + l] +=
              side->weight[k] * (own[i].x * row[l] + own[i].y * row[r + l] + own[i].z * row[2 * r + l]);
    }
    tb_builder_jacobian(b, dof + frame + first, width, jac);
  }
}
