// SPDX-License-Identifier: Apache-2.0
// Sparse Cholesky:  P A Pᵀ = L Lᵀ  for a symmetric positive definite A.
//
//   tb_cholesky_analyze    once for a pattern: ordering, structure of L, all memory
//   tb_cholesky_factor     for each set of values; allocates nothing
//   tb_cholesky_solve      for each right-hand side; allocates nothing, any number of them at the same time
//
// Right-hand sides are stored side by side: b[i·nrhs + c] is row i of side c, so that a field of 3-vectors is
// three sides solved in one pass over L. Solving several sides at once gives each the bits it gets alone.
// Results do not depend on the number of threads.
//
// Behind the seam is Tribo's own supernodal factor, or CHOLMOD's (cmake -DTRIBO_CHOLMOD=ON).
#ifndef TB_MATH_CHOLESKY_H
#define TB_MATH_CHOLESKY_H

#include "base/memory.h"
#include "math/ordering.h"

typedef struct tbCholesky tbCholesky;

typedef struct tbCholeskyOptions {
  tbOrdering ordering; // AUTO unless set
  size_t most_bytes;   // a factor that would take more is not made: *out is null; 0: any may
  const int* order;    // that of tb_cholesky_permutation of a pattern much like this one, to be taken
                       // instead; null: none                                                   (n)
} tbCholeskyOptions;

typedef struct tbCholeskyStats {
  int rows, supernodes;
  int64_t entries; // of L's lower triangle as stored: the fill, and the zeros that make supernodes wider
  double flops;    // multiplications and additions of one factorisation, the same zeros included
  size_t bytes;    // held by the factor, working memory included
} tbCholeskyStats;

// Analyses the pattern of A, given by rows (CSR: ptr, idx), columns in any order. Only entries on and below
// the diagonal are read, so that A may come whole or as its lower triangle. An entry stored twice or out of
// range is TB_ERROR_INPUT. `options` may be null. On failure *out is null.
tbStatus tb_cholesky_analyze(tbContext* ctx, int n, const int* ptr, const int* idx,
                             const tbCholeskyOptions* options, tbCholesky** out);

// Factors A with `values` in the order of the analysed idx. A matrix that is not positive definite is
// TB_ERROR_NUMERIC and names the row of the first bad pivot; the factor can then not solve until a later call
// succeeds.
tbStatus tb_cholesky_factor(tbContext* ctx, tbCholesky* factor, const double* values);

// x = A⁻¹ b, n × nrhs both; x may be b. `scratch` has room for tb_cholesky_scratch doubles; concurrent solves
// each bring their own. The context is touched only to report a call on something never factored.
tbStatus tb_cholesky_solve(tbContext* ctx, const tbCholesky* factor, int nrhs, const double* b, double* x,
                           double* scratch);
size_t tb_cholesky_scratch(const tbCholesky* factor, int nrhs);

// The two halves:  y = L⁻¹ P b  and  x = Pᵀ L⁻ᵀ y,  with y in the order of elimination. The first skips the
// columns that a sparse b does not reach; J A⁻¹ Jᵀ = YᵀY with Y = L⁻¹ P Jᵀ.
tbStatus tb_cholesky_forward(tbContext* ctx, const tbCholesky* factor, int nrhs, const double* b, double* y,
                             double* scratch);
tbStatus tb_cholesky_backward(tbContext* ctx, const tbCholesky* factor, int nrhs, const double* y, double* x,
                              double* scratch);

// Solves between a few rows only: b is zero and x is wanted outside of them nowhere. Both halves then need no
// more of L than the columns on the way from those rows to the root of the elimination tree.
typedef struct tbCholeskyReach {
  int count;      // rows
  int* place;     // column of L of each                                    (count)
  int supernodes; // on the way
  int* supernode; // ascending                                              (supernodes)
} tbCholeskyReach;

// Allocates from the arena. `rows` must be in range.
tbStatus tb_cholesky_reach(tbArena* arena, const tbCholesky* factor, int count, const int* rows,
                           tbCholeskyReach* out);
// x = A⁻¹ b on the rows of the reach, in their order: count × nrhs both; x may be b. The bits are those of
// tb_cholesky_solve.
void tb_cholesky_solve_reach(const tbCholesky* factor, const tbCholeskyReach* reach, int nrhs,
                             const double* b, double* x, double* scratch);

// A factor cut into parts that threads solve side by side, and the top of its tree above them
// (cholesky_parts.c). Cuts depend on the factor alone, so that the bits are the same for any number of
// threads; they are not those of tb_cholesky_solve, as what parts add to the top is summed part by part.
typedef struct tbCholeskyPart {
  int begin, end;     // supernodes
  int first, reached; // columns of the top that it acts on: where they begin in `column`, and how many
} tbCholeskyPart;

// The factor's entries in the order in which solves read them (cholesky_stream.c).
typedef struct tbCholeskyStream {
  size_t* adr; // of a supernode, in L                                           (supernodes+1)
  double* L;
} tbCholeskyStream;

typedef struct tbCholeskyParts {
  int count, top_count, reached;
  tbCholeskyPart* part; // (count)
  int* top;             // supernodes, ascending                                   (top_count)
  int* column;          // of the top, by the parts that reach them                (reached)
  int* rows;            // of the factor; those in the top behind all columns
  tbCholeskyStream stream;
} tbCholeskyParts;

// Allocates from the arena; the factor need not have values yet. When it has, and whenever it has others,
// they are to be loaded.
tbStatus tb_cholesky_cut(tbArena* arena, const tbCholesky* factor, tbCholeskyParts* out);
size_t tb_cholesky_parts_scratch(const tbCholesky* factor, const tbCholeskyParts* parts);
void tb_cholesky_load_parts(tbThreads* threads, const tbCholesky* factor, tbCholeskyParts* parts);
// x = A⁻¹ b for up to four sides; x may be b.
void tb_cholesky_solve_parts(tbThreads* threads, const tbCholesky* factor, const tbCholeskyParts* parts,
                             int nrhs, const double* b, double* x, double* scratch);

const int* tb_cholesky_permutation(const tbCholesky* factor); // row eliminated k-th (n)
tbCholeskyStats tb_cholesky_stats(const tbCholesky* factor);
void tb_cholesky_free(tbContext* ctx, tbCholesky* factor); // takes null

#endif
