// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 10007, GRAIN = 64 };

typedef struct {
  int seen[COUNT];
  double partial[COUNT / GRAIN + 1];
  tbThreads* threads;
} Work;

static void add_up(void* user, int begin, int end, int piece)
{
  Work* w = user;
  double sum = 0;
  for (int i = begin; i < end; i++) {
    w->seen[i]++;
    sum += 1.0 / (1.0 + i);
  }
  w->partial[piece] = sum;
}

TEST(parallel_for_visits_every_index_once_and_sums_to_the_same_bits)
{
  double reference = 0;
  for (int threads = 1; threads <= 8; threads++) {
    tbContext ctx = tb_default_context();
    tbThreads* pool = NULL;
    CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &pool));
    Work* w = calloc(1, sizeof *w);
    for (int repeat = 0; repeat < 50; repeat++) tb_parallel_for(pool, COUNT, GRAIN, add_up, w);
    double sum = 0;
    for (int p = 0; p < tb_piece_count(COUNT, GRAIN); p++) sum += w->partial[p];
    if (threads == 1) reference = sum;
    CHECK(memcmp(&sum, &reference, sizeof sum) == 0);
    for (int i = 0; i < COUNT; i++) REQUIRE(w->seen[i] == 50);
    free(w);
    tb_threads_destroy(&ctx, pool);
  }
}

// Loops are numbered in sixteen bits, and pieces are taken from both ends.
TEST(seventy_thousand_short_loops_run_each_of_their_pieces_once)
{
  tbContext ctx = tb_default_context();
  tbThreads* pool = NULL;
  CHECK_OK(&ctx, tb_threads_create(&ctx, 3, &pool));
  Work* w = calloc(1, sizeof *w);
  int most = 0, least = 1 << 30;
  for (int k = 0; k < 70000; k++) tb_parallel_for(pool, 6, 1 + k % 4, add_up, w);
  for (int i = 0; i < 6; i++) most = w->seen[i] > most ? w->seen[i] : most;
  for (int i = 0; i < 6; i++) least = w->seen[i] < least ? w->seen[i] : least;
  CHECK(most == 70000 && least == 70000);
  free(w);
  tb_threads_destroy(&ctx, pool);
}

static void nested(void* user, int begin, int end, int piece)
{
  (void)piece;
  Work* w = user;
  for (int i = begin; i < end; i++) {
    Work* inner = calloc(1, sizeof *inner);
    tb_parallel_for(w->threads, 10, 3, add_up, inner);
    for (int k = 0; k < 10; k++) w->seen[i] += inner->seen[k];
    free(inner);
  }
}

TEST(a_loop_inside_a_loop_runs_inline)
{
  tbContext ctx = tb_default_context();
  Work* w = calloc(1, sizeof *w);
  CHECK_OK(&ctx, tb_threads_create(&ctx, 3, &w->threads));
  tb_parallel_for(w->threads, 40, 1, nested, w);
  for (int i = 0; i < 40; i++) CHECK(w->seen[i] == 10);
  tb_threads_destroy(&ctx, w->threads);
  free(w);
}

TEST(thread_counts_out_of_range_are_refused)
{
  tbContext ctx = tb_default_context();
  tbThreads* pool = NULL;
  CHECK(tb_threads_create(&ctx, 0, &pool) == TB_ERROR_ARGUMENT && pool == NULL);
  CHECK(tb_threads_create(&ctx, 100000, &pool) == TB_ERROR_ARGUMENT);
}

TEST(threads_survive_failed_allocations)
{
  for (long k = 0; k < 2; k++) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbThreads* pool = NULL;
    CHECK(tb_threads_create(&ctx, 2, &pool) == TB_ERROR_MEMORY && pool == NULL);
    CHECK(state.alive == 0);
  }
}
