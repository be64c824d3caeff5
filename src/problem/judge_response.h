// SPDX-License-Identifier: Apache-2.0
// How strongly each contact answers its own impulse, as the judge computes it.
#ifndef TB_PROBLEM_JUDGE_RESPONSE_H
#define TB_PROBLEM_JUDGE_RESPONSE_H

#include "base/memory.h"
#include "tribo/problem.h"

// response[k] = the largest eigenvalue of W_kk, the diagonal block of W = J A⁻¹ Jᵀ + R; of its symmetric
// part, where W is given and unsymmetric.                                                    (ncontact)
// m/(s·N·s)
//
// A sparse block without a factor is replaced by its row sums, which are the masses m of A = m + hB + h²K:
// w ↦ ‖wλ − P_K(wλ − û)‖ grows with w and A ≥ m, so what is measured with it is never too small.
tbStatus tb_judge_response(tbArena* arena, tbThreads* threads, const tbProblem* problem, double* response);

#endif
