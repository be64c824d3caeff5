// SPDX-License-Identifier: Apache-2.0
#include "step/ipc_moves.h"

#include <string.h>

bool tb_ipc_is_held(const tbIpc* ipc, const tbIpcNodes* n)
{
  for (int k = 0; k < n->of.fem->nnode; k++)
    if (ipc->held[n->block + k]) return true;
  return false;
}

// A frame where it starts now, with another orientation.
void tb_ipc_turn_frame(tbStepWork* work, const tbIpc* ipc, tbIpcFrame* f, tbQuat q)
{
  const tbBody* b = &tb_bodies(ipc->world)[f->body];
  tbMat3 R = tb_quat_mat3(q);
  f->start.q = work->centre[f->body].q = work->unconstrained[f->body].at.q = q;
  f->inertia = tb_mat3_mul(R, tb_mat3_mult(b->inertia, R));
  work->pose[f->body] = tb_transform(q, tb_sub3(f->start.x, tb_quat_rotate(q, b->centre)));
}

// Surfaces begin where bodies start.
static void begin_there(tbIpc* ipc)
{
  tb_ipc_place(ipc, ipc->v, 0);
  tb_ipc_settle(ipc);
  for (int i = 0; i < ipc->surfaces.scene.nsurface; i++) {
    size_t n = (size_t)ipc->surfaces.surface[i].surface->nvertex;
    if (n) memcpy(ipc->surface[i].begin, ipc->surface[i].now, n * sizeof(tbVec3));
  }
}

void tb_ipc_apply(tbStepWork* work, tbIpc* ipc, tbIpcMoves* m)
{
  m->moved = ipc->moved;
  for (int i = 0; i < ipc->nframe; i++) {
    tbIpcFrame* f = &ipc->frame[i];
    m->from[i] = f->start;
    ipc->moved = fmax(ipc->moved, tb_norm3(m->frame[i]));
    f->start.x = tb_add3(f->start.x, m->frame[i]);
    work->centre[f->body].x = work->unconstrained[f->body].at.x = f->start.x;
    work->pose[f->body].x = tb_add3(work->pose[f->body].x, m->frame[i]);
    if (tb_maxabs3(m->turn[i]) > 0)
      tb_ipc_turn_frame(work, ipc, f, tb_quat_normalize(tb_quat_mul(tb_quat_exp(m->turn[i]), f->start.q)));
  }
  for (int i = 0; i < ipc->nnodes; i++)
    for (int k = 0; k < ipc->nodes[i].of.fem->nnode; k++) {
      int block = ipc->nodes[i].block + k;
      m->node_from[block] = ipc->nodes[i].start[k];
      ipc->moved = fmax(ipc->moved, tb_norm3(m->node[block]));
      ipc->nodes[i].start[k] = tb_add3(ipc->nodes[i].start[k], m->node[block]);
    }
  begin_there(ipc);
}

// Where they were before.
void tb_ipc_take_back(tbStepWork* work, tbIpc* ipc, const tbIpcMoves* m)
{
  ipc->moved = m->moved;
  for (int i = 0; i < ipc->nframe; i++) {
    tbIpcFrame* f = &ipc->frame[i];
    f->start.x = work->centre[f->body].x = work->unconstrained[f->body].at.x = m->from[i].x;
    tb_ipc_turn_frame(work, ipc, f, m->from[i].q);
  }
  for (int i = 0; i < ipc->nnodes; i++)
    memcpy(ipc->nodes[i].start, m->node_from + ipc->nodes[i].block,
           (size_t)ipc->nodes[i].of.fem->nnode * sizeof(tbVec3));
  begin_there(ipc);
}
