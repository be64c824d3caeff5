// From velocities to poses. A body is in one of three situations:
//
//   in flight     nothing acted on it: a parabola, x⁺ = x + h v + a h²/2, and the free rotation, both exact
//   in contact    x⁺ = x + h v⁺, the rotation by what contacts added on top of the free one: semi-implicit
//   Euler,
//                 whose end-of-step velocity is the one the contact law holds for
//   bouncing      at time t within the step: a parabola with the old velocity until t, and another one from
//   there
//                 that ends with the new velocity:  x⁺ = x + t v + a t²/2 + (h − t) v⁺ − a (h − t)²/2
//
// Rotations are exponentials: exact for a constant angular velocity.
#include "step/integrate.h"

#include "base/threads.h"

enum { GRAIN = 256 };

typedef struct {
  const tbFree* free;
  const tbAssembly* assembly;
  double h;
  tbWorld* world;
} Job;

static void move_body(const Job* job, int i)
{
  tbBody* b = &tb_bodies(job->world)[i];
  const tbFree* f = &job->free[i];
  bool carried = f->held || job->assembly->pushed[i];
  double h = job->h, t = f->struck, rest = h - t;
  tbVec3 v, w;
  tb_assembly_velocity(job->assembly, job->free, i, &v, &w);
  if (t >= 0) {
    b->x = tb_madd3(tb_madd3(b->x, t, b->v), rest, v);
    if (!carried) b->x = tb_madd3(b->x, 0.5 * (t * t - rest * rest), f->a);
    b->q = tb_quat_integrate(tb_quat_integrate(b->q, b->w, t), w, rest);
  } else if (!carried) {
    b->x = tb_madd3(tb_madd3(b->x, h, b->v), 0.5 * h * h, f->a);
    b->q = f->q;
  } else {
    b->x = tb_madd3(b->x, h, v);
    b->q = tb_quat_integrate(f->q, tb_sub3(w, f->w), h);
  }
  b->v = v, b->w = w;
}

static void follow(const Job* job, int i)
{
  tbBody* b = &tb_bodies(job->world)[i];
  tbTransform T = tb_motion_at(job->world, b, job->world->time + job->h);
  b->x = T.x, b->q = T.q;
  if (b->nkey) b->v = job->free[i].v, b->w = job->free[i].w;
}

static void move_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    tbBody* b = &tb_bodies(job->world)[i];
    if (b->kind == TB_BODY_DYNAMIC) move_body(job, i);
    if (b->kind == TB_BODY_KINEMATIC) follow(job, i);
    b->force = b->torque = tb_zero3();
  }
}

void tb_integrate(tbContext* ctx, const tbStepOptions* o, const tbFree* free, const tbAssembly* a, tbWorld* w)
{
  Job job = {free, a, o->dt, w};
  tb_parallel_for(ctx->threads, (int)w->body.count, GRAIN, move_bodies, &job);
  tb_advance_clock(w, o->dt);
}

// t = first + n dt rather than a sum of n roundings: kept by counting the steps since dt last changed.
void tb_advance_clock(tbWorld* w, double dt)
{
  if (dt != w->clock_dt) w->clock_dt = dt, w->clock_start = w->time, w->clock_steps = 0;
  w->steps++;
  w->time = w->clock_start + (double)++w->clock_steps * dt;
}
