// SPDX-License-Identifier: Apache-2.0
// What unknowns move: nodes by x + h V, rigid bodies by x + h v and free rotation, what is in prescribed
// motion by a share of its way.
#include "step/ipc.h"

#include "kind/unconstrained.h"

#include <string.h>

static const double TWIST = 1e-6; // rad: of a difference
static const double BEND = 1e-4;  // rad: of one of second order

static tbQuat turned(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 w)
{
  tbQuat q = f->start.q;
  tb_turn_in_pieces(&tb_bodies(ipc->world)[f->body], ipc->h, f->pieces, &q, &w);
  return q;
}

static void place_frame(const tbIpc* ipc, tbIpcFrame* f, tbVec3 v, tbVec3 w)
{
  double h = ipc->h;
  f->now.x = tb_madd3(f->start.x, h, v);
  f->now.q = turned(ipc, f, w), f->w = w;
  tbVec3 column[3];
  for (int k = 0; k < 3; k++) {
    tbVec3 more = w, less = w;
    (&more.x)[k] += TWIST / h, (&less.x)[k] -= TWIST / h;
    tbQuat between = tb_quat_mul(turned(ipc, f, more), tb_quat_conj(turned(ipc, f, less)));
    column[k] = tb_scale3(0.5 / TWIST, tb_quat_log(between));
  }
  f->turn = tb_mat3_cols(column[0], column[1], column[2]);
}

// uᵀ ∂²(torque·φ)/∂ω² u, by central differences.
static double bend_along(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 torque, tbVec3 u)
{
  double step = BEND / ipc->h, sum = 0;
  for (int side = -1; side <= 1; side += 2) {
    tbQuat end = turned(ipc, f, tb_madd3(f->w, side * step, u));
    sum += tb_dot3(torque, tb_quat_log(tb_quat_mul(end, tb_quat_conj(f->now.q))));
  }
  return sum / (step * step);
}

tbMat3 tb_ipc_bend(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 torque)
{
  static const tbVec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  tbMat3 Q;
  for (int i = 0; i < 3; i++) Q.m[i][i] = bend_along(ipc, f, torque, axis[i]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++)
      Q.m[i][j] = Q.m[j][i] =
          0.5 * (bend_along(ipc, f, torque, tb_add3(axis[i], axis[j])) - Q.m[i][i] - Q.m[j][j]);
  return Q;
}

static tbVec3 frame_point(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 rest)
{
  tbVec3 arm = tb_sub3(rest, tb_bodies(ipc->world)[f->body].centre);
  return tb_add3(f->now.x, tb_quat_rotate(f->now.q, arm));
}

void tb_ipc_place(tbIpc* ipc, const tbVec3* v, double progress)
{
  tbSurfaces* s = &ipc->surfaces;
  if (ipc->still) progress = 0;
  for (int i = 0; i < ipc->nframe; i++)
    place_frame(ipc, &ipc->frame[i], v[ipc->frame[i].block], v[ipc->frame[i].block + 1]);
  for (int i = 0; i < ipc->nnodes; i++) {
    tbIpcNodes* n = &ipc->nodes[i];
    for (int k = 0; k < n->of.fem->nnode; k++) {
      tbVec3 velocity = ipc->held[n->block + k] ? tb_scale3(progress, n->of.pin[k]) : v[n->block + k];
      n->x[k] = tb_madd3(n->start[k], ipc->h, velocity);
    }
  }
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbIpcSurface* m = &ipc->surface[i];
    const tbSurfaceMesh* mesh = s->surface[i].surface;
    for (int k = 0; k < mesh->nvertex; k++)
      s->end[i][k] = m->source == TB_IPC_KNOWN  ? tb_lerp3(m->begin[k], m->last[k], progress)
                     : m->source == TB_IPC_NODE ? ipc->nodes[m->index].x[ipc->nodes[m->index].of.node[k]]
                                                : frame_point(ipc, &ipc->frame[m->index], mesh->rest[k]);
  }
  for (int i = 0; i < s->scene.nplane; i++) {
    const tbMovingPlane* p = &ipc->plane[i];
    tbVec3 normal = tb_lerp3(p->normal[0], p->normal[1], progress);
    s->plane[i].normal[1] = tb_normalize3(normal);
    s->plane[i].offset[1] = ((1 - progress) * p->offset[0] + progress * p->offset[1]) / tb_norm3(normal);
  }
}

void tb_ipc_settle(tbIpc* ipc)
{
  tbSurfaces* s = &ipc->surfaces;
  for (int i = 0; i < s->scene.nsurface; i++) {
    size_t n = (size_t)s->surface[i].surface->nvertex;
    if (n) memcpy(ipc->surface[i].now, s->end[i], n * sizeof(tbVec3));
  }
  for (int i = 0; i < s->scene.nplane; i++)
    s->plane[i].normal[0] = s->plane[i].normal[1], s->plane[i].offset[0] = s->plane[i].offset[1];
}

tbIpcMove tb_ipc_move(const tbIpc* ipc, int surface, int vertex, tbVec3 at)
{
  const tbIpcSurface* s = &ipc->surface[surface];
  double h = ipc->h;
  if (s->source == TB_IPC_FRAME) {
    const tbIpcFrame* f = &ipc->frame[s->index];
    tbMat3 lever = tb_mat3_scale(-h, tb_mat3_skew(tb_sub3(at, f->now.x)));
    return (tbIpcMove){2, {f->block, f->block + 1}, {tb_mat3_diag(h, h, h), tb_mat3_mul(lever, f->turn)}};
  }
  if (s->source == TB_IPC_KNOWN) return (tbIpcMove){0};
  int block = ipc->nodes[s->index].block + ipc->nodes[s->index].of.node[vertex];
  if (ipc->held[block]) return (tbIpcMove){0};
  return (tbIpcMove){1, {block}, {tb_mat3_diag(h, h, h)}};
}

tbVec3 tb_ipc_left(const tbIpc* ipc, int surface, int vertex)
{
  const tbIpcSurface* s = &ipc->surface[surface];
  double left = 1 - ipc->progress;
  if (left <= 0 || s->source == TB_IPC_FRAME) return tb_zero3();
  if (s->source == TB_IPC_KNOWN) return tb_scale3(left, tb_sub3(s->last[vertex], s->begin[vertex]));
  const tbIpcNodes* n = &ipc->nodes[s->index];
  int node = n->of.node[vertex];
  return ipc->held[n->block + node] ? tb_scale3(left * ipc->h, n->of.pin[node]) : tb_zero3();
}
