// SPDX-License-Identifier: Apache-2.0
// Triangular solves by several threads.
//
// The supernodes are cut into parts, runs of whole subtrees of the elimination tree, and the top above them.
// Going down, a part acts on its own rows and on rows of the top that it shares with others: what it adds to
// the latter goes to rows of its own behind y, one for each column of the top that it reaches, and is added
// up part by part afterwards. Going up, parts read the top and write only themselves.
//
// Cost      the top is solved by one thread. In the factor of a surface every level of the tree has about
// the same number of entries, so that few parts leave little of it.
#include "base/threads.h"
#include "math/cholesky_stream.h"

#include <string.h>

enum {
  WIDTH = 4,
  SHARE = 6,    // a part has at most this share of the entries …
  SMALL = 4096, // … or so many, where waking a thread costs more than it saves
};

static int64_t entries_of(const tbCholesky* f, int s)
{
  int64_t cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s);
  return cols * (cols + 1) / 2 + cols * rows;
}

typedef struct {
  int* home;        // supernode of a column                       (n)
  int64_t* subtree; // entries of a supernode and all under it     (supernodes)
  bool* is_top;     // (supernodes)
} Tree;

// The first row under a supernode is in its parent.
static int parent_of(const tbCholesky* f, const Tree* t, int s)
{
  return tb_cholesky_rows(f, s) > 0 ? t->home[f->rows[f->below[s]]] : -1;
}

static tbStatus look_at_tree(tbArena* arena, const tbCholesky* f, Tree* t)
{
  size_t n = (size_t)f->supernodes;
  *t = (Tree){.home = TB_TAKE(arena, int, (size_t)f->n),
              .subtree = TB_TAKE(arena, int64_t, n),
              .is_top = TB_TAKE(arena, bool, n)};
  if (!t->home || !t->subtree || !t->is_top) return TB_ERROR_MEMORY;
  int64_t most = f->stats.entries / SHARE > SMALL ? f->stats.entries / SHARE : SMALL;
  for (int s = 0; s < f->supernodes; s++)
    for (int k = f->start[s]; k < f->start[s + 1]; k++) t->home[k] = s;
  for (int s = 0; s < f->supernodes; s++) {
    int parent = parent_of(f, t, s);
    t->subtree[s] += entries_of(f, s);
    if (parent >= 0) t->subtree[parent] += t->subtree[s];
    t->is_top[s] = t->subtree[s] > most;
  }
  return TB_OK;
}

// A part is ended where the next subtree would make it too large, or by a supernode of the top.
static tbStatus cut(tbArena* arena, const tbCholesky* f, const Tree* t, tbCholeskyParts* out)
{
  int64_t most = f->stats.entries / SHARE > SMALL ? f->stats.entries / SHARE : SMALL, inside = 0;
  int first = 0;
  out->part = TB_TAKE(arena, tbCholeskyPart, (size_t)f->supernodes);
  out->top = TB_TAKE(arena, int, (size_t)f->supernodes);
  if (!out->part || !out->top) return TB_ERROR_MEMORY;
  for (int s = 0; s < f->supernodes; s++) {
    int parent = parent_of(f, t, s);
    if (t->is_top[s]) {
      out->top[out->top_count++] = s;
      first = s + 1, inside = 0;
      continue;
    }
    if (parent >= 0 && !t->is_top[parent]) continue; // inside of a subtree
    if (inside == 0 || inside + t->subtree[s] > most)
      out->part[out->count++] = (tbCholeskyPart){.begin = first}, inside = 0;
    inside += t->subtree[s];
    out->part[out->count - 1].end = first = s + 1;
  }
  return TB_OK;
}

// The columns of the top that a part reaches, and where its rows are: behind y for those.
static tbStatus place_rows(tbArena* arena, const tbCholesky* f, tbCholeskyParts* out)
{
  int* place = TB_TAKE(arena, int, (size_t)f->n);
  out->rows = TB_TAKE(arena, int, f->below[f->supernodes]);
  if (!place || !out->rows) return TB_ERROR_MEMORY;
  for (int p = 0; p < out->count; p++) {
    tbCholeskyPart* part = &out->part[p];
    int end = f->start[part->end];
    part->first = out->reached;
    for (size_t i = f->below[part->begin]; i < f->below[part->end]; i++) {
      int row = f->rows[i];
      if (row >= end && place[row] <= part->first) place[row] = ++out->reached; // one more than the place
      out->rows[i] = row < end ? row : f->n + place[row] - 1;
    }
    part->reached = out->reached - part->first;
  }
  out->column = TB_TAKE(arena, int, (size_t)out->reached);
  if (!out->column) return TB_ERROR_MEMORY;
  for (int p = 0; p < out->count; p++)
    for (size_t i = f->below[out->part[p].begin]; i < f->below[out->part[p].end]; i++)
      if (out->rows[i] >= f->n) out->column[out->rows[i] - f->n] = f->rows[i];
  return TB_OK;
}

