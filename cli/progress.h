// A progress bar on a terminal; nothing in a pipe.
#ifndef TB_CLI_PROGRESS_H
#define TB_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  bool on;
  double begun, shown; // clock
} Progress;

Progress progress_begin(bool quiet);
// simulated: seconds of the run done so far.
void progress_show(Progress* progress, int64_t done, int64_t total, double simulated, int contacts);
void progress_clear(Progress* progress);

#endif
