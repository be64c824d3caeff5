// SPDX-License-Identifier: Apache-2.0
// How much of what masses alone would give, nodes of a solid give when its elements hold them: the largest
// eigenvalue β of P⁻¹D, D the diagonal of masses, among motions without a mean.
//
// P = D + C, and C resists everything but translation. So
//
//   P⁻¹ ≤ 1 1ᵀ/m + β (D⁻¹ − 1 1ᵀ/m),      m: the body's mass
//
// with β near 0 where a body is stiff for the time step, near 1 where it is not. Power iteration on three
// vectors at once; it comes from below, which a fifth is added for.
#include "pd/body.h"

#include "base/random.h"

#include <math.h>

enum { ITERATIONS = 12 };
static const double SAFE = 1.2, SOFT = 0.7; // beyond which it is as good as 1

static tbVec3 mean_of(const tbPdBody* b, const tbVec3* x)
{
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < b->nnode; i++) sum = tb_madd3(sum, b->lump[i], x[i]);
  return tb_scale3(1 / b->mass, sum);
}

// x ← P⁻¹D x without its mean, of size 1 by masses on every axis; the largest size that it had.
static double power(const tbPdBody* b, tbVec3* x, double* scratch)
{
  double size[3] = {0};
  for (int i = 0; i < b->nnode; i++) x[i] = tb_scale3(b->lump[i], x[i]);
  tb_cholesky_solve_parts(NULL, b->factor, &b->parts, 3, &x->x, &x->x, scratch);
  tbVec3 mean = mean_of(b, x);
  for (int i = 0; i < b->nnode; i++) {
    x[i] = tb_sub3(x[i], mean);
    const double* at = &x[i].x;
    for (int k = 0; k < 3; k++) size[k] += b->lump[i] * at[k] * at[k];
  }
  for (int k = 0; k < 3; k++) size[k] = sqrt(size[k]);
  for (int i = 0; i < b->nnode; i++)
    x[i] = tb_vec3(x[i].x / fmax(size[0], 1e-300), x[i].y / fmax(size[1], 1e-300),
                   x[i].z / fmax(size[2], 1e-300));
  return fmax(size[0], fmax(size[1], size[2]));
}

tbStatus tb_pd_measure_softness(tbContext* ctx, tbPdBody* b)
{
  bool pinned = false;
  b->softness = 1, b->mass = 0;
  for (int i = 0; i < b->nnode; i++) pinned = pinned || b->pinned[i], b->mass += b->lump[i];
  if (b->fem->cloth || pinned || !(b->mass > 0)) return TB_OK;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbVec3* x = TB_TAKE(&arena, tbVec3, (size_t)b->nnode);
  double* scratch = TB_TAKE(&arena, double, tb_cholesky_parts_scratch(b->factor, &b->parts));
  if (x && scratch) {
    uint64_t seed = 1;
    double size = 1;
    for (int i = 0; i < b->nnode; i++)
      x[i] = tb_vec3(tb_random_uniform(&seed, -1, 1), tb_random_uniform(&seed, -1, 1),
                     tb_random_uniform(&seed, -1, 1));
    for (int k = 0; k < ITERATIONS; k++) size = power(b, x, scratch);
    b->softness = SAFE * size < SOFT ? SAFE * size : 1;
  }
  tb_arena_free(&arena);
  return x && scratch ? TB_OK : TB_ERROR_MEMORY;
}
