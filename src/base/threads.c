// SPDX-License-Identifier: Apache-2.0
// A pool of waiting workers and one loop at a time.
//
// The caller publishes a loop, takes pieces of it beside the workers, and returns when every piece is done.
// It does not wait for workers that have taken none: where processors are busy with other things, workers
// that wake too late find nothing left, and the caller has done their share.
//
// One word holds the loop's number and which of its pieces are not taken, from one to before another. The
// thread that takes the first or the last off owns a piece of that very loop, which cannot end, nor its
// fields change, before that piece is done. The first is the caller's before others see the word, so that in
// short loops the word goes to a worker and does not come back. The caller takes pieces from the front and
// workers take them from the back: loops over the same things, as the sweeps of a solver are, find most of
// them in the cache of the processor that had them in the loop before.
//
// Workers spin briefly before they sleep, because a sweep over colours issues many short loops in a row.
#include "base/threads.h"
#include "base/memory.h"
#include "tribo/limits.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SPINS = 100000, YIELDS = 16384 }; // looks before it sleeps; before others may have the processor
enum { LINE = 128 };                     // of a cache, and the one that is fetched along with it

// What different threads write lies apart: a line that goes to and fro between processors takes as long as a
// short loop.
struct tbThreads {
  int count; // workers + the caller
  int started;
  pthread_t* workers;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  tbTasks tasks; // the caller's; run is null: the workers
  char apart_from_loop[LINE];

  // Workers look here.
  _Atomic uint64_t loop; // its number, the first piece not taken, and the one after the last
  tbRangeFn* body;
  void* user;
  int total, grain, pieces;
  atomic_int sleeping; // workers that have to be woken
  atomic_bool quit;
  char apart_from_done[LINE];

  atomic_uint done; // pieces that workers have done, of all loops
  char apart_from_busy[LINE];

  atomic_bool busy;  // a loop is under way: an inner one runs inline
  unsigned finished; // `done` before this loop
};

enum { NUMBER_BITS = 16, PIECE_BITS = 24 }; // a number that comes again after 65,536 loops does no harm

static uint32_t number_of(uint64_t loop) { return (uint32_t)(loop >> 2 * PIECE_BITS); }
static uint32_t first_of(uint64_t loop) { return loop >> PIECE_BITS & ((1u << PIECE_BITS) - 1); }
static uint32_t end_of(uint64_t loop) { return loop & ((1u << PIECE_BITS) - 1); }

static void run_piece(tbRangeFn* body, void* user, int total, int grain, int piece)
{
  int begin = piece * grain;
  body(user, begin, total - begin < grain ? total : begin + grain, piece);
}

// Takes pieces until none is left, and adds how many to *taken; returns the number of the loop that had none.
static uint32_t run_pieces(tbThreads* t, bool from_front, unsigned* taken)
{
  uint64_t loop = atomic_load_explicit(&t->loop, memory_order_acquire);
  while (first_of(loop) < end_of(loop)) {
    uint64_t left = from_front ? loop + ((uint64_t)1 << PIECE_BITS) : loop - 1;
    if (!atomic_compare_exchange_weak_explicit(&t->loop, &loop, left, memory_order_acquire,
                                               memory_order_acquire))
      continue;
    run_piece(t->body, t->user, t->total, t->grain, (int)(from_front ? first_of(loop) : end_of(loop) - 1));
    ++*taken;
    loop = atomic_load_explicit(&t->loop, memory_order_acquire);
  }
  return number_of(loop);
}

// The same, and says so: a loop has not ended before all that have taken pieces have.
static uint32_t help(tbThreads* t)
{
  unsigned taken = 0;
  uint32_t number = run_pieces(t, false, &taken);
  if (taken > 0) atomic_fetch_add_explicit(&t->done, taken, memory_order_release);
  return number;
}

// Until there is a loop other than the one seen.
static void wait_for_loop(tbThreads* t, uint32_t seen)
{
  for (int i = 0; i < SPINS; i++) {
    if (number_of(atomic_load_explicit(&t->loop, memory_order_acquire)) != seen) return;
    if (i % YIELDS == YIELDS - 1) sched_yield();
  }
  pthread_mutex_lock(&t->mutex);
  atomic_fetch_add(&t->sleeping, 1); // before it looks: the publisher looks here afterwards
  while (number_of(atomic_load(&t->loop)) == seen && !atomic_load(&t->quit))
    pthread_cond_wait(&t->wake, &t->mutex);
  atomic_fetch_sub(&t->sleeping, 1);
  pthread_mutex_unlock(&t->mutex);
}

