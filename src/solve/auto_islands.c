// `auto` on a problem that falls apart: islands solved side by side.
//
// Islands share neither a metric block nor an entry of W, so λ of one says nothing about another. Solved
// together, all wait for the slowest and share its step lengths; here each is a problem of its own, small
// enough for the cache, and ends when it is solved. Tiny islands go together in batches of up to BATCH
// contacts, in the order of their first contacts; what a batch is does not depend on the number of threads.
//
// What the judge says of the whole follows from the parts. With norms over all rows, and E² = Σ E_b²:
//
//   E_b ≤ τ/√3 max(‖q_b‖, ‖λ_b‖, ‖u_b‖) for all b   ⟹   E² ≤ τ²/3 (‖q‖² + ‖λ‖² + ‖u‖²) ≤ τ² max(…)²
//
// and likewise for E/‖q‖, without the √3. As a rule τ will do for the parts too, so that is tried first. The
// whole is judged all the same, and where it should miss, the caller goes on with the whole.
//
// Effort goes in rounds of more and more iterations, with the whole judged after each: no island waits while
// another, which perhaps has no solution, eats the budget, and none is worked on for more than the whole
// needs, where its share of the residual is small.
#include "base/clock.h"
#include "base/threads.h"
#include "problem/part.h"
#include "solve/auto.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
  BATCH = 64,
  WORTH_IT = 256,     // contacts; fewer are solved together sooner
  FIRST_ROUND = 1000, // iterations
  FIRST_ROUND_IN_A_HURRY = 100,
  ROUND_GROWTH = 10
};

typedef struct {
  int begin, end; // of Islands.contact
  bool ended;     // solved, or past help
  int iterations;
  const char* used;
} Batch;

typedef struct {
  tbContext* ctx;
  tbRun* run;
  const tbSolveOptions* o;
  double* lambda;
  tbPartMaps maps;
  int* contact; // by islands
  int count;    // batches, the largest first
  Batch* batch;
  int alone; // batches before this one are solved one after the other, with the threads inside
  int most;  // iterations a batch may have had after this round
  double tolerance;
  int* todo; // batches of this round

  pthread_mutex_t lock; // of the caller's functions and allocator, and of all that follows
  bool cancelled;
  tbError error; // of the first batch that failed
} Islands;

// ---- what the caller gave, one thread at a time ----

static bool ask(void* user)
{
  Islands* s = user;
  pthread_mutex_lock(&s->lock);
  s->cancelled = s->cancelled || s->o->cancelled(s->o->cancelled_user);
  bool cancelled = s->cancelled;
  pthread_mutex_unlock(&s->lock);
  return cancelled;
}

static void* locked_alloc(void* user, size_t size, size_t alignment)
{
  Islands* s = user;
  pthread_mutex_lock(&s->lock);
  void* pointer = s->ctx->allocator.alloc(s->ctx->allocator.user, size, alignment);
  pthread_mutex_unlock(&s->lock);
  return pointer;
}

static void locked_free(void* user, void* pointer)
{
  Islands* s = user;
  pthread_mutex_lock(&s->lock);
  s->ctx->allocator.free(s->ctx->allocator.user, pointer);
  pthread_mutex_unlock(&s->lock);
}

static tbContext context_of_part(Islands* s)
{
  tbContext ctx = {.threads = s->ctx->threads}; // loops inside a loop run inline
  if (s->ctx->allocator.alloc) ctx.allocator = (tbAllocator){locked_alloc, locked_free, s};
  return ctx;
}

static void report(Islands* s, const tbContext* part)
{
  pthread_mutex_lock(&s->lock);
  if (s->error.status == TB_OK) s->error = part->error;
  pthread_mutex_unlock(&s->lock);
}

// ---- one batch ----

static double time_left(const Islands* s)
{
  double budget = s->o->time_budget_s;
  return budget > 0 ? budget - (tb_seconds() - s->run->started) : INFINITY;
}

static tbSolveOptions options_of_part(Islands* s, const Batch* b, double left)
{
  tbSolveOptions o = *s->o;
  o.tolerance = s->tolerance;
  o.max_iterations = s->most - b->iterations;
  o.time_budget_s = isinf(left) ? 0 : left;
  o.trace = NULL;
  if (o.cancelled) o.cancelled = ask, o.cancelled_user = s;
  return o;
}

static void copy_rows(const Islands* s, const Batch* b, bool back, double* part)
{
  const tbProblem* p = s->run->p;
  for (int i = b->begin; i < b->end; i++)
    for (int r = p->row_adr[s->contact[i]]; r < p->row_adr[s->contact[i] + 1]; r++, part++)
      if (back) s->lambda[r] = *part;
      else *part = s->lambda[r];
}

static tbStatus solve_batch(Islands* s, tbContext* ctx, tbArena* arena, Batch* b)
{
  tbProblem part;
  tbSolveResult r;
  double left = time_left(s);
  tbSolveOptions o = options_of_part(s, b, left);
  if (!(left > 0)) return TB_OK;
  TB_TRY(tb_problem_part(arena, s->run->p, s->contact + b->begin, b->end - b->begin, &s->maps, &part));
  double* lambda = TB_TAKE(arena, double, (size_t)part.nrow);
  if (!lambda) return TB_ERROR_MEMORY;
  copy_rows(s, b, false, lambda);
  TB_TRY(tb_solve(ctx, &part, &o, lambda, &r));
  copy_rows(s, b, true, lambda);
  b->ended = r.outcome == TB_CONVERGED || r.outcome == TB_FAILED;
  b->iterations += r.iterations;
  b->used = r.used;
  return TB_OK;
}

