// SPDX-License-Identifier: Apache-2.0
// A problem with memory of its own, whose values can be replaced while its pattern stays.
#ifndef TB_PROBLEM_COPY_H
#define TB_PROBLEM_COPY_H

#include "tribo/workspace.h"

// Factors, packed halves and entries of inverses are there where the original has them, with its bits.
tbStatus tb_problem_copy(tbContext* ctx, const tbProblem* from, tbProblem** out);

// Which values an update has replaced by others.
typedef struct tbChanges {
  bool sides;  // bias, v_free, parameters
  bool matrix; // A, J, R or W
  bool zeros;  // which entries of a given W are 0: they decide islands
  bool lost;   // a failed update could not bring the old factors back: no solve before one succeeds
} tbChanges;

// Replaces values of a copy; where that fails, none.
tbStatus tb_problem_set(tbContext* ctx, tbProblem* problem, const tbProblemValues* values,
                        tbChanges* changes);

bool tb_problem_same_pattern(const tbProblem* a, const tbProblem* b);

#endif
