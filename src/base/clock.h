// Seconds on a clock that never goes back.
#ifndef TB_BASE_CLOCK_H
#define TB_BASE_CLOCK_H

#include <time.h>

static inline double tb_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
