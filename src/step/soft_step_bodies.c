// SPDX-License-Identifier: Apache-2.0
// Bodies of soft-step: velocities, inverse masses and what the step adds, in floats; and what each of their
// shapes and pairs asks of them.
#include "step/soft_step_work.h"

#include "base/memory.h"
#include "base/prefetch.h"

#include <string.h>

enum { AHEAD = 3 };

// Velocities now and what the step adds, inverse masses where the body is.
static void put_body(const tbBody* b, const tbUnconstrained* f, bool even, int i, tbSoftStepWork* s)
{
  bool moves = b->motion == TB_BODY_DYNAMIC;
  tbVec3 v = moves ? b->v : f->v, w = moves ? b->w : f->w; // driven bodies have the velocity of the step
  tbVec3 dv = moves ? tb_sub3(f->v, v) : tb_zero3(), dw = moves ? tb_sub3(f->w, w) : tb_zero3();
  const double now[6] = {v.x, v.y, v.z, w.x, w.y, w.z}, more[6] = {dv.x, dv.y, dv.z, dw.x, dw.y, dw.z};
  s->body[i] = (tbSoftStepBody){.v = {0}, .d = {0}};
  s->mass[i] = (tbSoftStepMass){0};
  memset(s->kick[i], 0, sizeof s->kick[i]);
  for (int k = 0; k < 6; k++) {
    s->body[i].v[k] = (float)now[k];
    s->kick[i][k] = (float)more[k];
  }
  if (!moves) return;
  tbMat3 I = b->inertia_inv;
  if (!even) {
    tbMat3 R = tb_quat_mat3(f->at.q);
    I = tb_mat3_mul(R, tb_mat3_mult(I, R));
  }
  s->mass[i].mass = (float)(1 / b->mass);
  for (int r = 0, k = 0; r < 3; r++)
    for (int c = r; c < 3; c++) s->mass[i].inertia[k++] = (float)I.m[r][c];
}

static inline double larger(double a, double b) { return a > b ? a : b; }

static tbSoftStepTraveller traveller_of(const tbBody* b, const tbUnconstrained* f, double h)
{
  double v = larger(tb_norm3(b->v), tb_norm3(f->v)), w = larger(tb_norm3(b->w), tb_norm3(f->w));
  return (tbSoftStepTraveller){.v = f->v,
                               .way = h * v,
                               .turn = w > 0 ? h * w * b->radius : 0,
                               .radius = b->radius,
                               .mass = b->mass,
                               .category = b->category,
                               .mask = b->mask,
                               .material = b->material,
                               .own = b->own_contact_material >= 0,
                               .moves = b->motion == TB_BODY_DYNAMIC,
                               .fixed = b->motion == TB_BODY_FIXED,
                               .bullet = b->bullet,
                               .even = b->motion == TB_BODY_DYNAMIC && tb_turns_evenly(b)};
}

typedef struct {
  const tbWorld* world;
  const tbUnconstrained* unconstrained;
  double dt;
  tbSoftStepWork* work;
} Bodies;

static void put_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Bodies* job = user;
  tbSoftStepWork* s = job->work;
  for (int i = begin; i < end; i++) {
    const tbBody* b = &tb_bodies(job->world)[i];
    if (i + AHEAD < end) tb_prefetch(b + AHEAD, sizeof *b);
    s->traveller[i] = traveller_of(b, &job->unconstrained[i], job->dt);
    if (s->index[i] < s->bodies) put_body(b, &job->unconstrained[i], s->traveller[i].even, s->index[i], s);
  }
}

// Bodies that move come first, then those that are driven; one that rests stands for all the others, those
// asleep among them.
static tbStatus number_bodies(tbArena* arena, const tbWorld* w, tbSoftStepWork* s)
{
  enum { RESTS = -1, DRIVEN = -2 };
  int n = (int)w->body.count;
  s->moving = 0;
  for (int i = 0; i < n; i++) {
    tbBodyMotion motion = tb_soft_step_is_still(s, i) ? TB_BODY_FIXED : tb_bodies(w)[i].motion;
    s->index[i] = motion == TB_BODY_DYNAMIC ? 0 : motion == TB_BODY_KINEMATIC ? DRIVEN : RESTS;
    s->moving += motion == TB_BODY_DYNAMIC;
  }
  TB_TRY(tb_soft_step_regions(arena, n, s->index, s));
  s->bodies = s->moving;
  for (int i = 0; i < n; i++)
    if (s->index[i] == DRIVEN) s->index[i] = s->bodies++;
  for (int i = 0; i < n; i++)
    if (s->index[i] == RESTS) s->index[i] = s->bodies;
  return TB_OK;
}

tbStatus tb_soft_step_bodies(tbContext* ctx, tbArena* arena, const tbWorld* w, double dt,
                             const tbUnconstrained* unconstrained, tbSoftStepWork* s)
{
  size_t n = w->body.count;
  s->traveller = TB_TAKE_UNSET(arena, tbSoftStepTraveller, n);
  s->index = TB_TAKE_UNSET(arena, int, n);
  if (!s->index || !s->traveller) return TB_ERROR_MEMORY;
  TB_TRY(number_bodies(arena, w, s));
  s->body = TB_TAKE_UNSET(arena, tbSoftStepBody, (size_t)s->bodies + 1);
  s->mass = TB_TAKE_UNSET(arena, tbSoftStepMass, (size_t)s->bodies + 1);
  s->kick = tb_arena_take_unset(arena, (size_t)s->bodies, sizeof *s->kick);
  s->before = tb_arena_take_unset(arena, (size_t)s->bodies, sizeof *s->before);
  s->push = tb_arena_take_unset(arena, (size_t)s->moving, sizeof *s->push);
  s->velocity = tb_arena_take_unset(arena, n, sizeof *s->velocity);
  s->astray = TB_TAKE(arena, tbSoftStepAstray, (size_t)tb_piece_count((int)n, TB_SOFT_STEP_BODIES));
  if (!s->body || !s->mass || !s->kick || !s->before || !s->push || !s->velocity || !s->astray)
    return TB_ERROR_MEMORY;
  s->body[s->bodies] = (tbSoftStepBody){.v = {0}};
  s->mass[s->bodies] = (tbSoftStepMass){0};
  Bodies job = {w, unconstrained, dt, s};
  tb_parallel_for(ctx->threads, (int)n, TB_SOFT_STEP_BODIES, put_bodies, &job);
  return TB_OK;
}