static void* worker(void* user)
{
  tbThreads* t = user;
  for (uint32_t seen = 0; !atomic_load(&t->quit); seen = help(t)) wait_for_loop(t, seen);
  return NULL;
}

// The next loop, of which pieces before `first` are taken, and as many workers awake as it has use for.
static void publish(tbThreads* t, int first, int pieces, int useful)
{
  uint64_t number = (number_of(atomic_load(&t->loop)) + 1u) & ((1u << NUMBER_BITS) - 1);
  atomic_store(&t->loop, number << 2 * PIECE_BITS | (uint64_t)first << PIECE_BITS | (uint32_t)pieces);
  if (atomic_load(&t->sleeping) == 0) return;
  pthread_mutex_lock(&t->mutex);
  if (useful >= atomic_load(&t->sleeping)) pthread_cond_broadcast(&t->wake);
  else
    for (int i = 0; i < useful; i++) pthread_cond_signal(&t->wake);
  pthread_mutex_unlock(&t->mutex);
}

static void run_task(void* data, int piece)
{
  const tbThreads* t = data;
  run_piece(t->body, t->user, t->total, t->grain, piece);
}

static void run_on_workers(tbThreads* t)
{
  unsigned own = 1;
  publish(t, 1, t->pieces, t->pieces - 1);
  run_piece(t->body, t->user, t->total, t->grain, 0);
  run_pieces(t, true, &own);
  unsigned all = t->finished + (unsigned)t->pieces - own;
  for (int i = 1; atomic_load_explicit(&t->done, memory_order_acquire) != all; i++)
    if (i % YIELDS == 0) sched_yield();
  t->finished = all;
}

void tb_parallel_for(tbThreads* t, int count, int grain, tbRangeFn* body, void* user)
{
  if (count <= 0) return;
  if (grain < 1) grain = 1;
  int pieces = tb_piece_count(count, grain);
  if (!t || t->count == 1 || pieces == 1 || pieces >= 1 << PIECE_BITS ||
      atomic_exchange_explicit(&t->busy, true, memory_order_acquire)) {
    for (int piece = 0; piece < pieces; piece++) run_piece(body, user, count, grain, piece);
    return;
  }
  t->body = body;
  t->user = user;
  t->total = count;
  t->grain = grain;
  t->pieces = pieces;
  if (t->tasks.run) t->tasks.run(t->tasks.user, pieces, run_task, t);
  else run_on_workers(t);
  atomic_store_explicit(&t->busy, false, memory_order_release);
}

tbStatus tb_threads_create(tbContext* ctx, int count, tbThreads** out)
{
  *out = NULL;
  if (count < 1 || count > TB_MAX_THREADS)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "threads must be 1 to %d, not %d", TB_MAX_THREADS, count);
  tbThreads* t = TB_NEW(ctx, tbThreads, 1);
  if (!t) return TB_ERROR_MEMORY;
  t->count = count;
  t->workers = TB_NEW(ctx, pthread_t, (size_t)count);
  if (!t->workers) {
    tb_free(ctx, t);
    return TB_ERROR_MEMORY;
  }
  pthread_mutex_init(&t->mutex, NULL);
  pthread_cond_init(&t->wake, NULL);
  for (; t->started < count - 1; t->started++)
    if (pthread_create(&t->workers[t->started], NULL, worker, t) != 0) {
      int refused = t->started + 2;
      tb_threads_destroy(ctx, t);
      return tb_fail(ctx, TB_ERROR_MEMORY, "the system refused thread %d of %d", refused, count);
    }
  *out = t;
  return TB_OK;
}

tbStatus tb_threads_create_on(tbContext* ctx, const tbTasks* tasks, tbThreads** out)
{
  *out = NULL;
  if (!tasks->run || tasks->workers < 1 || tasks->workers > TB_MAX_THREADS)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "tasks need a function that runs them, and 1 to %d workers",
                   TB_MAX_THREADS);
  TB_TRY(tb_threads_create(ctx, 1, out));
  (*out)->tasks = *tasks, (*out)->count = tasks->workers;
  return TB_OK;
}

void tb_threads_destroy(tbContext* ctx, tbThreads* t)
{
  if (!t) return;
  atomic_store(&t->quit, true);
  publish(t, 0, 0, t->started);
  for (int i = 0; i < t->started; i++) pthread_join(t->workers[i], NULL);
  pthread_cond_destroy(&t->wake);
  pthread_mutex_destroy(&t->mutex);
  tb_free(ctx, t->workers);
  tb_free(ctx, t);
}

int tb_threads_count(const tbThreads* t) { return t ? t->count : 1; }
