// SPDX-License-Identifier: Apache-2.0
// A scene run over a grid of values: the grid, its results, and their page.
#ifndef TB_CLI_SWEEP_H
#define TB_CLI_SWEEP_H

#include "cli/args.h"

enum { SWEEP_AXES = 6, SWEEP_VALUES = 1000, SWEEP_POINTS = 100000, SWEEP_TEXT = 64, SWEEP_METRICS = 7 };

// What is varied: a key, and its values as they were written.
typedef struct {
  char key[SWEEP_TEXT];
  char (*value)[SWEEP_TEXT];
  int count;
} SweepAxis;

typedef struct {
  bool done, failed;
  double metric[SWEEP_METRICS]; // in the order of sweep_metrics
  char hash[20];                // of the final state
} SweepPoint;

// Points are numbered with the first axis fastest.
typedef struct {
  const char* scene;
  SweepAxis axis[SWEEP_AXES];
  int axes, points;
  SweepPoint* point;
} Sweep;

typedef struct {
  const char *name, *title;
  bool logarithmic;
} SweepMetric;

extern const SweepMetric sweep_metrics[SWEEP_METRICS];

// The value that a point has on an axis.
static inline const char* sweep_value(const Sweep* s, int point, int axis)
{
  for (int i = 0; i < axis; i++) point /= s->axis[i].count;
  return s->axis[axis].value[point % s->axis[axis].count];
}

// "mu=0.1:0.9:9" or "solver=bgs,pgs"; false after one line on standard error.
bool sweep_axis_read(const char* text, SweepAxis* out);
void sweep_csv(tbOut* out, const Sweep* s); // points that are done
void sweep_row(tbOut* out, const Sweep* s, int point);
// Takes over the rows of an earlier sweep over the same grid. TB_ERROR_INPUT: the file is of another one.
tbStatus sweep_resume(tbContext* ctx, const char* path, Sweep* s, int* taken);
void sweep_page(tbOut* out, const Sweep* s); // HTML

#endif
