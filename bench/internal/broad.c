// SPDX-License-Identifier: Apache-2.0
// The broad phase on piles of boxes, from nothing (tb_broad_pairs) and updated (tb_pair_cache): time per step
// and how it grows with the number of bodies.
//
//   bench_broad [THREADS]
#include "bench.h"
#include "tribo/tools/random.h"
#include "collide/pair_cache.h"

#include <stdlib.h>

typedef struct {
  tbContext* ctx;
  tbBroadItem* items;
  tbVec3* v;
  int count, step;
  tbArray pairs;
  tbArena arena; // kept from step to step
  tbPairCache* cache;
} Case;

static void check(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "bench_broad: %s\n", ctx->error.message);
  exit(1);
}

enum { STEPS = 12 }; // of a run: forth, and back in the next
static void move(Case* c)
{
  double by = c->step++ / STEPS % 2 ? -1 : 1;
  for (int i = 0; i < c->count - 2; i++) {
    c->items[i].box.lo = tb_madd3(c->items[i].box.lo, by, c->v[i]);
    c->items[i].box.hi = tb_madd3(c->items[i].box.hi, by, c->v[i]);
  }
}

static void anew(void* user)
{
  Case* c = user;
  for (int k = 0; k < STEPS; k++) {
    move(c);
    tb_arena_reset(&c->arena);
    check(c->ctx, tb_broad_pairs(c->ctx, &c->arena, c->items, c->count, &c->pairs));
  }
}

static void updated(void* user)
{
  Case* c = user;
  for (int k = 0; k < STEPS; k++) {
    move(c);
    check(c->ctx, tb_pair_cache_update(c->ctx, c->cache, c->items, c->count, NULL));
  }
}

// Boxes of about 1 m, a little apart and turned, on a floor of 1000 m and above a plane; each moves by up to
// `way` a step.
static void pile(Case* c, int side, double way)
{
  uint64_t random = 1;
  c->count = side * side * side + 2;
  c->items = calloc((size_t)c->count, sizeof *c->items);
  c->v = calloc((size_t)c->count, sizeof *c->v);
  if (!c->items || !c->v) exit(1);
  for (int i = 0; i < c->count - 2; i++) {
    double r = 0.5 * tb_random_uniform(&random, 1, 1.3), x = i % side, y = i / side % side,
           z = i / (side * side);
    c->items[i] = (tbBroadItem){{{x - r, y - r, z - r}, {x + r, y + r, z + r}}, i, true};
    c->v[i] = tb_vec3(tb_random_uniform(&random, -way, way), tb_random_uniform(&random, -way, way),
                      tb_random_uniform(&random, -way, way));
  }
  c->items[c->count - 2] = (tbBroadItem){{{-500, -500, -10}, {500, 500, -0.5}}, -1, false};
  c->items[c->count - 1] =
      (tbBroadItem){{{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}}, -2, false};
}

static Case make_case(tbContext* ctx, int side, double way)
{
  Case c = {.ctx = ctx, .pairs = TB_ARRAY(tbPair)};
  tb_arena_init(&c.arena, ctx);
  check(ctx, tb_pair_cache_create(ctx, &c.cache));
  pile(&c, side, way);
  return c;
}

static void free_case(Case* c)
{
  tb_array_free(c->ctx, &c->pairs);
  tb_arena_free(&c->arena);
  tb_pair_cache_free(c->ctx, c->cache);
  free(c->items);
  free(c->v);
}

int main(int argc, char** argv)
{
  static const double ways[] = {0, 0.01, 0.1};
  static const char* const names[] = {"at rest", "up to 1 cm a step", "up to 10 cm a step"};
  tbContext ctx = tb_default_context();
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads > 1) check(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
  for (int w = 0; w < 3; w++) {
    double last = 0, last_count = 0;
    printf("%s\n", names[w]);
    for (int side = 10; side <= 40; side *= 2) {
      Case a = make_case(&ctx, side, ways[w]), b = make_case(&ctx, side, ways[w]);
      BenchEntry entry[2] = {{anew, &a, 0}, {updated, &b, 0}};
      bench_race(entry, 2, 4, 0.5);
      double t = entry[1].best / STEPS;
      printf("%6d boxes %8zu pairs   anew %8.3f ms   updated %8.3f ms   ratio %5.1f", a.count, a.pairs.count,
             1e3 * entry[0].best / STEPS, 1e3 * t, entry[0].best / entry[1].best);
      if (last > 0) printf("   grows as n^%.2f", log(t / last) / log(a.count / last_count));
      printf("\n");
      last = t;
      last_count = a.count;
      free_case(&a);
      free_case(&b);
    }
  }
  tb_threads_destroy(&ctx, ctx.threads);
  return 0;
}
