// SPDX-License-Identifier: Apache-2.0
#include "step/unconstrained.h"

#include "base/threads.h"

enum { GRAIN = 256 };

typedef struct {
  const tbWorld* world;
  double dt;
  tbUnconstrained* out;
} Job;

static void move_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    const tbBody* b = &tb_bodies(job->world)[i];
    job->out[i] = tb_unmoved(b);
    if (b->kind->unconstrained) b->kind->unconstrained(job->world, b, job->dt, &job->out[i]);
  }
}

void tb_free_motion(const tbWorld* world, double dt, tbThreads* threads, tbUnconstrained* out)
{
  Job job = {world, dt, out};
  tb_parallel_for(threads, (int)world->body.count, GRAIN, move_bodies, &job);
}

void tb_hold_attached(const tbWorld* w, tbUnconstrained* unconstrained)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    for (int k = 0, other; b->kind->attached && b->kind->attached(b, k, &other); k++)
      if (other >= 0) unconstrained[other].held = true;
  }
}
