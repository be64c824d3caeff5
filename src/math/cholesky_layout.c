// SPDX-License-Identifier: Apache-2.0
// Where everything of a factor is: panels, update matrices, the caller's entries; and which thread does what.
//
// A supernode's update matrix lives until its parent has added it, which in postorder is last in, first out.
// With two stacks, one for the even depths of the tree and one for the odd, a supernode can take its children
// off one while its own matrix already stands on the other.
//
// Subtrees with a small share of the work become tasks; the supernodes above them, the top, are factored one
// after the other by all threads together. A task keeps its stacks in a slot, of which there are as many as
// threads. Only this amount of memory depends on the number of threads.
#include "math/cholesky_dense.h"
#include "math/cholesky_factor.h"

#include <assert.h>
#include <string.h>

enum {
  TASKS = 32,           // a task has at most this part of the work …
  SMALL_TASK = 4 << 20, // … or this many operations
  WIDE_PANEL = 64,      // panels with more rows get aligned columns
  ALIGNED = TB_ALIGNMENT / sizeof(double),
};

static size_t round_up(size_t count) { return (count + ALIGNED - 1) / ALIGNED * ALIGNED; }

// Where each row of s stands in its parent's front, and the runs of neighbours there.
static void find_relative(tbCholesky* f, int s)
{
  int up = f->parent[s], rows = tb_cholesky_rows(f, s);
  if (up == -1) return;
  const int *mine = f->rows + f->below[s], *theirs = f->rows + f->below[up];
  int *relative = f->relative + f->below[s], *run_end = f->run_end + f->below[s];
  int cols = tb_cholesky_cols(f, up), at = 0;
  for (int i = 0; i < rows; i++) {
    if (mine[i] < f->start[up + 1]) {
      relative[i] = mine[i] - f->start[up];
      continue;
    }
    while (theirs[at] < mine[i]) at++;
    assert(at < tb_cholesky_rows(f, up) && theirs[at] == mine[i]);
    relative[i] = cols + at;
  }
  for (int i = rows - 1; i >= 0; i--)
    run_end[i] = i + 1 < rows && relative[i + 1] == relative[i] + 1 ? run_end[i + 1] : i + 1;
}

static void link_children(tbCholesky* f)
{
  for (int s = 0; s < f->supernodes; s++) f->child[s] = f->sibling[s] = -1;
  for (int s = f->supernodes - 1; s >= 0; s--)
    if (f->parent[s] != -1) {
      f->sibling[s] = f->child[f->parent[s]];
      f->child[f->parent[s]] = s;
    }
}

// Places the panels in L; returns the doubles they take.
static size_t place_panels(tbCholesky* f)
{
  size_t end = 0;
  for (int s = 0; s < f->supernodes; s++) {
    size_t cols = (size_t)tb_cholesky_cols(f, s), rows = (size_t)tb_cholesky_rows(f, s), front = cols + rows;
    if (front > WIDE_PANEL) {
      front = round_up(front);
      end = round_up(end);
      if (front % 512 == 0) front += ALIGNED; // columns a page apart would fight for the same cache lines
    }
    f->panel[s] = end;
    f->lead[s] = (int)front;
    end += front * cols;
    f->stats.entries += (int64_t)(cols * (cols + 1) / 2 + cols * rows);
    f->stats.flops += tb_front_flops((double)cols, (double)rows);
  }
  return end;
}