// Room for the factor's entries.
static tbStatus lay_out_stream(tbArena* arena, const tbCholesky* f, tbCholeskyStream* out)
{
  out->adr = TB_TAKE(arena, size_t, (size_t)f->supernodes + 1);
  if (!out->adr) return TB_ERROR_MEMORY;
  for (int s = 0; s < f->supernodes; s++)
    out->adr[s + 1] = out->adr[s] + tb_cholesky_stream_size(tb_cholesky_cols(f, s), tb_cholesky_rows(f, s));
  out->L = TB_TAKE(arena, double, out->adr[f->supernodes]);
  return out->L ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_cholesky_cut(tbArena* arena, const tbCholesky* f, tbCholeskyParts* out)
{
  Tree t;
  *out = (tbCholeskyParts){0};
  TB_TRY(look_at_tree(arena, f, &t));
  TB_TRY(cut(arena, f, &t, out));
  TB_TRY(lay_out_stream(arena, f, &out->stream));
  return place_rows(arena, f, out);
}

typedef struct {
  const tbCholesky* f;
  tbCholeskyStream* stream;
} Loading;

static void load(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Loading* job = user;
  for (int s = begin; s < end; s++) tb_cholesky_stream_fill(job->f, s, job->stream->L + job->stream->adr[s]);
}

void tb_cholesky_load_parts(tbThreads* threads, const tbCholesky* f, tbCholeskyParts* parts)
{
  Loading job = {f, &parts->stream};
  tb_parallel_for(threads, f->supernodes, 64, load, &job);
}

size_t tb_cholesky_parts_scratch(const tbCholesky* f, const tbCholeskyParts* parts)
{
  return WIDTH * ((size_t)f->n + (size_t)parts->reached);
}

// ---- a solve ----

typedef struct {
  const tbCholesky* f;
  const tbCholeskyParts* parts;
  int sides;
  const double* b;
  double *x, *y;
} Solve;

static void gather(const Solve* s, int begin, int end)
{
  for (int k = begin; k < end; k++) {
    const double* from = s->b + (size_t)s->f->perm[k] * s->sides;
    double* to = s->y + (size_t)k * WIDTH;
    for (int c = 0; c < WIDTH; c++) to[c] = c < s->sides ? from[c] : 0;
  }
}

static void scatter(const Solve* s, int begin, int end)
{
  for (int k = begin; k < end; k++)
    for (int c = 0; c < s->sides; c++)
      s->x[(size_t)s->f->perm[k] * s->sides + c] = s->y[(size_t)k * WIDTH + c];
}

static void go_down(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Solve* s = user;
  const tbCholesky* f = s->f;
  for (int p = begin; p < end; p++) {
    const tbCholeskyPart* part = &s->parts->part[p];
    tbCholeskyRun run = {.first = part->begin, .count = part->end - part->begin, .rows = s->parts->rows};
    gather(s, f->start[part->begin], f->start[part->end]);
    memset(s->y + (size_t)(f->n + part->first) * WIDTH, 0, (size_t)part->reached * WIDTH * sizeof *s->y);
    tb_cholesky_stream_down(f, &s->parts->stream, run, s->y);
  }
}

static void solve_top(const Solve* s)
{
  const tbCholesky* f = s->f;
  const tbCholeskyParts* parts = s->parts;
  tbCholeskyRun top = {.count = parts->top_count, .list = parts->top, .rows = f->rows};
  for (int i = 0; i < parts->top_count; i++) gather(s, f->start[parts->top[i]], f->start[parts->top[i] + 1]);
  for (int i = 0; i < parts->reached; i++) {
    const double* from = s->y + (size_t)(f->n + i) * WIDTH;
    double* to = s->y + (size_t)parts->column[i] * WIDTH;
    for (int c = 0; c < WIDTH; c++) to[c] += from[c];
  }
  tb_cholesky_stream_down(f, &parts->stream, top, s->y);
  tb_cholesky_stream_up(f, &parts->stream, top, s->y);
}

static void go_up(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Solve* s = user;
  const tbCholesky* f = s->f;
  for (int p = begin; p < end; p++) {
    const tbCholeskyPart* part = &s->parts->part[p];
    tbCholeskyRun run = {.first = part->begin, .count = part->end - part->begin, .rows = f->rows};
    tb_cholesky_stream_up(f, &s->parts->stream, run, s->y);
    scatter(s, f->start[part->begin], f->start[part->end]);
  }
}

void tb_cholesky_solve_parts(tbThreads* threads, const tbCholesky* f, const tbCholeskyParts* parts, int nrhs,
                             const double* b, double* x, double* scratch)
{
  Solve s = {.f = f, .parts = parts, .sides = nrhs, .b = b, .x = x, .y = scratch};
  tb_parallel_for(threads, parts->count, 1, go_down, &s);
  solve_top(&s);
  tb_parallel_for(threads, parts->count, 1, go_up, &s);
  for (int i = 0; i < parts->top_count; i++)
    scatter(&s, f->start[parts->top[i]], f->start[parts->top[i] + 1]);
}
