// SPDX-License-Identifier: Apache-2.0
// A batch of soft-step comes to the same bits by every vector width that this build has and the processor
// knows, whether it is full or a part of it is.
#include "base/kernels.h"
#include "step/soft_step.h"
#include "test.h"

#include <string.h>

#ifdef TB_SIMD_AUTO
#define NAMED(width)                                                                                         \
  void tb_soft_step_begin_##width(tbSoftStepBatch*, int, int, const tbSoftStepBody*, const tbSoftStepMass*); \
  void tb_soft_step_warm_##width(tbSoftStepBatch*, int, int, tbSoftStepBody*, int);                          \
  void tb_soft_step_solve_##width(tbSoftStepBatch*, int, int, tbSoftStepBody*, int, const tbSoftStepPass*);  \
  void tb_soft_step_bounce_##width(tbSoftStepBatch*, int, int, tbSoftStepBody*, int, const tbSoftStepPass*); \
  static void take_##width(tbSoftStepBatch* batch, tbSoftStepBody* body, const tbSoftStepMass* mass,         \
                           int moving, const tbSoftStepPass* pass)                                           \
  {                                                                                                          \
    tb_soft_step_begin_##width(batch, 0, 1, body, mass);                                                     \
    tb_soft_step_warm_##width(batch, 0, 1, body, moving);                                                    \
    for (int k = 0; k < 2; k++) tb_soft_step_solve_##width(batch, 0, 1, body, moving, &pass[k]);             \
    tb_soft_step_bounce_##width(batch, 0, 1, body, moving, &pass[1]);                                        \
  }
NAMED(sse2)
NAMED(avx2)
NAMED(avx512)

enum { LANES = TB_SOFT_STEP_LANES, BODIES = 2 * LANES + 1 };

typedef struct {
  tbSoftStepBatch batch;
  tbSoftStepBody body[BODIES];
  tbSoftStepMass mass[BODIES];
} Case;

static void fill(tbRandom* r, float* x, int count, float lo, float hi)
{
  for (int i = 0; i < count; i++) x[i] = (float)test_uniform(r, lo, hi);
}

// Pairs of bodies in the lanes that are used; a third of them rest on what does not move.
static void make_case(tbRandom* r, int lanes, Case* c)
{
  memset(c, 0, sizeof *c);
  tbSoftStepBatch* b = &c->batch;
  b->lanes = lanes, b->points = 1 + test_below(r, TB_SOFT_STEP_POINTS), b->bounces = true;
  b->fresh = test_below(r, 2), b->rolls = test_below(r, 2);
  for (int i = 0; i < BODIES; i++) {
    fill(r, c->body[i].v, 6, -1, 1);
    fill(r, c->body[i].d, 6, -0.01f, 0.01f);
    if (i == BODIES - 1) continue;
    c->mass[i].mass = (float)test_uniform(r, 0.5, 2);
    for (int k = 0; k < 6; k += k ? 2 : 3) c->mass[i].inertia[k] = (float)test_uniform(r, 1, 3);
  }
  memset(c->body[BODIES - 1].v, 0, sizeof c->body->v);
  for (int i = 0; i < LANES; i++) {
    bool used = i < lanes;
    b->a[i] = used ? 2 * i : BODIES - 1, b->b[i] = used && i % 3 ? 2 * i + 1 : BODIES - 1;
    if (!used) continue;
    double angle = test_uniform(r, -3, 3), s = sin(angle), t = cos(angle);
    b->normal[1][i] = 1, b->tangent[0][i] = (float)t, b->tangent[2][i] = (float)s;
    b->mu_t[i] = (float)test_uniform(r, 0, 1), b->mu_b[i] = b->mu_t[i], b->restitution[i] = 0.5f;
    b->with_a[i] = 1, b->across[1][i] = -1, b->round_a[i] = 0.1f;
    for (int k = 0; k < 1 + test_below(r, b->points); k++) {
      tbSoftStepPoint* p = &b->point[k];
      p->arm[0][i] = (float)test_uniform(r, -0.5, 0.5), p->arm[2][i] = (float)test_uniform(r, -0.5, 0.5);
      p->arm[1][i] = 0.5f, p->mass[i] = 1, p->gap[i] = (float)test_uniform(r, -0.01, 0.01);
      p->lambda[0][i] = (float)test_uniform(r, 0, 0.1);
    }
  }
}

TEST(a_batch_has_the_same_bits_by_every_vector_width)
{
  static const tbSoftStepPass pass[2] = {{.push = true,
                                          .inverse_h = 480,
                                          .first = true,
                                          .heavy = 2,
                                          .push_speed = 3,
                                          .bounce_speed = 0.1f,
                                          .softness = {50, 0.1f}},
                                         {.inverse_h = 480, .first = true, .bounce_speed = 0.1f}};
  tbRandom r = test_random(7);
  static Case first, next;
  int moved = 0;
  for (int trial = 0; trial < 300; trial++) {
    make_case(&r, 1 + test_below(&r, LANES), &first);
    for (int width = 1; width < 3; width++) {
      if (!(width == 1 ? tb_has_avx2() : tb_has_avx512())) continue;
      static Case narrow;
      narrow = first, next = first;
      take_sse2(&narrow.batch, narrow.body, narrow.mass, BODIES - 1, pass);
      if (width == 1) take_avx2(&next.batch, next.body, next.mass, BODIES - 1, pass);
      else take_avx512(&next.batch, next.body, next.mass, BODIES - 1, pass);
      REQUIRE(memcmp(narrow.body, next.body, sizeof next.body) == 0);
      for (int k = 0; k < narrow.batch.points; k++)
        for (int row = 0; row < 3; row++) // lanes that are used
          REQUIRE(memcmp(narrow.batch.point[k].total[row], next.batch.point[k].total[row],
                         (size_t)narrow.batch.lanes * sizeof(float)) == 0);
      moved += memcmp(first.body, next.body, sizeof next.body) != 0;
    }
  }
  CHECK(!tb_has_avx2() || moved >= 300);
}
#endif
