// SPDX-License-Identifier: Apache-2.0
// A contact problem as a linear complementarity problem (Stewart & Trinkle 1996; Anitescu & Potra 1997;
// course §1.6, eqs. 34 and 39).
//
//   w = M z + r,   0 ≤ z ⟂ w ≥ 0        λ = λ₀ + P z,   M = Pᵀ W P + C,   r = Pᵀ(q + W λ₀) + c
//
// A friction set with corners f_i gives one variable a_i per corner and one slack β:
//
//   λ_F = Σ a_i f_i        0 ≤ a_i ⟂ f_i·u_F + β ≥ 0        0 ≤ β ⟂ λ_n − Σ a_i ≥ 0
//
// so that β is the support function of −u_F, the sliding speed of the course. A polygon has its corners, a
// box two corners and a slack for each of its rows, where 0 is left out. A bounded row lo ≤ λ ≤ hi is z = λ −
// lo with a slack whose row is hi − lo − z. Rows of a free law are variables without a sign, whose w is 0.
#ifndef TB_SOLVE_LCP_H
#define TB_SOLVE_LCP_H

#include "solve/run.h"

typedef struct tbLcpVariable {
  int row[2]; // of λ that the variable moves; −1: none
  double coef[2];
  int slack;       // β in its w; −1: none
  int normal;      // of a slack: the variable that it lets grow; −1: none
  double constant; // c
  bool free;       // no sign, w = 0
} tbLcpVariable;

typedef struct tbLcp {
  const tbDelassus* W;
  int n;
  tbLcpVariable* var; // (n)
  double* offset;     // λ₀ (nrow)
  double* drift;      // q + W λ₀ (nrow)
  double* product;    // workspace (nrow)
} tbLcp;

int tb_lcp_size(const tbProblem* p, const tbSolveOptions* o);
void tb_lcp_layout(tbLcp* lcp, tbScratch* s, const tbDelassus* W, const tbSolveOptions* o);
void tb_lcp_build(tbLcp* lcp, const tbSolveOptions* o);

double tb_lcp_constant(const tbLcp* lcp, int i);                        // r_i
void tb_lcp_matrix_row(tbLcp* lcp, int i, double* M);                   // M_i (n)
void tb_lcp_impulse(const tbLcp* lcp, const double* z, double* lambda); // λ₀ + P z

#endif
