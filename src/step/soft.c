// Linearised at the start of a step, a deformable body obeys
//
//   A v⁺ = M v + h (f(x) + M g) + Jᵀλ,      A = M + hB + h²K(x)
//
// one step of Newton's method on the implicit Euler scheme. Bodies are independent until something touches
// them: small ones are treated side by side, large ones one after the other with every thread inside.
#include "step/soft.h"

#include "base/shared.h"
#include "base/stop.h"
#include "base/threads.h"
#include "math/cholesky.h"
#include "problem/metric.h"

#include <string.h>

enum { LARGE = 4000 }; // nodes

// Without a factor the free motion is found by conjugate gradients, until what is left of the step's change
// of momentum is this share of the solver's tolerance, and in any case this little.
static const double SHARE = 1e-3, ROUGHEST = 1e-6;

typedef struct {
  const tbWorld* world;
  tbBodyFactor* factor; // of every body
  double h, tolerance;
  tbSoftStep* step;
  double** force; // elastic                                               (3 nnode) each
  double** space; // to solve in
  tbShared shared;
  tbStatus* status;
  tbError* error;
} Job;

// Where what holds a node will be at the end of the step.
static tbTransform holder_after(const tbWorld* w, const tbHold* hold, double t)
{
  if (hold->body < 0) return tb_motion_pose(w, &hold->motion, t);
  const tbBody* b = &tb_bodies(w)[hold->body];
  return b->motion == TB_BODY_KINEMATIC ? tb_motion_at(w, b, t) : tb_transform(b->q, b->x);
}

static void lead_nodes(const tbWorld* w, const tbDeformable* d, double h, tbVec3* pin)
{
  for (int k = 0; k < d->nhold; k++) {
    tbTransform T = holder_after(w, &d->hold[k], w->time + h);
    for (int i = 0; i < d->fem->nnode; i++)
      if (d->holder[i] == k && d->fem->pinned[i])
        pin[i] = tb_scale3(1 / h, tb_sub3(tb_transform_point(T, d->local[i]), d->x[i]));
  }
}

static tbStatus prepare(tbContext* ctx, const Job* job, int i)
{
  const tbWorld* w = job->world;
  const tbBody* body = &tb_bodies(w)[i];
  const tbDeformable* d = tb_deformable(body);
  tbSoftStep* s = &job->step[i];
  tbCholesky* factor = job->factor[i].factor;
  size_t n = 3 * (size_t)d->fem->nnode;
  tb_fem_evaluate(d->fem, ctx->threads, d->x, TB_TANGENT_POSITIVE, job->force[i]);
  lead_nodes(w, d, job->h, s->pin);
  tbVec3 pull = tb_madd3(w->gravity, 1 / body->mass, body->force);
  tb_fem_step(d->fem, ctx->threads, job->h, pull, job->force[i], d->v, s->pin, s->A, (double*)s->packed.value,
              s->rhs);
  if (s->packed.rounded)
    tb_packed_round(s->packed.pattern, ctx->threads, s->packed.value, (float*)s->packed.rounded);
  tbMetricBlock block = {.kind = TB_METRIC_SPARSE,
                         .size = (int)n,
                         .value = s->A,
                         .ptr = d->fem->K.ptr,
                         .col = d->fem->K.idx,
                         .unit = 3,
                         .factor = factor,
                         .packed = &s->packed};
  if (s->packed.inverse) tb_metric_invert_diagonal(&block, ctx->threads, (double*)s->packed.inverse);
  s->factor = factor, s->lent = true;
  if (factor) TB_TRY(tb_cholesky_factor(ctx, factor, s->A));
  // v_free = v + A⁻¹(rhs − A v): what is solved for is the change alone, and small at rest
  const double* v = &d->v->x;
  for (size_t k = 0; k < n; k++) s->v_free[k] = -v[k];
  double* change = job->force[i];
  memcpy(change, s->rhs, n * sizeof *change);
  tb_metric_multiply_add(&block, s->v_free, change);
  if (factor) tb_metric_solve(&block, ctx->threads, change, job->space[i]);
  else tb_metric_cg_unless(ctx->interrupt, &block, ctx->threads, job->tolerance, change, job->space[i]);
  for (size_t k = 0; k < n; k++) s->v_free[k] = v[k] + change[k];
  return tb_check_interrupt(ctx);
}

static void prepare_small(void* user, int begin, int end, int piece)
{
  (void)piece;
  Job* job = user;
  for (int i = begin; i < end; i++) {
    const tbDeformable* d = tb_deformable(&tb_bodies(job->world)[i]);
    if (!d || d->fem->nnode > LARGE) continue;
    tbContext own = tb_shared_context(&job->shared);
    job->status[i] = prepare(&own, job, i);
    job->error[i] = own.error;
  }
}

