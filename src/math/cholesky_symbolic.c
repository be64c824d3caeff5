// SPDX-License-Identifier: Apache-2.0
// From the elimination tree to the supernodes of the factor.
//
// 1. Neighbouring columns with the same rows below them form a supernode.
// 2. Small supernodes are merged into their parents (relaxed amalgamation): a few stored zeros buy larger
//    dense blocks and spare an update matrix. A merge is made when a simple model of the time says it pays.
//    A child's rows lie in its parent's front, so the merged front is the parent's with the child's columns
//    put before it.
// 3. Columns are renumbered by a postorder of the merged tree, and the rows of every supernode collected:
//    row i is in all supernodes on the paths from those where row i of A is nonzero up to i's own. Taking
//    the rows in order leaves every list sorted.
//
// Cost      linear in the pattern of A and the row lists, beyond the tree's own.
#include "math/cholesky_factor.h"

#include <assert.h>
#include <string.h>

// Time of one front, in nanoseconds or so: its fixed part, its panel, its update matrix, its arithmetic.
static double front_time(double cols, double rows)
{
  return 100 + 2.0 * cols * (cols + rows) + 0.5 * rows * rows + 0.06 * tb_front_flops(cols, rows);
}

// Supernodes while they merge. A merged node keeps its columns as a chain of fundamental supernodes.
typedef struct {
  int count;
  int* start; // of the fundamental supernode's columns                     (count+1)
  int *parent, *cols, *rows;
  int *child, *sibling; // the tree of those not merged away
  int* chain;           // next fundamental supernode in the same node; the node's own number ends it
  bool* merged;
} Merge;

static bool find_fundamental(Merge* m, tbArena* arena, int n, const tbEliminationTree* tree)
{
  size_t room = (size_t)n + 1;
  int** arrays[] = {&m->start, &m->parent, &m->cols, &m->rows, &m->child, &m->sibling, &m->chain};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    if (!(*arrays[k] = TB_TAKE(arena, int, room))) return false;
  int* of = TB_TAKE(arena, int, room);
  m->merged = TB_TAKE(arena, bool, room);
  if (!of || !m->merged) return false;

  for (int j = 0; j < n; j++) {
    bool joins = j > 0 && tree->parent[j - 1] == j && tree->count[j - 1] == tree->count[j] + 1;
    if (!joins) m->start[m->count++] = j;
    of[j] = m->count - 1;
  }
  m->start[m->count] = n;
  for (int s = m->count - 1; s >= 0; s--) {
    int last = m->start[s + 1] - 1, up = tree->parent[last];
    m->parent[s] = up == -1 ? -1 : of[up];
    m->cols[s] = last + 1 - m->start[s];
    m->rows[s] = tree->count[last] - 1;
    m->child[s] = m->chain[s] = -1;
  }
  for (int s = m->count - 1; s >= 0; s--)
    if (m->parent[s] != -1) {
      m->sibling[s] = m->child[m->parent[s]];
      m->child[m->parent[s]] = s;
    }
  return true;
}

// Merges children into parents from the leaves up. head[s]: first of the chain of node s.
static void amalgamate(Merge* m, int* head)
{
  for (int s = 0; s < m->count; s++) head[s] = s;
  for (int p = 0; p < m->count; p++) {
    for (int* link = &m->child[p]; *link != -1;) {
      int c = *link;
      double apart = front_time(m->cols[c], m->rows[c]) + front_time(m->cols[p], m->rows[p]);
      if (front_time(m->cols[c] + m->cols[p], m->rows[p]) > apart) {
        link = &m->sibling[c];
        continue;
      }
      m->merged[c] = true; // c's columns come before p's
      m->cols[p] += m->cols[c];
      m->chain[c] = head[p];
      head[p] = head[c];
      // Splice c's children, which have refused to merge with it, into the list where c stood.
      *link = m->sibling[c];
      for (int d = m->child[c], next; d != -1; d = next) {
        next = m->sibling[d];
        m->parent[d] = p;
        m->sibling[d] = *link;
        *link = d;
        link = &m->sibling[d];
      }
    }
  }
}

// Orders the children so that the one needing most working memory over what it leaves behind comes first.
static void order_children(Merge* m, double* peak)
{
  for (int p = 0; p < m->count; p++) {
    if (m->merged[p]) continue;
    int* best = NULL;
    double most = 0;
    for (int* link = &m->child[p]; *link != -1; link = &m->sibling[*link]) {
      double excess = peak[*link] - (double)m->rows[*link] * m->rows[*link];
      if (!best || excess > most) best = link, most = excess;
    }
    if (best) {
      int c = *best;
      *best = m->sibling[c];
      m->sibling[c] = m->child[p];
      m->child[p] = c;
    }
    double held = 0, own = (double)m->rows[p] * m->rows[p];
    for (int c = m->child[p]; c != -1; c = m->sibling[c]) {
      if (held + peak[c] > peak[p]) peak[p] = held + peak[c];
      held += (double)m->rows[c] * m->rows[c];
    }
    if (held + own > peak[p]) peak[p] = held + own;
  }
}

