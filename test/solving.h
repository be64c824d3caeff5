// SPDX-License-Identifier: Apache-2.0
// What tests of every solver share.
#ifndef TB_TEST_SOLVING_H
#define TB_TEST_SOLVING_H

#include "tribo/solver.h"

// The first model under which the solver takes the problem; false when there is none.
static inline bool test_pick_model(const tbSolver* solver, const tbProblem* problem, tbModel* model)
{
  for (int m = 0; m < TB_MODEL_COUNT; m++)
    if (!tb_solver_refuses(solver, problem, (tbModel)m)) {
      *model = (tbModel)m;
      return true;
    }
  return false;
}

#endif
