// SPDX-License-Identifier: Apache-2.0
// No tetrahedron turns inside out: one whose volume falls below a fifth of that at rest meets a barrier,
//
//   (λ + 2μ) V₀ b(J),   J = V/V₀,   b the clamped logarithm with the reach J₀ = 1/5
//
// Elastic models go on in a straight line where they are pressed flat (fem/elastic.c), so that a hard impact
// could pass through zero. Elements that are inverted where the step starts, and those whose corners are all
// held, are left alone.
#include "step/ipc.h"

#include "barrier/volume.h"

#include <string.h>

static const double REACH = 0.2; // J₀

typedef struct {
  double weight; // (λ + 2μ) V₀
  tbVolume at;   // J and its derivatives
} Cell;

static Cell cell_of(const tbFemBody* fem, const tbVec3* x, int element)
{
  const int* at = fem->corner[0] + 4 * (size_t)element;
  double rest = fem->tet[element].volume;
  tbVec3 corner[4] = {x[at[0]], x[at[1]], x[at[2]], x[at[3]]};
  return (Cell){(fem->material.lambda + 2 * fem->material.mu) * rest, tb_volume_of(corner, rest)};
}

void tb_ipc_volume_begin(tbIpc* ipc)
{
  for (int i = 0; i < ipc->nnodes; i++) {
    tbIpcNodes* n = &ipc->nodes[i];
    const tbFemBody* fem = n->of.fem;
    for (int e = 0; n->guarded && e < fem->nelement[0]; e++) {
      const int* at = fem->corner[0] + 4 * (size_t)e;
      bool moves = false;
      for (int k = 0; k < 4; k++) moves = moves || !ipc->held[n->block + at[k]];
      n->guarded[e] = moves && cell_of(fem, n->start, e).at.J > 0;
    }
  }
}

double tb_ipc_volume_energy(const tbIpc* ipc)
{
  double sum = 0;
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    for (int e = 0; n->guarded && e < n->of.fem->nelement[0]; e++) {
      if (!n->guarded[e]) continue;
      Cell c = cell_of(n->of.fem, n->x, e);
      if (c.at.J < REACH)
        sum += c.at.J > 0 ? c.weight * tb_barrier(TB_BARRIER_LOG, c.at.J, REACH).value : INFINITY;
    }
  }
  return sum;
}

// The block of corners a and b: corner 0 is minus the sum of the others.
static void block_of(const double H[81], int a, int b, double scale, double out[9])
{
  memset(out, 0, 9 * sizeof *out);
  for (int i = 1; i < 4; i++)
    for (int j = 1; j < 4; j++) {
      double sign = (a == 0 ? -1 : a == i) * (b == 0 ? -1 : b == j);
      if (sign == 0) continue;
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
          out[3 * r + s] += scale * sign * H[9 * (3 * (i - 1) + r) + 3 * (j - 1) + s];
    }
}

static tbVec3 block_mulv(const double B[9], tbVec3 v)
{
  tbMat3 M;
  memcpy(&M, B, sizeof M);
  return tb_mat3_mulv(M, v);
}

static void add_cell(tbIpc* ipc, const tbIpcNodes* n, int element, tbIpcMatrix* matrix)
{
  const tbFemBody* fem = n->of.fem;
  const int* at = fem->corner[0] + 4 * (size_t)element;
  Cell c = cell_of(fem, n->x, element);
  if (!(c.at.J > 0 && c.at.J < REACH)) return;
  tbJet b = tb_barrier(TB_BARRIER_LOG, c.at.J, REACH);
  double h = ipc->h, left = 1 - ipc->progress, H[81], block[9];
  tbVec3 sum = tb_zero3();
  for (int k = 3; k >= 0; k--) {
    tbVec3 g = k ? tb_scale3(h * c.weight * b.first, c.at.n[k - 1]) : tb_neg3(sum);
    int row = n->block + at[k];
    sum = tb_add3(sum, g);
    ipc->gradient[row] = tb_add3(ipc->gradient[row], g);
    if (ipc->held[row]) ipc->lead_slope += left * tb_dot3(g, n->of.pin[at[k]]);
  }
  if (!matrix) return;
  tb_volume_hessian(&c.at, b, !ipc->exact, H);
  for (int a = 0; a < 4; a++)
    for (int k = 0; k < 4; k++) {
      int row = n->block + at[a], col = n->block + at[k];
      if (ipc->held[row] || (col > row && !ipc->held[col])) continue;
      block_of(H, a, k, h * h * c.weight, block);
      if (!ipc->held[col]) tb_ipc_matrix_add(matrix, row, col, block);
      else if (left > 0) ipc->lead[row] = tb_madd3(ipc->lead[row], left, block_mulv(block, n->of.pin[at[k]]));
    }
}

void tb_ipc_volume_gradient(tbIpc* ipc, tbIpcMatrix* matrix)
{
  for (int i = 0; i < ipc->nnodes; i++)
    for (int e = 0; ipc->nodes[i].guarded && e < ipc->nodes[i].of.fem->nelement[0]; e++)
      if (ipc->nodes[i].guarded[e]) add_cell(ipc, &ipc->nodes[i], e, matrix);
}
