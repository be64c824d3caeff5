// SPDX-License-Identifier: Apache-2.0
// The motion of a floating frame and of what deforms in it. With p = X + Uq,
//
//   T = ½m|ċ|² + ½ωᵀI(q)ω + ωᵀC(q)q̇ + ½|q̇|²        I = Σ m (|p|² − ppᵀ),   C_k = Σ m p × u_k
//
// whose momenta are m ċ, L = R(Iω + Cq̇) and π = q̇ + Cᵀω. A step changes momenta where the body is (forces,
// contacts, and ∂T/∂q on π, which is the centrifugal force and half of Coriolis'), then lets it go on with
// its momenta to where it is next (tb_reduced_drift); the other half of Coriolis' force, and the gyroscopic
// torque, come of that. So free flight keeps m ċ and L to rounding, whatever the step.
#include "kind/reduced.h"

#include <string.h>

enum { PIECES = 256, ITERATIONS = 40 };

static tbVec3 axial(tbMat3 S) // Σ a × b of S = Σ a bᵀ
{
  return tb_vec3(S.m[1][2] - S.m[2][1], S.m[2][0] - S.m[0][2], S.m[0][1] - S.m[1][0]);
}

// Σ_k q_k S₂kl of some l side by side: rows of S₂ lie one after the other in memory, its columns far apart.
enum { BESIDE = 8 };
static void weigh_columns(const tbModalMoments* m, size_t r, const double* q, size_t first, size_t count,
                          tbMat3 out[BESIDE])
{
  double sum[9 * BESIDE] = {0};
  for (size_t k = 0; k < r; k++) {
    const double* row = (const double*)(m->quadratic + k * r + first);
    for (size_t i = 0; i < 9 * count; i++) sum[i] += q[k] * row[i];
  }
  memcpy(out, sum, count * sizeof *out);
}

void tb_reduced_inertia(const tbModalBasis* b, const double* q, tbReducedInertia* out)
{
  const tbModalMoments* m = &b->moments;
  tbMat3 S = m->rest, with[BESIDE];
  size_t r = (size_t)b->nmode;
  for (size_t l = 0; l < r; l++) {
    if (l % BESIDE == 0) weigh_columns(m, r, q, l, r - l < BESIDE ? r - l : BESIDE, with);
    tbMat3 whole = tb_mat3_add(m->linear[l], with[l % BESIDE]);
    if (out->C) out->C[l] = axial(whole);
    S = tb_mat3_add(S, tb_mat3_scale(q[l], tb_mat3_add(whole, tb_mat3_transpose(m->linear[l]))));
  }
  double trace = tb_mat3_trace(S);
  S = tb_mat3_scale(0.5, tb_mat3_add(S, tb_mat3_transpose(S))); // symmetric to the bit
  out->I = tb_mat3_sub(tb_mat3_diag(trace, trace, trace), S);
}

void tb_reduced_turning(const tbModalBasis* b, const double* q, const double* qd, tbVec3 w, double coriolis,
                        double* force)
{
  const tbModalMoments* m = &b->moments;
  size_t r = (size_t)b->nmode;
  if (tb_maxabs3(w) == 0) return;
  for (size_t j = 0; j < r; j++) {
    tbMat3 S = m->linear[j], moving = tb_mat3_zero();
    for (size_t l = 0; l < r; l++) {
      S = tb_mat3_add(S, tb_mat3_scale(q[l], m->quadratic[j * r + l]));
      moving = tb_mat3_add(moving, tb_mat3_scale(qd[l], m->quadratic[j * r + l]));
    }
    force[j] += tb_mat3_trace(S) * tb_dot3(w, w) - tb_dot3(w, tb_mat3_mulv(S, w)); // ½ωᵀ(∂I/∂q_j)ω
    force[j] += coriolis * tb_dot3(w, axial(moving));
  }
}

// ω and q̇ of the momenta, in the axes of the frame: (I − CCᵀ) ω = L − Cπ, q̇ = π − Cᵀω.
static tbVec3 velocities(const tbReducedInertia* at, int r, tbVec3 L, const double* momentum)
{
  tbMat3 I = at->I;
  for (int k = 0; k < r; k++) {
    I = tb_mat3_sub(I, tb_mat3_outer(at->C[k], at->C[k]));
    L = tb_madd3(L, -momentum[k], at->C[k]);
  }
  return tb_mat3_mulv(tb_mat3_inverse(I), L);
}

// One piece: R⁺ = R exp(hΩ), Ω the mean of ω before and after, the latter from L and π where it gets to.
static void turn(const tbReduced* d, double h, tbVec3 L, const double* momentum, tbReducedInertia* next,
                 tbReducedState* s)
{
  int r = d->basis->nmode;
  tbVec3 before = tb_quat_unrotate(s->frame.q, s->w), own = before;
  tbQuat from = s->frame.q;
  tb_reduced_inertia(d->basis, s->q, next);
  for (int i = 0; i < ITERATIONS; i++) {
    tbVec3 last = own;
    s->frame.q = tb_quat_normalize(tb_quat_mul(from, tb_quat_exp(tb_scale3(0.5 * h, tb_add3(before, own)))));
    own = velocities(next, r, tb_quat_unrotate(s->frame.q, L), momentum);
    if (tb_maxabs3(tb_sub3(own, last)) <= 4e-16 * tb_maxabs3(own)) break;
  }
  s->w = tb_quat_rotate(s->frame.q, own);
}

