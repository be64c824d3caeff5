// SPDX-License-Identifier: Apache-2.0
// Bodies that solve for their free motion are independent until something touches them: small ones are
// treated side by side, large ones one after the other with every thread inside.
#include "step/unconstrained.h"

#include "base/shared.h"
#include "base/threads.h"
#include "problem/metric.h"

// Without a factor the free motion is found by conjugate gradients, until what is left of the step's change
// of momentum is this share of the solver's tolerance, and in any case this little.
static const double SHARE = 1e-3, ROUGHEST = 1e-6;

typedef struct {
  const tbWorld* world;
  double h, tolerance;
  int* body; // those that do
  tbBodyStep* step;
  tbShared shared;
  tbStatus* status;
  tbError* error;
} Job;

static tbStatus prepare(tbContext* ctx, const Job* job, int i)
{
  const tbBody* b = &tb_bodies(job->world)[job->body[i]];
  return b->kind->prepare(ctx, job->world, b, job->h, job->tolerance, &job->step[job->body[i]]);
}

static void prepare_small(void* user, int begin, int end, int piece)
{
  (void)piece;
  Job* job = user;
  for (int i = begin; i < end; i++) {
    if (job->step[job->body[i]].large) continue;
    tbContext own = tb_shared_context(&job->shared);
    job->status[i] = prepare(&own, job, i);
    job->error[i] = own.error;
  }
}

static tbStatus begin(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, Job* job, int* count)
{
  const tbWorld* w = job->world;
  job->step = TB_TAKE(arena, tbBodyStep, w->body.count);
  job->body = TB_TAKE(arena, int, w->body.count);
  if (!job->step || !job->body) return TB_ERROR_MEMORY;
  *count = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (!b->kind->begin) continue;
    TB_TRY(b->kind->begin(ctx, arena, &kept[i], b, &job->step[i]));
    job->step[i].lent = true;
    job->body[(*count)++] = (int)i;
  }
  job->status = TB_TAKE(arena, tbStatus, (size_t)*count);
  job->error = TB_TAKE(arena, tbError, (size_t)*count);
  return job->status && job->error ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_free_motion_solved(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* w,
                               const tbStepOptions* o, tbBodyStep** out)
{
  // the tolerance in m/s counts as relative to speeds of metres per second
  double asked = o->solver.velocity_tolerance;
  if (o->solver.tolerance > 0 && !(asked > 0 && asked < o->solver.tolerance)) asked = o->solver.tolerance;
  Job job = {.world = w, .h = o->dt, .tolerance = fmin(fmax(SHARE * asked, TB_METRIC_EXACT), ROUGHEST)};
  int count;
  TB_TRY(tb_cache_factors(ctx, cache, w->body.count));
  TB_TRY(begin(ctx, arena, cache->factor.data, &job, &count));
  tb_shared_begin(&job.shared, ctx);
  tb_parallel_for(ctx->threads, count, 1, prepare_small, &job);
  tb_shared_end(&job.shared);
  for (int i = 0; i < count; i++) {
    if (job.step[job.body[i]].large) TB_TRY(prepare(ctx, &job, i));
    if (job.status[i] == TB_OK) continue;
    ctx->error = job.error[i];
    return job.status[i];
  }
  *out = job.step;
  return TB_OK;
}