// Numbers the merged nodes in postorder and their columns with them; fills f's tree and perm.
static void renumber(tbCholesky* f, Merge* m, const int* head, int* perm, int* inverse, int* place)
{
  int done = 0, column = 0, *next = m->chain;
  int* walk = m->child; // consumed
  for (int root = 0; root < m->count; root++) {
    if (m->merged[root] || m->parent[root] != -1) continue;
    for (int s = root;;) {
      while (walk[s] != -1) {
        int down = walk[s];
        walk[s] = m->sibling[down];
        s = down;
      }
      f->start[done] = column;
      for (int part = head[s];; part = next[part]) {
        for (int j = m->start[part]; j < m->start[part + 1]; j++) f->perm[column++] = perm[j];
        if (part == s) break;
      }
      place[s] = done++;
      if (s == root) break;
      s = m->parent[s];
    }
  }
  f->start[done] = column;
  f->supernodes = done;
  assert(column == f->n);
  for (int s = 0; s < m->count; s++)
    if (!m->merged[s]) f->parent[place[s]] = m->parent[s] == -1 ? -1 : place[m->parent[s]];
  for (int k = 0; k < f->n; k++) inverse[f->perm[k]] = k;
}

// Visits the rows in order and appends (or only counts) row i in every supernode that has it below.
static void collect_rows(tbCholesky* f, const tbPattern* A, const int* inverse, const int* of, int* seen,
                         size_t* end, bool write)
{
  memset(seen, -1, (size_t)f->supernodes * sizeof *seen);
  for (int i = 0; i < f->n; i++) {
    seen[of[i]] = i;
    for (int p = A->ptr[f->perm[i]]; p < A->ptr[f->perm[i] + 1]; p++) {
      int j = inverse[A->idx[p]];
      if (j >= i) continue;
      for (int s = of[j]; seen[s] != i; s = f->parent[s]) {
        seen[s] = i;
        if (write) f->rows[end[s]] = i;
        end[s]++;
      }
    }
  }
}

static tbStatus find_rows(tbCholesky* f, tbArena* temporary, const tbPattern* A, const int* inverse)
{
  size_t n = (size_t)f->n, supernodes = (size_t)f->supernodes;
  int *of = TB_TAKE(temporary, int, n), *seen = TB_TAKE(temporary, int, n);
  size_t* end = TB_TAKE(temporary, size_t, supernodes);
  f->below = TB_KEEP(f, size_t, supernodes + 1);
  if (!of || !seen || !end || !f->below) return TB_ERROR_MEMORY;
  for (int s = 0; s < f->supernodes; s++)
    for (int j = f->start[s]; j < f->start[s + 1]; j++) of[j] = s;

  collect_rows(f, A, inverse, of, seen, end, false);
  for (size_t s = 0; s < supernodes; s++) {
    f->below[s + 1] = f->below[s] + end[s];
    if ((int)end[s] > f->max_rows) f->max_rows = (int)end[s];
    end[s] = f->below[s];
  }
  f->rows = TB_KEEP(f, int, f->below[supernodes]);
  f->relative = TB_KEEP(f, int, f->below[supernodes]);
  f->run_end = TB_KEEP(f, int, f->below[supernodes]);
  if (!f->rows || !f->relative || !f->run_end) return TB_ERROR_MEMORY;
  collect_rows(f, A, inverse, of, seen, end, true);
  return TB_OK;
}

tbStatus tb_cholesky_symbolic(tbCholesky* f, tbArena* temporary, const tbPattern* A, int* inverse)
{
  size_t n = (size_t)f->n;
  int *perm = TB_TAKE(temporary, int, n), *work = TB_TAKE(temporary, int, 4 * n);
  tbEliminationTree tree = {TB_TAKE(temporary, int, n), TB_TAKE(temporary, int, n)};
  Merge m = {0};
  if (!perm || !work || !tree.parent || !tree.count) return TB_ERROR_MEMORY;
  memcpy(perm, f->perm, n * sizeof *perm);
  tb_elimination_tree(A, perm, inverse, &tree, work);

  if (!find_fundamental(&m, temporary, f->n, &tree)) return TB_ERROR_MEMORY;
  double* peak = TB_TAKE(temporary, double, (size_t)m.count);
  f->start = TB_KEEP(f, int, (size_t)m.count + 1);
  f->parent = TB_KEEP(f, int, (size_t)m.count);
  if (!peak || !f->start || !f->parent) return TB_ERROR_MEMORY;
  int *head = work, *place = work + n;
  amalgamate(&m, head);
  order_children(&m, peak);
  renumber(f, &m, head, perm, inverse, place);
  TB_TRY(find_rows(f, temporary, A, inverse));
  return tb_cholesky_lay_out(f, temporary);
}