// Cuts the supernodes into tasks and the top of the tree.
static tbStatus cut_tasks(tbCholesky* f, tbArena* temporary, bool* is_top)
{
  double* subtree = TB_TAKE(temporary, double, (size_t)f->supernodes);
  int* task_end = TB_TAKE(temporary, int, (size_t)f->supernodes);
  if (!subtree || !task_end) return TB_ERROR_MEMORY;
  double limit = f->stats.flops / TASKS > SMALL_TASK ? f->stats.flops / TASKS : SMALL_TASK;
  for (int s = 0; s < f->supernodes; s++) {
    subtree[s] += tb_front_flops(tb_cholesky_cols(f, s), tb_cholesky_rows(f, s));
    if (f->parent[s] != -1) subtree[f->parent[s]] += subtree[s];
    is_top[s] = subtree[s] > limit;
    f->top_count += is_top[s];
  }
  // A task is a run of whole subtrees, ended where the next would make it too long, or by a node of the top.
  double inside = 0;
  bool open = false;
  for (int s = 0; s < f->supernodes; s++) {
    bool root = !is_top[s] && (f->parent[s] == -1 || is_top[f->parent[s]]);
    if (is_top[s]) open = false;
    if (!root) continue;
    if (!open || inside + subtree[s] > limit) {
      f->task_count++;
      inside = 0;
      open = true;
    }
    inside += subtree[s];
    task_end[f->task_count - 1] = s + 1;
  }
  f->tasks = TB_KEEP(f, tbCholeskyTask, (size_t)f->task_count);
  f->top = TB_KEEP(f, int, (size_t)f->top_count);
  if (!f->tasks || !f->top) return TB_ERROR_MEMORY;
  for (int s = 0, t = 0, k = 0; s < f->supernodes; s++) {
    if (is_top[s]) f->top[k++] = s;
    else if (t == 0 || s >= f->tasks[t - 1].end) {
      f->tasks[t] = (tbCholeskyTask){s, task_end[t]};
      t++;
    }
  }
  return TB_OK;
}

// The two stacks of a task, or of the top, while they are played through. Tasks share the peaks, since one
// task's memory serves the next.
typedef struct {
  size_t height[2], peak[2], pack;
} Stacks;

static void play(tbCholesky* f, Stacks* stacks, size_t* handed_up, int s, const bool* odd, const bool* is_top)
{
  for (int c = f->child[s]; c != -1; c = f->sibling[c])
    if (is_top[c] == is_top[s]) {
      stacks->height[odd[c]] = f->update[c]; // the first child stands lowest
      break;
    }
  size_t rows = (size_t)tb_cholesky_rows(f, s), size = round_up(rows * rows);
  f->shared[s] = is_top[s] || f->parent[s] == -1 || is_top[f->parent[s]];
  if (f->shared[s] && !is_top[s]) { // what a task hands up outlives it
    f->update[s] = *handed_up;
    *handed_up += size;
  } else {
    size_t* height = &stacks->height[odd[s]];
    f->update[s] = *height;
    *height += size;
    if (*height > stacks->peak[odd[s]]) stacks->peak[odd[s]] = *height;
  }
  size_t pack = round_up(tb_dense_pack_size(tb_cholesky_cols(f, s) + (int)rows, tb_cholesky_cols(f, s)));
  if (pack > stacks->pack) stacks->pack = pack;
}

// Gives every update matrix its place. `work` starts with what all threads share: the matrices handed up by
// tasks, the stacks of the top, its packing room. The slots follow, each with stacks and packing room for one
// task at a time. Returns the doubles they take.
static size_t place_updates(tbCholesky* f, bool* odd, const bool* is_top)
{
  for (int s = f->supernodes - 1; s >= 0; s--) odd[s] = f->parent[s] != -1 && !odd[f->parent[s]];
  Stacks task = {{0}, {0}, 0}, top = {{0}, {0}, 0};
  size_t handed_up = 0;
  for (int t = 0; t < f->task_count; t++) {
    task.height[0] = task.height[1] = 0;
    for (int s = f->tasks[t].begin; s < f->tasks[t].end; s++) play(f, &task, &handed_up, s, odd, is_top);
  }
  for (int k = 0; k < f->top_count; k++) play(f, &top, &handed_up, f->top[k], odd, is_top);
  for (int s = 0; s < f->supernodes; s++) {
    if (is_top[s]) f->update[s] += handed_up + (odd[s] ? top.peak[0] : 0);
    if (!f->shared[s] && odd[s]) f->update[s] += task.peak[0];
  }
  f->top_pack = handed_up + top.peak[0] + top.peak[1];
  f->slot_begin = f->top_pack + top.pack;
  f->slot_pack = task.peak[0] + task.peak[1];
  f->slot_size = f->slot_pack + task.pack;
  return f->slot_begin + (size_t)f->slots * f->slot_size;
}

