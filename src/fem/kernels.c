// SPDX-License-Identifier: Apache-2.0
// Which functions of src/fem are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "fem/elastic.h"

// tet.c
TB_KERNEL(tbTetRest, tb_tet_rest, (const tbVec3 X[4]), (X))
TB_KERNEL(tbMat3, tb_tet_gradient, (const tbTetRest* rest, const tbVec3 x[4]), (rest, x))
TB_KERNEL(double, tb_tet_energy, (const tbElastic* m, const tbTetRest* rest, const tbVec3 x[4]), (m, rest, x))
TB_KERNEL(void, tb_tet_complete, (double K[TB_TET_BLOCKS][9]), (K))
TB_KERNEL(double, tb_tet_evaluate,
          (const tbElastic* m, const tbTetRest* rest, const tbVec3 x[4], tbTangent tangent, double f[12],
           double K[TB_TET_BLOCKS][9]),
          (m, rest, x, tangent, f, K))
TB_KERNEL(void, tb_tets_evaluate,
          (const tbElastic* m, int count, const tbTetRest* rest, const tbVec3 (*x)[4], tbTangent tangent,
           double* energy, double* f, double (*K)[9]),
          (m, count, rest, x, tangent, energy, f, K))
