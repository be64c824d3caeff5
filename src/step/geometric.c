// SPDX-License-Identifier: Apache-2.0
// Geometric stiffness (Andrews, Teichmann and Kövecses 2017).
//
// A force f that a joint applies at the arm r of a body pulls it back when it turns: K = (f·r)(1 − r̂r̂ᵀ) for
// r along f. A step holds the joint's direction fixed, which makes this stiffness explicit: light links under
// a heavy load, whose K/I is beyond 1/h², are flung about and the chain comes apart though every velocity
// problem is solved. Implicitly it is
//
//   (M + h²K) v⁺ = M v_free + Jᵀλ
//
// and of h²K only as much is taken as M lacks to reach it, so that what the step can follow is not damped.
// A rod of tension T and length L does the same across itself to the masses at its ends: K = T/L (1 − d dᵀ).
#include "step/geometric.h"

static void add_across(tbMat3* K, double k, tbVec3 d) // K += k (1 − d dᵀ)
{
  *K = tb_mat3_add(*K, tb_mat3_scale(k, tb_mat3_sub(tb_mat3_identity(), tb_mat3_outer(d, d))));
}

static void turn_of(const tbBody* b, tbVec3 r, tbVec3 force, double h, tbMat3* K)
{
  double least = fmin(b->inertia.m[0][0], fmin(b->inertia.m[1][1], b->inertia.m[2][2]));
  double missing = h * h * tb_dot3(force, r) - least;
  if (missing > 0) add_across(K, missing, tb_normalize3(r));
}

void tb_geometric_stiffness(const tbWorld* w, double h, const tbTransform* centre, tbGeometric* out)
{
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    tbJointType type = j->def.type;
    if (type == TB_JOINT_SLIDER || type == TB_JOINT_WELD) continue; // these hold directions by themselves
    int body[2] = {j->a, j->b};
    tbJointPlace place = tb_joint_placed(w, centre, j);
    tbVec3 arm[2] = {place.arm_a, place.arm_b}, d = place.apart,
           force = tb_scale3(1 / h, tb_load3(j->impulse));
    double length = tb_norm3(d), tension = 0;
    if (type == TB_JOINT_DISTANCE) {
      if (!(length > 0)) continue;
      bool two = j->def.limited && j->def.lower < j->def.upper; // impulses at the lower and the upper length
      tension = (two ? j->impulse[1] - j->impulse[0] : -j->impulse[0]) / h;
      d = tb_normalize3(d);
      force = tb_scale3(-tension, d);
    }
    for (int side = 0; side < 2; side++) {
      if (body[side] < 0 || tb_bodies(w)[body[side]].motion != TB_BODY_DYNAMIC) continue;
      const tbBody* b = &tb_bodies(w)[body[side]];
      tbGeometric* g = &out[body[side]];
      turn_of(b, arm[side], tb_scale3(side ? 1 : -1, force), h, &g->inertia);
      double missing = type == TB_JOINT_DISTANCE ? h * h * tension / length - b->mass : 0;
      if (missing > 0) add_across(&g->mass, missing, d);
    }
  }
}
