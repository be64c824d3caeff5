// SPDX-License-Identifier: Apache-2.0
#include "cli/curve.h"
#include "cli/args.h"

#include <math.h>

typedef struct {
  tbContext* ctx;
  const tbSolveOptions* options;
  tbArray* points; // CurvePoint
  tbStatus status;
} Recorder;

static void record(void* user, const tbTraceEvent* e)
{
  Recorder* r = user;
  CurvePoint point = {e->iteration, e->time_s, judged(r->options, e->residual)};
  if (r->status == TB_OK) r->status = tb_array_push(r->ctx, r->points, &point, 1);
}

tbStatus curve_run(tbContext* ctx, const tbProblem* problem, const tbSolveOptions* options, double* lambda,
                   tbSolveResult* result, tbArray* points)
{
  tbSolveOptions o = *options;
  Recorder recorder = {.ctx = ctx, .options = options, .points = points};
  o.trace = record;
  o.trace_user = &recorder;
  TB_TRY(tb_solve(ctx, problem, &o, lambda, result));
  return recorder.status;
}

int curve_thin(CurvePoint* p, int count)
{
  enum { PIECES = CURVE_POINTS / 2 - 1 };
  if (count <= CURVE_POINTS) return count;
  int kept = 1, last = count - 1;
  double scale = PIECES / log(last);
  for (int i = 1; i < last;) {
    int piece = (int)(scale * log(i)), low = i, high = i;
    for (; i < last && (int)(scale * log(i)) == piece; i++) {
      if (p[i].residual < p[low].residual) low = i;
      if (p[i].residual > p[high].residual) high = i;
    }
    p[kept++] = p[low < high ? low : high];
    if (low != high) p[kept++] = p[low < high ? high : low];
  }
  p[kept++] = p[last];
  return kept;
}