static void solve_batches(void* user, int begin, int end, int piece)
{
  (void)piece;
  Islands* s = user;
  for (int i = begin; i < end; i++) {
    tbContext ctx = context_of_part(s);
    tbArena arena;
    tb_arena_init(&arena, &ctx);
    if (solve_batch(s, &ctx, &arena, &s->batch[s->todo[i]]) != TB_OK) report(s, &ctx);
    tb_arena_free(&arena);
  }
}

// ---- all of them ----

static int by_size(const void* x, const void* y)
{
  const Batch *a = x, *b = y;
  int difference = (b->end - b->begin) - (a->end - a->begin);
  return difference ? difference : a->begin - b->begin;
}

// Contacts by islands, islands by batches.
static tbStatus make_batches(tbArena* arena, Islands* s, const int* island, int islands)
{
  int n = s->run->p->ncontact, *ptr = TB_TAKE(arena, int, (size_t)islands + 2);
  s->contact = TB_TAKE(arena, int, (size_t)n);
  s->batch = TB_TAKE(arena, Batch, (size_t)islands);
  s->todo = TB_TAKE(arena, int, (size_t)islands);
  if (!ptr || !s->contact || !s->batch || !s->todo) return TB_ERROR_MEMORY;
  int* next = ptr + 1; // counts, then running ends
  for (int k = 0; k < n; k++) next[island[k] + 1]++;
  for (int i = 0; i < islands; i++) next[i + 1] += next[i];
  for (int k = 0; k < n; k++) s->contact[next[island[k]]++] = k;
  for (int i = 0; i < islands; i++) {
    Batch* last = s->count ? &s->batch[s->count - 1] : NULL;
    if (last && ptr[i + 1] - last->begin <= BATCH) last->end = ptr[i + 1];
    else s->batch[s->count++] = (Batch){.begin = ptr[i], .end = ptr[i + 1]};
  }
  qsort(s->batch, (size_t)s->count, sizeof *s->batch, by_size);
  // An island with most of the contacts would keep one thread busy and the others idle.
  if (s->count > 1) s->alone = 2 * (s->batch[0].end - s->batch[0].begin) > n;
  return TB_OK;
}

static int iterations_of(const Islands* s, const char** used)
{
  int most = 0;
  for (int i = 0; i < s->count; i++)
    if (s->batch[i].iterations > most) most = s->batch[i].iterations, *used = s->batch[i].used;
  return most;
}

// Judges the whole; true when that ends the run.
static bool judge(Islands* s)
{
  tbRun* run = s->run;
  tbSolveOptions heard = *s->o; // who cancelled a part has cancelled the whole
  if (heard.cancelled) heard.cancelled = ask, heard.cancelled_user = s;
  run->o = &heard;
  run->start_known = false;
  tb_run_judge_next(run);
  bool done = tb_run_done(run, iterations_of(s, &run->used), s->lambda);
  run->start_known = true;
  run->o = s->o;
  return done;
}

static bool all_ended(const Islands* s)
{
  for (int i = 0; i < s->count; i++)
    if (!s->batch[i].ended) return false;
  return true;
}

// Every part is solved and the whole is not: the parts must be better. False: they are as good as it takes.
static bool tighten(Islands* s)
{
  if (s->tolerance < s->o->tolerance) return false;
  s->tolerance = s->o->tolerance / sqrt(3);
  for (int i = 0; i < s->count; i++) s->batch[i].ended = false;
  return true;
}

static tbStatus solve_rounds(Islands* s, bool* over)
{
  int limit = s->o->max_iterations;
  double most = s->o->time_budget_s > 0 ? FIRST_ROUND_IN_A_HURRY : FIRST_ROUND;
  for (;; most *= ROUND_GROWTH) {
    int side_by_side = 0, left;
    s->most = most < limit ? (int)most : limit;
    for (int i = s->alone; i < s->count; i++)
      if (!s->batch[i].ended) s->todo[side_by_side++] = i;
    left = side_by_side;
    for (int i = 0; i < s->alone; i++)
      if (!s->batch[i].ended) s->todo[left++] = i;
    tb_parallel_for(s->run->threads, side_by_side, 1, solve_batches, s);
    solve_batches(s, side_by_side, left, 0);
    if (s->error.status != TB_OK) {
      s->ctx->error = s->error;
      return s->error.status;
    }
    *over = judge(s);
    if (*over || s->most == limit) return TB_OK;
    if (all_ended(s) && !tighten(s)) return TB_OK;
  }
}

static tbStatus solve_islands(tbArena* arena, Islands* s, bool* over)
{
  tbRun* run = s->run;
  TB_TRY(tb_part_maps_make(arena, run->p, &s->maps));
  memcpy(s->lambda, run->best, (size_t)run->p->nrow * sizeof *s->lambda);
  tb_run_begin(run);
  pthread_mutex_init(&s->lock, NULL);
  tbStatus status = solve_rounds(s, over);
  pthread_mutex_destroy(&s->lock);
  return status;
}

tbStatus tb_auto_islands(tbContext* ctx, tbRun* run, double* lambda, bool* over)
{
  *over = false;
  if (run->p->ncontact <= WORTH_IT) return TB_OK;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  Islands s = {.ctx = ctx, .run = run, .o = run->o, .lambda = lambda, .tolerance = run->o->tolerance};
  int islands, *island = TB_TAKE(&arena, int, (size_t)run->p->ncontact);
  tbStatus status = island ? tb_problem_islands(ctx, run->p, island, &islands) : TB_ERROR_MEMORY;
  if (status == TB_OK && islands > 1) status = make_batches(&arena, &s, island, islands);
  if (status == TB_OK && s.count > 1) status = solve_islands(&arena, &s, over);
  tb_arena_free(&arena);
  return status;
}
