// What the tests over the table of solvers share.
#ifndef TB_SOLVER_TEST_H
#define TB_SOLVER_TEST_H

#include "tribo/solver.h"

// The first model under which the solver takes the problem; without friction every solver takes any law.
static inline tbModel model_for(const tbSolver* solver, const tbProblem* p)
{
  for (int m = 0; m < TB_MODEL_COUNT; m++)
    if (!tb_solver_refuses(solver, p, (tbModel)m)) return (tbModel)m;
  return TB_MODEL_CONE;
}

#endif
