// SPDX-License-Identifier: Apache-2.0
// Bodies of soft-step: velocities, inverse masses and what a substep adds, in floats.
#include "step/soft_step_work.h"

#include "base/memory.h"

#include <string.h>

// Velocities now and what a substep adds, inverse masses where the body is.
static void put_body(const tbBody* b, const tbUnconstrained* f, int substeps, int i, tbSoftStepWork* s)
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
    s->kick[i][k] = (float)(more[k] / substeps);
  }
  if (!moves) return;
  tbMat3 I = b->inertia_inv;
  if (!tb_turns_evenly(b)) {
    tbMat3 R = tb_quat_mat3(f->at.q);
    I = tb_mat3_mul(R, tb_mat3_mult(I, R));
  }
  s->mass[i].mass = (float)(1 / b->mass);
  for (int r = 0, k = 0; r < 3; r++)
    for (int c = r; c < 3; c++) s->mass[i].inertia[k++] = (float)I.m[r][c];
}

typedef struct {
  const tbWorld* world;
  const tbUnconstrained* unconstrained;
  int substeps;
  tbSoftStepWork* work;
} Bodies;

static void put_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Bodies* job = user;
  for (int i = begin; i < end; i++)
    if (job->work->index[i] < job->work->bodies)
      put_body(&tb_bodies(job->world)[i], &job->unconstrained[i], job->substeps, job->work->index[i],
               job->work);
}

// Bodies that move come first, then those that are driven; one that rests stands for all the others.
tbStatus tb_soft_step_bodies(tbContext* ctx, tbArena* arena, const tbWorld* w,
                             const tbUnconstrained* unconstrained, tbSoftStepWork* s)
{
  size_t n = w->body.count;
  s->index = TB_TAKE(arena, int, n);
  if (!s->index) return TB_ERROR_MEMORY;
  for (int driven = 0; driven < 2; driven++) {
    for (size_t i = 0; i < n; i++)
      if (tb_bodies(w)[i].motion == (driven ? TB_BODY_KINEMATIC : TB_BODY_DYNAMIC)) s->index[i] = s->bodies++;
    if (!driven) s->moving = s->bodies;
  }
  for (size_t i = 0; i < n; i++)
    if (tb_bodies(w)[i].motion == TB_BODY_FIXED) s->index[i] = s->bodies;
  s->body = TB_TAKE_UNSET(arena, tbSoftStepBody, (size_t)s->bodies + 1);
  s->mass = TB_TAKE_UNSET(arena, tbSoftStepMass, (size_t)s->bodies + 1);
  s->kick = tb_arena_take_unset(arena, (size_t)s->bodies, sizeof *s->kick);
  s->before = tb_arena_take_unset(arena, (size_t)s->bodies, sizeof *s->before);
  s->push = tb_arena_take_unset(arena, (size_t)s->moving, sizeof *s->push);
  s->astray = TB_TAKE(arena, tbSoftStepAstray, (size_t)tb_piece_count((int)n, TB_SOFT_STEP_BODIES));
  if (!s->body || !s->mass || !s->kick || !s->before || !s->push || !s->astray) return TB_ERROR_MEMORY;
  s->body[s->bodies] = (tbSoftStepBody){.v = {0}};
  s->mass[s->bodies] = (tbSoftStepMass){0};
  Bodies job = {w, unconstrained, s->substeps, s};
  tb_parallel_for(ctx->threads, (int)n, TB_SOFT_STEP_BODIES, put_bodies, &job);
  return TB_OK;
}
