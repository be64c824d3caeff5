// SPDX-License-Identifier: Apache-2.0
// A progress bar on a terminal; nothing in a pipe.
#ifndef TB_CLI_PROGRESS_H
#define TB_CLI_PROGRESS_H

#include "tribo/solver.h"

#include <pthread.h>

typedef struct {
  bool on;
  pthread_t thread;                // the one that may write
  double begun, shown, step_begun; // clock
  int64_t done, total;             // steps, or frames
  double simulated;                // s
  int contacts;

  // of the step under way
  bool judged;
  int iterations;
  double residual;
} Progress;

Progress progress_begin(bool quiet, int64_t total);
// After a step; simulated: seconds of the run done so far.
void progress_show(Progress* progress, int64_t done, double simulated, int contacts);

// Inside of a step that takes long: what the judge said last (has the shape of tbSolveOptions.watch), and
// that it is still going on.
void progress_watch(void* progress, const tbTraceEvent* event);
void progress_beat(Progress* progress);

void progress_clear(Progress* progress);

#endif
