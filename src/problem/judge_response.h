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
typedef struct tbJudgeResponse {
  const tbProblem* p;
  double* response; // NaN: not found yet                                                      (ncontact)
  int waiting;      // how many are not
  int widest;       // dense block
  int* contact;     // room (ncontact)
  double* room;
} tbJudgeResponse;

tbStatus tb_judge_response_init(tbArena* arena, const tbProblem* problem, tbJudgeResponse* out);
// For new values of A and J: those that do not wait until their contact carries something.
tbStatus tb_judge_response_begin(tbArena* temporary, tbThreads* threads, tbJudgeResponse* response);
bool tb_judge_response_waits(const tbProblem* problem, int contact);
bool tb_judge_carries(const tbProblem* problem, int contact, const double* lambda); // λ_k ≠ 0
// Those of contacts that carry something at λ; null: all.
void tb_judge_response_find(tbThreads* threads, tbJudgeResponse* response, const double* lambda);

#endif
