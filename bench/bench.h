// SPDX-License-Identifier: Apache-2.0
// Timing side by side.
//
// The contestants take turns, round after round, so that a slow moment of the machine hits them alike; each
// is judged by its best round.
#ifndef TB_BENCH_H
#define TB_BENCH_H

#include <math.h>
#include <stdio.h>
#include <time.h>

static inline double bench_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void BenchFn(void* user);

typedef struct {
  BenchFn* run; // null: takes no part
  void* user;
  double best; // seconds of one run
} BenchEntry;

// Rounds until `seconds` have passed and each has run at least `least` times. Short runs are repeated within
// a round so that the clock's grain does not matter.
static inline void bench_race(BenchEntry* entries, int count, int least, double seconds)
{
  int repeats[8] = {0};
  double start = bench_now();
  for (int e = 0; e < count; e++) entries[e].best = INFINITY;
  for (int round = 0; round < least || bench_now() - start < seconds; round++)
    for (int e = 0; e < count; e++) {
      if (!entries[e].run) continue;
      double begin = bench_now();
      for (int k = 0; k < (repeats[e] ? repeats[e] : 1); k++) entries[e].run(entries[e].user);
      double elapsed = (bench_now() - begin) / (repeats[e] ? repeats[e] : 1);
      if (!repeats[e])
        repeats[e] = elapsed < 2e-4 ? (int)(2e-4 / elapsed) + 1 : 1; // the first round only warms up
      else if (elapsed < entries[e].best) entries[e].best = elapsed;
    }
}

// Prints "ours  theirs  ratio" for a pair; the ratio is ours over theirs, less is better for us.
static inline void bench_print_pair(const char* label, const BenchEntry* ours, const BenchEntry* theirs)
{
  printf("  %-22s %10.3f ms", label, 1e3 * ours->best);
  if (theirs->run) printf(" %10.3f ms   ratio %5.2f", 1e3 * theirs->best, ours->best / theirs->best);
  printf("\n");
}

#endif
