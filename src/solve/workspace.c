// SPDX-License-Identifier: Apache-2.0
// A copy of a problem, what its solves keep (kept.c), and a pool of the memory that they take and give back.
#include "tribo/workspace.h"

#include "base/pool.h"
#include "problem/copy.h"
#include "solve/kept.h"

struct tbWorkspace {
  tbProblem* p;
  tbSolveKept kept;
  tbPool pool;
  tbChanges changes; // since the last solve
};

tbStatus tb_workspace_create(tbContext* ctx, const tbProblem* problem, tbWorkspace** out)
{
  *out = NULL;
  if (!problem) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a workspace is made from a problem");
  tbWorkspace* s = TB_NEW(ctx, tbWorkspace, 1);
  if (!s) return TB_ERROR_MEMORY;
  tb_pool_init(&s->pool);
  tbStatus status = tb_problem_copy(ctx, problem, &s->p);
  tb_kept_init(&s->kept, s->p);
  if (status == TB_OK) *out = s;
  else tb_workspace_free(ctx, s);
  return status;
}

void tb_workspace_free(tbContext* ctx, tbWorkspace* s)
{
  if (!s) return;
  tb_kept_free(ctx, &s->kept);
  tb_problem_free(s->p);
  tb_pool_free(ctx, &s->pool);
  tb_free(ctx, s);
}

const tbProblem* tb_workspace_problem(const tbWorkspace* s) { return s->p; }

tbStatus tb_workspace_update(tbContext* ctx, tbWorkspace* s, const tbProblemValues* values)
{
  tbContext pooled = tb_pool_begin(&s->pool, ctx);
  tbStatus status = tb_problem_set(&pooled, s->p, values, &s->changes);
  tb_pool_end(&s->pool, &pooled, ctx);
  return status;
}

tbStatus tb_workspace_update_like(tbContext* ctx, tbWorkspace* s, const tbProblem* p)
{
  if (!tb_problem_same_pattern(s->p, p))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the pattern of %s is not that of the workspace", p->name);
  const double** block = TB_NEW(ctx, const double*, (size_t)p->nblock);
  if (!block) return TB_ERROR_MEMORY;
  for (int b = 0; b < p->nblock; b++) block[b] = p->block[b].value;
  tbProblemValues values = {.param = p->param,
                            .bias = p->bias,
                            .compliance = p->compliance,
                            .v_free = p->v_free,
                            .jac = p->jac,
                            .W_val = p->W_val,
                            .block = block};
  tbStatus status = tb_workspace_update(ctx, s, &values);
  tb_free(ctx, block);
  return status;
}

tbStatus tb_workspace_solve(tbContext* ctx, tbWorkspace* s, const tbSolveOptions* options, double* lambda,
                            tbSolveResult* result)
{
  if (s->changes.lost)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "the workspace lost its factors in an update that failed: update it again");
  s->kept.now.sides += s->changes.sides;
  s->kept.now.matrix += s->changes.matrix;
  s->kept.now.zeros += s->changes.zeros;
  s->changes = (tbChanges){0};
  tbContext pooled = tb_pool_begin(&s->pool, ctx);
  tbStatus status = tb_solve_kept(&pooled, s->p, options, &s->kept, lambda, result);
  tb_pool_end(&s->pool, &pooled, ctx);
  return status;
}
