// SPDX-License-Identifier: Apache-2.0
// Fill-reducing orderings of a symmetric sparsity pattern.
//
//   TB_ORDERING_NATURAL   as given
//   TB_ORDERING_DEGREE    approximate minimum degree, Tribo's own (ordering_degree.c): always there
//   TB_ORDERING_AMD       approximate minimum degree, SuiteSparse's libamd, where the build found it
//   TB_ORDERING_METIS     nested dissection by METIS, where the build found it
//   TB_ORDERING_AUTO      the best of those present for the size at hand
//
// Every ordering depends on the pattern alone: the same input gives the same permutation, always.
#ifndef TB_MATH_ORDERING_H
#define TB_MATH_ORDERING_H

#include "tribo/base.h"

typedef enum tbOrdering {
  TB_ORDERING_AUTO,
  TB_ORDERING_NATURAL,
  TB_ORDERING_DEGREE,
  TB_ORDERING_AMD,
  TB_ORDERING_METIS,
  TB_ORDERING_COUNT,
} tbOrdering;

const char* tb_ordering_name(tbOrdering method); // "auto", "natural", …
bool tb_ordering_present(tbOrdering method);     // built in here?

// Writes perm[k] = the row eliminated k-th. The pattern is symmetric, both triangles stored, rows in any
// order, no entry twice; diagonal entries may be there and are ignored. TB_ERROR_UNSUPPORTED for a method
// that is not in this build. METIS reseeds the C library's rand().
tbStatus tb_order(tbContext* ctx, int n, const int* ptr, const int* idx, tbOrdering method, int* perm);

// The built-in ordering; tb_order with TB_ORDERING_DEGREE.
tbStatus tb_order_by_degree(tbContext* ctx, int n, const int* ptr, const int* idx, int* perm);

#endif
