// SPDX-License-Identifier: Apache-2.0
// The broad phase on settled piles: time per call and how it grows with the number of bodies.
//
//   bench_broad [THREADS]
#include "bench.h"
#include "tribo/tools/random.h"
#include "collide/broad.h"

#include <stdlib.h>

typedef struct {
  tbContext* ctx;
  tbBroadItem* items;
  int count;
  tbArray pairs;
  tbArena arena; // kept from step to step
} Case;

static void run(void* user)
{
  Case* c = user;
  tb_arena_reset(&c->arena);
  if (tb_broad_pairs(c->ctx, &c->arena, c->items, c->count, &c->pairs) == TB_OK) return;
  fprintf(stderr, "bench_broad: %s\n", c->ctx->error.message);
  exit(1);
}

// Boxes of about 1 m, a little apart and turned, on a floor of 1000 m and above a plane.
static void pile(Case* c, int side)
{
  uint64_t random = 1;
  c->count = side * side * side + 2;
  c->items = calloc((size_t)c->count, sizeof *c->items);
  if (!c->items) exit(1);
  for (int i = 0; i < c->count - 2; i++) {
    double r = 0.5 * tb_random_uniform(&random, 1, 1.3), x = i % side, y = i / side % side,
           z = i / (side * side);
    c->items[i] = (tbBroadItem){{{x - r, y - r, z - r}, {x + r, y + r, z + r}}, i, true};
  }
  c->items[c->count - 2] = (tbBroadItem){{{-500, -500, -10}, {500, 500, -0.5}}, -1, false};
  c->items[c->count - 1] =
      (tbBroadItem){{{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}}, -2, false};
}

int main(int argc, char** argv)
{
  tbContext ctx = tb_default_context();
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads > 1 && tb_threads_create(&ctx, threads, &ctx.threads) != TB_OK) return 1;
  double last = 0, last_count = 0;
  for (int side = 10; side <= 40; side *= 2) {
    Case c = {.ctx = &ctx, .pairs = TB_ARRAY(tbPair)};
    tb_arena_init(&c.arena, &ctx);
    pile(&c, side);
    BenchEntry entry = {run, &c, 0};
    bench_race(&entry, 1, 5, 0.5);
    printf("%6d boxes %8zu pairs %9.3f ms", c.count, c.pairs.count, 1e3 * entry.best);
    if (last > 0) printf("   grows as n^%.2f", log(entry.best / last) / log(c.count / last_count));
    printf("\n");
    last = entry.best;
    last_count = c.count;
    tb_array_free(&ctx, &c.pairs);
    tb_arena_free(&c.arena);
    free(c.items);
  }
  tb_threads_destroy(&ctx, ctx.threads);
  return 0;
}
