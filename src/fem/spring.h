// SPDX-License-Identifier: Apache-2.0
// A spring between two nodes: E = ½ k (|d| − L)², d from the first to the second.
#ifndef TB_FEM_SPRING_H
#define TB_FEM_SPRING_H

#include "fem/elastic.h"

enum { TB_SPRING_BLOCKS = 3 };

typedef struct tbSpring {
  double stiffness, length; // N/m; m at rest
} tbSpring;

// As tb_tet_evaluate: returns the energy, fills f = −∂E/∂x, and K as blocks (0,0) (0,1) (1,1) unless the
// tangent is NONE.
double tb_spring_evaluate(const tbSpring* spring, const tbVec3 x[2], tbTangent tangent, double f[6],
                          double K[TB_SPRING_BLOCKS][9]);

#endif
