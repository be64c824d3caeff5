// SPDX-License-Identifier: Apache-2.0
// From FCLIB's matrices to a problem.
#ifndef TB_IO_PROBLEM_FROM_MATRICES_H
#define TB_IO_PROBLEM_FROM_MATRICES_H

#include "math/sparse.h"
#include "tribo/problem.h"

// `contacts` of `rows` rows each with one law, then `free` bilateral rows, each a contact of its own.
typedef struct tbContactList {
  tbLaw law; // coulomb, or rolling with 5 rows
  int contacts, rows, free;
  const double *mu, *mu_r; // (contacts); mu_r for rolling alone
  double* bias;            // (contacts·rows + free)
} tbContactList;

// How the degrees of freedom group into metric blocks, where the file says so.
typedef struct tbBlockList {
  int count;            // 0: found from the pattern of M
  const int* kind;      // tbMetricKind (count)
  const int* size;      // (count)
  const double* v_free; // null, or the velocities that gave f
} tbBlockList;

// u = W λ + bias
tbStatus tb_assemble_local(tbContext* ctx, const char* name, const tbContactList* list, const tbCsr* W,
                           tbProblem** out);

// M v = Jᵀ λ + f,  u = J v + bias
tbStatus tb_assemble_global(tbContext* ctx, const char* name, const tbContactList* list, const tbCsr* M,
                            const tbCsr* J, const double* f, const tbBlockList* blocks, tbProblem** out);

#endif
