// SPDX-License-Identifier: Apache-2.0
// The factor's inside, shared by the files cholesky*.c.
//
// Columns are numbered in the order of elimination, which is a postorder of the elimination tree. Supernode s
// is a run of columns with the same rows below them; its front is the dense matrix over those columns and
// rows. L keeps, per supernode, the front's first columns as one dense panel:
//
//        ┌──────┐
//   cols │ L₁₁  │   lower triangle; above the diagonal, leftovers
//        ├──────┤
//   rows │ L₂₁  │
//        └──────┘   column-major, `lead` apart
#ifndef TB_MATH_CHOLESKY_FACTOR_H
#define TB_MATH_CHOLESKY_FACTOR_H

#include "base/memory.h"
#include "math/cholesky.h"
#include "math/cholesky_tree.h"

// A run of supernodes, whole subtrees, factored by one thread in a slot of working memory.
typedef struct {
  int begin, end;
} tbCholeskyTask;

struct tbCholesky {
  tbArena memory; // of everything below
  int n, supernodes;
  bool factored;
  size_t most_bytes; // 0: any number
  bool outgrown;     // it would take more
  int* perm;         // the caller's row of column k     (n)

  // supernodes, in postorder
  int* start;    // first column                             (supernodes+1)
  size_t* below; // first of its rows in `rows`              (supernodes+1)
  int* rows;     // rows under the diagonal block, ascending (below[supernodes])
  size_t* panel; // where its panel starts in L              (supernodes)
  int* lead;     // distance of two columns in the panel     (supernodes)
  int max_rows;  // most rows any supernode has
  const double* L;
  double* inverse_diagonal; // 1 / L_kk  (n)

  // the caller's entries by column of L
  int* entry_ptr;    // (n+1)
  int* entry_row;    // place in the column's front
  int* entry_source; // place in the caller's values

  // Tribo's own numeric factorisation
  int* parent;          // −1: a root                                           (supernodes)
  int *child, *sibling; // children in ascending order, −1 ends                 (supernodes)
  int* relative;        // place in the parent's front of each of `rows`        (below[supernodes])
  int* run_end;         // end of the run of consecutive `relative` it is in    (below[supernodes])
  double* panels;       // L, to write
  tbCholeskyTask* tasks;
  int task_count;
  int* bad_column;     // bad pivot of each task, or −1                         (task_count)
  int *top, top_count; // supernodes above the tasks, ascending
  size_t* update;      // where the update matrix is: in `work`, or in a slot   (supernodes)
  bool* shared;        // in `work`: it outlives the task                       (supernodes)
  double* work;        // update matrices that are shared, packing room of the top, slots
  int slots;           // tasks that can run at the same time
  size_t top_pack, slot_begin, slot_size, slot_pack; // the last within a slot

  void* cholmod; // the other backend's state
  tbCholeskyStats stats;
};

static inline int tb_cholesky_cols(const tbCholesky* f, int s) { return f->start[s + 1] - f->start[s]; }
static inline int tb_cholesky_rows(const tbCholesky* f, int s)
{
  return (int)(f->below[s + 1] - f->below[s]);
}

// Multiplications and additions of one front: Σ_{k<cols} (front−k)².
static inline double tb_front_flops(double cols, double rows)
{
  double f = cols + rows, r = rows;
  return (f * (f + 1) * (2 * f + 1) - r * (r + 1) * (2 * r + 1)) / 6;
}

// Zeroed memory that lives as long as the factor; null on failure.
void* tb_cholesky_keep(tbCholesky* f, size_t count, size_t size);
#define TB_KEEP(f, type, count) ((type*)tb_cholesky_keep(f, count, sizeof(type)))

// Finds the supernodes and their rows, starting from f->perm, and lays the factor out; `temporary` is the
// caller's to free. (cholesky_symbolic.c)
tbStatus tb_cholesky_symbolic(tbCholesky* f, tbArena* temporary, const tbPattern* A, int* inverse);

// Gives panels, update matrices and tasks their places, and each of the caller's entries its own.
// (cholesky_layout.c)
tbStatus tb_cholesky_lay_out(tbCholesky* f, tbArena* temporary);
tbStatus tb_cholesky_place_entries(tbCholesky* f, tbArena* temporary, const int* ptr, const int* idx,
                                   const int* inverse);

// Supernodes to go through: those of the list, or `count` from `first` on. rows: f->rows, or where else the
// rows of y are that panels act on.
typedef struct {
  int first, count;
  const int *list, *rows;
} tbCholeskyRun;

// y ← L⁻¹y and y ← L⁻ᵀy, `width` sides to a row, 4 or 8. sums: width · max_rows of room. sparse: columns
// whose rows of y are zero are passed over. (cholesky_panels.c)
void tb_cholesky_down(const tbCholesky* f, int width, tbCholeskyRun run, double* y, double* sums,
                      bool sparse);
void tb_cholesky_up(const tbCholesky* f, int width, tbCholeskyRun run, double* y);

// Factors; returns the first bad column or −1. Interrupted, it ends early, and the caller asks.
// (cholesky_numeric.c)
int tb_cholesky_numeric(tbThreads* threads, tbInterrupt interrupt, tbCholesky* f, const double* values);

#ifdef TB_USE_CHOLMOD // (cholesky_cholmod.c)
tbStatus tb_cholmod_analyze(tbContext* ctx, tbCholesky* f, const int* ptr, const int* idx);
tbStatus tb_cholmod_factor(tbContext* ctx, tbCholesky* f, const double* values);
void tb_cholmod_free(tbCholesky* f);
#endif

#endif
