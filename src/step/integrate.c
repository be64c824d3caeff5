// From velocities to poses. Contacts change the velocities where the body is at the start of the step, or at
// the moment an impact struck it; for the rest r of the step it drifts:
//
//   in flight     nothing acted on it: a parabola that ends with the velocity v⁺,  x⁺ = x + r v⁺ − a r²/2
//   in contact    x⁺ = x + r v⁺: semi-implicit Euler, whose velocity is the one the contact law holds for
//   turning       as a free body does, from the angular velocity of the contact law (free.c)
//
// An impulse at one point of two bodies keeps their momentum and angular momentum about any point, and so
// does the drift: x⁺ × m v⁺ = x × m v⁺, and free rotation. Nor does the drift add energy.
#include "step/integrate.h"

#include "base/threads.h"

enum { GRAIN = 256 };

typedef struct {
  const tbUnconstrained* unconstrained;
  const tbAssembly* assembly;
  double h;
  tbWorld* world;
} Job;

static void move_body(double h, const tbUnconstrained* unconstrained, const tbAssembly* a, int i, tbBody* b)
{
  const tbUnconstrained* f = &unconstrained[i];
  bool carried = f->held || a->pushed[i];
  double rest = f->struck >= 0 ? h - f->struck : h;
  rest -= f->lost;
  tb_assembly_velocity(a, unconstrained, i, &b->v, &b->w);
  b->x = tb_madd3(f->at.x, rest, b->v), b->q = f->at.q;
  if (!carried) b->x = tb_madd3(b->x, -0.5 * rest * rest, f->a);
  tb_turn_freely(b, rest, &b->q, &b->w);
}

void tb_follow(const tbWorld* w, tbBody* b, const tbUnconstrained* unconstrained, double dt)
{
  tbTransform T = tb_motion_at(w, b, w->time + dt);
  b->x = T.x, b->q = T.q;
  if (b->nkey) b->v = unconstrained->v, b->w = unconstrained->w;
}

tbBody tb_body_after(const tbWorld* w, double h, const tbUnconstrained* unconstrained, const tbAssembly* a,
                     int i)
{
  tbBody b = tb_bodies(w)[i];
  if (b.motion == TB_BODY_DYNAMIC && b.kind->framed) move_body(h, unconstrained, a, i, &b);
  if (b.motion == TB_BODY_KINEMATIC) tb_follow(w, &b, &unconstrained[i], h);
  return b;
}

static void move_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    tbBody* b = &tb_bodies(job->world)[i];
    *b = tb_body_after(job->world, job->h, job->unconstrained, job->assembly, i);
    b->force = b->torque = tb_zero3();
  }
}

// Bodies that lose time of the step, and the way that they do not go for it.
static void note_stopped(const tbUnconstrained* unconstrained, const tbAssembly* a, const tbWorld* w,
                         tbStepReport* report)
{
  for (size_t i = 0; i < w->body.count; i++) {
    if (!(unconstrained[i].lost > 0) || !tb_bodies(w)[i].kind->framed) continue;
    tbVec3 v, spin;
    tb_assembly_velocity(a, unconstrained, (int)i, &v, &spin);
    report->changes.stopped++;
    report->changes.short_of = fmax(report->changes.short_of, unconstrained[i].lost * tb_norm3(v));
  }
}

void tb_integrate(tbContext* ctx, const tbStepOptions* o, const tbUnconstrained* unconstrained,
                  const tbAssembly* a, tbWorld* w, tbStepReport* report)
{
  note_stopped(unconstrained, a, w, report);
  Job job = {unconstrained, a, o->dt, w};
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
