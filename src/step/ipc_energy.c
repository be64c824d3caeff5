// SPDX-License-Identifier: Apache-2.0
// No step gains energy that nothing has brought.
//
// Implicit Euler loses energy where potentials are convex along the way to the end of the step. Barriers are
// not where a node goes far past a corner, or a rigid body round one: what pushes at the end is not what was
// met on the way, and acts as if it had pushed all along. Where the sum of kinetic, elastic and barrier
// energies has grown by more than gravity, joints and other forces have done, bodies that touch start slower,
// as much as it takes, and the step is minimised again. The report says how much momentum that has cost.
#include "step/ipc.h"

#include <string.h>

static double frame_energy(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 v, tbVec3 w)
{
  return 0.5 *
         (tb_bodies(ipc->world)[f->body].mass * tb_dot3(v, v) + tb_dot3(w, tb_mat3_mulv(f->inertia, w)));
}

static double kinetic_energy(const tbIpcNodes* n, const tbVec3* v)
{
  double sum = 0;
  for (int k = 0; k < n->of.fem->nnode; k++) sum += 0.5 * tb_dot3(v[k], tb_fem_momentum(n->of.fem, v, k));
  return sum;
}

static double nodes_energy(tbContext* ctx, const tbIpcNodes* n, const tbVec3* v)
{
  return tb_fem_evaluate(n->of.fem, ctx->threads, n->x, TB_TANGENT_NONE, NULL) + kinetic_energy(n, v);
}

// The same of Newmark's rule, with what elastic forces have done on the way in place of the change of their
// energy: the rule keeps that of nonlinear ones but for a little, to and fro, which is not to be taken away.
static double worked_energy(tbContext* ctx, const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* v)
{
  double sum = tb_fem_energy(n->of.fem, n->start) + kinetic_energy(n, tb_ipc_speeds(n, v));
  tb_fem_evaluate(n->of.fem, ctx->threads, n->x, TB_TANGENT_NONE, n->force);
  for (int k = 0; k < n->of.fem->nnode; k++)
    sum -= tb_dot3(v[k], tb_madd3(n->given[k], ipc->h * n->elastic, tb_load3(n->force + 3 * (size_t)k)));
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
    sum += n->integrator == TB_INTEGRATOR_NEWMARK ? worked_energy(ctx, ipc, n, v)
                                                  : nodes_energy(ctx, n, tb_ipc_speeds(n, v));
    for (int k = 0; k < n->of.fem->nnode; k++)
      sum -= tb_dot3(
          v[k], tb_madd3(tb_ipc_plain_rhs(n, k), -n->start_share, tb_fem_momentum(n->of.fem, n->of.v, k)));
  }
  return sum - fmax(tb_ipc_joints_work(ipc), 0);
}

// Which bodies touch, by the contacts at the end.
static void mark_touching(tbIpc* ipc)
{
  const tbIpcContact* c = ipc->contact.data;
  for (int i = 0; i < ipc->nframe; i++) ipc->frame[i].touches = false;
  for (int i = 0; i < ipc->nnodes; i++) ipc->nodes[i].touches = false;
  for (size_t i = 0; i < ipc->contact.count; i++)
    for (int side = 0; side < 2; side++) {
      if (!side && c[i].at.of.kind == TB_SURFACE_PLANE_VERTEX) continue;
      const tbIpcSurface* s = &ipc->surface[side ? c[i].at.of.surface_b : c[i].at.of.surface_a];
      if (s->source == TB_IPC_FRAME) ipc->frame[s->index].touches = true;
      if (s->source == TB_IPC_NODE) ipc->nodes[s->index].touches = true;
    }
}

static void slow_frame(tbIpc* ipc, tbIpcFrame* f, double share)
{
  const tbBody* b = &tb_bodies(ipc->world)[f->body];
  f->start_share *= share;
  f->v_free = tb_madd3(f->v_forced, f->start_share, b->v);
  f->w_free = tb_madd3(f->w_forced, f->start_share, b->w);
  ipc->slowed = fmax(ipc->slowed, (1 - f->start_share) * b->mass * tb_norm3(b->v));
}

static void slow_nodes(tbIpc* ipc, tbIpcNodes* n, double share)
{
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < n->of.fem->nnode; k++) sum = tb_add3(sum, tb_fem_momentum(n->of.fem, n->of.v, k));
  tb_ipc_start_slower(n, share);
  ipc->slowed = fmax(ipc->slowed, (1 - n->start_share) * tb_norm3(sum));
}

bool tb_ipc_slow_down(tbIpc* ipc, double gain)
{
  double touching = 0;
  mark_touching(ipc);
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    if (f->touches) touching += frame_energy(ipc, f, ipc->v[f->block], ipc->v[f->block + 1]);
  }
  for (int i = 0; i < ipc->nnodes; i++)
    if (ipc->nodes[i].touches) touching += kinetic_energy(&ipc->nodes[i], ipc->v + ipc->nodes[i].block);
  if (!(touching > 0)) return false;
  double share = sqrt(fmax(0.25, 1 - 1.2 * gain / touching)); // what is asked for, and a little more
  for (int i = 0; i < ipc->nframe; i++)
    if (ipc->frame[i].touches) slow_frame(ipc, &ipc->frame[i], share);
  for (int i = 0; i < ipc->nnodes; i++)
    if (ipc->nodes[i].touches) slow_nodes(ipc, &ipc->nodes[i], share);
  return true;
}
