// Inside of the Delassus operator, for the files that build and apply it.
#ifndef TB_PROBLEM_DELASSUS_H
#define TB_PROBLEM_DELASSUS_H

#include "problem/graph.h"

typedef struct tbDelassusOwner {
  tbDelassus W;
  tbArena arena;
  tbIncidence incidence; // built for TB_FORM_FREE and for assembly from A and J
} tbDelassusOwner;

// Bytes that the blocks of W take, or a little more: every pair of contacts on a metric block is counted.
tbStatus tb_delassus_bytes(tbContext* ctx, const tbProblem* problem, double* out);

static inline int tb_contact_rows(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

#endif
