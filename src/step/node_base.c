// SPDX-License-Identifier: Apache-2.0
#include "step/node_base.h"

static void add_diagonal(double block[9], double value)
{
  block[0] += value, block[4] += value, block[8] += value;
}

void tb_node_base(tbContext* ctx, double h, const tbNodePotential* of, double* force, double (*base)[9],
                  tbVec3* rhs)
{
  tbFemBody* fem = of->fem;
  const tbFemAssembly* s = &fem->assembly;
  double heavy = 1 + h * fem->mass_damping, viscous = h * fem->stiffness_damping;
  if (viscous > 0) tb_fem_evaluate(fem, ctx->threads, of->x, TB_TANGENT_POSITIVE, force);
  for (int i = 0; i < fem->nnode; i++) {
    for (int b = s->diag[i]; b < s->ptr[i + 1]; b++) {
      double* block = base[tb_fem_assembly_upper(s, i, b)];
      const double* K = fem->upper[tb_fem_assembly_upper(s, i, b)];
      for (int k = 0; k < 9; k++) block[k] = viscous > 0 ? viscous * K[k] : 0;
      if (fem->mass_block) add_diagonal(block, heavy * fem->mass_block[b]);
      if (b != s->diag[i]) continue;
      if (!fem->mass_block) add_diagonal(block, heavy * fem->mass[i]);
      if (fem->drag) add_diagonal(block, h * fem->drag[i]);
    }
  }
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 fall = tb_zero3();
    for (int b = s->ptr[i]; fem->mass_block && b < s->ptr[i + 1]; b++)
      fall = tb_madd3(fall, fem->mass_block[b] * h, of->gravity);
    if (!fem->mass_block) fall = tb_scale3(fem->mass[i] * h, of->gravity);
    rhs[i] = tb_madd3(tb_add3(tb_fem_momentum(fem, of->v, i), fall), h, of->force[i]);
  }
}
