// SPDX-License-Identifier: Apache-2.0
// Which contacts touch which metric block.
#ifndef TB_PROBLEM_GRAPH_H
#define TB_PROBLEM_GRAPH_H

#include "base/memory.h"
#include "tribo/problem.h"

// For metric block b: column blocks col[ptr[b] … ptr[b+1]−1] lie in it, in increasing order; contact[i] is
// the contact that column block i of the list belongs to.
typedef struct tbIncidence {
  int* ptr;     // (nblock+1)
  int* col;     // (ncol)
  int* contact; // (ncol)
} tbIncidence;

tbStatus tb_incidence_build(tbArena* arena, const tbProblem* problem, tbIncidence* out);

// The contact of each row (nrow entries).
int* tb_row_contacts(tbArena* arena, const tbProblem* problem);

#endif
