// SPDX-License-Identifier: Apache-2.0
// `auto` on a problem that falls apart: islands solved side by side.
//
// Islands share neither a metric block nor an entry of W, so λ of one says nothing about another. Solved
// together, all wait for the slowest and share its step lengths; here each is a problem of its own, small
// enough for the cache, and ends when it is solved. Tiny islands go together in batches of up to BATCH
// contacts, in the order of their first contacts; what a batch is does not depend on the number of threads.
//
// What the judge says of the whole follows from the parts, since E² = Σ E_b². With s_b = max(‖q_b‖, ‖λ_b‖,
// ‖u_b‖) and s that of the whole, a part is good for now when
//
//   E_b ≤ τ s_b     or     E_b ≤ τ s √(n_b/n),   n_b of n contacts in it;
//
// the second way is for parts that matter little. As a rule E ≤ τs follows, for the parts' largest norms are
// the whole's; at worst, as Σ s_b² ≤ ‖q‖² + ‖λ‖² + ‖u‖² ≤ 3s², it is E ≤ 2τs. The whole is judged, and where
// it misses, the caller goes on with it, a few sweeps from its end.
//
// Parts that take many iterations are put off until all have had their turn, and then solved together, to
// E² ≤ τ²s² − Σ E_b² over the others: none waits while another, which perhaps has no solution, eats the
// budget.
#include "base/shared.h"
#include "base/sort.h"
#include "base/threads.h"
#include "problem/part.h"
#include "solve/auto.h"
#include "solve/kept.h"
#include "solve/methods.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
  BATCH = 64,
  TURN = 1000, // iterations
  TURN_IN_A_HURRY = 100,
};

typedef struct {
  const int* contact;
  int count;
  bool ended; // solved, or past help
  int iterations;
  const char* used;
  double enough, E;  // that will do; that is left
  tbKeptBatch* kept; // null: nothing is
} Batch;

typedef struct {
  tbContext* ctx;
  tbRun* run;
  const tbSolveOptions* o;
  double* lambda;
  tbPartMaps maps;
  int count; // batches, the largest first
  Batch* batch;
  int turn;      // iterations a batch may have
  double enough; // E of the whole that would do, for the present scale

  tbShared shared;
  tbError error; // of the first batch that failed; the lock of `shared` is its, too
} Islands;

// The budget of time and the wish to cancel are those of the whole.
static bool ask(void* user) { return tb_run_stops(((Islands*)user)->run); }

static void report(Islands* s, const tbContext* part)
{
  pthread_mutex_lock(&s->shared.lock);
  if (s->error.status == TB_OK) s->error = part->error;
  pthread_mutex_unlock(&s->shared.lock);
}

// ---- one batch ----

static tbSolveOptions options_of_part(Islands* s)
{
  tbSolveOptions o = *s->o;
  o.max_iterations = s->turn;
  o.time_budget_s = 0;
  o.time_left_s = NULL;
  o.trace = o.watch = NULL;
  o.cancelled = ask, o.cancelled_user = s;
  return o;
}

static void copy_rows(const Islands* s, const Batch* b, bool back, double* part)
{
  const tbProblem* p = s->run->p;
  for (int i = 0; i < b->count; i++)
    for (int r = p->row_adr[b->contact[i]]; r < p->row_adr[b->contact[i] + 1]; r++, part++)
      if (back) s->lambda[r] = *part;
      else *part = s->lambda[r];
}

// The batch as a problem, and what is kept for it, as up to date as what is kept for the whole.
static tbStatus keep_part(Islands* s, tbContext* ctx, Batch* b)
{
  tbKeptBatch* k = b->kept;
  k->arena.ctx = ctx;
  if (!k->made) {
    tb_arena_free(&k->arena); // of an attempt that failed
    tb_arena_init(&k->arena, ctx);
    TB_TRY(tb_problem_part(&k->arena, s->run->p, b->contact, b->count, &s->maps, &k->problem));
    if (!k->kept && !(k->kept = TB_NEW(ctx, tbSolveKept, 1))) return TB_ERROR_MEMORY;
    tb_kept_init(k->kept, &k->problem);
    k->made = true;
  } else {
    tb_problem_part_renew(s->run->p, b->contact, &s->maps, &k->problem);
  }
  k->kept->now = s->run->kept->now;
  return TB_OK;
}

