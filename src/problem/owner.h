// SPDX-License-Identifier: Apache-2.0
// The memory behind a problem, and the check every problem passes.
#ifndef TB_PROBLEM_OWNER_H
#define TB_PROBLEM_OWNER_H

#include "base/memory.h"
#include "tribo/problem.h"

typedef struct tbProblemOwner {
  tbProblem problem;
  tbMetricBlock* block; // problem.block, writable
  bool* kept;           // blocks whose arrays and factors are borrowed (nblock)
  tbArena arena;
  tbArena inverses; // of a copy: entries of inverses, made again with every update
  tbContext ctx;    // a copy: only its allocator is used
} tbProblemOwner;

// Everything but the metric's values: laws, parameters, finiteness, W's structure. Names the bad index.
tbStatus tb_problem_validate(tbContext* ctx, const tbProblem* problem);

#endif
