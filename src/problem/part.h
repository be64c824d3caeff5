// SPDX-License-Identifier: Apache-2.0
// Some of a problem's contacts, as a problem of their own.
#ifndef TB_PROBLEM_PART_H
#define TB_PROBLEM_PART_H

#include "base/memory.h"
#include "tribo/problem.h"

// Room to find one's way from a problem to its parts. A part uses the entries of its own metric blocks and
// rows alone, so parts that share none may be made at the same time.
typedef struct tbPartMaps {
  int* block; // (nblock)
  int* row;   // (nrow), when W is given
} tbPartMaps;

tbStatus tb_part_maps_make(tbArena* arena, const tbProblem* p, tbPartMaps* out);

// The problem of contact[0] … contact[count−1]: whole islands, one after the other, each with its contacts in
// increasing order. Row by row it is the same problem; metric blocks keep pointing to the values and factors
// of the old one, everything else is copied into the arena. Cost: proportional to what is copied.
tbStatus tb_problem_part(tbArena* arena, const tbProblem* p, const int* contact, int count,
                         const tbPartMaps* maps, tbProblem* out);

// The values of the part again, in place, after those of a problem that gives A and J have changed.
void tb_problem_part_renew(const tbProblem* p, const int* contact, const tbPartMaps* maps, tbProblem* part);

#endif