// The order of elimination, once for a body.
static tbStatus analyse(tbContext* ctx, const tbDeformable* d, tbBodyFactor* out)
{
  if (out->analysed) return TB_OK;
  tbCholesky* factor;
  const tbCsr* K = &d->fem->K;
  TB_TRY(tb_metric_is_bulky(ctx, d->fem->nnode, d->fem->assembly.ptr, d->fem->assembly.col, &out->analysed));
  if (out->analysed) return TB_OK;
  // The best order for large bodies is a library's; that of all others must not depend on which are
  // installed.
  tbCholeskyOptions how = {.ordering = d->fem->nnode > LARGE ? TB_ORDERING_AUTO : TB_ORDERING_DEGREE,
                           .most_bytes = TB_METRIC_FACTOR_BYTES};
  TB_TRY(tb_cholesky_analyze(ctx, 3 * d->fem->nnode, K->ptr, K->idx, &how, &factor));
  out->analysed = true;
  if (!factor) return TB_OK;
  tbCholeskyStats stats = tb_cholesky_stats(factor);
  if (tb_metric_should_factor(&stats)) out->factor = factor;
  else tb_cholesky_free(ctx, factor);
  return TB_OK;
}

static tbStatus take(tbContext* ctx, tbArena* arena, Job* job)
{
  size_t count = job->world->body.count;
  job->step = TB_TAKE(arena, tbSoftStep, count);
  job->force = TB_TAKE(arena, double*, count);
  job->space = TB_TAKE(arena, double*, count);
  job->status = TB_TAKE(arena, tbStatus, count);
  job->error = TB_TAKE(arena, tbError, count);
  if (!job->step || !job->force || !job->space || !job->status || !job->error) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < count; i++) {
    const tbDeformable* d = tb_deformable(&tb_bodies(job->world)[i]);
    if (!d) continue;
    tbCholesky* factor;
    TB_TRY(analyse(ctx, d, &job->factor[i]));
    factor = job->factor[i].factor;
    size_t n = 3 * (size_t)d->fem->nnode;
    tbSoftStep* s = &job->step[i];
    s->packed.pattern = &d->fem->packed;
    s->packed.value = TB_TAKE(arena, double, tb_packed_values(&d->fem->packed));
    if (!s->packed.value) return TB_ERROR_MEMORY;
    if (!factor) {
      s->packed.rounded = TB_TAKE(arena, float, tb_packed_values(&d->fem->packed));
      s->packed.inverse = TB_TAKE(arena, double, 2 * n);
      if (!s->packed.rounded || !s->packed.inverse) return TB_ERROR_MEMORY;
    }
    tbMetricBlock block = {.kind = TB_METRIC_SPARSE, .size = (int)n, .factor = factor, .packed = &s->packed};
    s->A = TB_TAKE(arena, double, (size_t)d->fem->K.ptr[n]);
    s->rhs = TB_TAKE(arena, double, n);
    s->v = &d->v->x;
    s->v_free = TB_TAKE(arena, double, n);
    s->pin = TB_TAKE(arena, tbVec3, (size_t)d->fem->nnode);
    job->force[i] = TB_TAKE(arena, double, n);
    job->space[i] = TB_TAKE(arena, double, tb_metric_workspace(&block));
    if (!s->A || !s->rhs || !s->v_free || !s->pin || !job->force[i] || !job->space[i]) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

tbStatus tb_soft_begin(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* w,
                       const tbStepOptions* o, tbSoftStep** out)
{
  // the tolerance in m/s counts as relative to speeds of metres per second
  double asked = o->solver.velocity_tolerance;
  if (o->solver.tolerance > 0 && !(asked > 0 && asked < o->solver.tolerance)) asked = o->solver.tolerance;
  Job job = {.world = w, .h = o->dt, .tolerance = fmin(fmax(SHARE * asked, TB_METRIC_EXACT), ROUGHEST)};
  int count = (int)w->body.count, more = count - (int)cache->factor.count;
  if (more > 0) TB_TRY(tb_array_push(ctx, &cache->factor, NULL, (size_t)more));
  job.factor = cache->factor.data;
  TB_TRY(take(ctx, arena, &job));
  tb_shared_begin(&job.shared, ctx);
  tb_parallel_for(ctx->threads, count, 1, prepare_small, &job);
  tb_shared_end(&job.shared);
  for (int i = 0; i < count; i++) {
    const tbDeformable* d = tb_deformable(&tb_bodies(w)[i]);
    if (!d) continue;
    if (d->fem->nnode > LARGE) TB_TRY(prepare(ctx, &job, i));
    if (job.status[i] == TB_OK) continue;
    ctx->error = job.error[i];
    return job.status[i];
  }
  *out = job.step;
  return TB_OK;
}
