// A pool of waiting workers and one loop at a time.
//
// The caller publishes a loop by opening the next epoch, takes pieces from a shared counter beside the
// workers, closes the loop when none is left, and returns when every worker that joined has left it. Whoever
// comes late finds it closed and never enters: a loop does not wait for a thread that the system has not
// woken yet, or has put aside. Workers spin briefly before they sleep, because a sweep over colours issues
// many short loops in a row.
#include "base/threads.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SPINS = 2000, MAX_THREADS = 256 };
#define OPEN  ((uint_fast64_t)1 << 31)
#define EPOCH ((uint_fast64_t)1 << 32)

struct tbThreads {
  int count; // workers + the caller
  int started;
  pthread_t* workers;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  atomic_uint_fast64_t loop; // the published one: EPOCH · its number, OPEN while it can be joined, workers inside
  atomic_int sleeping;       // workers that must be woken
  atomic_int next;           // first piece nobody has taken
  atomic_bool busy;          // a loop is under way: an inner one runs inline
  bool quit;

  tbRangeFn* body;
  void* user;
  int total, grain, pieces;
};

static void run_pieces(tbThreads* t)
{
  for (;;) {
    int piece = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
    if (piece >= t->pieces) return;
    int begin = piece * t->grain;
    int end = t->total - begin < t->grain ? t->total : begin + t->grain;
    t->body(t->user, begin, end, piece);
  }
}

static uint_fast64_t wait_for_epoch(tbThreads* t, uint_fast64_t seen)
{
  for (int i = 0; i < SPINS; i++) {
    uint_fast64_t epoch = atomic_load_explicit(&t->loop, memory_order_acquire) / EPOCH;
    if (epoch != seen) return epoch;
    if (i % 64 == 63) sched_yield();
  }
  pthread_mutex_lock(&t->mutex);
  atomic_fetch_add(&t->sleeping, 1); // before the last look: who publishes after it sees us
  while (atomic_load(&t->loop) / EPOCH == seen) pthread_cond_wait(&t->wake, &t->mutex);
  atomic_fetch_sub(&t->sleeping, 1);
  pthread_mutex_unlock(&t->mutex);
  return atomic_load(&t->loop) / EPOCH;
}

// False: it is over already, or another.
static bool join(tbThreads* t, uint_fast64_t epoch)
{
  uint_fast64_t loop = atomic_load(&t->loop);
  while (loop / EPOCH == epoch && (loop & OPEN))
    if (atomic_compare_exchange_weak(&t->loop, &loop, loop + 1)) return true;
  return false;
}

static void* worker(void* user)
{
  tbThreads* t = user;
  for (uint_fast64_t seen = 0;;) {
    seen = wait_for_epoch(t, seen);
    if (!join(t, seen)) continue;
    if (t->quit) return NULL;
    run_pieces(t);
    atomic_fetch_sub_explicit(&t->loop, 1, memory_order_release);
  }
}

static void publish(tbThreads* t)
{
  atomic_store(&t->loop, (atomic_load(&t->loop) / EPOCH + 1) * EPOCH + OPEN);
  if (atomic_load(&t->sleeping) == 0) return;
  pthread_mutex_lock(&t->mutex);
  pthread_cond_broadcast(&t->wake);
  pthread_mutex_unlock(&t->mutex);
}

void tb_parallel_for(tbThreads* t, int count, int grain, tbRangeFn* body, void* user)
{
  if (count <= 0) return;
  if (grain < 1) grain = 1;
  int pieces = tb_piece_count(count, grain);
  if (!t || t->count == 1 || pieces == 1 || atomic_exchange(&t->busy, true)) {
    for (int piece = 0; piece < pieces; piece++) {
      int begin = piece * grain;
      body(user, begin, count - begin < grain ? count : begin + grain, piece);
    }
    return;
  }
  t->body = body;
  t->user = user;
  t->total = count;
  t->grain = grain;
  t->pieces = pieces;
  atomic_store(&t->next, 0);
  publish(t);
  run_pieces(t);
  atomic_fetch_and(&t->loop, ~OPEN);
  for (int i = 0; atomic_load_explicit(&t->loop, memory_order_acquire) % OPEN > 0; i++)
    if (i % 64 == 63) sched_yield();
  atomic_store(&t->busy, false);
}

tbStatus tb_threads_create(tbContext* ctx, int count, tbThreads** out)
{
  *out = NULL;
  if (count < 1 || count > MAX_THREADS)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "threads must be 1 to %d, not %d", MAX_THREADS, count);
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

void tb_threads_destroy(tbContext* ctx, tbThreads* t)
{
  if (!t) return;
  t->quit = true;
  publish(t);
  for (int i = 0; i < t->started; i++) pthread_join(t->workers[i], NULL);
  pthread_cond_destroy(&t->wake);
  pthread_mutex_destroy(&t->mutex);
  tb_free(ctx, t->workers);
  tb_free(ctx, t);
}

int tb_threads_count(const tbThreads* t) { return t ? t->count : 1; }