void tb_reduced_drift(const tbReduced* d, double time, const tbReducedInertia* start, tbReducedState* s,
                      tbVec3* work)
{
  int r = d->basis->nmode;
  tbReducedInertia at = {.C = work};
  double* momentum = (double*)(work + r);
  s->frame.x = tb_madd3(s->frame.x, time, s->v);
  tbVec3 own = tb_quat_unrotate(s->frame.q, s->w), L = tb_mat3_mulv(start->I, own);
  for (int k = 0; k < r; k++) {
    L = tb_madd3(L, s->qd[k], start->C[k]);
    momentum[k] = s->qd[k] + tb_dot3(start->C[k], own);
  }
  L = tb_quat_rotate(s->frame.q, L);
  double pieces = floor(2 * time * tb_norm3(own)) + 1;
  int n = pieces < PIECES ? (int)pieces : PIECES;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < r; k++) s->q[k] += time / n * s->qd[k];
    turn(d, time / n, L, momentum, &at, s);
  }
  own = tb_quat_unrotate(s->frame.q, s->w);
  for (int k = 0; k < r; k++) s->qd[k] = momentum[k] - tb_dot3(at.C[k], own);
}

tbVec3 tb_reduced_point(const tbReduced* d, const tbReducedState* s, int node)
{
  return tb_transform_point(s->frame, tb_add3(d->fem->rest[node], tb_modal_at(d->basis, node, s->q)));
}

static double elastic(const tbReduced* d, const double* q)
{
  return tb_modal_energy(d->basis, q, NULL, NULL, d->work);
}

// The energy of turning and deforming as two parts: what the angular momentum L, in the frame's axes, makes
// of it at these q whatever q̇, ½LᵀI⁻¹L and the elastic energy; and what q̇ adds, ½(|q̇|² − (Cq̇)ᵀI⁻¹Cq̇).
static double split_energy(const tbReduced* d, const tbReducedState* s, tbVec3* C, double* moving, tbVec3* L)
{
  tbReducedInertia at = {.C = C};
  tbVec3 own = tb_quat_unrotate(s->frame.q, s->w), along = tb_zero3();
  double square = 0;
  tb_reduced_inertia(d->basis, s->q, &at);
  for (int k = 0; k < d->basis->nmode; k++) {
    along = tb_madd3(along, s->qd[k], C[k]);
    square += s->qd[k] * s->qd[k];
  }
  tbMat3 inverse = tb_mat3_inverse(at.I);
  *L = tb_add3(tb_mat3_mulv(at.I, own), along);
  *moving = 0.5 * (square - tb_dot3(along, tb_mat3_mulv(inverse, along)));
  return 0.5 * tb_dot3(*L, tb_mat3_mulv(inverse, *L)) + elastic(d, s->q);
}

// Or nearly as fast, where a step that is long for it resolves neither.
static bool spins_faster_than_it_swings(const tbReduced* d, double time, tbVec3 w)
{
  double least = INFINITY, share = time * tb_norm3(w) > 0.1 ? 16 : 1;
  for (int k = 0; k < d->basis->nmode; k++) least = fmin(least, d->basis->omega2[k]);
  return share * tb_dot3(w, w) > least;
}

void tb_reduced_hold_energy(const tbReduced* d, double time, tbReducedState* s, tbVec3* work)
{
  const tbReducedState* from = &d->now;
  int r = d->basis->nmode;
  double moving, had, has;
  tbVec3 L;
  if (!spins_faster_than_it_swings(d, time, from->w) && !spins_faster_than_it_swings(d, time, s->w)) return;
  had = split_energy(d, from, work, &moving, &L), had += moving;
  has = split_energy(d, s, work, &moving, &L);
  if (!(has + moving > had)) return;
  L = tb_quat_rotate(s->frame.q, L);
  double share = moving > 0 && had > has ? sqrt((had - has) / moving) : 0;
  for (int k = 0; k < r; k++) s->qd[k] *= share; // as long as that is enough
  if (!(had >= has)) memcpy(s->q, from->q, (size_t)r * sizeof *s->q);
  tbReducedInertia at = {.C = work};
  tb_reduced_inertia(d->basis, s->q, &at);
  tbVec3 own = tb_quat_unrotate(s->frame.q, L);
  for (int k = 0; k < r; k++) own = tb_madd3(own, -s->qd[k], at.C[k]);
  s->w = tb_quat_rotate(s->frame.q, tb_mat3_mulv(tb_mat3_inverse(at.I), own));
}