static tbStatus solve_batch(Islands* s, tbContext* ctx, tbArena* arena, Batch* b)
{
  tbProblem own, *part = &own;
  tbSolveResult r;
  if (tb_run_stops(s->run)) return TB_OK;
  tbSolveOptions o = options_of_part(s);
  if (b->kept) TB_TRY(keep_part(s, ctx, b));
  else TB_TRY(tb_problem_part(arena, s->run->p, b->contact, b->count, &s->maps, &own));
  if (b->kept) part = &b->kept->problem;
  double* lambda = TB_TAKE(arena, double, (size_t)part->nrow);
  if (!lambda) return TB_ERROR_MEMORY;
  copy_rows(s, b, false, lambda);
  TB_TRY(
      tb_solve_part(ctx, part, &o, TB_PART_ISLANDS, b->enough, b->kept ? b->kept->kept : NULL, lambda, &r));
  copy_rows(s, b, true, lambda);
  b->ended = r.outcome == TB_CONVERGED || r.outcome == TB_FAILED;
  b->iterations += r.iterations;
  b->E = o.model == TB_MODEL_CONE
             ? r.residual.absolute
             : r.residual.model * fmax(r.residual.norm_q, fmax(r.residual.norm_lambda, r.residual.norm_u));
  if (r.iterations > 0) b->used = r.used;
  return TB_OK;
}

static void solve_batches(void* user, int begin, int end, int piece)
{
  (void)piece;
  Islands* s = user;
  for (int i = begin; i < end; i++) {
    tbContext ctx = tb_shared_context(&s->shared);
    ctx.interrupt = (tbInterrupt){0}; // a part that is stopped answers all the same
    tbArena arena;
    tb_arena_init(&arena, &ctx);
    if (solve_batch(s, &ctx, &arena, &s->batch[i]) != TB_OK) report(s, &ctx);
    tb_arena_free(&arena);
  }
}

// ---- all of them ----

static int by_size(const void* x, const void* y)
{
  const Batch *a = x, *b = y;
  if (a->count != b->count) return b->count - a->count;
  return a->contact < b->contact ? -1 : a->contact > b->contact; // both point into one array
}

// Contacts by islands, islands by batches.
static tbStatus make_batches(tbArena* arena, Islands* s, const int* island, int islands)
{
  int n = s->run->p->ncontact, *ptr = TB_TAKE(arena, int, (size_t)islands + 2),
      *contact = TB_TAKE(arena, int, (size_t)n);
  s->batch = TB_TAKE(arena, Batch, (size_t)islands);
  if (!ptr || !contact || !s->batch) return TB_ERROR_MEMORY;
  int* next = ptr + 1; // counts, then running ends
  for (int k = 0; k < n; k++) next[island[k] + 1]++;
  for (int i = 0; i < islands; i++) next[i + 1] += next[i];
  for (int k = 0; k < n; k++) contact[next[island[k]]++] = k;
  for (int i = 0; i < islands; i++) {
    Batch* last = s->count ? &s->batch[s->count - 1] : NULL;
    int size = ptr[i + 1] - ptr[i];
    if (last && last->count + size <= BATCH) last->count += size;
    else s->batch[s->count++] = (Batch){.contact = contact + ptr[i], .count = size};
  }
  tb_sort(s->batch, (size_t)s->count, sizeof *s->batch, by_size);
  return TB_OK;
}

// E that the tolerances relative to norms allow the whole, as long as its norms are those of r; 0: none is
// asked. The tolerance in m/s holds for every part as it stands.
static void set_target(Islands* s, const tbResidual* r)
{
  double enough = INFINITY;
  if (s->o->tolerance > 0) enough = s->o->tolerance * fmax(r->norm_q, fmax(r->norm_lambda, r->norm_u));
  if (s->o->tolerance_q > 0) enough = fmin(enough, s->o->tolerance_q * r->norm_q);
  s->enough = isinf(enough) ? 0 : enough;
}

// The whole after the batches had their turn; true when that ends the run. Iterations and method are those of
// the batch that took the most.
static bool judge(Islands* s)
{
  tbRun* run = s->run;
  int most = 0;
  for (int i = 0; i < s->count; i++)
    if (s->batch[i].iterations > most) most = s->batch[i].iterations, run->used = s->batch[i].used;
  run->start_known = false;
  tb_run_judge_next(run);
  bool done = tb_run_done(run, most, s->lambda);
  run->start_known = true;
  set_target(s, &run->best_residual);
  return done;
}

// Every batch for a turn.
static tbStatus take_turns(Islands* s, bool* over)
{
  tb_parallel_for(s->run->threads, s->count, 1, solve_batches, s);
  if (s->error.status != TB_OK) {
    s->ctx->error = s->error;
    return s->error.status;
  }
  *over = judge(s);
  return TB_OK;
}

