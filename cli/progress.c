// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"
#include "tribo/tools/clock.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 30 };
static const double interval_s = 0.1, long_step_s = 0.5;

Progress progress_begin(bool quiet, int64_t total)
{
  double now = tb_seconds();
  return (Progress){.on = !quiet && isatty(STDERR_FILENO),
                    .thread = pthread_self(),
                    .begun = now,
                    .shown = now,
                    .step_begun = now,
                    .total = total};
}

// What is left, if steps go on as they went.
static void print_left(const Progress* p, double now)
{
  if (p->done == 0) return;
  double left = (now - p->begun) / (double)p->done * (double)(p->total - p->done);
  if (left < 60) fprintf(stderr, ", %.0f s left", ceil(left));
  else if (left < 5400) fprintf(stderr, ", %.0f min left", ceil(left / 60));
  else fprintf(stderr, ", %.1f h left", left / 3600);
}

static void show(Progress* p, double now)
{
  double share = p->total > 0 ? (double)p->done / (double)p->total : 1;
  char bar[WIDTH + 1] = {0};
  for (int i = 0; i < WIDTH; i++) bar[i] = i < (int)(share * WIDTH) ? '=' : ' ';
  fprintf(stderr, "\r\033[K[%s] %3.0f%%  ", bar, 100 * share);
  if (now - p->step_begun > long_step_s) {
    fprintf(stderr, "step %lld, %.0f s so far", (long long)p->done + 1, now - p->step_begun);
    if (p->judged)
      fprintf(stderr, ": %d iterations, residual %.1e, %d contacts", p->iterations, p->residual, p->contacts);
  } else {
    fprintf(stderr, "%.3g s simulated, %.3g × real time, %d contacts", p->simulated,
            p->simulated / (now - p->begun), p->contacts);
  }
  print_left(p, now);
  p->shown = now;
}

void progress_show(Progress* p, int64_t done, double simulated, int contacts)
{
  double now = p->on ? tb_seconds() : 0;
  p->done = done;
  p->simulated = simulated;
  p->contacts = contacts;
  if (p->on && now - p->shown >= interval_s) show(p, now);
  p->step_begun = now;
  p->judged = false;
}

void progress_watch(void* user, const tbTraceEvent* event)
{
  Progress* p = user;
  p->judged = true;
  p->iterations = event->iteration;
  p->residual = event->residual->fclib;
  p->contacts = event->problem->ncontact;
}

void progress_beat(Progress* p)
{
  if (!p->on || !pthread_equal(pthread_self(), p->thread)) return;
  double now = tb_seconds();
  if (now - p->shown >= interval_s && now - p->step_begun > long_step_s) show(p, now);
}

void progress_clear(Progress* p)
{
  if (p->on) fprintf(stderr, "\r\033[K");
}
