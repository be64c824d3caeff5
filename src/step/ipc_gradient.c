// SPDX-License-Identifier: Apache-2.0
// What contacts and friction have in the gradient and the matrix of a Newton step: derivatives by corners
// become derivatives by the velocities that move these.
#include "step/ipc.h"

#include "math/eig3.h"

#include <string.h>

// A pair with what it needs to be added: corners, how these move, gradient and Hessian by corners.
typedef struct {
  int count, surface[4], vertex[4];
  tbIpcMove move[4];
  tbVec3 at[4], gradient[4];
} Local;

static void corners_of(const tbSurfaceContact* c, int* count, int surface[4], int vertex[4])
{
  int n = 0;
  for (int k = 0; k < c->count_b; k++) surface[n] = c->of.surface_b, vertex[n++] = c->vertex_b[k];
  for (int k = 0; k < c->count_a; k++) surface[n] = c->of.surface_a, vertex[n++] = c->vertex_a[k];
  *count = n;
}

static Local local_of(const tbIpc* ipc, const tbSurfaceContact* c)
{
  Local l = {0};
  corners_of(c, &l.count, l.surface, l.vertex);
  for (int k = 0; k < l.count; k++) {
    l.at[k] = ipc->surfaces.end[l.surface[k]][l.vertex[k]];
    l.move[k] = tb_ipc_move(ipc, l.surface[k], l.vertex[k], l.at[k]);
  }
  return l;
}

static tbMat3 block_at(const double H[144], int i, int j)
{
  tbMat3 B;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) B.m[r][c] = H[12 * (3 * i + r) + 3 * j + c];
  return B;
}

// What a gradient at a vertex is to the velocities that move it.
static void add_moved(const tbIpcMove* move, tbVec3 gradient, tbVec3* to)
{
  for (int m = 0; m < move->count; m++)
    to[move->block[m]] = tb_add3(to[move->block[m]], tb_mat3_tmulv(move->by[m], gradient));
}

static void add_gradient(tbIpc* ipc, const Local* l)
{
  for (int k = 0; k < l->count; k++) add_moved(&l->move[k], l->gradient[k], ipc->gradient);
}

static void add_hessian(tbIpcMatrix* matrix, const Local* l, const double H[144])
{
  for (int i = 0; i < l->count; i++)
    for (int j = 0; j < l->count; j++) {
      tbMat3 B = block_at(H, i, j);
      for (int m = 0; m < l->move[i].count; m++)
        for (int n = 0; n < l->move[j].count; n++) {
          if (l->move[i].block[m] < l->move[j].block[n]) continue;
          tbMat3 C = tb_mat3_tmul(l->move[i].by[m], tb_mat3_mul(B, l->move[j].by[n]));
          tb_ipc_matrix_add(matrix, l->move[i].block[m], l->move[j].block[n], (const double*)&C);
        }
    }
}

// Corners whose motion is known have a way to go: what it does to the others.
static void add_left(tbIpc* ipc, const Local* l, const double H[144])
{
  if (!(ipc->progress < 1)) return;
  for (int j = 0; j < l->count; j++) {
    tbVec3 left = tb_ipc_left(ipc, l->surface[j], l->vertex[j]);
    if (tb_maxabs3(left) == 0) continue;
    ipc->lead_slope += tb_dot3(l->gradient[j], left);
    for (int i = 0; i < l->count; i++)
      add_moved(&l->move[i], tb_mat3_mulv(block_at(H, i, j), left), ipc->lead);
  }
}

// Planes have no corners: the way of the half-space at the vertex.
static void add_plane_left(tbIpc* ipc, const tbSurfaceContact* c, const Local* l, const double H[144])
{
  if (c->of.kind != TB_SURFACE_PLANE_VERTEX || !(ipc->progress < 1)) return;
  const tbMovingPlane *whole = &ipc->plane[c->of.surface_a], *now = &ipc->surfaces.plane[c->of.surface_a];
  double end = tb_dot3(whole->normal[1], l->at[0]) - whole->offset[1];
  double height = tb_dot3(now->normal[1], l->at[0]) - now->offset[1];
  tbVec3 left = tb_scale3(end - height, now->normal[1]); // as if the vertex went that way
  ipc->lead_slope += tb_dot3(l->gradient[0], left);
  add_moved(&l->move[0], tb_mat3_mulv(block_at(H, 0, 0), left), ipc->lead);
}

// What forces on a frame's vertices are to its rotation: Σ g·∂²x/∂φ², as these go on circles, and Σ r × g.
typedef struct {
  tbMat3 circles;
  tbVec3 torque;
} Turning;

