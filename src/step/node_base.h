// SPDX-License-Identifier: Apache-2.0
// What does not change in the momentum equation of a body of nodes (tbNodePotential, kind/step.h) while a
// step is minimised over velocities V:
//
//   base V − rhs − h f(x + h V)        base = (1 + hα) M + h drag + hβ K₀,   rhs = M (v + h g) + h force
#ifndef TB_STEP_NODE_BASE_H
#define TB_STEP_NODE_BASE_H

#include "fem/body.h"
#include "kind/step.h"

// base: upper blocks; rhs (nodes); force: workspace (3 nodes).
void tb_node_base(tbContext* ctx, double h, const tbNodePotential* of, double* force, double (*base)[9],
                  tbVec3* rhs);

// B v of a 3×3 block, or Bᵀ v.
static inline tbVec3 tb_block_mul(const double* B, tbVec3 v, bool transposed)
{
  if (transposed)
    return tb_vec3(B[0] * v.x + B[3] * v.y + B[6] * v.z, B[1] * v.x + B[4] * v.y + B[7] * v.z,
                   B[2] * v.x + B[5] * v.y + B[8] * v.z);
  return tb_vec3(B[0] * v.x + B[1] * v.y + B[2] * v.z, B[3] * v.x + B[4] * v.y + B[5] * v.z,
                 B[6] * v.x + B[7] * v.y + B[8] * v.z);
}

#endif
