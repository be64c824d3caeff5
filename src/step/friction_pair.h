// SPDX-License-Identifier: Apache-2.0
// How the frictions of two surfaces meet at a contact.
#ifndef TB_STEP_FRICTION_PAIR_H
#define TB_STEP_FRICTION_PAIR_H

#include "tribo/scene.h"

// One surface at a contact: its friction, and two unit vectors at right angles that move with it, the first
// along its direction. They need not lie in the contact plane.
typedef struct tbSurfaceSide {
  const tbFriction* friction; // null: the other surface's friction is what the two do together
  tbVec3 along, across;
  bool back;                          // it slides against `along` over the other
  const double* plow;                 // of a texture: tbTexture; else null
  const struct tbTexturePatch* patch; // and the part of it that the contact sees; null: all of it
} tbSurfaceSide;

static inline bool tb_friction_is_directed(const tbFriction* f)
{
  return f && (f->kind == TB_FRICTION_ELLIPTIC || f->kind >= TB_FRICTION_MATCHSTICK);
}

// The friction of two surfaces on the plane with unit normal n: isotropic, Contensou's, elliptic (mu_t along
// *tangent, mu_b across), a texture's (tb_friction_plow; mu = 1, a share of it) or a tensor (in the frame
// *tangent, n × *tangent). `mu` is always set: the radius of the disc of equal area. Vectors are needed of
// directed frictions alone. Swapping the surfaces and turning n round gives the same friction.
tbFriction tb_friction_meet(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3* tangent);

// The axes of a surface in the contact plane.
void tb_friction_axes(const tbSurfaceSide* side, tbVec3 n, tbVec3* along, tbVec3* across);

// The coefficients of two surfaces, of which one at least is a texture, for friction on B along
// (cos, sin)(2πi/count) of the frame tangent, n × tangent. The other one is a texture, or the same in all
// directions.
void tb_friction_plow(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3 tangent, int count,
                      double* mu);

// Friction evaluated directly, for schemes that do not solve for it. How much of the friction set of a law a
// force f takes at the normal force fn, 1 at its edge; and the force against sliding at the velocity u ≠ 0.
double tb_friction_use(int law, const double* param, double fn, const double f[2]);
void tb_friction_against(int law, const double* param, double fn, const double u[2], double f[2]);

// The set of a texture's law, for a normal force of 1.
struct tbFrictionSet;
void tb_friction_texture_set(int law, const double* param, struct tbFrictionSet* out);

// Ellipses in place of laws, for schemes that know no other set: half axes, and the angle of the first. The
// one whose friction against u ≠ 0 is f, which does not push along u, and that withstands `across` beside f
// across u.
double tb_friction_ellipse_against(const double f[2], const double u[2], double across, double axis[2]);
// Of a tensor: the one whose friction against u is the tensor's, of the area of its set; of u = 0 that set.
double tb_friction_tensor_ellipse(const double* param, const double u[2], double axis[2]);

#endif
