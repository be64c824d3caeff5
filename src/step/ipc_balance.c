// SPDX-License-Identifier: Apache-2.0
// What an iterate leaves of the forces on whole bodies, over their masses. The step's momenta are balanced by
// it (ipc_publish.c): where masses are nothing beside stiffnesses, a change of velocities below the tolerance
// may leave metres per second.
#include "step/ipc_moves.h"

tbStatus tb_ipc_unbalanced(tbContext* ctx, tbIpc* ipc, double* most)
{
  tb_ipc_bodies_gradient(ctx, ipc, ipc->v, NULL);
  tb_ipc_volume_gradient(ipc, NULL);
  tb_ipc_joints_gradient(ipc, ipc->v, NULL);
  TB_TRY(tb_ipc_contacts_gradient(ctx, ipc, NULL));
  *most = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    tbVec3 turn = tb_mat3_mulv(tb_mat3_inverse(f->inertia), ipc->gradient[f->block + 1]);
    double mass = tb_bodies(ipc->world)[f->body].mass;
    *most = fmax(*most, tb_norm3(ipc->gradient[f->block]) / mass + f->reach * tb_norm3(turn));
  }
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    tbVec3 sum = tb_zero3();
    double mass = 0;
    if (tb_ipc_is_held(ipc, n)) continue;
    for (int k = 0; k < n->of.fem->nnode; k++)
      sum = tb_add3(sum, ipc->gradient[n->block + k]), mass += n->of.fem->mass[k];
    *most = fmax(*most, tb_norm3(sum) / mass);
  }
  return TB_OK;
}
