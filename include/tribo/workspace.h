// SPDX-License-Identifier: Apache-2.0
// Many solves of one pattern: values change, what follows from the pattern alone is kept.
//
//   tbWorkspace* space;
//   tb_workspace_create(&ctx, problem, &space);                    // a copy: the problem may go
//   for (…) {
//     tb_workspace_update(&ctx, space, &(tbProblemValues){.bias = b, .v_free = v});
//     tb_workspace_solve(&ctx, space, &options, lambda, &result);  // the bits of tb_solve on such a problem
//   }
//   tb_workspace_free(&ctx, space);
//
// Kept are the memory of solves; the orderings and symbolic factors of sparse metric blocks, of W and of the
// Newton methods' systems; the pattern of W; colours, layers and islands; and the judge. Where only bias,
// v_free and parameters have changed, so are the values of W and of its factors. After the first solve with
// some options the next ones with the same allocate nothing, but where `auto` changes method, or islands that
// took long are solved together.
#ifndef TRIBO_WORKSPACE_H
#define TRIBO_WORKSPACE_H

#include "tribo/solver.h"

TB_API_BEGIN

typedef struct tbWorkspace tbWorkspace;

// New values, in the layout of tbProblem. Null: as they are.
typedef struct tbProblemValues {
  const double* param;        // (param_adr[ncontact])
  const double* bias;         // (nrow)
  const double* compliance;   // (nrow)
  const double* v_free;       // (ndof)
  const double* jac;          // (jac_val_adr[ncol])
  const double* W_val;        // (W_ptr[nrow]), where W is given
  const double* const* block; // of each metric block, as tbMetricBlock.value has them, or null (nblock)
} tbProblemValues;

tbStatus tb_workspace_create(tbContext* ctx, const tbProblem* problem, tbWorkspace** out);
void tb_workspace_free(tbContext* ctx, tbWorkspace* space);      // takes null
const tbProblem* tb_workspace_problem(const tbWorkspace* space); // as it is now

// Takes over new values, checked as a builder checks them. Values that are what they were cost a comparison.
tbStatus tb_workspace_update(tbContext* ctx, tbWorkspace* space, const tbProblemValues* values);
// The same, all of them, from another problem of the same pattern: one that differs is refused with
// TB_ERROR_ARGUMENT, and the workspace left as it was.
tbStatus tb_workspace_update_like(tbContext* ctx, tbWorkspace* space, const tbProblem* problem);

// As tb_solve.
tbStatus tb_workspace_solve(tbContext* ctx, tbWorkspace* space, const tbSolveOptions* options, double* lambda,
                            tbSolveResult* result);

TB_API_END
#endif
