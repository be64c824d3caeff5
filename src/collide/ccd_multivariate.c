// SPDX-License-Identifier: Apache-2.0
// Root finding in time and place at once (Brochu et al. 2012; course §2.2.4):  F(t, u, v) = 0, three
// quadratic equations.
//
// Newton's method with the Jacobian [F_t U V], from a few moments of the step and the closest points there.
// The step is cut to half the domain, and the iterate may leave the domain by as much on its way. The
// earliest root found inside counts, to 1e-10.
//
// Cost. A 3×3 system per step, nine starts of up to twelve steps; about 5 µs.
// Limits. Nothing says that the root found is the earliest, or that one is found: a method to compare with.
// Singular Jacobians (motion within one plane, parallel edges, grazing) stop it.
#include "collide/ccd_map.h"

enum { STARTS = 9, STEPS = 12 };
static const double edge = 1e-10; // by which a root may lie outside

static bool inside(const tbCcdMap* F, const double x[3])
{
  for (int k = 0; k < 3; k++)
    if (!(x[k] >= -edge && x[k] <= 1 + edge)) return false;
  return !F->triangle || x[1] + x[2] <= 1 + edge;
}

// One step from x; false: the Jacobian is singular.
static bool step(const tbCcdMap* F, tbVec3 value, double x[3])
{
  tbVec3 a = tb_ccd_at(F, 0, x[1], x[2]), b = tb_ccd_at(F, 1, x[1], x[2]);
  tbVec3 T = tb_sub3(b, a), U = tb_lerp3(F->U[0], F->U[1], x[0]), V = tb_lerp3(F->V[0], F->V[1], x[0]);
  tbVec3 n = tb_cross3(U, V);
  double det = tb_dot3(T, n);
  if (fabs(det) <= 1e-14 * tb_norm3(T) * tb_norm3(U) * tb_norm3(V)) return false;
  double d[3] = {-tb_dot3(value, n) / det, -tb_dot3(value, tb_cross3(V, T)) / det,
                 -tb_dot3(value, tb_cross3(T, U)) / det};
  double longest = fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2])), scale = longest > 0.5 ? 0.5 / longest : 1;
  for (int k = 0; k < 3; k++) x[k] = fmin(fmax(x[k] + scale * d[k], -0.5), 1.5);
  return true;
}

bool tb_ccd_multivariate(const tbCcdMap* F, const tbCcdOptions* options, tbCcdRoot* root)
{
  (void)options;
  double reach = F->separation + fmax(F->delta, 1e-10);
  *root = (tbCcdRoot){.t = INFINITY};
  for (int k = 0; k < STARTS; k++) {
    double x[3] = {k / (STARTS - 1.0)};
    tb_ccd_closest(F, x[0], &x[1], &x[2]);
    for (int i = 0; i < STEPS; i++) {
      tbVec3 value = tb_ccd_at(F, x[0], x[1], x[2]);
      root->boxes++;
      if (tb_norm3(value) <= reach) {
        if (inside(F, x) && x[0] < root->t) root->t = fmin(fmax(x[0], 0), 1), root->u = x[1], root->v = x[2];
        break;
      }
      if (!step(F, value, x)) break;
    }
  }
  return root->t <= 1;
}
