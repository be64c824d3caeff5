// SPDX-License-Identifier: Apache-2.0
// Dual ascent on the impulses of a relaxed problem: extended position-based dynamics (Macklin et al. 2016;
// 2020, algorithm 2).
//
//   λ_k ← Π(λ_k − P_k (u_k + R λ_k))    P_k = (W_kk + R)⁻¹    v = v_free + A⁻¹Jᵀλ
//
// with R the compliance 1/(h²k) of a gap, 1/(h k_f) of friction that sticks, a joint's own, or none. One
// contact after the other, colour by colour (Gauss–Seidel); or all at once (Jacobi), in steps of α, or each
// with masses split among the contacts of a body (Tonge, Benevolenski and Voroshilov 2012):
// W_kk = Σ n_b J_kb A_b⁻¹ J_kbᵀ.
//
// The rows are those of the start of the step, and linear: updates from the last iterate and updates that
// begin at v_free again are the same. Or they are written anew at every iterate, and then they are not:
//
//   incremental   v ← v + A⁻¹J(q)ᵀΔλ         fast projection (Goldenthal et al. 2007): what earlier rows have
//                                             pushed stays; impulses and the last J do not add up to v
//   restart       v = v_free + A⁻¹J(q)ᵀλ      equations 21 and 22: they do
#ifndef TB_DESCENT_ASCEND_H
#define TB_DESCENT_ASCEND_H

#include "descent/relaxed.h"

typedef struct tbAscent {
  const tbRelaxed* relaxed;
  bool rigid;  // contacts have no compliance; else the relaxation's stiffnesses
  bool split;  // Jacobi with mass splitting
  bool jacobi; // without, in steps of `length`
  double length;
  void (*anew)(void* user, const double* v); // writes the problem's J and b where v leads; null: linear
  void* user;
  bool restart; // else incremental
  int iterations;
  double still;    // m/s: an iteration that changes no contact's velocity by more ends them
  double deadline; // on the clock of base/clock.h: no iteration begins later; 0: none
  double* lambda;  // in: a start; out                                                            (nrow)
  double* v;       // out, of incremental updates                                                 (ndof)
  int used;
} tbAscent;

// Metric blocks must be particles or dense.
tbStatus tb_ascent_run(tbContext* ctx, tbArena* arena, tbAscent* ascent);

#endif
