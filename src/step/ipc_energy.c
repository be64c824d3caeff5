// SPDX-License-Identifier: Apache-2.0
// No step gains energy that nothing has brought.
//
// Implicit Euler loses energy where the way to the end of the step is straight: nodes' ways are. A rigid body
// that turns far in a step goes round a corner, and what pushes it at the end is not what it met on the way:
// it can leave a contact faster than it came. Where the sum of kinetic, elastic and barrier energies has
// grown by more than gravity and other forces have done, rigid bodies that touch start slower, as much as it
// takes, and the step is minimised again. The report says how much momentum that has cost.
#include "step/ipc.h"

#include <string.h>

static double frame_energy(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 v, tbVec3 w)
{
  return 0.5 *
         (tb_bodies(ipc->world)[f->body].mass * tb_dot3(v, v) + tb_dot3(w, tb_mat3_mulv(f->inertia, w)));
}

static double nodes_energy(tbContext* ctx, const tbIpcNodes* n, const tbVec3* v)
{
  double sum = tb_fem_evaluate(n->of.fem, ctx->threads, n->x, TB_TANGENT_NONE, NULL);
  for (int k = 0; k < n->of.fem->nnode; k++) sum += 0.5 * tb_dot3(v[k], tb_fem_momentum(n->of.fem, v, k));
  return sum;
}

double tb_ipc_energy_before(tbContext* ctx, const tbIpc* ipc)
{
  double sum = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbBody* b = &tb_bodies(ipc->world)[ipc->frame[i].body];
    sum += frame_energy(ipc, &ipc->frame[i], b->v, b->w);
  }
  for (int i = 0; i < ipc->nnodes; i++) sum += nodes_energy(ctx, &ipc->nodes[i], ipc->nodes[i].of.v);
  return sum;
}

double tb_ipc_energy_after(tbContext* ctx, const tbIpc* ipc)
{
  double sum = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    const tbBody* b = &tb_bodies(ipc->world)[f->body];
    tbVec3 v = ipc->v[f->block], w = ipc->v[f->block + 1];
    sum += frame_energy(ipc, f, v, w) - b->mass * tb_dot3(v, f->v_forced) -
           tb_dot3(w, tb_mat3_mulv(f->inertia, f->w_forced));
  }
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    const tbVec3* v = ipc->v + n->block;
    sum += nodes_energy(ctx, n, v);
    for (int k = 0; k < n->of.fem->nnode; k++) // rhs: M (v + h g) + h force
      sum -= tb_dot3(v[k], tb_sub3(n->rhs[k], tb_fem_momentum(n->of.fem, n->of.v, k)));
  }
  return sum;
}

bool tb_ipc_slow_down(tbIpc* ipc, double gain)
{
  const tbIpcContact* c = ipc->contact.data;
  double touching = 0;
  for (int i = 0; i < ipc->nframe; i++) ipc->frame[i].touches = false;
  for (size_t i = 0; i < ipc->contact.count; i++)
    for (int side = 0; side < 2; side++) {
      if (!side && c[i].at.of.kind == TB_SURFACE_PLANE_VERTEX) continue;
      const tbIpcSurface* s = &ipc->surface[side ? c[i].at.of.surface_b : c[i].at.of.surface_a];
      if (s->source == TB_IPC_FRAME) ipc->frame[s->index].touches = true;
    }
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    if (f->touches) touching += frame_energy(ipc, f, ipc->v[f->block], ipc->v[f->block + 1]);
  }
  if (!(touching > 0)) return false;
  double share = sqrt(fmax(0.25, 1 - 1.2 * gain / touching)); // what is asked for, and a little more
  for (int i = 0; i < ipc->nframe; i++) {
    tbIpcFrame* f = &ipc->frame[i];
    const tbBody* b = &tb_bodies(ipc->world)[f->body];
    if (!f->touches) continue;
    f->start_share *= share;
    f->v_free = tb_madd3(f->v_forced, f->start_share, b->v);
    f->w_free = tb_madd3(f->w_forced, f->start_share, b->w);
    ipc->slowed = fmax(ipc->slowed, (1 - f->start_share) * b->mass * tb_norm3(b->v));
  }
  return true;
}
