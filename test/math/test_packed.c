// SPDX-License-Identifier: Apache-2.0
// Products with the packed upper half of a symmetric block matrix.
#include "test.h"

#include "base/threads.h"
#include "math/packed.h"

#include <stdlib.h>
#include <string.h>

// Nodes on a ring, each beside a few others near and far: several pieces that touch each other all around.
typedef struct {
  int nodes, *ptr, *col;
  double* val;
} Ring;

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static double entry(int i, int j) // symmetric
{
  int low = i < j ? i : j, high = i < j ? j : i;
  return (double)((low * 7919LL + high * 104729LL) % 1001 - 500) / 250 + (i == j ? 40 : 0);
}

static Ring make_ring(int nodes)
{
  enum { MOST = 7 };
  Ring r = {nodes, calloc(3 * (size_t)nodes + 1, sizeof(int)), malloc(9 * MOST * (size_t)nodes * sizeof(int)),
            malloc(9 * MOST * (size_t)nodes * sizeof(double))};
  int at = 0, offset[3] = {1, 2, nodes / 3};
  for (int i = 0; i < nodes; i++) {
    int near[MOST] = {i}, count = 1, unique = 1;
    for (int k = 0; k < 3; k++)
      near[count++] = (i + offset[k]) % nodes, near[count++] = (i + nodes - offset[k]) % nodes;
    qsort(near, (size_t)count, sizeof *near, compare);
    for (int k = 1; k < count; k++)
      if (near[k] != near[unique - 1]) near[unique++] = near[k];
    for (int axis = 0; axis < 3; axis++) {
      for (int k = 0; k < unique; k++)
        for (int c = 0; c < 3; c++, at++) {
          r.col[at] = 3 * near[k] + c;
          r.val[at] = entry(3 * i + axis, r.col[at]);
        }
      r.ptr[3 * i + axis + 1] = at;
    }
  }
  return r;
}

TEST(the_packed_half_multiplies_like_the_whole_for_any_number_of_threads)
{
  tbContext ctx = tb_default_context();
  const int sizes[] = {1, 2, 50, TB_PACKED_PIECE, 3 * TB_PACKED_PIECE + 5};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    Ring r = make_ring(sizes[s]);
    int n = 3 * r.nodes;
    tbArena arena;
    tbPackedPattern h = {0};
    tb_arena_init(&arena, &ctx);
    CHECK_OK(&ctx, tb_packed_pattern(&arena, n, r.ptr, r.col, &h));
    double *value = malloc(tb_packed_values(&h) * sizeof *value),
           *room = malloc(tb_packed_room(&h) * sizeof *room);
    double *x = malloc((size_t)n * sizeof *x), *y[3]; // exactly as long: what reads on is seen by a sanitizer
    for (int i = 0; i < n; i++) x[i] = (double)(i * 31 % 17) - 8;
    tb_packed_pack(&h, NULL, r.ptr, r.val, value);
    for (int k = 0; k < 3; k++) {
      tbThreads* threads = NULL;
      if (k > 0) CHECK_OK(&ctx, tb_threads_create(&ctx, 1 + k, &threads));
      y[k] = malloc((size_t)n * sizeof *y[k]);
      tb_packed_multiply(&(tbPacked){.pattern = &h, .value = value}, false, threads, x, y[k], room);
      CHECK(memcmp(y[0], y[k], (size_t)n * sizeof *x) == 0);
      tb_threads_destroy(&ctx, threads);
    }
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int e = r.ptr[i]; e < r.ptr[i + 1]; e++) sum += r.val[e] * x[r.col[e]];
      CHECK_NEAR(y[0][i], sum, 1e-11);
    }
    float* rounded = malloc(tb_packed_values(&h) * sizeof *rounded);
    tb_packed_round(&h, NULL, value, rounded);
    tb_packed_multiply(&(tbPacked){.pattern = &h, .value = value, .rounded = rounded}, true, NULL, x, y[1],
                       room);
    tb_packed_multiply(&(tbPacked){.pattern = &h, .value = value, .rounded = rounded}, false, NULL, x, y[2],
                       room);
    CHECK(memcmp(y[0], y[2], (size_t)n * sizeof *x) == 0);
    for (int i = 0; i < n; i++) CHECK_NEAR(y[1][i], y[0][i], 1e-3);
    free(rounded);
    for (int k = 0; k < 3; k++) free(y[k]);
    free(value), free(room), free(x), free(r.ptr), free(r.col), free(r.val);
    tb_arena_free(&arena);
  }
}
