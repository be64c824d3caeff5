// SPDX-License-Identifier: Apache-2.0
// Rigid bodies: the pose of a frame, and its velocities.
#include "kind/rigid.h"

#include "tribo/grip.h"

static const double SETTLING = 3; // 1/s, of what turns about a point that is held

void tb_frame_place(tbWorld* w, int body, const tbBodyState* s)
{
  tbBody* b = &tb_bodies(w)[body];
  tbVec3 arm = tb_quat_rotate(s->orientation, b->centre);
  bool moves = b->motion != TB_BODY_FIXED;
  b->q = s->orientation;
  b->x = tb_add3(s->position, arm);
  b->w = moves ? s->angular_velocity : tb_zero3();
  b->v = moves ? tb_add3(s->velocity, tb_cross3(b->w, arm)) : tb_zero3();
  b->initial = tb_motion_start(w, tb_transform(b->q, b->x), b->v, b->w);
}

// The impulse K⁻¹ Δu at the point, K = 1/m − [r] I⁻¹ [r], and a brake on what turns about it.
void tb_frame_pull(tbWorld* w, int body, const tbGrip* grip, double h)
{
  tbBody* b = &tb_bodies(w)[body];
  tbVec3 r = tb_quat_rotate(b->q, grip->local);
  tbMat3 R = tb_quat_mat3(b->q), X = tb_mat3_skew(r), I = tb_mat3_mul(R, tb_mat3_mult(b->inertia, R));
  tbMat3 inverse = tb_mat3_mul(R, tb_mat3_mult(b->inertia_inv, R));
  tbMat3 K =
      tb_mat3_sub(tb_mat3_scale(1 / b->mass, tb_mat3_identity()), tb_mat3_mul(X, tb_mat3_mul(inverse, X)));
  tbVec3 u = tb_add3(b->v, tb_cross3(b->w, r)), kick = tb_grip_kick(tb_add3(b->x, r), u, grip->target, h);
  tbVec3 force = tb_scale3(1 / h, tb_mat3_mulv(tb_mat3_inverse(K), kick));
  tbVec3 brake = tb_scale3(-SETTLING / (1 + h * SETTLING), tb_mat3_mulv(I, b->w));
  b->force = tb_add3(b->force, force);
  b->torque = tb_add3(b->torque, tb_add3(tb_cross3(r, force), brake));
}

tbEnergy tb_rigid_energy(const tbWorld* w, const tbBody* b)
{
  tbVec3 spin = tb_quat_unrotate(b->q, b->w);
  return (tbEnergy){
      .kinetic = 0.5 * b->mass * tb_dot3(b->v, b->v) + 0.5 * tb_dot3(spin, tb_mat3_mulv(b->inertia, spin)),
      .potential = -b->mass * tb_dot3(w->gravity, b->x)};
}

tbVec3 tb_rigid_angular_momentum(const tbBody* b)
{
  tbVec3 spin = tb_quat_rotate(b->q, tb_mat3_mulv(b->inertia, tb_quat_unrotate(b->q, b->w)));
  return tb_add3(spin, tb_scale3(b->mass, tb_cross3(b->x, b->v)));
}

static int dofs(const tbBody* b)
{
  (void)b;
  return 6;
}

const tbKind tb_kind_rigid = {.name = "rigid",
                              .named_by_motion = true,
                              .framed = true,
                              .dofs = dofs,
                              .place = tb_frame_place,
                              .energy = tb_rigid_energy,
                              .angular_momentum = tb_rigid_angular_momentum,
                              .pull = tb_frame_pull,
                              .unconstrained = tb_frame_unconstrained,
                              .metric = tb_rigid_metric,
                              .contact = tb_frame_contact,
                              .frame_rows = tb_rigid_frame_rows,
                              .frame_velocity = tb_rigid_frame_velocity,
                              .advance = tb_frame_advance,
                              .note = tb_frame_note};