tbStatus tb_cholesky_lay_out(tbCholesky* f, tbArena* temporary)
{
  size_t supernodes = (size_t)f->supernodes;
  bool *odd = TB_TAKE(temporary, bool, supernodes), *is_top = TB_TAKE(temporary, bool, supernodes);
  f->panel = TB_KEEP(f, size_t, supernodes);
  f->lead = TB_KEEP(f, int, supernodes);
  f->update = TB_KEEP(f, size_t, supernodes);
  f->shared = TB_KEEP(f, bool, supernodes);
  f->child = TB_KEEP(f, int, supernodes);
  f->sibling = TB_KEEP(f, int, supernodes);
  if (!odd || !is_top || !f->panel || !f->lead || !f->update || !f->shared || !f->child || !f->sibling)
    return TB_ERROR_MEMORY;

  link_children(f);
  for (int s = 0; s < f->supernodes; s++) find_relative(f, s);
  size_t panels = place_panels(f);
  TB_TRY(cut_tasks(f, temporary, is_top));
  int threads = tb_threads_count(temporary->ctx->threads);
  f->slots = threads < f->task_count ? threads : f->task_count;
  size_t work = place_updates(f, odd, is_top);
  f->outgrown = f->most_bytes > 0 && (panels + work) * sizeof(double) > f->most_bytes;
  if (f->outgrown) return TB_OK;
  f->bad_column = TB_KEEP(f, int, (size_t)f->task_count);
  f->panels = TB_KEEP(f, double, panels);
  f->work = TB_KEEP(f, double, work);
  f->L = f->panels;
  return f->bad_column && f->panels && f->work ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_cholesky_place_entries(tbCholesky* f, tbArena* temporary, const int* ptr, const int* idx,
                                   const int* inverse)
{
  int n = f->n, *place = TB_TAKE(temporary, int, (size_t)n), *entry_col = NULL;
  f->entry_ptr = TB_KEEP(f, int, (size_t)n + 1);
  if (!place || !f->entry_ptr) return TB_ERROR_MEMORY;

  // Sort the lower triangle's entries by column of L.
  for (int i = 0; i < n; i++)
    for (int p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] <= i) {
        int a = inverse[i], b = inverse[idx[p]];
        f->entry_ptr[(a < b ? a : b) + 1]++;
      }
  for (int j = 0; j < n; j++) f->entry_ptr[j + 1] += f->entry_ptr[j];
  size_t entries = (size_t)f->entry_ptr[n];
  f->entry_row = TB_KEEP(f, int, entries);
  f->entry_source = TB_KEEP(f, int, entries);
  entry_col = TB_TAKE(temporary, int, (size_t)n);
  if (!f->entry_row || !f->entry_source || !entry_col) return TB_ERROR_MEMORY;
  memcpy(entry_col, f->entry_ptr, (size_t)n * sizeof *entry_col);
  for (int i = 0; i < n; i++)
    for (int p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] <= i) {
        int a = inverse[i], b = inverse[idx[p]], to = entry_col[a < b ? a : b]++;
        f->entry_row[to] = a < b ? b : a;
        f->entry_source[to] = p;
      }
  // Rows become places in the front of their supernode.
  for (int s = 0; s < f->supernodes; s++) {
    int first = f->start[s], cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s);
    for (int k = 0; k < cols; k++) place[first + k] = k;
    for (int k = 0; k < rows; k++) place[f->rows[f->below[s] + k]] = cols + k;
    for (int e = f->entry_ptr[first]; e < f->entry_ptr[first + cols]; e++)
      f->entry_row[e] = place[f->entry_row[e]];
  }
  return TB_OK;
}
