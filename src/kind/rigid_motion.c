// SPDX-License-Identifier: Apache-2.0
// Free motion of rigid bodies: parabolas, and rotation that neither gains nor loses energy.
//
// A torque-free body keeps its angular momentum in space and its energy. With Ω = (ω + ω⁺)/2 in body axes,
//
//   I ω⁺ = exp(−hΩ) I ω ,     R⁺ = R exp(hΩ)
//
// keeps both exactly: R⁺Iω⁺ = RIω by construction, and the energy changes by Ω·(Iω⁺ − Iω) = Ω·(exp(−hΩ) −
// 1)Iω = 0 because Ω is the axis of exp(−hΩ). Steady rotation about a principal axis is exact. The implicit
// equation is solved by Newton's method with the leading term of its derivative, I − h/2 [Iω⁺]×, a step being
// cut in pieces that turn less than about half a radian each, so that three to six iterations reach rounding.
// Those of a rod do not contract: what is left out of the large moments is divided by the small one. They go
// on with all of the derivative, I − h/2 [Iω⁺]× E, where E is that of exp at −hΩ.
//
// Cost     a few 3×3 solves per body and piece; none for bodies whose inertia is isotropic.
// Limits   pieces are capped at 256: beyond 100 radians per step accuracy is lost, the invariants are not.
#include "kind/unconstrained.h"

enum { MAX_PIECES = 256, NEWTON = 30 };

static bool isotropic(tbMat3 I)
{
  double a = I.m[0][0], most = 1e-14 * a;
  return fabs(I.m[1][1] - a) <= most && fabs(I.m[2][2] - a) <= most && fabs(I.m[0][1]) <= most &&
         fabs(I.m[0][2]) <= most && fabs(I.m[1][2]) <= most;
}

bool tb_turns_evenly(const tbBody* b) { return isotropic(b->inertia); }

// E with exp(φ + δ) ≈ exp(E δ) exp(φ): 1 + (1 − cos|φ|)/|φ|² [φ]× + (|φ| − sin|φ|)/|φ|³ [φ]×²; exp(φ) is a
// turn.
static tbMat3 derivative_of_exp(tbVec3 phi, tbQuat turn)
{
  double square = tb_dot3(phi, phi), angle = sqrt(square), half = tb_norm3(tb_vec3(turn.x, turn.y, turn.z));
  bool small = angle < 1e-2; // series to 1e-13
  double a = small ? 0.5 - square / 24 * (1 - square / 30) : 2 * half * half / square;
  double b =
      small ? (1 - square / 20 * (1 - square / 42)) / 6 : (angle - 2 * half * turn.w) / (square * angle);
  tbMat3 X = tb_mat3_skew(phi), E = tb_mat3_add(tb_mat3_scale(a, X), tb_mat3_scale(b, tb_mat3_mul(X, X)));
  return tb_mat3_add(tb_mat3_diag(1, 1, 1), E);
}

// One piece: ω in body axes is replaced by ω⁺; returns Ω.
static tbVec3 turn(tbMat3 I, double h, tbVec3* w)
{
  tbVec3 L = tb_mat3_mulv(I, *w), next = *w, middle = *w;
  double last = INFINITY;
  bool whole = false;
  for (int k = 0; k < NEWTON; k++) {
    middle = tb_scale3(0.5, tb_add3(*w, next));
    tbVec3 phi = tb_scale3(-h, middle);
    tbQuat rotation = tb_quat_exp(phi);
    tbVec3 turned = tb_quat_rotate(rotation, L);
    tbVec3 miss = tb_sub3(tb_mat3_mulv(I, next), turned);
    tbMat3 turning = tb_mat3_skew(turned);
    if (whole) turning = tb_mat3_mul(turning, derivative_of_exp(phi, rotation));
    tbVec3 move = tb_mat3_mulv(tb_mat3_inverse(tb_mat3_sub(I, tb_mat3_scale(0.5 * h, turning))), miss);
    next = tb_sub3(next, move);
    double size = tb_maxabs3(move), all = tb_maxabs3(next);
    bool rounded = size <= 1e-8 * all, stays = !(size < 0.5 * last);
    if (size <= 4e-16 * all || (whole && rounded && stays)) break;
    whole = whole || (stays && !rounded);
    last = size;
  }
  *w = next;
  return middle;
}

int tb_turn_pieces(double angle)
{
  double pieces = floor(2 * angle) + 1;
  return pieces < MAX_PIECES ? (int)pieces : MAX_PIECES;
}

void tb_turn_in_pieces(const tbBody* b, double h, int pieces, tbQuat* q, tbVec3* w)
{
  if (isotropic(b->inertia)) {
    *q = tb_quat_integrate(*q, *w, h);
    return;
  }
  tbVec3 own = tb_quat_unrotate(*q, *w);
  for (int i = 0; i < pieces; i++) {
    tbVec3 middle = turn(b->inertia, h / pieces, &own);
    *q = tb_quat_normalize(tb_quat_mul(*q, tb_quat_exp(tb_scale3(h / pieces, middle))));
  }
  *w = tb_quat_rotate(*q, own);
}

void tb_turn_freely(const tbBody* b, double h, tbQuat* q, tbVec3* w)
{
  tb_turn_in_pieces(b, h, tb_turn_pieces(h * tb_norm3(tb_quat_unrotate(*q, *w))), q, w);
}

tbVec3 tb_spin_up(const tbBody* b, tbQuat q, double time)
{
  if (b->torque.x == 0 && b->torque.y == 0 && b->torque.z == 0) return tb_zero3();
  tbVec3 torque = tb_quat_unrotate(q, b->torque);
  return tb_scale3(time, tb_quat_rotate(q, tb_mat3_mulv(b->inertia_inv, torque)));
}

static void fall(const tbWorld* world, const tbBody* b, double h, tbUnconstrained* out)
{
  out->a = tb_madd3(world->gravity, 1 / b->mass, b->force);
  out->v = tb_madd3(b->v, h, out->a);
  out->w = tb_add3(b->w, tb_spin_up(b, b->q, h));
}

static void follow(const tbWorld* world, const tbBody* b, double h, tbUnconstrained* out)
{
  tbTransform T = tb_motion_at(world, b, world->time + h);
  out->v = tb_scale3(1 / h, tb_sub3(T.x, b->x));
  out->w = tb_scale3(1 / h, tb_quat_log(tb_quat_mul(T.q, tb_quat_conj(b->q))));
  if (b->nkey == 0) out->v = b->v, out->w = b->w;
  out->a = tb_zero3();
}

void tb_frame_unconstrained(const tbWorld* world, const tbBody* b, double dt, tbUnconstrained* out)
{
  if (b->motion == TB_BODY_DYNAMIC) fall(world, b, dt, out);
  if (b->motion == TB_BODY_KINEMATIC) follow(world, b, dt, out);
}

void tb_follow(const tbWorld* w, tbBody* b, const tbUnconstrained* unconstrained, double dt)
{
  tbTransform T = tb_motion_at(w, b, w->time + dt);
  b->x = T.x, b->q = T.q;
  if (b->nkey) b->v = unconstrained->v, b->w = unconstrained->w;
}