static void add_turning(const tbIpc* ipc, const Local* l, Turning* turning)
{
  for (int k = 0; turning && k < l->count; k++) {
    const tbIpcSurface* s = &ipc->surface[l->surface[k]];
    if (s->source != TB_IPC_FRAME) continue;
    Turning* t = &turning[s->index];
    tbVec3 r = tb_sub3(l->at[k], ipc->frame[s->index].now.x), g = l->gradient[k];
    double along = tb_dot3(r, g);
    tbMat3 S = tb_mat3_scale(0.5, tb_mat3_add(tb_mat3_outer(g, r), tb_mat3_outer(r, g)));
    t->circles = tb_mat3_add(t->circles, tb_mat3_sub(S, tb_mat3_diag(along, along, along)));
    t->torque = tb_add3(t->torque, tb_cross3(r, g));
  }
}

// Second derivatives by ω: of circles by the rotation, and of the rotation; made positive.
static void finish_turning(tbIpc* ipc, const Turning* turning, tbIpcMatrix* matrix)
{
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    if (tb_mat3_maxabs(turning[i].circles) == 0 && tb_maxabs3(turning[i].torque) == 0) continue;
    tbMat3 T = tb_mat3_scale(ipc->h, f->turn), C = tb_mat3_tmul(T, tb_mat3_mul(turning[i].circles, T));
    tbMat3 sum = tb_mat3_add(C, tb_ipc_bend(ipc, f, turning[i].torque)), S = tb_mat3_zero();
    tbEig3 e = tb_eig3(sum);
    for (int k = 0; k < 3; k++) {
      tbVec3 axis = tb_mat3_col(e.V, k);
      if (e.s[k] > 0 || ipc->exact) S = tb_mat3_add(S, tb_mat3_scale(e.s[k], tb_mat3_outer(axis, axis)));
    }
    tb_ipc_matrix_add(matrix, f->block + 1, f->block + 1, (const double*)&S);
  }
}

tbStatus tb_ipc_contacts_gradient(tbContext* ctx, tbIpc* ipc, tbIpcMatrix* matrix)
{
  const tbIpcContact* c = ipc->contact.data;
  const tbIpcFriction* f = ipc->friction.data;
  double own[144];
  Turning* turning = NULL;
  if (matrix) TB_TRY(tb_ipc_hessians(ctx, ipc));
  const double(*hessian)[144] = ipc->hessian.data;
  if (matrix && ipc->nframe) {
    turning = TB_NEW(ctx, Turning, (size_t)ipc->nframe);
    if (!turning) return TB_ERROR_MEMORY;
  }
  for (size_t i = 0; i < ipc->contact.count; i++) {
    Local l = local_of(ipc, &c[i].at);
    memcpy(l.gradient, c[i].energy.gradient, sizeof l.gradient);
    if (matrix) {
      add_turning(ipc, &l, turning);
      add_left(ipc, &l, hessian[i]);
      add_plane_left(ipc, &c[i].at, &l, hessian[i]);
      add_hessian(matrix, &l, hessian[i]);
    }
    add_gradient(ipc, &l);
  }
  for (size_t i = 0; i < ipc->friction.count; i++) {
    Local l = local_of(ipc, &f[i].at);
    tb_ipc_friction_derivatives(ipc, &f[i], l.gradient, own);
    if (matrix) {
      add_turning(ipc, &l, turning);
      add_left(ipc, &l, own);
      add_hessian(matrix, &l, own);
    }
    add_gradient(ipc, &l);
  }
  if (turning) finish_turning(ipc, turning, matrix);
  tb_free(ctx, turning);
  return TB_OK;
}

static tbStatus couple(tbContext* ctx, const tbIpc* ipc, const tbSurfaceContact* c, tbArray* pairs)
{
  Local l = local_of(ipc, c);
  for (int i = 0; i < l.count; i++)
    for (int j = 0; j < l.count; j++)
      for (int m = 0; m < l.move[i].count; m++)
        for (int n = 0; n < l.move[j].count; n++) {
          int row = l.move[i].block[m], col = l.move[j].block[n];
          uint64_t key = (uint64_t)row << 32 | (uint64_t)col;
          if (row > col) TB_TRY(tb_array_push(ctx, pairs, &key, 1));
        }
  return TB_OK;
}

tbStatus tb_ipc_couplings(tbContext* ctx, tbIpc* ipc, tbArray* pairs)
{
  const tbIpcContact* c = ipc->contact.data;
  const tbIpcFriction* f = ipc->friction.data;
  for (size_t i = 0; i < ipc->contact.count; i++) TB_TRY(couple(ctx, ipc, &c[i].at, pairs));
  for (size_t i = 0; i < ipc->friction.count; i++) TB_TRY(couple(ctx, ipc, &f[i].at, pairs));
  return TB_OK;
}
