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