// Puts what is not solved into one batch, which gets what is left of the budget; none where all is.
static tbStatus gather_rest(tbArena* arena, Islands* s)
{
  double E = s->enough * s->enough; // squared
  int total = 0, most = 0, *contact = TB_TAKE(arena, int, (size_t)s->run->p->ncontact);
  if (!contact) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->count; i++) {
    const Batch* b = &s->batch[i];
    if (b->ended) {
      E -= b->E * b->E;
      continue;
    }
    memcpy(contact + total, b->contact, (size_t)b->count * sizeof *contact);
    total += b->count;
    if (b->iterations > most) most = b->iterations;
  }
  s->batch[0] = (Batch){.contact = contact,
                        .count = total,
                        .iterations = most,
                        .used = s->run->used,
                        .enough = sqrt(fmax(0, E))};
  s->count = total > 0;
  s->turn = s->o->max_iterations - most;
  return TB_OK;
}

static tbStatus solve_islands(tbArena* arena, Islands* s, bool* over)
{
  tbRun* run = s->run;
  int turn = s->o->time_budget_s > 0 || s->o->time_left_s ? TURN_IN_A_HURRY : TURN;
  s->turn = turn < s->o->max_iterations ? turn : s->o->max_iterations;
  memcpy(s->lambda, run->best, (size_t)run->p->nrow * sizeof *s->lambda);
  tb_run_begin(run);
  tbResidual start = run->best_residual;
  if (isinf(run->best_number))
    tb_judge_measure(run->judge, run->best, s->o->model, s->o->directions, &start, NULL, NULL);
  set_target(s, &start);
  for (int i = 0; i < s->count; i++)
    s->batch[i].enough = s->enough * sqrt((double)s->batch[i].count / run->p->ncontact);
  TB_TRY(take_turns(s, over));
  if (*over) return TB_OK;
  TB_TRY(gather_rest(arena, s));
  return s->count > 0 ? take_turns(s, over) : TB_OK;
}

// Batches from the islands of the problem, or those that are kept.
static tbStatus find_batches(tbContext* ctx, tbArena* arena, Islands* s)
{
  tbSolveKept* k = s->run->kept;
  int n = s->run->p->ncontact;
  if (k && s->run->p->W_ptr) k = NULL; // islands of a given W are in its values
  if (!k || k->batches < 0) {
    tbArena* of = k ? &k->islands : arena;
    if (k) {
      k->islands.ctx = ctx;
      tb_arena_free(&k->islands); // of an attempt that failed
      tb_arena_init(&k->islands, ctx);
    }
    int islands, *island = TB_TAKE(arena, int, (size_t)n);
    if (!island) return TB_ERROR_MEMORY;
    TB_TRY(tb_problem_islands(ctx, s->run->p, island, &islands));
    if (islands > 1) TB_TRY(make_batches(of, s, island, islands));
    if (!k) return TB_OK;
    k->batch = TB_TAKE(of, tbKeptBatch, (size_t)s->count);
    if (!k->batch) return TB_ERROR_MEMORY;
    k->batches = s->count;
    for (int i = 0; i < s->count; i++)
      k->batch[i] = (tbKeptBatch){.contact = s->batch[i].contact, .count = s->batch[i].count};
  }
  s->count = k->batches;
  s->batch = TB_TAKE(arena, Batch, (size_t)s->count);
  for (int i = 0; s->batch && i < s->count; i++)
    s->batch[i] = (Batch){.contact = k->batch[i].contact, .count = k->batch[i].count, .kept = &k->batch[i]};
  return s->batch ? TB_OK : TB_ERROR_MEMORY;
}

int tb_islands_worth_it(const tbProblem* p)
{
  enum { NARROW = 256, WIDE = 24 };
  return tb_has_wide_blocks(p) ? WIDE : NARROW;
}

tbStatus tb_auto_islands(tbContext* ctx, tbRun* run, double* lambda, bool* over)
{
  *over = false;
  if (run->part == TB_PART_ISLANDS || run->p->ncontact <= tb_islands_worth_it(run->p)) return TB_OK;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  Islands s = {.ctx = ctx, .run = run, .o = run->o, .lambda = lambda};
  tbStatus status = find_batches(ctx, &arena, &s);
  // Where one island has most of the contacts there is little to gain, and it would be left with one thread.
  if (status == TB_OK && s.count > 1 && 2 * s.batch[0].count <= run->p->ncontact) {
    tb_shared_begin(&s.shared, ctx);
    status = tb_part_maps_make(&arena, run->p, &s.maps);
    if (status == TB_OK) status = solve_islands(&arena, &s, over);
    tb_shared_end(&s.shared);
  }
  tb_arena_free(&arena);
  return status;
}
