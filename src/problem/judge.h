// SPDX-License-Identifier: Apache-2.0
// What a solver may tell the judge: an initial guess saves time where a sparse block has no factor, and
// decides nothing.
#ifndef TB_PROBLEM_JUDGE_H
#define TB_PROBLEM_JUDGE_H

#include "tribo/problem.h"

// Without a factor w = A⁻¹Jᵀλ is found by conjugate gradients until what is left of Jᵀλ is `accuracy`, as
// little as can be unless said otherwise. They start from what was found for the last λ, or from an initial
// guess for the next (ndof; null: none, as at first).
void tb_judge_start_from(tbJudge* judge, const double* w);
void tb_judge_accuracy(tbJudge* judge, double accuracy);
// What A⁻¹ may leave of Jᵀλ where there is a factor, unless more accuracy is given up by tb_judge_accuracy: a
// hundred times less than the smallest relative tolerance in use.
#define TB_JUDGE_SHARP 1e-11
const double* tb_judge_responses(
    tbJudge* judge); // w_k, all of them: on wide blocks they take time      (ncontact)
// As newly made, after values of the problem have changed; sides: of bias and v_free alone. The context is
// the one that measuring is to use from now on.
tbStatus tb_judge_renew(tbContext* ctx, tbJudge* judge, bool sides);
bool tb_judge_is_rough(const tbJudge* judge); // a block has no factor, and more is left than need be

#endif
