// SPDX-License-Identifier: Apache-2.0
#include "step/integrate.h"

#include "base/threads.h"

enum { GRAIN = 256 };

typedef struct {
  tbStepView view;
  tbWorld* world;
} Job;

tbBody tb_body_after(const tbStepView* view, int i)
{
  tbBody b = tb_bodies(view->world)[i];
  b.kind->advance(view, i, &b);
  return b;
}

static void move_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    tbBody* b = &tb_bodies(job->world)[i];
    b->kind->advance(&job->view, i, b);
    b->force = b->torque = tb_zero3();
  }
}

void tb_integrate(tbContext* ctx, const tbStepOptions* o, const tbUnconstrained* unconstrained,
                  const tbAssembly* a, tbWorld* w, tbStepReport* report)
{
  Job job = {a->view, w};
  job.view.unconstrained = unconstrained, job.view.world = w;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbKind* kind = tb_bodies(w)[i].kind;
    if (kind->note) kind->note(&job.view, (int)i, report);
  }
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
