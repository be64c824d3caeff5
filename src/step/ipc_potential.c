// SPDX-License-Identifier: Apache-2.0
// The potential of each body by itself:
//
//   rigid    ½ m |v − v_free|² + ½ (ω − ω_free)ᵀ I (ω − ω_free)
//   nodes    ½ Vᵀ[(1 + hα) M + h drag + hβ K₀] V − Vᵀ[M (v + h g) + h force] + Ψ(x + h V)
//
// whose gradients are what momentum misses, in N·s. Integrators of second order have other numbers in it
// (ipc_integrator.c).
#include "step/ipc.h"

#include <string.h>

static tbVec3 velocity_of(const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* v, int k)
{
  return ipc->held[n->block + k] ? tb_scale3(ipc->still ? 0 : ipc->progress, n->of.pin[k]) : v[n->block + k];
}

// (base V)_i
static tbVec3 base_row(const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* v, int i)
{
  const tbFemAssembly* s = &n->of.fem->assembly;
  tbVec3 sum = tb_zero3();
  for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++) {
    const double* B = n->base[tb_fem_assembly_upper(s, i, b)];
    sum = tb_add3(sum, tb_block_mul(B, velocity_of(ipc, n, v, s->col[b]), b < s->diag[i]));
  }
  return sum;
}

// Kinetic terms are differences from the velocities that masses would have by themselves.
double tb_ipc_bodies_energy(tbContext* ctx, tbIpc* ipc, const tbVec3* v, double* size)
{
  double sum = 0;
  *size = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    tbVec3 dv = tb_sub3(v[f->block], f->v_free), dw = tb_sub3(v[f->block + 1], f->w_free);
    double mass = tb_bodies(ipc->world)[f->body].mass;
    sum += 0.5 * (mass * tb_dot3(dv, dv) + tb_dot3(dw, tb_mat3_mulv(f->inertia, dw)));
  }
  *size += sum;
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    double inertia = 0;
    for (int k = 0; k < n->of.fem->nnode; k++) {
      tbVec3 V = velocity_of(ipc, n, v, k);
      double quadratic = 0.5 * tb_dot3(V, base_row(ipc, n, v, k)), linear = tb_dot3(V, n->rhs[k]);
      inertia += quadratic - linear;
      *size += fabs(quadratic) + fabs(linear);
    }
    double elastic = n->elastic * tb_fem_evaluate(n->of.fem, ctx->threads, n->x, TB_TANGENT_NONE, NULL);
    sum += inertia + elastic;
    *size += fabs(elastic);
  }
  return sum;
}

static void frame_gradient(tbIpc* ipc, const tbIpcFrame* f, const tbVec3* v, tbIpcMatrix* matrix)
{
  double mass = tb_bodies(ipc->world)[f->body].mass;
  int b = f->block;
  ipc->gradient[b] = tb_scale3(mass, tb_sub3(v[b], f->v_free));
  ipc->gradient[b + 1] = tb_mat3_mulv(f->inertia, tb_sub3(v[b + 1], f->w_free));
  if (!matrix) return;
  double M[9] = {mass, 0, 0, 0, mass, 0, 0, 0, mass};
  tb_ipc_matrix_add(matrix, b, b, M);
  tb_ipc_matrix_add(matrix, b + 1, b + 1, (const double*)&f->inertia);
}

// Rows and columns of held nodes stay out of the matrix; what is left of their way goes to the others.
static void nodes_gradient(tbContext* ctx, tbIpc* ipc, tbIpcNodes* n, const tbVec3* v, tbIpcMatrix* matrix)
{
  tbFemBody* fem = n->of.fem;
  const tbFemAssembly* s = &fem->assembly;
  double h2 = n->elastic * ipc->h * ipc->h, left = 1 - ipc->progress;
  tb_fem_evaluate(fem, ctx->threads, n->x,
                  !matrix      ? TB_TANGENT_NONE
                  : ipc->exact ? TB_TANGENT_EXACT
                               : TB_TANGENT_POSITIVE,
                  n->force);
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 g = tb_sub3(base_row(ipc, n, v, i), n->rhs[i]);
    ipc->gradient[n->block + i] = g = tb_madd3(g, -ipc->h * n->elastic, tb_load3(n->force + 3 * (size_t)i));
    if (ipc->held[n->block + i]) ipc->lead_slope += left * tb_dot3(g, n->of.pin[i]);
  }
  for (int i = 0; matrix && i < fem->nnode; i++)
    for (int b = s->diag[i]; b < s->ptr[i + 1]; b++) {
      int j = s->col[b], u = tb_fem_assembly_upper(s, i, b);
      bool held_i = ipc->held[n->block + i], held_j = ipc->held[n->block + j];
      double H[9];
      for (int k = 0; k < 9; k++) H[k] = n->base[u][k] + h2 * fem->upper[u][k];
      if (!held_i && !held_j) tb_ipc_matrix_add_at(matrix, n->block + j, n->slot[u], H, true);
      else if (left > 0 && i != j) {
        if (held_j && !held_i)
          ipc->lead[n->block + i] =
              tb_madd3(ipc->lead[n->block + i], left, tb_block_mul(H, n->of.pin[j], false));
        if (held_i && !held_j)
          ipc->lead[n->block + j] =
              tb_madd3(ipc->lead[n->block + j], left, tb_block_mul(H, n->of.pin[i], true));
      }
    }
}

void tb_ipc_bodies_gradient(tbContext* ctx, tbIpc* ipc, const tbVec3* v, tbIpcMatrix* matrix)
{
  memset(ipc->lead, 0, (size_t)ipc->nblock * sizeof *ipc->lead);
  ipc->lead_slope = 0;
  for (int i = 0; i < ipc->nframe; i++) frame_gradient(ipc, &ipc->frame[i], v, matrix);
  for (int i = 0; i < ipc->nnodes; i++) nodes_gradient(ctx, ipc, &ipc->nodes[i], v, matrix);
}
