// SPDX-License-Identifier: Apache-2.0
// The multifrontal factorisation (Duff and Reid, "The multifrontal solution of indefinite sparse symmetric
// linear equations", ACM TOMS 9(3), 1983; Liu, SIAM Review 34(1), 1992).
//
// Every supernode s, children first:
//
//   front   = A's entries of its columns + Σ_children U_c     (extend-add, in the children's order)
//   L₁₁     = chol(front₁₁),   L₂₁ = front₂₁ L₁₁⁻ᵀ             (the panel)
//   U_s     = −L₂₁ L₂₁ᵀ + front₂₂                              (the update matrix, for the parent)
//
// The update matrix starts as the product and the children are added last, so it need not be cleared.
//
// A front is a function of its children's update matrices alone, added in a fixed order: which thread
// computes it, and when, cannot show in the result. Subtrees are factored side by side, then the top of the
// tree, front by front, with the threads inside the dense kernels.
//
// Cost      flops and memory are in tb_cholesky_stats; the update matrices come on top of L, about as large
//           as L for 3-D meshes and smaller for surfaces.
#include "base/simd.h"
#include "base/stop.h"
#include "base/threads.h"
#include "math/cholesky_dense.h"
#include "math/cholesky_factor.h"

#include <stdatomic.h>
#include <string.h>

enum { ASK_EVERY = 64 }; // supernodes, whether to go on

// to[0 … count) += from[0 … count)
static inline void add_run(double* to, const double* from, int count)
{
  for (; count > TB_WIDE; count -= TB_WIDE, to += TB_WIDE, from += TB_WIDE)
    tbw_store(to, tbw_add(tbw_load(to), tbw_load(from)));
  tbw_store_part(to, tbw_add(tbw_load_part(to, count), tbw_load_part(from, count)), count);
}

// Columns first … last−1 of child c's update matrix, added to a part of the parent's front whose first row
// and column are the front's `skip`-th. A child's neighbouring rows are often neighbours in the parent too:
// such runs are added as vectors when they are long enough to pay for finding their ends.
static void add_columns(const tbCholesky* f, int c, int first, int last, const double* update, double* part,
                        size_t lead, int skip)
{
  enum { LONG_RUN = 6 };
  const int *relative = f->relative + f->below[c], *run_end = f->run_end + f->below[c];
  int rows = tb_cholesky_rows(f, c), runs = 0;
  for (int i = first; i < rows; i = run_end[i]) runs++;
  bool long_runs = rows - first >= LONG_RUN * runs;
  for (int j = first; j < last; j++) {
    const double* from = update + (size_t)j * rows;
    double* column = part + (relative[j] - skip) * lead;
    if (long_runs)
      for (int i = j; i < rows; i = run_end[i])
        add_run(column + (relative[i] - skip), from + i, run_end[i] - i);
    else
      for (int i = j; i < rows; i++) column[relative[i] - skip] += from[i];
  }
}

// The columns of c's update matrix that fall into the parent's panel.
static int panel_columns(const tbCholesky* f, int c, int parent_cols)
{
  const int* relative = f->relative + f->below[c];
  int rows = tb_cholesky_rows(f, c), count = 0;
  while (count < rows && relative[count] < parent_cols) count++;
  return count;
}

static void place_values(const tbCholesky* f, int s, const double* values, double* panel, size_t lead)
{
  for (int j = f->start[s]; j < f->start[s + 1]; j++, panel += lead)
    for (int e = f->entry_ptr[j]; e < f->entry_ptr[j + 1]; e++)
      panel[f->entry_row[e]] = values[f->entry_source[e]];
}

// Where a front's temporaries are: the slot of its task, or what all threads share.
typedef struct {
  double *slot, *pack;
  tbInterrupt interrupt;
} Room;

static double* update_matrix(const tbCholesky* f, int s, const Room* room)
{
  return (f->shared[s] ? f->work : room->slot) + f->update[s];
}

// Factors one front; returns its bad column or −1.
static int factor_front(tbThreads* threads, tbCholesky* f, int s, const double* values, const Room* room)
{
  int cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s), first = f->start[s];
  size_t lead = (size_t)f->lead[s];
  double *panel = f->panels + f->panel[s], *U = update_matrix(f, s, room);
  memset(panel, 0, lead * (size_t)cols * sizeof *panel);
  place_values(f, s, values, panel, lead);
  for (int c = f->child[s]; c != -1; c = f->sibling[c])
    add_columns(f, c, 0, panel_columns(f, c, cols), update_matrix(f, c, room), panel, lead, 0);
  int bad = tb_dense_factor(threads, room->interrupt, cols + rows, cols, panel, f->lead[s],
                            f->inverse_diagonal + first, room->pack);
  if (bad >= 0) return first + bad;

  if (rows > 0) tb_dense_schur(threads, room->interrupt, cols + rows, cols, panel, f->lead[s], U, room->pack);
  for (int c = f->child[s]; c != -1; c = f->sibling[c])
    add_columns(f, c, panel_columns(f, c, cols), tb_cholesky_rows(f, c), update_matrix(f, c, room), U,
                (size_t)rows, cols);
  return -1;
}

typedef struct {
  tbCholesky* f;
  const double* values;
  tbInterrupt interrupt;
  atomic_int next; // first task not yet taken
} Job;

static int factor_task(tbCholesky* f, const tbCholeskyTask* task, const double* values, const Room* room)
{
  for (int s = task->begin; s < task->end; s++) {
    if (s % ASK_EVERY == 0 && tb_asked(room->interrupt)) return -1;
    int bad = factor_front(NULL, f, s, values, room);
    if (bad >= 0) return bad;
  }
  return -1;
}

// Each slot takes tasks until there are none: which slot factors which task leaves no trace in the result.
static void run_slots(void* user, int begin, int end, int piece)
{
  (void)piece;
  Job* job = user;
  tbCholesky* f = job->f;
  for (int k = begin; k < end; k++) {
    double* slot = f->work + f->slot_begin + (size_t)k * f->slot_size;
    Room room = {slot, slot + f->slot_pack, job->interrupt};
    for (int t; (t = atomic_fetch_add(&job->next, 1)) < f->task_count;)
      f->bad_column[t] = factor_task(f, &f->tasks[t], job->values, &room);
  }
}

int tb_cholesky_numeric(tbThreads* threads, tbInterrupt interrupt, tbCholesky* f, const double* values)
{
  Job job = {f, values, interrupt, 0};
  tb_parallel_for(threads, f->slots, 1, run_slots, &job);
  for (int t = 0; t < f->task_count; t++)
    if (f->bad_column[t] >= 0) return f->bad_column[t]; // tasks are in the order of their columns
  Room room = {NULL, f->work + f->top_pack, interrupt};
  for (int k = 0; k < f->top_count; k++) {
    if (tb_asked(interrupt)) return -1;
    int bad = factor_front(threads, f, f->top[k], values, &room);
    if (bad >= 0) return bad;
  }
  return -1;
}
